"""Kind of task `questions`: workers answer the study's own questions.

They come before other tasks or after them.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from metrics.errors import Fault
from study_app.study.entries import Contradiction, KeyPath, Question, QuestionTask, expect_entry_type
from study_app.tasks.content import TaskContent, TopicContent
from study_app.tasks.task_kind import TaskKind
from study_app.tasks.workload import (
    ANSWERING,
    NOTHING,
    SecondsRange,
    count_phrase,
    read_once,
    reading_seconds,
)

TOPIC = "questions"
"""The one topic of a task that has none."""


class Questions(QuestionTask):
    """Answer questions, before other tasks or after."""

    kind: Literal["questions"]


def _rules(task: Questions) -> Iterator[Contradiction]:
    ids = [question.id for question in task.questions]
    for number, question in enumerate(task.questions):
        key_path: KeyPath = ("questions", number)
        if question.id in ids[:number]:
            yield (*key_path, "id"), f"two questions are named {question.id!r}", "give each an id of its own"
        yield from (((*key_path, *inner), wrong, cure) for inner, wrong, cure in _question_rules(question))


def _question_rules(question: Question) -> Iterator[Contradiction]:
    chosen = question.type in {"single", "multiple"}
    if chosen and len(question.options) < 2:
        yield ("options",), f"a {question.type} question needs two options at least", "list its options"
    if not chosen and question.options:
        yield ("options",), f"a {question.type} question has no options", "remove them, or write type: single"
    if len(set(question.options)) < len(question.options):
        yield ("options",), "two options are the same", "keep one of them"
    for answer in question.screen_out:
        if answer not in question.options:
            yield (
                ("screen_out",),
                f"{answer!r} is not one of the options",
                "write it as it stands under options",
            )
    if question.type != "number" and (question.min is not None or question.max is not None):
        yield ("min",), f"a {question.type} question has no least or greatest number", "remove min and max"
    if question.min is not None and question.max is not None and question.min > question.max:
        yield ("min",), "min is more than max", "exchange them"


def _read(folder: Path, task: Questions, faults: list[Fault]) -> TaskContent:  # noqa: ARG001 - no files
    topic = TopicContent(id=TOPIC, text=task.title or "")
    return TaskContent(entry=task, files={}, systems={}, topics=(topic,))


def _says(entry: Questions) -> set[str]:
    """Return which types of questions there are, and whether some may be left out."""
    types: set[str] = {question.type for question in entry.questions}
    return types | {"optional" for question in entry.questions if not question.required}


def _seconds(content: TaskContent) -> SecondsRange:
    entry = expect_entry_type(content.entry, Questions)
    return sum((_question_seconds(question, entry.language) for question in entry.questions), NOTHING)


def _question_seconds(question: Question, language: str) -> SecondsRange:
    text = " ".join([question.text, *question.options])
    return read_once(reading_seconds(text, language)) + ANSWERING[question.type]


KIND = TaskKind(
    entry=Questions,
    parts={"questions": Question},
    rules=_rules,
    page="questions",
    unit="all",
    topic="Questions",
    read=_read,
    optional=("optional", "single", "multiple", "number", "text"),
    says=_says,
    check=(2, 1),
    seconds=_seconds,
    capacity=lambda _content: None,
    work=lambda content: (
        f"answers {count_phrase(len(expect_entry_type(content.entry, Questions).questions), 'question')}"
    ),
    tables=frozenset({"answers"}),
    methods=lambda _task: "a worker answered questions.",
)
