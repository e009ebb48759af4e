"""The text of a new study file: which tasks it could have, every key with what it means, paths relative to the file."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic_core import PydanticUndefined

from metrics.readers.trees import read_xml
from study_app.estimate.workload import DAY_SECONDS
from study_app.protocol.domain import MIN_VALIDATIONS
from study_app.study.entries import (
    DEFAULT_CRITERIA,
    KINDS,
    Entry,
    EventFiles,
    PushFiles,
    RankedFiles,
    SummaryFiles,
)
from study_app.study.platforms import PLATFORMS
from study_app.study.standard_words import consent_of, title_of
from study_app.study.text_language import looks_japanese
from study_app.study_new.collections import Found, system_names


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPlan:
    """One task to write: its kind, what it is about, and the days that only its collection knows."""

    kind: str
    found: Found
    days: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the researcher said; ``title`` None for one that fits the tasks, the last two None for places to write them."""

    study: str
    title: str | None
    language: str
    platform: str
    device: str
    return_url: str | None
    contact: str | None
    keep: str | None


SUMMARIES = "Kato et al. 2016"
"""Two-layered Summaries for Mobile Search: Does the Evaluation Measure Reflect User Preferences?, EVIA 2016."""
STREAMS = "Baruah et al. 2015"
"""Evaluating Streams of Evolving News Events, SIGIR 2015."""
INTRODUCED = {
    "instructions": "prefcal's own words before the task; or your own text, or null for no such page",
    "example": "a worked example on that page",
    "check": "null: prefcal's own questions, with two tries; [] for none; or a list of your own",
}
JUDGED = {
    "criteria": "stand under the four options",
    "compare": "measures that the report is to compare, as `prefcal agree` or `prefcal measures` writes them",
    "primary": "two of them: the comparison that this study is made for",
}
REPEATED = {
    "validation_swapped": "repeats have their sides swapped: tells a preference from a habit",
    "min_consistency": f"a worker with a smaller share of consistent repeats is left out of analyses ({SUMMARIES}, 4.2)",
}
COMMENTS: Mapping[str, Mapping[str, str]] = {
    "intent_votes": {
        **INTRODUCED,
        "votes_per_query": f"so many workers vote on a query ({SUMMARIES}, 4.1); null is no limit",
        "queries_per_worker": f"a worker votes on so many ({SUMMARIES}, 4.1)",
    },
    "iunit_importance": {
        **INTRODUCED,
        "assessors_per_iunit": f"so many workers rate an iUnit for an intent ({SUMMARIES}, 4.1)",
        "intents_per_worker": "a worker rates the iUnits for so many intents, each with all of its query",
        "iunits_per_page": "so many on a page",
    },
    "summary_pairs": {
        **INTRODUCED,
        "search_seconds": f"the pairs cannot be reached sooner: three minutes of own search ({SUMMARIES}, 4.2)",
        "min_search_seconds": f"a shorter mean search leaves the worker out of analyses ({SUMMARIES}, 4.2)",
        "workers_per_query": f"so many workers judge a query ({SUMMARIES}, 4.2); null is no limit",
        "queries_per_worker": f"a worker judges the pairs of so many ({SUMMARIES}, 4.2)",
        "pairs": f"all pairs of a query, or a number: those judged least so far ({SUMMARIES}, 4.2)",
        "validation_pairs": f"so many of these are shown once more ({SUMMARIES}, 4.2)",
        **REPEATED,
        **JUDGED,
    },
    "stream_pairs": {
        **INTRODUCED,
        "days": "the first and the last day; what is pushed on other days is not shown",
        "judgments_per_pair": "so many workers judge a pair; null is no limit",
        "pairs_per_worker": "a worker judges so many, of one profile as far as there is room",
        "reveal_silent_days": "true: days without anything relevant say so; random: for half of the workers",
        "validation_pairs": "so many of a worker's pairs are shown once more",
        **REPEATED,
        **JUDGED,
    },
    "stream_visits": {
        **INTRODUCED,
        "days": "so many days of the event a worker follows it",
        "clock_factor": "seconds of the event in one second on the clock: 24 shows a day in an hour",
        "topics_per_worker": "a worker follows so many events side by side",
        "workers_per_stream": "so many follow one system's stream of an event; null is no limit",
        "ask_per_visit": f"after a visit: of so many updates, was this still of use? ({STREAMS}, 3: lateness)",
        "idle_seconds": "a visit without any sign of life for so long is over",
        "updates_per_page": "the older ones of a visit are one tap away",
    },
    "ranked_pairs": {
        **INTRODUCED,
        "depth": "so many entries of each list are shown",
        "judgments_per_pair": "so many workers judge a pair; null is no limit",
        "queries_per_worker": "a worker judges the pairs of so many queries",
        "pairs": "all pairs of a query, or a number: those judged least so far",
        "validation_pairs": "so many of these are shown once more",
        **REPEATED,
        **JUDGED,
    },
}
"""Kind of task -> key -> comment, in the order in which they are written."""


def protocol_values(kind: str, language: str) -> dict[str, Any]:
    """Return every key of a kind that is written, with its default; days are not in it where they have none."""
    fields = KINDS[kind].model_fields
    values = {key: fields[key].default for key in COMMENTS[kind]}
    values["instructions"] = "standard"
    if values.get("validation_pairs") == 0:  # without repeats nobody could be told to be careless
        values["validation_pairs"] = MIN_VALIDATIONS
    if (kind, language) in DEFAULT_CRITERIA:
        values["criteria"] = list(DEFAULT_CRITERIA[kind, language])
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in values.items()
        if value is not PydanticUndefined
    }


MOST_DAYS = 10
SHARE_OF_A_DAY = 0.05
"""A day with fewer judged tweets than this share of the busiest one is not one of the evaluation."""
POSSIBLE = {
    "summaries": {"intent_votes": 0, "iunit_importance": 0, "summary_pairs": 2},
    "events": {"stream_visits": 1, "stream_pairs": 2},
    "pushes": {"stream_pairs": 2},
    "ranked": {"ranked_pairs": 2},
}
"""Family of collection -> kind of task -> how many runs it needs, in the order in which workers would do them."""
USUAL = {"intent_votes", "summary_pairs", "stream_visits", "ranked_pairs"}
"""What is written where nobody says what is wanted; of pushes the only kind that there is."""


def possible_tasks(whole: Sequence[Found]) -> list[TaskPlan]:
    """Return every task that the collections have enough runs for, in order."""
    return [
        TaskPlan(kind=kind, found=found, days=_days(kind, found))
        for found in whole
        for kind, runs in POSSIBLE[found.family].items()
        if len(found.runs) >= runs
    ]


def usual_tasks(possible: Sequence[TaskPlan]) -> list[TaskPlan]:
    """Return the tasks to write where nobody says which; ratings only where there are none yet."""
    return [
        task
        for task in possible
        if task.kind in USUAL
        or task.found.family == "pushes"
        or (task.kind == "iunit_importance" and "importance" not in task.found.files)
    ]


def language_of(whole: Sequence[Found]) -> str:
    """Return ja where the texts are mostly Japanese, else en."""
    texts = (
        row[-1]
        for found in whole
        for key, file in found.files.items()
        if key in {"queries", "texts", "nuggets", "topics"}
        for row in file.rows[:1_000]
    )
    return "ja" if looks_japanese(texts) else "en"


def _days(kind: str, found: Found) -> Any:
    if kind == "stream_visits":
        return _event_days(found)
    if found.family != "pushes":
        return None
    count = Counter(row[1] for row in found.files["epochs"].rows)
    least = SHARE_OF_A_DAY * max(count.values())
    days = sorted(day for day, tweets in count.items() if tweets >= least)
    return [int(days[0]), int(days[-1])]


def _event_days(found: Found) -> int:
    """Return the whole days of the longest event, at least one and at most `MOST_DAYS`."""
    longest = 0.0
    for event in read_xml(found.files["topics"].path).children:
        parts = {child.tag: child.text.strip() for child in event.children}
        try:
            longest = max(longest, float(parts["end"]) - float(parts["start"]))
        except (KeyError, ValueError):
            continue  # the reader of the collection says what is wrong with it
    return max(1, min(MOST_DAYS, round(longest / DAY_SECONDS)))


COMMENT_COLUMN = 32
NAMES = {
    "intent_votes": "votes",
    "iunit_importance": "importance",
    "summary_pairs": "summaries",
    "stream_pairs": "notifications",
    "stream_visits": "streams",
    "ranked_pairs": "lists",
}
"""Kind of task -> what it is called in the tables."""
FILES_OF_FAMILY: dict[str, type[Entry]] = {
    "summaries": SummaryFiles,
    "events": EventFiles,
    "pushes": PushFiles,
    "ranked": RankedFiles,
}
WITH_SYSTEMS = {"summary_pairs", "stream_pairs", "stream_visits", "ranked_pairs"}
HEAD = """\
# Written by `prefcal study new`. Make title and consent your own; every number below may be changed.
# `prefcal study check` says what does not fit, what workers will do, for how long, and what it costs;
# `prefcal study preview` opens every page as they will see it. All keys: docs/study-file.md
"""
SYSTEMS_COMMENT = "the names stand in every table; workers never see them"


def study_text(answers: Answers, tasks: list[TaskPlan], folder: Path) -> str:
    """Return the study file that is to stand in ``folder``."""
    kinds = [task.kind for task in tasks]
    return (
        HEAD
        + "\n".join([*_study_lines(answers, kinds), "", "tasks:", *_task_lines(answers, tasks, folder)])
        + "\n"
    )


def _study_lines(answers: Answers, kinds: list[str]) -> Iterator[str]:
    yield ""
    yield _line(0, "study", answers.study, "short name, used in addresses: /s/NAME")
    yield _line(0, "title", answers.title or title_of(kinds, answers.language), "what workers see first")
    yield ""
    yield "# Shown before anything is stored; an empty line begins a new paragraph. Add what your ethics board requires."
    yield "consent: |"
    consent = consent_of(kinds, answers.language, contact=answers.contact, keep=answers.keep)
    yield from (f"  {line}".rstrip() for line in consent.splitlines())
    yield ""
    *others, last = PLATFORMS
    yield _line(0, "platform", answers.platform, f"who sends the workers: {', '.join(others)} or {last}")
    if answers.return_url is not None:
        yield _line(0, "return_url", answers.return_url, "where workers return to")
    if answers.platform != "generic":
        yield "# completion_code: CODE         # the one code that the platform expects of all who finish"
    yield _line(0, "device", answers.device, "any, phone or desktop: checked before consent")
    yield _line(0, "seed", 1, "everything that is drawn by lot follows from it")
    yield _line(0, "lease_minutes", 45, "how long a place is held for a worker who gives no sign of life")
    yield "# reward: 3.00                  # what a worker is paid: `study check` then says what the study costs"
    yield "# currency: USD"
    yield "# platform_fee: 0.33            # what the platform takes on top, as a share of the reward"


def _task_lines(answers: Answers, tasks: list[TaskPlan], folder: Path) -> Iterator[str]:
    names: list[str] = []
    for task in tasks:
        name = NAMES[task.kind]
        names.append(name)
        again = names.count(name)
        yield ""
        yield f"  - kind: {task.kind}"
        yield _line(
            4, "name", name if again == 1 else f"{name}-{again}", "what this task is called in the tables"
        )
        yield _line(4, "language", answers.language, "of the collection, and of the pages around it")
        yield "    collection:"
        for key, file in _files_of(task).items():
            yield f"      {key}: {_scalar(_relative(file, folder))}"
        if task.kind in WITH_SYSTEMS:
            yield f"    systems:                    # {SYSTEMS_COMMENT}"
            for system, path in system_names(task.found.runs).items():
                yield f"      {_scalar(system)}: {_scalar(_relative(path, folder))}"
        yield from _protocol_lines(task, answers.language)


def _files_of(task: TaskPlan) -> Mapping[str, Path]:
    """Return key -> file in the order in which docs/study-file.md has them."""
    found = task.found.files
    return {key: found[key].path for key in FILES_OF_FAMILY[task.found.family].model_fields if key in found}


def _protocol_lines(task: TaskPlan, language: str) -> Iterator[str]:
    values = protocol_values(task.kind, language)
    if task.days is not None:
        values["days"] = task.days
    for key, comment in COMMENTS[task.kind].items():
        if key in values:
            yield from _value_lines(key, values[key], comment)


def _value_lines(key: str, value: Any, comment: str) -> Iterator[str]:
    if key == "criteria":
        yield f"    {key}:".ljust(COMMENT_COLUMN) + f"# {comment}"
        yield from (f"      - {_scalar(one)}" for one in value)
    else:
        yield _line(4, key, value, comment)


def _line(indent: int, key: str, value: Any, comment: str) -> str:
    return f"{' ' * indent}{key}: {_scalar(value)}".ljust(COMMENT_COLUMN - 1) + f" # {comment}"


def _scalar(value: Any) -> str:
    """Return a value as YAML writes it on one line."""
    text = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10_000)
    return str(text).removesuffix("\n").removesuffix("\n...").strip()


def _relative(path: Path, folder: Path) -> str:
    return Path(os.path.relpath(path.absolute(), folder.absolute())).as_posix()
