"""Kind of task `summary_pairs`: workers judge pairs of two-layered summaries.

The summaries are for the query they care about; see two-layered-summaries §4.2.
"""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from metrics.errors import Fault, input_fault
from study_app.study.entries import ChosenTopicTask, Count, TaskWithSearch, expect_entry_type
from study_app.tasks.content import SummaryFiles, TaskContent
from study_app.tasks.pair_kinds import ChosenPairKind
from study_app.tasks.task_kind import FinishedTask, KindParameters, NewTask, SideForm
from study_app.tasks.workload import (
    AFTER_SEARCH,
    JUDGED_COMMENTS,
    NOTHING,
    PAIRS_ASSUMED,
    REPEATED_COMMENTS,
    Capacity,
    SecondsRange,
    choosing,
    chosen_capacity,
    chosen_only,
    chosen_seconds,
    judging,
    options_phrase,
)


class SummaryPairs(TaskWithSearch, ChosenTopicTask):
    """Judge pairs of two-layered summaries of the query one cares about."""

    kind: Literal["summary_pairs"]
    collection: SummaryFiles
    workers_per_query: Count | None = 14


def _read(folder: Path, task: SummaryPairs, faults: list[Fault]) -> TaskContent | None:
    from study_app.tasks.reading.queries import read_summary_content  # noqa: PLC0415 - see the room `reading`

    return read_summary_content(folder, task, faults)


def _seconds(content: TaskContent) -> SecondsRange:
    entry = expect_entry_type(content.entry, SummaryPairs)
    asked = entry.whole_search_seconds
    search = SecondsRange(asked, asked) + AFTER_SEARCH if entry.search_seconds else NOTHING
    return chosen_seconds(content, entry, before=search)


def _capacity(content: TaskContent) -> Capacity:
    entry = expect_entry_type(content.entry, SummaryPairs)
    return chosen_capacity(content, entry, entry.workers_per_query)


def _work(content: TaskContent) -> str:
    entry = expect_entry_type(content.entry, SummaryPairs)
    search = f", looks it up for {entry.whole_search_seconds:g} s," if entry.search_seconds else ""
    return f"{choosing(len(content.topics), entry.queries_per_worker)}{search} and {judging(content, entry)}"


def _worth(content: TaskContent, people: KindParameters, path: Path) -> Mapping[tuple[str, str], float]:
    """Return M at the people's patience.

    It raises `InputError` where no pair can be preferred.
    """
    import pandas as pd  # noqa: PLC0415 - slow to import, and only a simulation needs it

    from metrics.summaries.score import m_from_positions  # noqa: PLC0415 - like pandas

    if "positions" not in content.tables:
        raise input_fault(
            f"task {content.entry.name}: the collection has no importance, so nobody can prefer anything",
            path=path,
            cure="name an importance file in the collection",
        )
    positions = pd.read_parquet(io.BytesIO(content.tables["positions"]))
    probability = {topic.id: topic.chances(people.intents) for topic in content.topics}
    patience = people.patience_preferences
    table = m_from_positions(positions, probability, [patience])[patience]
    return {key: float(table.get(key, 0.0)) for key in content.sides}


def _methods(task: FinishedTask) -> str:
    pairs = task.protocol.get("pairs", "all")
    which = task.amount(pairs, "pair") if isinstance(pairs, int) else "all pairs"
    return (
        "a worker chose the query that interested them most, searched for it on their own"
        f"{_searched(task)}, and judged {which} of two-layered summaries by {task.systems}{chosen_only(task.protocol)}: {options_phrase(task.protocol)}."
    )


def _searched(task: FinishedTask) -> str:
    """Return the search time that a page required and asked for, in words."""
    given = (task.protocol.get(name) for name in ("search_seconds", "min_search_seconds"))
    seconds = [float(value) for value in given if isinstance(value, (int, float))]
    if not seconds or "search_seconds" not in task.protocol:
        return ""
    asked = f" for {task.amount(max(seconds), 'second')} by the clock on the page"
    least = seconds[0]
    return asked if least == max(seconds) else f"{asked} ({task.number(least)} at the very least)"


KIND = ChosenPairKind(
    entry=SummaryPairs,
    criteria={
        "en": ("How much useful information can you get from the summary?", "How quickly can you get it?"),
        "ja": (
            "その要約から、役に立つ情報をどれだけ得られますか",
            "その情報を、どれだけ早く得られますか",
        ),
    },
    limit_key="workers_per_query",
    free_keys=frozenset({"min_search_seconds"}),
    read=_read,
    side=SideForm(
        name="summary",
        shows=lambda side, _detail: {"layers" for block in side.blocks if block.kind == "link"},
    ),
    optional=("layers",),
    asks=lambda shows: ("first", "second" if "layers" in shows else "other"),
    check=(1, 2),
    seconds=_seconds,
    assumed=(*PAIRS_ASSUMED, f"up to {AFTER_SEARCH.high:g} s of search more than is asked for"),
    capacity=_capacity,
    work=_work,
    tables=frozenset({"preferences", "searches", "reads", "stops"}),
    worth=_worth,
    preferred_by=lambda _entry: "patience",
    methods=_methods,
    new=NewTask(
        name="summaries",
        runs={"summaries": 2},
        telling=1,
        title={"en": "Which summary helps you more?", "ja": "どちらの要約が役に立ちますか"},
        activity={
            "en": "you choose a topic, look it up on the web on your own, and compare pairs of short summaries of it",
            "ja": "話題を一つ選び、ご自分でウェブ検索をした後、その短い要約を二つずつ比べます",
        },
        comments={
            "search_seconds": "the pairs cannot be reached sooner: three minutes of own search (Kato et al. 2016, 4.2)",
            "min_search_seconds": "a shorter mean search leaves the worker out of analyses (Kato et al. 2016, 4.2)",
            "workers_per_query": "workers who judge each query (Kato et al. 2016, 4.2); null is no limit",
            "queries_per_worker": "queries whose pairs a worker judges (Kato et al. 2016, 4.2)",
            "pairs": "all pairs of a query; or a number: those judged least so far (Kato et al. 2016, 4.2)",
            "validation_pairs": "pairs of a query that a worker sees once more (Kato et al. 2016, 4.2)",
            **REPEATED_COMMENTS,
            **JUDGED_COMMENTS,
        },
    ),
)
