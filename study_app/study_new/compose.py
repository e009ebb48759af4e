"""Text of a first study file, and its safe writing.

It has the tasks that the collections allow, with the meaning of every key; it is checked, written whole, and
replaces no other file.
"""

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import yaml
from pydantic_core import PydanticUndefined

from metrics.errors import Fault, InputError, input_fault
from metrics.files import sync, temporary_path
from study_app.estimate.consent import duration_of, money
from study_app.estimate.content import StudyContent, read_whole_study
from study_app.estimate.estimate import estimate, units_there
from study_app.protocol.domain import MIN_VALIDATIONS
from study_app.study.entries import ChosenTopicTask, JudgingTask, StudyFileModel, TaskWithSearch
from study_app.study.platforms import PLATFORMS
from study_app.study.standard_texts import consent_of, looks_japanese
from study_app.study_new.collections import (
    CollectionSearch,
    FoundCollection,
    collections,
    faults_of,
    system_names,
)
from study_app.study_new.picture_folders import picture_folders
from study_app.study_new.recognise import RecognisedFile, Unknown, files_in, recognise, split_pictures
from study_app.tasks.content import (
    AnswerFiles,
    EventFiles,
    ImageFiles,
    PushFiles,
    RankedFiles,
    SummaryFiles,
    TaskContent,
)
from study_app.tasks.kinds import KINDS, kind_of
from study_app.tasks.task_kind import NewTask, TaskKind

FILE = "study.yaml"
SINGLE_PAIRS = 10
"""Queries of a worker where each has one pair and needs no search.

A visit for a single pair is not worth a worker's while.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PossibleTask:
    """Task to write: its kind, its texts for new study files, and its collection."""

    kind: TaskKind
    new: NewTask
    found: FoundCollection


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Researcher's answers; None for values to be chosen or filled in later.

    ``title`` is None for one that fits the tasks; the last two are None for blanks to fill in.
    """

    study: str
    title: str | None
    language: str
    platform: str
    device: str
    return_url: str | None
    contact: str | None
    keep: str | None
    reward: float | None
    currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftLimits:
    """Limits from a draft of the study file, and a worker's time.

    Attributes
    ----------
    limits : sequence of mapping of str to int or float
        For each task, key -> value in the place of the kind's default.
    duration : str
        In words, for the consent text.
    """

    limits: Sequence[Mapping[str, float]]
    duration: str


INTRODUCED = {
    "instructions": "prefcal's own words before the task; or your own text, or null for no such page",
    "example": "a worked example on that page",
    "check": "null: prefcal's own questions, with two tries; [] for none; or a list of your own",
}


def comments(kind: TaskKind) -> Mapping[str, str]:
    """Return the comment of each key, in the order of writing."""
    return {} if kind.new is None else {**INTRODUCED, **kind.new.comments}


def protocol_values(kind: TaskKind, language: str) -> dict[str, Any]:
    """Return every written key of a kind with its default.

    Kinds without days lack the key days.
    """
    fields = kind.entry.model_fields
    values = {key: fields[key].default for key in comments(kind)}
    values["instructions"] = "standard"
    if values.get("validation_pairs") == 0:  # without repeats nobody could be told to be careless
        values["validation_pairs"] = MIN_VALIDATIONS
    if language in kind.criteria:
        values["criteria"] = list(kind.criteria[language])
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in values.items()
        if value is not PydanticUndefined
    }


def possible_tasks(whole: Sequence[FoundCollection]) -> list[PossibleTask]:
    """Return every task for which there are enough runs, in workers' order."""
    return [
        PossibleTask(kind=kind, new=kind.new, found=collection)
        for collection in whole
        for kind in KINDS.values()
        if kind.new is not None and len(collection.runs) >= kind.new.runs.get(collection.family, math.inf)
    ]


def usual_tasks(possible: Sequence[PossibleTask]) -> list[PossibleTask]:
    """Return the tasks to write by default."""
    return [task for task in possible if task.new.usual(task.found)]


def language_of(whole: Sequence[FoundCollection]) -> str:
    """Return ja where the texts are mostly Japanese, else en."""
    texts = (
        row[-1]
        for collection in whole
        for key, file in collection.files.items()
        if key in {"queries", "texts", "nuggets", "topics"}
        for row in file.rows[:1_000]
    )
    return "ja" if looks_japanese(texts) else "en"


COMMENT_COLUMN = 32

FILES_OF_FAMILY: dict[str, type[StudyFileModel]] = {
    "summaries": SummaryFiles,
    "events": EventFiles,
    "pushes": PushFiles,
    "ranked": RankedFiles,
    "images": ImageFiles,
    "answers": AnswerFiles,
}

HEAD = """\
# Written by `prefcal study new`. Make title and consent your own; every number below may be changed.
# `prefcal study check` says what does not fit, what workers will do, for how long, and what it costs;
# `prefcal study preview` opens every page as they will see it. All keys: docs/study-file.md
"""

SYSTEMS_COMMENT = "the names stand in every table; workers never see them"


def study_text(answers: Answers, tasks: list[PossibleTask], folder: Path, fitted: DraftLimits) -> str:
    """Return the study file that is to stand in ``folder``."""
    return (
        HEAD
        + "\n".join(
            [
                *_study_lines(answers, tasks, fitted.duration),
                "",
                "tasks:",
                *_task_lines(answers, tasks, folder, fitted.limits),
            ]
        )
        + "\n"
    )


def fit_limits(draft: StudyContent, language: str) -> DraftLimits:
    """Return limits that fit the available pairs, and a worker's time.

    The study was drafted without limits first.
    """
    limits = [_limits(task) for task in draft.tasks]
    entries = [
        task.entry.model_copy(update=dict(changes)) for task, changes in zip(draft.tasks, limits, strict=True)
    ]
    entry = draft.file.entry.model_copy(update={"tasks": tuple(entries)})
    seconds = estimate(
        StudyContent(
            file=replace(draft.file, entry=entry),
            tasks=tuple(
                replace(task, entry=fitted) for task, fitted in zip(draft.tasks, entries, strict=True)
            ),
        )
    ).seconds
    return DraftLimits(limits=limits, duration=duration_of(entry, seconds, language))


def _limits(task: TaskContent) -> dict[str, float]:
    """Return adjusted limits of a task, by key.

    A limit is adjusted if it exceeds what there is, or is too small to be worth a worker's coming.
    """
    entry, kind = task.entry, kind_of(task.entry)
    limits: dict[str, float] = {}
    if kind.wanted_key is not None:
        unit_count = kind.wanted(entry)
        if (
            isinstance(entry, ChosenTopicTask)
            and not isinstance(entry, TaskWithSearch)
            and max(task.pairs_of_topics) == 1
        ):
            unit_count = SINGLE_PAIRS
        units = units_there(task)[0]
        if min(unit_count, units) != kind.wanted(entry):
            limits[kind.wanted_key] = min(unit_count, units)
    if isinstance(entry, JudgingTask):
        fitted = entry.model_copy(update=dict(limits))
        repeats = fitted.repeats_of_a_worker(task.pairs_of_topics)
        if repeats < MIN_VALIDATIONS:
            limits |= {"validation_pairs": 0, "min_consistency": 0}
        elif isinstance(fitted, ChosenTopicTask):
            limits["validation_pairs"] = fitted.pairs_and_repeats(max(task.pairs_of_topics))[1]
    return limits


def _study_lines(answers: Answers, tasks: list[PossibleTask], duration: str) -> Iterator[str]:
    language, main = answers.language, min((task.new for task in tasks), key=lambda new: new.telling)
    yield ""
    yield _line(0, "study", answers.study, "short name, used in addresses: /s/NAME")
    yield _line(0, "title", answers.title or main.title[language], "what workers see first")
    yield ""
    yield "# Shown before anything is stored; an empty line begins a new paragraph. Add what your ethics board requires."
    yield "consent: |"
    activities = [task.new.activity[language] for task in tasks]
    consent = consent_of(
        activities,
        language,
        duration=duration,
        pay=None if answers.reward is None else money(answers.reward, answers.currency, language),
        contact=answers.contact,
        keep=answers.keep,
    )
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
    reward_comment = (
        "what a worker is paid: `study check` then says what the study costs; the consent says it too"
    )
    if answers.reward is None:
        yield f"# reward: 3.00                  # {reward_comment}"
        yield "# currency: USD"
    else:
        yield _line(0, "reward", answers.reward, reward_comment)
        yield _line(0, "currency", answers.currency, "of the reward")
    yield "# platform_fee: 0.33            # what the platform takes on top, as a share of the reward"


def _task_lines(
    answers: Answers, tasks: list[PossibleTask], folder: Path, limits: Sequence[Mapping[str, float]]
) -> Iterator[str]:
    names: list[str] = []
    for task, task_limits in zip(tasks, limits, strict=True):
        name = task.new.name
        names.append(name)
        again = names.count(name)
        yield ""
        yield f"  - kind: {task.kind.name}"
        yield _line(
            4, "name", name if again == 1 else f"{name}-{again}", "what this task is called in the tables"
        )
        yield _line(4, "language", answers.language, "of the collection, and of the pages around it")
        yield "    collection:"
        for key, file in _files_of(task).items():
            yield f"      {key}: {_scalar(_relative(file, folder))}"
        if "systems" in task.kind.entry.model_fields:
            yield f"    systems:                    # {SYSTEMS_COMMENT}"
            for system, path in system_names(task.found.runs).items():
                yield f"      {_scalar(system)}: {_scalar(_relative(path, folder))}"
        yield from _protocol_lines(task, answers.language, folder, task_limits)


def _files_of(task: PossibleTask) -> Mapping[str, Path]:
    """Return the files by key, in the order of docs/study-file.md."""
    files = task.found.files
    return {key: files[key].path for key in FILES_OF_FAMILY[task.found.family].model_fields if key in files}


def _protocol_lines(
    task: PossibleTask, language: str, folder: Path, limits: Mapping[str, float]
) -> Iterator[str]:
    values = protocol_values(task.kind, language)
    if "pairs" in values and "pairs" in task.found.files:
        values["pairs"] = _relative(task.found.files["pairs"].path, folder)
    values |= {key: value for key, value in limits.items() if key in values}
    days = task.new.days(task.found)
    if days is not None:
        values["days"] = days
    for key, comment in comments(task.kind).items():
        if key in values:
            yield from _value_lines(key, values[key], comment)


def _value_lines(key: str, value: Any, comment: str) -> Iterator[str]:
    if key == "criteria":
        yield f"    {key}:".ljust(COMMENT_COLUMN) + f"# {comment}"
        yield from (f"      - {_scalar(item)}" for item in value)
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


ABOUT_FILES = {"readme", "license", "licence"}
"""Names, without their ends, of files of a folder that say what is in it, and hold no data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartingFiles:
    """Whole collections, partial ones, and unused files with ``reasons``."""

    whole: list[FoundCollection]
    partial: list[CollectionSearch]
    unused: list[Path]
    reasons: Mapping[Path, str]


def find_material(places: Sequence[Path]) -> StartingFiles:
    """Recognise what is in files and folders.

    Raises
    ------
    InputError
        If a place is not there, or nothing in them is a whole collection with runs: then with what is missing.
    """
    missing = [place for place in places if not place.exists()]
    if missing:
        cure = "name where your collection and runs are"
        raise InputError([_fault(place, "there is no such file or folder", cure) for place in missing])
    pictures, paths = split_pictures(files_in(places))
    seen = [recognise(path) for path in paths if path in places or path.stem.casefold() not in ABOUT_FILES]
    known = [file for file in seen if isinstance(file, RecognisedFile)]
    folders = list(picture_folders(pictures, paths, known))
    whole, partial = collections([*known, *(file for file in folders if isinstance(file, RecognisedFile))])
    seen += [folder for folder in folders if isinstance(folder, Unknown)]
    if whole:
        used = {file.path for collection in whole for file in (*collection.files.values(), *collection.runs)}
        reasons = {file.path: unused_reason(file) for file in seen if file.path not in used}
        return StartingFiles(whole=whole, partial=partial, unused=list(reasons), reasons=reasons)
    taken = {file.path for search in partial for file in search.files.values()}
    taken |= {path for search in partial for paths in search.doubtful.values() for path in paths}
    taken |= {file.path for search in partial for file in search.runs}
    faults = [
        _fault(file.path, f"not used: {unused_reason(file)}", "docs/study-file.md has the forms")
        for file in seen
        if file.path not in taken
    ]
    if partial:
        lacking = [fault for search in partial for fault in faults_of(search, places[0], paths)]
        raise InputError([*lacking, *faults])
    nothing = _fault(
        places[0],
        f"nothing of a collection among {len(paths) + len(pictures)} files",
        "name the folder with a MobileClick, Temporal Summarization, Microblog or ranked collection and its runs, or with answers or pictures",
    )
    raise InputError([nothing, *faults])


def _fault(path: Path, problem: str, cure: str) -> Fault:
    return Fault(problem=problem, cure=cure, path=str(path))


def unused_reason(file: RecognisedFile | Unknown) -> str:
    """Return why a file is unused: what it is, and what it lacks."""
    if isinstance(file, Unknown):
        return file.why
    example = f" such as {file.rows[0][0]!r}" if file.rows else ""
    return f"{file.why}, whose ids{example} go with no other file here, or which nothing here needs"


def study_place(folder: Path) -> Path:
    """Return the path of the study file.

    It raises `InputError` when there is one already.
    """
    path = folder / FILE
    if path.exists():
        raise input_fault(
            "there is a study already", path=path, cure="name another folder; nothing was changed"
        )
    if folder.exists() and not folder.is_dir():
        raise input_fault("this is a file", path=folder, cure="name the folder that the study is to stand in")
    return path


def write_study(folder: Path, answers: Answers, tasks: list[PossibleTask]) -> Path:
    """Write the study file and the drafts that it names, if they have no fault.

    A fault leaves nothing behind.

    Raises
    ------
    InputError
        If there is a study file already, a folder cannot be written to, or a file of the collections has faults.
    """
    path = study_place(folder)
    was_there = folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        draft = DraftLimits(limits=[{}] * len(tasks), duration="")
        with _written(drafts(tasks)):
            content = _check(study_text(answers, tasks, folder, draft), path)
            text = study_text(answers, tasks, folder, fit_limits(content, answers.language))
            with temporary_path(path) as part:
                part.write_text(text, encoding="utf-8")
                sync(part)
                os.link(part, path)
    except FileExistsError:
        raise input_fault("there is a study already", path=path, cure="name another folder") from None
    except OSError as error:
        raise input_fault(
            f"cannot be written ({error.strerror})", path=path, cure="choose another place"
        ) from None
    finally:
        if not was_there and folder.is_dir() and not path.exists():
            folder.rmdir()
    return path


def drafts(tasks: Sequence[PossibleTask]) -> list[RecognisedFile]:
    """Return the files that the tasks name and that are not there yet."""
    runs = {run.path: run for task in tasks for run in task.found.runs if run.draft}
    return list(runs.values())


@contextmanager
def _written(files: Sequence[RecognisedFile]) -> Iterator[None]:
    """Write drafts over no other file; remove them if a later step fails.

    It raises `InputError` where one cannot be written.
    """
    made: list[Path] = []
    try:
        for file in files:
            try:
                with file.path.open("x", encoding="utf-8") as stream:
                    made.append(file.path)
                    stream.write(file.draft)
            except OSError as error:
                cure = "copy the pictures to a place of your own"
                problem = f"cannot be written ({error.strerror})"
                raise input_fault(problem, path=file.path, cure=cure) from None
        yield
    except BaseException:
        for path in made:
            path.unlink(missing_ok=True)
        raise


def _check(text: str, path: Path) -> StudyContent:
    """Check a study file before it is written.

    It checks a copy beside the file's path, since the files that it names are relative to it.
    """
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.") as draft:
        draft.write(text.encode())
        draft.flush()
        try:
            return read_whole_study(Path(draft.name))
        except InputError as error:
            raise InputError([_in_place(fault, Path(draft.name), path) for fault in error.faults]) from None


def _in_place(fault: Fault, part: Path, path: Path) -> Fault:
    """Return a fault under the file's final name."""
    if fault.path is None:
        return fault
    return replace(fault, path=str(path) if fault.path == str(part) else os.path.normpath(fault.path))
