"""A study with every kind of task, each small enough to go through by hand. Names are easy to search for."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.study_app import small_ranked, small_streams, small_study

EPOCH = 1_437_350_400
"""2015-07-20T00:00:00Z, the first of three days."""

DAY, HOUR = 86_400, 3_600
PROFILES = {"MB901": "tram works", "MB902": "night trains"}
PUSHES = {
    "901": {"SYPX1": ("Rails are laid at the market", 0, 9, 4), "SYPX2": ("The fare is the same", 1, 10, 0)},
    "902": {"SYPX3": ("A night train to Rome", 2, 8, 3), "SYPX4": ("Sleeping cars are full", 2, 20, 1)},
}
"""Profile -> tweet -> text, day (from 0), hour, grade; each is pushed 67 seconds after it was written."""

PUSH_RUNS = {"syspusha": ("SYPX1", "SYPX3"), "syspushb": ("SYPX2", "SYPX4"), "syspushc": ()}
SECRETS = {
    *small_study.SECRETS,
    *small_streams.STREAM_SECRETS,
    *small_ranked.SYSTEMS,
    *PUSH_RUNS,
    *("SYD-", "SYH-", "SYPX", "MB90"),
}
"""What no worker's browser may ever get."""


def every_task() -> dict[str, dict[str, Any]]:
    """Return kind -> a task of it, on the files that `write_every_task` writes."""
    judged = {kind: f"{kind}.tsv" for kind in ("queries", "iunits", "intents", "importance", "probability")}
    return {
        "questions": {
            "kind": "questions",
            "name": "before",
            "questions": [
                {"id": "phone", "text": "Do you use a phone?", "type": "single", "options": ["Yes", "No"]},
                {"id": "age", "text": "How old are you?", "type": "number", "min": 18, "required": False},
            ],
        },
        "intent_votes": small_study.votes_task(),
        "iunit_importance": {
            "kind": "iunit_importance",
            "name": "ratings",
            "collection": judged,
            "intents_per_worker": 2,
            "iunits_per_page": 3,
            "assessors_per_iunit": None,
        },
        "summary_pairs": small_study.pairs_task(
            collection=judged, validation_pairs=1, workers_per_query=None
        ),
        "stream_pairs": {
            "kind": "stream_pairs",
            "name": "pushes",
            "collection": {
                kind: f"push_{kind}" for kind in ("topics", "qrels", "clusters", "epochs", "texts")
            },
            "systems": {name: f"{name}.run" for name in PUSH_RUNS},
            "days": ["20150720", "20150722"],
            "pairs_per_worker": 3,
            "judgments_per_pair": None,
            "reveal_silent_days": "random",
        },
        "ranked_pairs": small_ranked.ranked_task(judgments_per_pair=None),
        "stream_visits": small_streams.streams_task(clock_factor=24),
    }


def write_every_task(
    folder: Path, *, tasks: Mapping[str, Mapping[str, Any]] | None = None, **study: Any
) -> Path:
    """Write all files and study.yaml into ``folder``; returns the study file.

    ``tasks`` (kind -> keys to change) takes those kinds only, in its order; further arguments are keys of the study.
    """
    for kind, write in _FILES.items():
        (folder / kind).mkdir()
        write(folder / kind)
    given = every_task()
    chosen = tasks or {kind: {} for kind in given}
    whole = {
        "study": "every",
        "title": "A study of everything",
        "consent": "Please take part.",
        "tasks": [_placed({**given[kind], **changes}) for kind, changes in chosen.items()],
        **study,
    }
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(whole, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return path


def _placed(task: dict[str, Any]) -> dict[str, Any]:
    """Say in which folder a task's files are."""
    folder = _FOLDERS[task["kind"]]
    files = {part: task[part] for part in ("collection", "systems") if part in task}
    return task | {
        part: {name: f"{folder}/{path}" for name, path in paths.items()} for part, paths in files.items()
    }


def _write_pushes(folder: Path) -> None:
    tops = [
        f"<top>\n<num> Number: {name}\n<title> {title}\n<desc> Description:\nNews of {title}.\n"
        f"<narr> Narrative:\nEverything about {title}.\n</top>\n"
        for name, title in PROFILES.items()
    ]
    rows = [(topic, tweet, *row) for topic, tweets in PUSHES.items() for tweet, row in tweets.items()]
    clusters = {
        topic: {"clusters": [[tweet] for tweet, row in tweets.items() if row[3]]}
        for topic, tweets in PUSHES.items()
    }
    texts = {
        "push_topics": "\n".join(tops),
        "push_qrels": "".join(f"{topic} Q0 {tweet} {grade}\n" for topic, tweet, _, _, _, grade in rows),
        "push_clusters": json.dumps({"topics": clusters}),
        "push_epochs": "".join(
            f"{tweet} {20150720 + day} {EPOCH + day * DAY + hour * HOUR}\n"
            for _, tweet, _, day, hour, _ in rows
        ),
        "push_texts": "".join(f"{tweet}\t{text}\n" for _, tweet, text, _, _, _ in rows),
    }
    for name, pushed in PUSH_RUNS.items():
        texts[f"{name}.run"] = "".join(
            f"MB{topic} {tweet} {EPOCH + day * DAY + hour * HOUR + 67} tag\n"
            for topic, tweet, _, day, hour, _ in rows
            if tweet in pushed
        )
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


_FILES = {
    "queries": small_study.write_small_study,
    "lists": small_ranked.write_ranked_study,
    "news": lambda folder: small_streams.write_events(folder, small_streams.SYSTEMS),
    "pushes": _write_pushes,
}
_FOLDERS = {
    "questions": "",
    "intent_votes": "queries",
    "iunit_importance": "queries",
    "summary_pairs": "queries",
    "stream_pairs": "pushes",
    "stream_visits": "news",
    "ranked_pairs": "lists",
}
