"""Consistency rules between rows that the schema cannot hold.

The server keeps them: rows that break one were changed by hand, or by a fault to report.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, exists, func, or_, select
from sqlalchemy.orm import aliased

from study_app.store.models import (
    Assignment,
    Ballot,
    Base,
    Judgment,
    PageLoad,
    Pair,
    PlatformEntry,
    PlatformIdentity,
    Showing,
    Slot,
    StoredEvent,
    System,
    Task,
    Topic,
    Worker,
)
from study_app.store.task_models import (
    CodeShown,
    Follow,
    Introduction,
    PlatformRecord,
    Rating,
    Reply,
    Sheet,
    StreamView,
    UsefulAnswer,
    UsefulQuestion,
)
from study_app.tasks.kinds import TRIES, kinds_with

BY_HAND = "undo what was changed by hand, or restore a backup from before"
REPORT = "keep the database and report this with the server's log"


@dataclass(frozen=True, slots=True, eq=False)
class ConsistencyRule:
    """A rule that must hold of every row of a table.

    Attributes
    ----------
    table : type of Base
        The model of the table.
    problem : str
        Fault of a row that breaks the rule.
    breaking : Select
        Ids of the rows that break it.
    hint : str
        How to mend it.
    """

    table: type[Base]
    problem: str
    breaking: Select[int]
    hint: str = BY_HAND


END = func.coalesce(Worker.completed_at, Worker.stopped_at)


def _in_slots(table: type[Showing | Judgment | Ballot | Rating | Reply], *parents: Any) -> Select[int]:
    """Select the ids of a table's rows, joined to their slots and assignments.

    ``parents`` are the relationships that lead to the slot.
    """
    query = select(table.id)
    for parent in parents:
        query = query.join(parent)
    return query.join(Assignment, Assignment.id == Slot.assignment_id)


def _revision_rule(
    table: type[Base],
    words: str,
    answer: type[Judgment | Ballot | UsefulAnswer | Rating | Reply],
    parent: str,
) -> ConsistencyRule:
    """Return the rule that the revisions of each answer are 1, 2, 3 and so on."""
    key = getattr(answer, parent)
    wrong = select(key).group_by(key).having(func.max(answer.revision) != func.count())
    return ConsistencyRule(table, f"has {words} whose revisions are not 1, 2, 3 and so on", wrong)


def _end_rule(table: type[Judgment | Ballot | Rating | Reply], *parents: Any) -> ConsistencyRule:
    """Return the rule that no answer came after its worker's part had ended."""
    late = (
        _in_slots(table, *parents)
        .join(Worker, Worker.id == Assignment.worker_id)
        .where(table.decided_at > END)
    )
    problem = "came after its worker's part had ended (was the clock set back?)"
    return ConsistencyRule(table, problem, late, REPORT)


def _study_rule(table: type[Assignment | Introduction]) -> ConsistencyRule:
    """Return the rule that worker and task of a row belong to one study."""
    crossed = (
        select(table.id)
        .join(Worker, Worker.id == table.worker_id)
        .join(Task, Task.id == table.task_id)
        .where(Worker.study_id != Task.study_id)
    )
    return ConsistencyRule(table, "of a worker of one study to a task of another", crossed)


def _done_rule(words: str, pages: type[Showing | Sheet], is_answered: ColumnElement[bool]) -> ConsistencyRule:
    """Return the rule that all pages of a slot that is done have an answer."""
    undone = select(Slot.id).where(
        Slot.done_at.is_not(None), exists().where(pages.slot_id == Slot.id, ~is_answered)
    )
    return ConsistencyRule(Slot, f"done although {words}", undone, REPORT)


_HAS_JUDGMENT = exists().where(Judgment.showing_id == Showing.id)
_HAS_RATING = exists().where(Rating.sheet_id == Sheet.id)
_REPEATED, _REPEATED_SLOT = aliased(Showing), aliased(Slot)
_SHOWN_EITHER_WAY = [
    (
        side,
        select(func.count())
        .where(Showing.pair_id == Pair.id, Showing.left_system_id == system, Showing.repeats_id.is_(None))
        .scalar_subquery(),
    )
    for side, system in ((Pair.shown_a_left, Pair.system_a_id), (Pair.shown_b_left, Pair.system_b_id))
]
_STORED_EVENTS = (
    select(func.count())
    .where(StoredEvent.page_load_id == PageLoad.id, StoredEvent.number <= PageLoad.upto)
    .scalar_subquery()
)

RULES = (
    ConsistencyRule(
        Worker,
        "finished without a completion code, or have a code but no end",
        select(Worker.id).where(
            or_(
                and_(Worker.completed_at.is_not(None), Worker.completion_code.is_(None)),
                and_(END.is_(None), Worker.completion_code.is_not(None)),
            )
        ),
    ),
    ConsistencyRule(
        Worker,
        "have two ends, or one without a time",
        select(Worker.id).where(
            or_(
                and_(Worker.completed_at.is_not(None), Worker.stopped_at.is_not(None)),
                Worker.stopped_at.is_(None) != Worker.stopped_as.is_(None),
            )
        ),
    ),
    ConsistencyRule(
        Worker,
        "finished, or were given work, without consent",
        select(Worker.id).where(
            Worker.consented_at.is_(None),
            or_(Worker.completed_at.is_not(None), exists().where(Assignment.worker_id == Worker.id)),
        ),
    ),
    ConsistencyRule(
        Worker,
        "have consented to no text, or to a text without a time",
        select(Worker.id).where(Worker.consented_at.is_(None) != Worker.consent_sha256.is_(None)),
    ),
    ConsistencyRule(
        Worker,
        "finished although a pair shown to them has no answer",
        select(Worker.id).where(
            Worker.completed_at.is_not(None),
            _in_slots(Showing, Showing.slot)
            .where(Assignment.worker_id == Worker.id, ~_HAS_JUDGMENT)
            .exists(),
        ),
        REPORT,
    ),
    _study_rule(Assignment),
    ConsistencyRule(
        Slot,
        "holds a query of another task",
        select(Slot.id)
        .join(Assignment, Assignment.id == Slot.assignment_id)
        .join(Topic, Topic.id == Slot.topic_id)
        .where(Topic.task_id != Assignment.task_id),
    ),
    _done_rule("a pair of it has no answer", Showing, _HAS_JUDGMENT),
    ConsistencyRule(
        Showing,
        "shows a pair of another query",
        select(Showing.id)
        .join(Slot, Slot.id == Showing.slot_id)
        .join(Pair, Pair.id == Showing.pair_id)
        .where(Pair.topic_id != Slot.topic_id, Showing.repeats_id.is_(None), Pair.gold.is_(None)),
    ),
    ConsistencyRule(
        Showing,
        "shows other systems than its pair has",
        select(Showing.id)
        .join(Pair)
        .where(
            ~or_(
                and_(Showing.left_system_id == Pair.system_a_id, Showing.right_system_id == Pair.system_b_id),
                and_(Showing.left_system_id == Pair.system_b_id, Showing.right_system_id == Pair.system_a_id),
            )
        ),
    ),
    ConsistencyRule(
        Pair,
        "says another number of showings than there are",
        select(Pair.id).where(or_(*(side != there for side, there in _SHOWN_EITHER_WAY))),
    ),
    ConsistencyRule(
        Showing,
        "repeats another pair, or another worker's",
        select(Showing.id)
        .join(_REPEATED, _REPEATED.id == Showing.repeats_id)
        .join(Slot, Slot.id == Showing.slot_id)
        .join(_REPEATED_SLOT, _REPEATED_SLOT.id == _REPEATED.slot_id)
        .where(
            or_(
                _REPEATED.pair_id != Showing.pair_id,
                _REPEATED_SLOT.assignment_id != Slot.assignment_id,
            )
        ),
    ),
    ConsistencyRule(
        Judgment,
        "came from a page of another worker or pair",
        _in_slots(Judgment, Judgment.showing, Showing.slot)
        .join(PageLoad, PageLoad.key == Judgment.page_key)
        .where(or_(PageLoad.worker_id != Assignment.worker_id, PageLoad.showing_id != Judgment.showing_id)),
        REPORT,
    ),
    _end_rule(Judgment, Judgment.showing, Showing.slot),
    _end_rule(Ballot, Slot),
    _revision_rule(Showing, "answers", Judgment, "showing_id"),
    _revision_rule(Slot, "votes", Ballot, "slot_id"),
    _revision_rule(UsefulQuestion, "answers", UsefulAnswer, "question_id"),
    ConsistencyRule(
        PageLoad,
        "says that it has events which are not stored",
        select(PageLoad.id).where(PageLoad.upto != _STORED_EVENTS),
    ),
    ConsistencyRule(
        Follow,
        "follows a system of another task",
        select(Follow.id)
        .join(Slot, Slot.id == Follow.slot_id)
        .join(Topic, Topic.id == Slot.topic_id)
        .join(System, System.id == Follow.system_id)
        .where(System.task_id != Topic.task_id),
    ),
    ConsistencyRule(
        UsefulQuestion,
        "asks about an update that no page showed",
        select(UsefulQuestion.id).where(
            ~exists().where(
                StreamView.follow_id == UsefulQuestion.follow_id,
                UsefulQuestion.place.between(StreamView.first, StreamView.last),
            )
        ),
    ),
    ConsistencyRule(
        Worker,
        f"have tries at a check that are not 1 to {TRIES}",
        select(Introduction.worker_id)
        .group_by(Introduction.worker_id, Introduction.task_id)
        .having(or_(func.max(Introduction.number) != func.count(), func.max(Introduction.number) > TRIES)),
    ),
    ConsistencyRule(
        Worker,
        "were stopped for a check that they did not fail",
        select(Worker.id).where(
            Worker.stopped_as == "failed_checks",
            ~exists().where(Introduction.worker_id == Worker.id, Introduction.passed.is_(False)),
        ),
        REPORT,
    ),
    _study_rule(Introduction),
    ConsistencyRule(
        Sheet,
        "asks about another intent than its slot holds",
        select(Sheet.id).join(Sheet.slot).where(Sheet.intent_id != Slot.unit),
    ),
    _revision_rule(Sheet, "ratings", Rating, "sheet_id"),
    _end_rule(Rating, Rating.sheet, Sheet.slot),
    _done_rule("a page of iUnits has no ratings", Sheet, _HAS_RATING),
    _revision_rule(Slot, "answers", Reply, "slot_id"),
    _end_rule(Reply, Slot),
    ConsistencyRule(
        Reply,
        "of a task that asks no questions",
        _in_slots(Reply, Slot)
        .join(Task, Task.id == Assignment.task_id)
        .where(Task.kind.not_in(kinds_with("questions"))),
    ),
    ConsistencyRule(
        CodeShown,
        "was shown though it is not the code of how its worker's part ended",
        select(CodeShown.id)
        .join(Worker, Worker.id == CodeShown.worker_id)
        .where(
            CodeShown.kind != "visit",
            or_(
                END.is_(None),
                CodeShown.kind != func.coalesce(Worker.stopped_as, "complete"),
                CodeShown.code != Worker.completion_code,
            ),
        ),
        REPORT,
    ),
    ConsistencyRule(
        Worker,
        "were shown the code of their end for the first time twice",
        select(CodeShown.worker_id)
        .where(CodeShown.kind != "visit")
        .group_by(CodeShown.worker_id)
        .having(func.count() > 1),
        REPORT,
    ),
    ConsistencyRule(
        CodeShown,
        "is for an arrival of another worker",
        select(CodeShown.id)
        .join(PlatformEntry, PlatformEntry.id == CodeShown.entry_id)
        .join(PlatformIdentity, PlatformIdentity.id == PlatformEntry.identity_id)
        .where(PlatformIdentity.worker_id != CodeShown.worker_id),
    ),
    ConsistencyRule(
        PlatformRecord,
        "says that work was paid which was not handed in",
        select(PlatformRecord.id).where(PlatformRecord.paid, ~PlatformRecord.confirmed),
    ),
)
