"""Kind of task `ranked_pairs`: workers judge pairs of ranked lists.

Lists of historical queries may have time windows (time-aware-measures); without windows, pages say nothing about time. A study
without qrels runs, but has no measures that need them.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from metrics.errors import Fault
from study_app.study.entries import ChosenTopicTask, Contradiction, Count, collection_paths, expect_entry_type
from study_app.tasks.content import RankedFiles, TaskContent, drawn_worth
from study_app.tasks.pair_kinds import ChosenPairKind
from study_app.tasks.side_text import side_text
from study_app.tasks.task_kind import FinishedTask, KindParameters, NewTask, SideForm
from study_app.tasks.workload import (
    JUDGED_COMMENTS,
    REPEATED_COMMENTS,
    Capacity,
    choosing,
    chosen_capacity,
    chosen_only,
    judging,
    options_phrase,
    slots_for_judgments,
)


class RankedPairs(ChosenTopicTask):
    """Judge pairs of ranked lists."""

    kind: Literal["ranked_pairs"]
    collection: RankedFiles
    judgments_per_pair: Count | None = 10
    depth: Annotated[int, Field(ge=1, le=100)] = 10


def _rules(task: RankedPairs) -> Iterator[Contradiction]:
    if task.collection.intents is not None and task.collection.qrels is None:
        yield ("collection",), "intents without qrels", "add qrels: FILE, or remove intents"


def _read(folder: Path, task: RankedPairs, faults: list[Fault]) -> TaskContent | None:
    from study_app.tasks.reading.ranked_lists import read_ranked_content  # noqa: PLC0415 - see the room `reading`

    return read_ranked_content(folder, task, faults)


def _capacity(content: TaskContent) -> Capacity:
    entry = expect_entry_type(content.entry, RankedPairs)
    judgments = entry.judgments_per_pair
    return chosen_capacity(
        content, entry, None if judgments is None else slots_for_judgments(entry, judgments)
    )


def _work(content: TaskContent) -> str:
    entry = expect_entry_type(content.entry, RankedPairs)
    chosen = choosing(len(content.topics), entry.queries_per_worker)
    return f"{chosen} and {judging(content, entry)}, {entry.depth} entries a list"


def _worth(content: TaskContent, people: KindParameters, path: Path) -> Mapping[tuple[str, str], float]:  # noqa: ARG001 - one signature for all kinds
    """Return the worth of each list to simulated workers, by topic and system.

    With windows the worth is TIA-nDCG (Singh et al., CHIIR 2016) at the displayed depth, else IA-nDCG. Without qrels it is
    random, see `drawn_worth`.
    """
    from metrics.ranked.measures import IANDCG, TIANDCG  # noqa: PLC0415 - slow to import, and only a simulation needs it
    from metrics.ranked.score import ranked_scores  # noqa: PLC0415 - as above
    from metrics.readers.ranked import read_ranked_collection, read_ranked_run  # noqa: PLC0415 - as above

    entry = expect_entry_type(content.entry, RankedPairs)
    paths = {kind: path.parent / name for kind, name in collection_paths(entry).items()}
    if "qrels" not in paths:
        return drawn_worth(content)
    collection = read_ranked_collection(
        qrels=paths["qrels"], windows=paths.get("windows"), intents=paths.get("intents")
    )
    measure = TIANDCG(k=entry.depth) if collection.is_timed else IANDCG(k=entry.depth)
    runs = [
        read_ranked_run(path.parent / run, collection.grades, name=name)
        for name, run in entry.systems.items()
    ]
    scores = ranked_scores(collection, runs, {"worth": measure})
    return {(score.topic, score.run): score.value for score in scores}


def _methods(task: FinishedTask) -> str:
    windows = ", time windows shown" if "windows" in task.files else ""
    return f"a worker judged two ranked lists for a query, of {task.systems}{windows}{chosen_only(task.protocol)}: {options_phrase(task.protocol)}."


KIND = ChosenPairKind(
    entry=RankedPairs,
    criteria={
        "en": ("How much useful information can you get from the list?", "How quickly can you get it?"),
        "ja": (
            "その一覧から、役に立つ情報をどれだけ得られますか",
            "その情報を、どれだけ早く得られますか",
        ),
    },
    cures={
        "systems": "write NAME: RUN, one line per system, two at least",
        "collection": "write topics: FILE and texts: FILE below it, and qrels: FILE and windows: FILE if you have them",
    },
    rules=_rules,
    limit_key="judgments_per_pair",
    places=slots_for_judgments,
    read=_read,
    side=SideForm(
        name="ranking",
        shows=lambda side, _detail: {"windows" for entry in side.blocks if entry.window is not None},
        text=partial(side_text, numbered=True),
        ranked=True,
    ),
    optional=("windows",),
    check=(1, 2),
    capacity=_capacity,
    work=_work,
    worth=_worth,
    preferred_by=lambda entry: "" if "qrels" in collection_paths(entry) else "lot",
    methods=_methods,
    new=NewTask(
        name="lists",
        runs={"ranked": 2},
        telling=2,
        title={"en": "Which list of results helps you more?", "ja": "どちらの検索結果が役に立ちますか"},
        activity={
            "en": "you compare pairs of lists of search results",
            "ja": "検索結果の一覧を二つずつ比べます",
        },
        comments={
            "depth": "entries shown of each list",
            "judgments_per_pair": "workers who judge each pair; null is no limit",
            "queries_per_worker": "queries whose pairs a worker judges",
            "pairs": "all pairs of a query; a number: those judged least so far; or a file with `topic a b` on each line",
            "validation_pairs": "pairs of a query that a worker sees once more",
            **REPEATED_COMMENTS,
            **JUDGED_COMMENTS,
        },
    ),
)
