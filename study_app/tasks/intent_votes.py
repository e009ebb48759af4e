"""Kind of task `intent_votes`: workers tick the intents that interest them.

The intents are those of a query; see two-layered-summaries §4.1.
"""

from pathlib import Path
from typing import Literal

from metrics.errors import Fault
from study_app.study.entries import Count, TaskEntry, expect_entry_type
from study_app.tasks.content import SummaryFiles, TaskContent, TopicContent
from study_app.tasks.task_kind import FinishedTask, NewTask, TaskKind
from study_app.tasks.workload import (
    TICKING,
    Capacity,
    SecondsRange,
    choosing,
    exact_answers_each,
    of_chosen_topics,
    range_phrase,
    read_once,
    reading_seconds,
    workers_to_fill,
)


class IntentVotes(TaskEntry):
    """Tick every intent of a query one is interested in."""

    kind: Literal["intent_votes"]
    collection: SummaryFiles
    votes_per_query: Count | None = 10
    queries_per_worker: Count = 1


def _read(folder: Path, task: IntentVotes, faults: list[Fault]) -> TaskContent | None:
    from study_app.tasks.reading.queries import read_summary_content  # noqa: PLC0415 - see the room `reading`

    return read_summary_content(folder, task, faults)


def _seconds(content: TaskContent) -> SecondsRange:
    entry = expect_entry_type(content.entry, IntentVotes)
    return of_chosen_topics(
        [_ballot(topic, entry.language) for topic in content.topics], entry.queries_per_worker
    )


def _ballot(topic: TopicContent, language: str) -> SecondsRange:
    text = " ".join([topic.text, *topic.intents.values()])
    return read_once(reading_seconds(text, language)) + TICKING.times(len(topic.intents))


def _capacity(content: TaskContent) -> Capacity:
    entry, queries = expect_entry_type(content.entry, IntentVotes), len(content.topics)
    return Capacity(
        answers="votes on",
        thing="query",
        things=queries,
        each=exact_answers_each(entry.votes_per_query),
        workers=workers_to_fill(queries, entry.votes_per_query, entry.queries_per_worker),
        a_worker=min(entry.queries_per_worker, queries),
    )


def _work(content: TaskContent) -> str:
    entry = expect_entry_type(content.entry, IntentVotes)
    intents = range_phrase([len(topic.intents) for topic in content.topics])
    return (
        f"{choosing(len(content.topics), entry.queries_per_worker)} and ticks which of its {intents} intents "
        "interest them"
    )


def _methods(task: FinishedTask) -> str:
    limit = task.protocol.get("votes_per_query")
    return "a worker ticked every intent of a query they were interested in" + (
        f", up to {task.amount(limit, 'worker')} a query." if limit else "."
    )


KIND = TaskKind(
    entry=IntentVotes,
    page="vote",
    unit="topic",
    wanted_key="queries_per_worker",
    limit_key="votes_per_query",
    read=_read,
    check=(2, 3),
    seconds=_seconds,
    assumed=(f"{TICKING.low:g} to {TICKING.high:g} s a tick",),
    capacity=_capacity,
    work=_work,
    tables=frozenset({"intent_votes"}),
    methods=_methods,
    new=NewTask(
        name="votes",
        runs={"summaries": 0},
        telling=6,
        title={"en": "What would you want to know?", "ja": "何を知りたいですか"},
        activity={
            "en": "you tick what would interest you about a topic",
            "ja": "ある話題について、興味のある内容に印をつけます",
        },
        comments={
            "votes_per_query": "so many workers vote on a query (Kato et al. 2016, 4.1); null is no limit",
            "queries_per_worker": "a worker votes on so many (Kato et al. 2016, 4.1)",
        },
    ),
)
