"""The one table of kinds of task. A new kind is a module beside the others and a line here."""

from collections.abc import Mapping

from study_app.study.entries import TaskEntry
from study_app.tasks import (
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
        questions.KIND,
    )
}
"""Name -> kind of task, in the order in which workers would do them."""


def kind_of(entry: TaskEntry) -> TaskKind:
    """Return the kind of a task."""
    return KINDS[entry.kind]


def kinds_with(page: Page) -> tuple[str, ...]:
    """Return the names of the kinds whose answer pages are of a kind."""
    return tuple(name for name, kind in KINDS.items() if kind.page == page)
