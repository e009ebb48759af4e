"""A study of push streams small enough to follow by hand: two profiles, three days, three systems. Names are easy to search for.

Profile SYP-1: on the first day SYT-a and SYT-b say the same and SYT-x is nothing, on the third SYT-c is new; the second day is
silent. Profile SYP-2: nothing at all is relevant.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

MIDNIGHT = 1_577_836_800
"""2020-01-01T00:00:00Z."""

MINUTE, DAY = 60, 86_400
DAYS = ("20200101", "20200103")

TWEETS = {
    "SYT-a": (8 * 60, "The bridge is closed"),
    "SYT-b": (9 * 60, "Since this morning the bridge is closed to all traffic"),
    "SYT-x": (10 * 60, "I like bridges"),
    "SYT-y": (26 * 60, "Look at this bridge"),
    "SYT-c": (50 * 60, "The bridge is open again"),
    "SYT-z": (51 * 60, "Tea is good"),
}
"""Tweet -> minutes from the first midnight at which it was posted, and its text."""

GRADES = {"SYP-1": {"SYT-a": 1, "SYT-b": 2, "SYT-c": 2, "SYT-x": 0, "SYT-y": 0}, "SYP-2": {"SYT-z": 0}}
CLUSTERS = {"SYP-1": [["SYT-a", "SYT-b"], ["SYT-c"]], "SYP-2": []}
PROFILES = {
    "SYP-1": ("The old bridge", "Find out whether it is open", "The user crosses it every day."),
    "SYP-2": ("Green tea", "", ""),
}
PUSHED = {
    "sysfast": [("SYP-1", "SYT-a", 0), ("SYP-1", "SYT-x", 1), ("SYP-1", "SYT-c", 30), ("SYP-2", "SYT-z", 0)],
    "sysslow": [("SYP-1", "SYT-b", 50), ("SYP-1", "SYT-y", 0)],
    "sysmute": [],
}
"""System -> (profile, tweet, minutes after it was posted) of each push."""

PUSH_SECRETS = (*PUSHED, "SYT-", "SYP-", "RUNTAG")
"""What no worker's browser may ever get."""


def write_push_files(folder: Path, pushed: Mapping[str, Any] = PUSHED) -> None:
    """Write topics, qrels, clusters, epochs, texts and a run a system."""
    blocks = (
        f"<top>\n<num> Number: {name}\n<title>\n{title}\n<desc> Description:\n{what}\n<narr> Narrative:\n{why}\n</top>\n"
        for name, (title, what, why) in PROFILES.items()
    )
    clusters = {"topics": {name: {"clusters": of} for name, of in CLUSTERS.items()}}
    grades = (f"{name} Q0 {tweet} {grade}\n" for name, of in GRADES.items() for tweet, grade in of.items())
    epochs = (
        f"{tweet} {20200101 + minute * MINUTE // DAY} {MIDNIGHT + minute * MINUTE}\n"
        for tweet, (minute, _) in TWEETS.items()
    )
    texts = {
        "topics.txt": "".join(blocks),
        "qrels.txt": "".join(grades),
        "clusters.json": json.dumps(clusters),
        "epochs.txt": "".join(epochs),
        "texts.tsv": "".join(f"{tweet}\t{text}\n" for tweet, (_, text) in TWEETS.items()),
    }
    for system, pushes in pushed.items():
        texts[f"{system}.txt"] = "".join(
            f"{topic} {tweet} {MIDNIGHT + (TWEETS[tweet][0] + delay) * MINUTE} RUNTAG\n"
            for topic, tweet, delay in pushes
        )
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


def pushes_task(**changes: Any) -> dict[str, Any]:
    """Return a stream_pairs task on the files that `write_push_files` writes."""
    return {
        "kind": "stream_pairs",
        "name": "pushes",
        "collection": {
            "topics": "topics.txt",
            "qrels": "qrels.txt",
            "clusters": "clusters.json",
            "epochs": "epochs.txt",
            "texts": "texts.tsv",
        },
        "systems": {name: f"{name}.txt" for name in PUSHED},
        "days": list(DAYS),
        **changes,
    }


def write_push_study(folder: Path, *, task: Mapping[str, Any] | None = None, **changes: Any) -> Path:
    """Write collection, runs and study.yaml into ``folder``; ``task`` changes keys of the only task, others those of the study."""
    write_push_files(folder)
    whole = {
        "study": "small",
        "title": "A small study",
        "consent": "First paragraph.",
        "tasks": [pushes_task(**(task or {}))],
        **changes,
    }
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(whole, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return path
