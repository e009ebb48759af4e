"""Kind of task `iunit_importance`: workers rate iUnits for an intent.

They assume that interest; see two-layered-summaries §4.1.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from metrics.errors import Fault
from study_app.study.entries import Count, RatedTask, expect_entry_type
from study_app.tasks.content import SummaryFiles, TaskContent
from study_app.tasks.task_kind import FinishedTask, NewTask, TaskKind
from study_app.tasks.workload import (
    RATING,
    Capacity,
    SecondsRange,
    exact_answers_each,
    range_phrase,
    read_once,
    reading_seconds,
    workers_to_fill,
)


class IUnitImportance(RatedTask):
    """Rate iUnits for an intent, assuming that interest."""

    kind: Literal["iunit_importance"]
    collection: SummaryFiles
    assessors_per_iunit: Count | None = 2
    intents_per_worker: Count = 4


def _read(folder: Path, task: IUnitImportance, faults: list[Fault]) -> TaskContent | None:
    from study_app.tasks.reading.queries import read_summary_content  # noqa: PLC0415 - see the room `reading`

    return read_summary_content(folder, task, faults, rated=True)


def _faults(content: TaskContent) -> Iterator[tuple[str, str]]:
    """Refuse a task without anything to rate.

    The reader checks that every query has an intent.
    """
    if not any(topic.iunits for topic in content.topics):
        yield (
            f"no query of task {content.entry.name!r} has an iUnit, so there is nothing to rate",
            "name a file of iunits that has some, or take the task out of the study",
        )


def _intents(content: TaskContent) -> int:
    return sum(len(topic.intents) for topic in content.topics)


def _seconds(content: TaskContent) -> SecondsRange:
    """Return the time for a worker's intents.

    It ranges from queries with few short iUnits to those with many long ones.
    """
    entry = expect_entry_type(content.entry, IUnitImportance)
    each = [
        RATING.times(len(topic.iunits))
        + read_once(reading_seconds(" ".join(topic.iunits.values()), entry.language))
        for topic in content.topics
        for _ in topic.intents
    ]
    count = min(entry.intents_per_worker, len(each))
    low, high = min(length.low for length in each), max(length.high for length in each)
    return SecondsRange(low * count, high * count)


def _capacity(content: TaskContent) -> Capacity:
    entry, intents = expect_entry_type(content.entry, IUnitImportance), _intents(content)
    rated = sum(len(topic.intents) * len(topic.iunits) for topic in content.topics)
    count = min(entry.intents_per_worker, intents)
    return Capacity(
        answers="ratings of",
        thing="iUnit for an intent",
        things=rated,
        each=exact_answers_each(entry.assessors_per_iunit),
        workers=workers_to_fill(intents, entry.assessors_per_iunit, count),
        a_worker=round(rated * count / intents),
    )


def _work(content: TaskContent) -> str:
    entry, intents = expect_entry_type(content.entry, IUnitImportance), _intents(content)
    return (
        f"rates the {range_phrase([len(topic.iunits) for topic in content.topics])} iUnits of a query "
        f"for each of {min(entry.intents_per_worker, intents)} of {intents} intents, {entry.iunits_per_page} a page"
    )


def _methods(task: FinishedTask) -> str:
    limit = task.protocol.get("assessors_per_iunit")
    return "a worker rated iUnits for an intent from 0, unimportant, to 4, highly important" + (
        f", {task.amount(limit, 'worker')} an iUnit." if limit else "."
    )


KIND = TaskKind(
    entry=IUnitImportance,
    page="rate",
    unit="intent",
    wanted_key="intents_per_worker",
    limit_key="assessors_per_iunit",
    read=_read,
    faults=_faults,
    check=(3, 1),
    seconds=_seconds,
    assumed=(f"{RATING.low:g} to {RATING.high:g} s a rating",),
    capacity=_capacity,
    work=_work,
    tables=frozenset({"importance"}),
    methods=_methods,
    new=NewTask(
        name="importance",
        runs={"summaries": 0},
        usual=lambda found: "importance" not in found.files,
        telling=5,
        title={"en": "How important is this?", "ja": "どのくらい重要ですか"},
        activity={
            "en": "you say how important pieces of information are for somebody with a given interest",
            "ja": "ある関心を持つ人にとって、それぞれの情報がどのくらい重要かを答えます",
        },
        comments={
            "assessors_per_iunit": "so many workers rate an iUnit for an intent (Kato et al. 2016, 4.1)",
            "intents_per_worker": "a worker rates the iUnits for so many intents, each with all of its query",
            "iunits_per_page": "so many on a page",
        },
    ),
)
