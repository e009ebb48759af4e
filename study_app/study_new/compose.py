"""The text of a new study file: every key with its comment, paths relative to the file."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from study_app.study.entries import Entry
from study_app.study.platforms import PLATFORMS
from study_app.study.standard_words import consent_of
from study_app.study_new.collections import Found, system_names
from study_app.study_new.protocol import comments, protocol_values
from study_app.tasks.content import EventFiles, PushFiles, RankedFiles, SummaryFiles
from study_app.tasks.task_kind import NewTask, TaskKind

COMMENT_COLUMN = 32
FILES_OF_FAMILY: dict[str, type[Entry]] = {
    "summaries": SummaryFiles,
    "events": EventFiles,
    "pushes": PushFiles,
    "ranked": RankedFiles,
}
HEAD = """\
# Written by `prefcal study new`. Make title and consent your own; every number below may be changed.
# `prefcal study check` says what does not fit, what workers will do, for how long, and what it costs;
# `prefcal study preview` opens every page as they will see it. All keys: docs/study-file.md
"""
SYSTEMS_COMMENT = "the names stand in every table; workers never see them"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPlan:
    """One task to write: its kind, what of that is for new study files, and what it is about."""

    kind: TaskKind
    new: NewTask
    found: Found


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the researcher said; ``title`` None for one that fits the tasks, the last two None for places to write them."""

    study: str
    title: str | None
    language: str
    platform: str
    device: str
    return_url: str | None
    contact: str | None
    keep: str | None


def study_text(answers: Answers, tasks: list[TaskPlan], folder: Path) -> str:
    """Return the study file that is to stand in ``folder``."""
    return (
        HEAD
        + "\n".join([*_study_lines(answers, tasks), "", "tasks:", *_task_lines(answers, tasks, folder)])
        + "\n"
    )


def _study_lines(answers: Answers, tasks: list[TaskPlan]) -> Iterator[str]:
    language, main = answers.language, min((task.new for task in tasks), key=lambda new: new.telling)
    yield ""
    yield _line(0, "study", answers.study, "short name, used in addresses: /s/NAME")
    yield _line(0, "title", answers.title or main.title[language], "what workers see first")
    yield ""
    yield "# Shown before anything is stored; an empty line begins a new paragraph. Add what your ethics board requires."
    yield "consent: |"
    activities = [task.new.activity[language] for task in tasks]
    consent = consent_of(activities, language, contact=answers.contact, keep=answers.keep)
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
    yield "# reward: 3.00                  # what a worker is paid: `study check` then says what the study costs"
    yield "# currency: USD"
    yield "# platform_fee: 0.33            # what the platform takes on top, as a share of the reward"


def _task_lines(answers: Answers, tasks: list[TaskPlan], folder: Path) -> Iterator[str]:
    names: list[str] = []
    for task in tasks:
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
        yield from _protocol_lines(task, answers.language)


def _files_of(task: TaskPlan) -> Mapping[str, Path]:
    """Return key -> file in the order in which docs/study-file.md has them."""
    found = task.found.files
    return {key: found[key].path for key in FILES_OF_FAMILY[task.found.family].model_fields if key in found}


def _protocol_lines(task: TaskPlan, language: str) -> Iterator[str]:
    values = protocol_values(task.kind, language)
    days = task.new.days(task.found)
    if days is not None:
        values["days"] = days
    for key, comment in comments(task.kind).items():
        if key in values:
            yield from _value_lines(key, values[key], comment)


def _value_lines(key: str, value: Any, comment: str) -> Iterator[str]:
    if key == "criteria":
        yield f"    {key}:".ljust(COMMENT_COLUMN) + f"# {comment}"
        yield from (f"      - {_scalar(one)}" for one in value)
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
