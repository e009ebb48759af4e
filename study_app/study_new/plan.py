"""Which tasks a study could have from the collections that were found, and the days that only these know."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from metrics.readers.trees import read_xml
from study_app.estimate.workload import DAY_SECONDS
from study_app.study.text_language import looks_japanese
from study_app.study_new.collections import Found
from study_app.study_new.compose import TaskPlan

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
