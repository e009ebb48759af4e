"""Reads the collections and runs that a study file names, and makes of them what `load` stores.

Every fault of every file comes out at once. Nothing here touches the database.
"""

import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metrics.counting import counted_chars
from metrics.errors import Fault, FaultLog, InputError
from metrics.readers.mobileclick import read_collection_files
from metrics.readers.mobileclick_runs import read_run
from metrics.summaries import summary_positions
from metrics.two_layered import Collection, Element, IUnit, Query, Run, Summary
from study_app.study_file import IntentVotes, StudyFile, SummaryPairs


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file that a study was made of: its path as the study file writes it, and the hash of its bytes."""

    path: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskContent:
    """All that one task needs.

    Attributes
    ----------
    entry : IntentVotes or SummaryPairs
        What the study file says.
    files : mapping of str to SourceFile
        Kind -> file of the collection.
    systems : mapping of str to SourceFile
        Name -> run, in the order of the study file; empty for a task without runs.
    queries : tuple of Query
        In the order of the collection.
    summaries : mapping of (str, str) to dict
        (query, system) -> what is shown, as `models.Summary` describes it.
    tables : mapping of str to bytes
        Name -> table derived from collection and runs, as Parquet.
    """

    entry: IntentVotes | SummaryPairs
    files: Mapping[str, SourceFile]
    systems: Mapping[str, SourceFile]
    queries: tuple[Query, ...]
    summaries: Mapping[tuple[str, str], dict[str, Any]]
    tables: Mapping[str, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyContent:
    """A study file, and all that its tasks need."""

    file: StudyFile
    tasks: tuple[TaskContent, ...]


def read_study_content(file: StudyFile) -> StudyContent:
    """Read everything a study file names.

    Raises
    ------
    InputError
        With every fault of every file: those of `read_collection_files` and `read_run`, and files that are missing.
    """
    _check_files_exist(file)
    faults: list[Fault] = []
    tasks = [_task_content(file, task, faults) for task in file.entry.tasks]
    if faults:
        raise InputError(list(dict.fromkeys(faults)))
    return StudyContent(file=file, tasks=tuple(task for task in tasks if task is not None))


def collection_paths(task: IntentVotes | SummaryPairs) -> dict[str, str]:
    """Return kind -> path as written, of the files that the task's collection has."""
    return {kind: path for kind, path in task.collection.model_dump().items() if path is not None}


def _check_files_exist(file: StudyFile) -> None:
    log = FaultLog(file.path)
    for number, task in enumerate(file.entry.tasks):
        named = [(("collection", kind), path) for kind, path in collection_paths(task).items()]
        if isinstance(task, SummaryPairs):
            named += [(("systems", name), path) for name, path in task.systems.items()]
        for key, path in named:
            if not (file.path.parent / path).is_file():
                log.add(
                    f"{'.'.join(key)}: there is no file {path}",
                    line=file.line("tasks", number, *key),
                    cure="correct the path; it is relative to the study file",
                )
    log.raise_if_any()


def _task_content(
    file: StudyFile, task: IntentVotes | SummaryPairs, faults: list[Fault]
) -> TaskContent | None:
    """Read one task's files; adds what is wrong with them to ``faults`` and returns None then."""
    folder = file.path.parent
    paths = collection_paths(task)
    systems = task.systems if isinstance(task, SummaryPairs) else {}
    try:
        collection = read_collection_files(
            {kind: folder / path for kind, path in paths.items()}, name=paths["queries"]
        )
    except InputError as error:
        faults += error.faults
        return None
    runs = [_run(folder / path, collection, name, faults) for name, path in systems.items()]
    whole = [run for run in runs if run is not None]
    if len(whole) < len(runs):
        return None
    return TaskContent(
        entry=task,
        files=_source_files(folder, paths),
        systems=_source_files(folder, systems),
        queries=tuple(collection.queries.values()),
        summaries={
            (query.id, run.name): shown_summary(query, run.summaries[query.id])
            for query in collection.queries.values()
            for run in whole
        },
        tables={"positions": _positions(collection, whole)} if whole and "importance" in paths else {},
    )


def _run(path: Path, collection: Collection, name: str, faults: list[Fault]) -> Run | None:
    try:
        return read_run(path, collection, name=name)
    except InputError as error:
        faults += error.faults
        return None


def _source_files(folder: Path, paths: Mapping[str, str]) -> dict[str, SourceFile]:
    return {
        name: SourceFile(path=path, sha256=hashlib.sha256((folder / path).read_bytes()).hexdigest())
        for name, path in paths.items()
    }


def shown_summary(query: Query, summary: Summary) -> dict[str, Any]:
    """Return a summary with its texts, ready to show; `models.Summary` describes the form."""
    return {"first": [_shown_element(query, summary, element) for element in summary.first]}


def _shown_element(query: Query, summary: Summary, element: Element) -> dict[str, Any]:
    if isinstance(element, IUnit):
        return {"kind": "iunit", "id": element.id, **_text(query.iunits[element.id])}
    below = summary.second[element.intent]
    return {
        "kind": "link",
        "id": element.intent,
        **_text(query.intents[element.intent]),
        "second": [_shown_element(query, summary, item) for item in below],
    }


def _text(text: str) -> dict[str, Any]:
    return {"text": text, "words": len(text.split()), "chars": counted_chars(text)}


def _positions(collection: Collection, runs: list[Run]) -> bytes:
    import pandas as pd  # noqa: PLC0415 - slow to import, and only `load` needs it

    buffer = io.BytesIO()
    pd.concat([summary_positions(collection, run) for run in runs], ignore_index=True).to_parquet(buffer)
    return buffer.getvalue()
