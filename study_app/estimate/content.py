"""Reads the collections and runs that a study file names, and makes of them what `load` stores.

Files that are missing come out first; when all are there, every fault of every file at once. Nothing here touches the
database. What a kind of task needs is in `study_app.tasks.summary_pairs` and `study_app.tasks.stream_visits`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from metrics.errors import Fault, FaultLog, InputError
from study_app.study.entries import (
    AnyTask,
    IUnitImportance,
    Questions,
    RankedPairs,
    StreamPairs,
    StreamVisits,
)
from study_app.study.file import StudyFile, read_study_file
from study_app.study.named_files import note_missing_files
from study_app.study.standard_words import UNWRITTEN
from study_app.tasks.content import TaskContent, TopicContent
from study_app.tasks.ranked_pairs import read_ranked_content
from study_app.tasks.stream_pairs import read_push_content
from study_app.tasks.stream_visits import StreamContent, read_stream_content
from study_app.tasks.summary_pairs import SummaryContent, read_summary_content

AnyContent: TypeAlias = SummaryContent | StreamContent | TaskContent
QUESTIONS_TOPIC = "questions"
"""The one topic of a task that has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyContent:
    """A study file, and all that its tasks need."""

    file: StudyFile
    tasks: tuple[AnyContent, ...]


def read_study_content(file: StudyFile) -> StudyContent:
    """Read everything a study file names.

    Raises
    ------
    InputError
        With every file that is missing; else with every fault of the readers; else with events that two tasks have; else with tasks of
        ratings that have nothing to rate.
    """
    _check_files_exist(file)
    faults: list[Fault] = []
    folder = file.path.parent
    read = [_task_content(folder, task, faults) for task in file.entry.tasks]
    tasks = tuple(task for task in read if task is not None)
    if faults:
        raise InputError(list(dict.fromkeys(faults)))
    _check_events(file, tasks)
    _check_can_be_rated(file, tasks)
    return StudyContent(file=file, tasks=tasks)


def read_ready_study(path: str | Path) -> StudyContent:
    """Read a study that people are to take part in, and everything it names.

    Raises
    ------
    InputError
        As `read_study_file` and `read_study_content` do, and where its consent is not written yet.
    """
    file = read_study_file(path)
    log = FaultLog(file.path)
    _note_unwritten(file, log)
    try:
        content = read_study_content(file)
    except InputError as error:
        raise InputError([*log.faults, *error.faults]) from None
    log.raise_if_any()
    return content


def _note_unwritten(file: StudyFile, log: FaultLog) -> None:
    """Find what `prefcal study new` left to the researcher in the consent, each with its line."""
    words = [word for word in UNWRITTEN if word in file.entry.consent]
    begin = file.line("consent")
    end = min((line for place, line in file.lines.items() if len(place) == 1 and line > begin), default=None)
    text = dict(enumerate(file.source.splitlines()[begin - 1 : end and end - 1], start=begin))
    for word in words:
        for line in [line for line in text if word in text[line]] or [begin]:
            log.add(f"the consent text still has {word}", line=line, cure="say there what only you know")


def _task_content(folder: Path, task: AnyTask, faults: list[Fault]) -> AnyContent | None:
    match task:
        case StreamVisits():
            return read_stream_content(folder, task, faults)
        case StreamPairs():
            return read_push_content(folder, task, faults)
        case RankedPairs():
            return read_ranked_content(folder, task, faults)
        case Questions():
            topic = TopicContent(id=QUESTIONS_TOPIC, text=task.title or "")
            return TaskContent(entry=task, files={}, systems={}, topics=(topic,), shown={}, tables={})
    return read_summary_content(folder, task, faults)


def _check_files_exist(file: StudyFile) -> None:
    log = FaultLog(file.path)
    note_missing_files(file.entry.model_dump(), file.path.parent, file.lines, log)
    log.raise_if_any()


def _check_events(file: StudyFile, tasks: tuple[AnyContent, ...]) -> None:
    """Refuse an event of two tasks: the tables know a follow by worker and event."""
    log = FaultLog(file.path)
    seen: dict[str, str] = {}
    for number, task in enumerate(tasks):
        events = [event.id for event in task.events] if isinstance(task, StreamContent) else []
        for event in events:
            if event in seen:
                log.add(
                    f"event {event} of task {task.entry.name!r} is in task {seen[event]!r} already",
                    line=file.line("tasks", number, "collection"),
                    cure="give the tasks collections without common events, or put their systems into one task",
                )
            seen.setdefault(event, str(task.entry.name))
    log.raise_if_any()


def _check_can_be_rated(file: StudyFile, tasks: tuple[AnyContent, ...]) -> None:
    """Refuse a task of ratings without anything to rate; that every query has an intent, the reader sees to."""
    log = FaultLog(file.path)
    for number, task in enumerate(tasks):
        if not isinstance(task.entry, IUnitImportance) or not isinstance(task, SummaryContent):
            continue
        if not any(query.iunits for query in task.queries):
            log.add(
                f"no query of task {task.entry.name!r} has an iUnit, so there is nothing to rate",
                line=file.line("tasks", number, "collection"),
                cure="name a file of iunits that has some, or take the task out of the study",
            )
    log.raise_if_any()
