"""Content of a task with queries: collection, and displayable summaries."""

from functools import partial
from pathlib import Path

from metrics.errors import Fault
from metrics.readers.mobileclick import read_collection_files
from metrics.readers.mobileclick_runs import read_summary_run
from metrics.summaries.score import summary_positions
from metrics.summaries.two_layered import Collection, Element, IUnit, Query, Run, Summary
from study_app.protocol.sides import Block, Side, text_block
from study_app.study.entries import TaskEntry, collection_paths
from study_app.tasks.content import TaskContent, TopicContent, collect_faults, read_systems, source_files


def read_summary_content(
    folder: Path, task: TaskEntry, faults: list[Fault], *, rated: bool = False
) -> TaskContent | None:
    """Read the files of one task, or add faults to ``faults`` and return None.

    ``rated`` is true where iUnits are displayed one by one, so that each query needs them.
    """
    paths = collection_paths(task)
    systems: dict[str, str] = getattr(task, "systems", {})
    files = {kind: folder / path for kind, path in paths.items()}
    collection = collect_faults(faults, partial(read_collection_files, files, name=paths["queries"]))
    if collection is None:
        return None
    read = read_systems(
        folder, systems, faults, lambda path, name: read_summary_run(path, collection, name=name)
    )
    if read is None:
        return None
    whole = list(read.values())
    return TaskContent(
        entry=task,
        files=source_files(folder, paths),
        systems=source_files(folder, systems),
        topics=tuple(
            TopicContent(
                id=query.id,
                text=query.text,
                detail={"iunits": dict(query.iunits)} if rated else None,
                query=query,
            )
            for query in collection.queries.values()
        ),
        sides={
            (query.id, run.name): shown_summary(query, run.summaries[query.id])
            for query in collection.queries.values()
            for run in whole
        },
        tables={"positions": _positions(collection, whole)} if whole and "importance" in paths else {},
    )


def shown_summary(query: Query, summary: Summary) -> Side:
    """Return a summary with its texts as a side.

    ``f3`` is element 3 of the first layer, ``s3.1`` item 1 below it.
    """
    return Side(tuple(_block(query, summary, index, element) for index, element in enumerate(summary.first)))


def _block(query: Query, summary: Summary, place: int, element: Element) -> Block:
    key = f"f{place}"
    if isinstance(element, IUnit):
        return text_block(query.iunits[element.id], key=key, id=element.id, kind="iunit")
    below = tuple(
        text_block(query.iunits[item.id], key=f"s{place}.{number}", id=item.id, kind="iunit")
        for number, item in enumerate(summary.second[element.intent])
    )
    return text_block(query.intents[element.intent], key=key, id=element.intent, kind="link", inside=below)


def _positions(collection: Collection, runs: list[Run]) -> bytes:
    import pandas as pd  # noqa: PLC0415 - slow to import, and only `load` needs it

    positions = pd.concat([summary_positions(collection, run) for run in runs], ignore_index=True)
    content: bytes = positions.to_parquet()
    return content
