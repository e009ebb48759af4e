"""Registry of the kinds of task, and the check before a task.

A new kind is a module beside the others and a line here.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from study_app.study.entries import TaskEntry
from study_app.tasks import (
    answer_pairs,
    image_pairs,
    intent_votes,
    iunit_importance,
    questions,
    ranked_pairs,
    stream_pairs,
    stream_visits,
    summary_pairs,
)
from study_app.tasks.task_kind import Page, TaskKind

KINDS: Mapping[str, TaskKind] = {
    kind.name: kind
    for kind in (
        intent_votes.KIND,
        iunit_importance.KIND,
        summary_pairs.KIND,
        stream_visits.KIND,
        stream_pairs.KIND,
        ranked_pairs.KIND,
        answer_pairs.KIND,
        image_pairs.KIND,
        questions.KIND,
    )
}
"""Kinds of task by name, in the usual order of tasks in a study."""

STANDARD = "standard"
"""Value of ``instructions`` in a study file for prefcal's own instructions."""

TRIES = 2
"""Number of tries at a check; a worker who fails all of them is stopped."""

_OPTIONS = 3


def kind_of(entry: TaskEntry) -> TaskKind:
    """Return the kind of a task."""
    return KINDS[entry.kind]


def kinds_with(page: Page) -> tuple[str, ...]:
    """Return the names of the kinds of task with this kind of answer page."""
    return tuple(name for name, kind in KINDS.items() if kind.page == page)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckItem:
    """Question of a check; if ``is_standard``, its texts are keys of the catalogue."""

    question: str
    options: tuple[str, ...]
    answer: int
    is_standard: bool


def standard_check(kind: str, shows: Collection[str]) -> tuple[CheckItem, ...]:
    """Return prefcal's own check of a kind of task whose pages have ``shows``."""
    return tuple(
        CheckItem(
            question=f"check.{kind}.{question}",
            options=tuple(f"check.{kind}.{question}_{option}" for option in range(1, _OPTIONS + 1)),
            answer=answer,
            is_standard=True,
        )
        for question, answer in zip(KINDS[kind].asks(shows), KINDS[kind].check, strict=True)
    )


def check_of(entry: TaskEntry, shows: Collection[str] = ()) -> tuple[CheckItem, ...]:
    """Return the check before a task; empty if it has none.

    Prefcal's own check goes with prefcal's own instructions only, since it asks about their content. ``shows`` names the features of the
    task's pages; the number of questions and the right options do not depend on it.
    """
    if entry.check is None:
        return standard_check(entry.kind, shows) if entry.instructions == STANDARD else ()
    return tuple(
        CheckItem(question=item.question, options=tuple(item.options), answer=item.answer, is_standard=False)
        for item in entry.check
    )
