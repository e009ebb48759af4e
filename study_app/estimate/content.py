"""Contents of a study: the collections and runs that its file names.

Missing files are reported first; when all are there, every fault of every file at once. Nothing here touches
the database. The needs of a kind of task are in its module in `study_app.tasks`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from metrics.errors import Fault, FaultLog, InputError
from study_app.protocol.sides import Side
from study_app.study.entries import JudgingTask
from study_app.study.faults import note_missing_files
from study_app.study.file import StudyFile, read_study_file
from study_app.study.id_list import with_lists
from study_app.study.shared_pseudonyms import with_pseudonym_key
from study_app.study.signed_ids import with_keys
from study_app.study.standard_texts import UNWRITTEN
from study_app.tasks.content import UNSHOWN, TaskContent
from study_app.tasks.kinds import KINDS, kind_of
from study_app.tasks.reading.couples import with_pairs

NO_PAIR = ("no two systems show anything of one topic", "give two systems or more the same topics")
NO_JUDGED_PAIR = (
    "all pairs are gold pairs, whose answers are known",
    "leave pairs to judge out of gold_pairs",
)
"""Faults of a task of pairs without any, and their cures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyContent:
    """Study file, with the contents that its tasks need."""

    file: StudyFile
    tasks: tuple[TaskContent, ...]


def read_study_content(file: StudyFile) -> StudyContent:
    """Read everything a study file names.

    Raises
    ------
    InputError
        With texts of the study file that no page can show; else with every file that is missing; else with every fault of the readers;
        else with events that two tasks have; else with tasks in which there is nothing to do, and texts that no page can show.
    """
    _check_texts(file)
    _check_files_exist(file)
    faults: list[Fault] = []
    folder = file.path.parent
    read = (kind_of(task).read(folder, task, faults) for task in file.entry.tasks)
    judged = [None if task is None else with_pairs(folder, task, faults) for task in read]
    tasks = tuple(task for task in judged if task is not None)
    if faults:
        raise InputError(list(dict.fromkeys(faults)))
    _check_events(file, tasks)
    _check_contents(file, tasks)
    return StudyContent(file=file, tasks=tasks)


def read_whole_study(path: str | Path) -> StudyContent:
    """Read a study file and everything it names.

    It raises `InputError` as `read_study_file` and `read_study_content` do.
    """
    return read_study_content(read_study_file(path, KINDS))


def read_ready_study(path: str | Path) -> StudyContent:
    """Read a study that is ready for workers, and everything it names.

    Raises
    ------
    InputError
        As `read_study_file`, `with_lists`, `with_keys`, `with_pseudonym_key` and `read_study_content` do, and where its consent is not written yet.
    """
    file = read_study_file(path, KINDS)
    log = FaultLog(file.path)
    _note_unwritten(file, log)
    try:
        content = read_study_content(with_pseudonym_key(with_keys(with_lists(file))))
    except InputError as error:
        raise InputError([*log.faults, *error.faults]) from None
    log.raise_if_any()
    return content


def _note_unwritten(file: StudyFile, log: FaultLog) -> None:
    """Add a fault for each placeholder left in the consent text."""
    words = [word for word in UNWRITTEN if word in file.entry.consent]
    begin = file.line("consent")
    end = min(
        (line for key_path, line in file.lines.items() if len(key_path) == 1 and line > begin), default=None
    )
    text = dict(enumerate(file.source.splitlines()[begin - 1 : end and end - 1], start=begin))
    for word in words:
        for line in [line for line in text if word in text[line]] or [begin]:
            log.add(f"the consent text still has {word}", line=line, cure="replace it")


def _check_files_exist(file: StudyFile) -> None:
    log = FaultLog(file.path)
    note_missing_files(file.entry.model_dump(), file.path.parent, file.lines, log)
    log.raise_if_any()


def _check_texts(file: StudyFile) -> None:
    log = FaultLog(file.path)
    for key_path, character in _unshown(file.entry.model_dump()):
        log.add(_cannot_show("the text", character), line=file.line(*key_path), cure="take it out")
    log.raise_if_any()


def _unshown(value: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield key path and first character of texts with one that cannot be shown."""
    if isinstance(value, str):
        match = UNSHOWN.search(value)
        if match:
            yield place, match[0]
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _unshown(str(key), (*place, key))
            yield from _unshown(inner, (*place, key))
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from _unshown(inner, (*place, number))


def _cannot_show(where: str, character: str) -> str:
    return f"{where} has a character that no page can show (U+{ord(character):04X})"


def _check_events(file: StudyFile, tasks: tuple[TaskContent, ...]) -> None:
    """Refuse an event in two tasks: the tables know a follow by worker and event."""
    log = FaultLog(file.path)
    seen: dict[str, str] = {}
    for number, task in enumerate(tasks):
        for event in task.topics if kind_of(task.entry).page == "stream" else ():
            if event.id in seen:
                log.add(
                    f"event {event.id} of task {task.entry.name!r} is in task {seen[event.id]!r} already",
                    line=file.line("tasks", number, "collection"),
                    cure="give the tasks collections without common events, or put their systems into one task",
                )
            seen.setdefault(event.id, str(task.entry.name))
    log.raise_if_any()


def _check_contents(file: StudyFile, tasks: tuple[TaskContent, ...]) -> None:
    """Refuse a task without work, or with contents that cannot be shown."""
    log = FaultLog(file.path)
    for number, task in enumerate(tasks):
        is_empty = isinstance(task.entry, JudgingTask) and not any(task.pairs_of_topics)
        no_pair = NO_JUDGED_PAIR if task.gold else NO_PAIR
        problems = (no_pair,) if is_empty else (*kind_of(task.entry).faults(task), *_unshown_contents(task))
        for problem, cure in problems:
            log.add(problem, line=file.line("tasks", number, "collection"), cure=cure)
    log.raise_if_any()


def _unshown_contents(task: TaskContent) -> Iterator[tuple[str, str]]:
    """Yield the contents of topics and systems that cannot be displayed.

    Each topic, and each topic and system, comes once, with its hint.
    """
    for topic in task.topics:
        texts = [topic.id, topic.text, topic.detail, topic.intents, topic.iunits]
        for _, character in islice(_unshown(texts), 1):
            yield _cannot_show(f"topic {topic.id}", character), "take it out of the collection's files"
    for (name, system), shown in task.shown.items():
        what, path = f"what {system} shows of topic {name}", task.systems[system].path
        for _, character in islice(_unshown(shown.json()), 1):
            yield _cannot_show(what, character), f"take it out of {path}, or of the texts that it names"
        if isinstance(shown, Side) and shown.blocks and not shown.is_visible:
            yield (
                f"there is nothing to see in {what}",
                f"give its lines in {path} words, a picture or a sound",
            )
