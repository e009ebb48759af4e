"""Deletion of platform ids, and of the rows of workers who withdrew."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from sqlalchemy import (
    ColumnElement,
    Select,
    String,
    and_,
    case,
    cast,
    delete,
    exists,
    func,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.orm import Session

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
    Task,
    Topic,
    Worker,
)
from study_app.store.platform_models import PlatformEvent, PlatformOrder
from study_app.store.task_models import (
    CodeShown,
    Follow,
    Introduction,
    PlatformRecord,
    Prompt,
    Rating,
    Reply,
    Sheet,
    StreamView,
    UsefulAnswer,
    UsefulQuestion,
)

Ids: TypeAlias = Select[Any]
TaskCompletion: TypeAlias = tuple[type[Base], Any]
"""A table, and the condition on its rows that go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetainedData:
    """Numbers of workers in all, with a platform id, and withdrawn."""

    workers: int
    identified: int
    withdrawn: int


def count_retained(session: Session, study: int) -> RetainedData:
    """Count what a study holds of people."""
    workers = select(func.count()).select_from(Worker).where(Worker.study_id == study)
    known = select(func.count()).select_from(PlatformIdentity).where(PlatformIdentity.study_id == study)
    return RetainedData(
        workers=session.scalar(workers) or 0,
        identified=session.scalar(known) or 0,
        withdrawn=session.scalar(workers.where(Worker.withdrawn_at.is_not(None))) or 0,
    )


def identified_before(study: int, *, days: float | None, now: datetime) -> Ids:
    """Return the workers whose platform id may go after some days of silence.

    Parameters
    ----------
    study : int
        Row of the study.
    days : float or None
        None for everybody, also those who are at work.
    now : datetime
        From when the days count.
    """
    known = select(PlatformIdentity.worker_id).where(PlatformIdentity.study_id == study)
    if days is None:
        return known
    limit = now - timedelta(days=days)
    following = (
        exists()
        .where(Follow.slot_id == Slot.id, Slot.assignment_id == Assignment.id)
        .where(Assignment.worker_id == Worker.id, Follow.ends_at > limit)
    )
    returned = exists().where(
        PlatformEntry.identity_id == PlatformIdentity.id, PlatformEntry.arrived_at > limit
    )
    return known.join(Worker, Worker.id == PlatformIdentity.worker_id).where(
        Worker.last_seen_at <= limit, ~following, ~returned
    )


def unconsented_workers(study: int, *, now: datetime) -> Ids:
    """Return unconsented workers without a sign of life for a day."""
    return select(Worker.id).where(
        Worker.study_id == study,
        Worker.consented_at.is_(None),
        Worker.last_seen_at <= now - timedelta(days=1),
    )


def withdrawn_workers(study: int) -> Ids:
    """Return the workers of a study who withdrew."""
    return select(Worker.id).where(Worker.study_id == study, Worker.withdrawn_at.is_not(None))


def identity_parts(workers: Sequence[int]) -> list[TaskCompletion]:
    """Return the rows that identify workers on their platform, in deletable order."""
    known = select(PlatformIdentity.id).where(PlatformIdentity.worker_id.in_(workers))
    return [
        (PlatformRecord, PlatformRecord.identity_id.in_(known)),
        (PlatformEvent, PlatformEvent.identity_id.in_(known)),
        (PlatformEntry, PlatformEntry.identity_id.in_(known)),
        (PlatformIdentity, PlatformIdentity.worker_id.in_(workers)),
    ]


def worker_parts(workers: Sequence[int]) -> list[TaskCompletion]:
    """Return all rows of workers but their own, in deletable order."""
    slots = select(Slot.id).join(Slot.assignment).where(Assignment.worker_id.in_(workers))
    follows = select(Follow.id).where(Follow.slot_id.in_(slots))
    questions = select(UsefulQuestion.id).where(UsefulQuestion.follow_id.in_(follows))
    showings, sheets = (select(model.id).where(model.slot_id.in_(slots)) for model in (Showing, Sheet))
    pages = select(PageLoad.id).where(PageLoad.worker_id.in_(workers))
    return [
        (StoredEvent, StoredEvent.page_load_id.in_(pages)),
        (PageLoad, PageLoad.worker_id.in_(workers)),
        (UsefulAnswer, UsefulAnswer.question_id.in_(questions)),
        *((model, model.follow_id.in_(follows)) for model in (UsefulQuestion, StreamView, Prompt)),
        (Follow, Follow.slot_id.in_(slots)),
        (Judgment, Judgment.showing_id.in_(showings)),
        (Rating, Rating.sheet_id.in_(sheets)),
        *((model, model.slot_id.in_(slots)) for model in (Showing, Sheet, Ballot, Reply)),
        (Slot, Slot.assignment_id.in_(select(Assignment.id).where(Assignment.worker_id.in_(workers)))),
        *((model, model.worker_id.in_(workers)) for model in (Assignment, Introduction, CodeShown)),
        *identity_parts(workers),
    ]


def unpaid(session: Session, workers: Sequence[int], complete: Collection[int]) -> int:
    """Count the workers with a known id who may still be owed something.

    They have complete data (those in ``complete``) or work that the platform reports as submitted, and
    nothing reported or marked as paid; or an order to approve or pay that is not confirmed.
    """
    is_open = exists().where(
        PlatformOrder.worker_id == Worker.id,
        PlatformOrder.kind != "message",
        PlatformOrder.state != "confirmed",
    )
    records = exists().where(
        PlatformRecord.identity_id == PlatformIdentity.id, PlatformIdentity.worker_id == Worker.id
    )
    query = select(func.count(Worker.id)).where(
        Worker.id.in_(workers),
        exists().where(PlatformIdentity.worker_id == Worker.id),
        or_(
            is_open,
            and_(
                or_(Worker.id.in_(complete), records.where(PlatformRecord.confirmed)),
                ~records.where(or_(PlatformRecord.paid, PlatformRecord.marked_paid_at.is_not(None))),
            ),
        ),
    )
    return session.scalar(query) or 0


def count_rows(session: Session, parts: Sequence[TaskCompletion]) -> dict[str, int]:
    """Return the number of rows to delete, by table, without zeros."""
    counted = {
        model.__tablename__: session.scalar(select(func.count()).select_from(model).where(condition)) or 0
        for model, condition in parts
    }
    return {table: number for table, number in counted.items() if number}


def delete_rows(session: Session, parts: Sequence[TaskCompletion]) -> None:
    """Delete them; codes that were shown and orders to pay stay, without arrival and submission."""
    session.flush()
    for model, condition in parts:
        if model is PlatformEntry:
            gone = select(PlatformEntry.id).where(condition)
            session.execute(update(CodeShown).where(CodeShown.entry_id.in_(gone)).values(entry_id=None))
        elif model is PlatformIdentity:
            _forget_submissions(session, condition)
        elif model is Showing:
            _uncount(session, condition)
        session.execute(delete(model).where(condition))
    session.expire_all()


def _forget_submissions(session: Session, gone: ColumnElement[bool]) -> None:
    """Take the platform's names of submissions out of the orders of those whose ids go."""
    nameless = literal("deleted ").concat(cast(PlatformOrder.id, String))
    session.execute(
        update(PlatformOrder)
        .where(PlatformOrder.worker_id.in_(select(PlatformIdentity.worker_id).where(gone)))
        .values(
            submission="",
            purpose=case((PlatformOrder.kind == "approval", nameless), else_=PlatformOrder.purpose),
        )
    )


def _uncount(session: Session, gone: ColumnElement[bool]) -> None:
    """Subtract the deleted showings from the counts of their pairs."""
    tasks = select(Topic.task_id).join(Slot, Slot.topic_id == Topic.id).join(Slot.showings).where(gone)
    session.execute(
        select(Task.id).where(Task.id.in_(tasks)).order_by(Task.id).with_for_update(key_share=True)
    )
    of_pair = select(func.count()).where(gone, Showing.pair_id == Pair.id, Showing.repeats_id.is_(None))
    a_left, b_left = (
        of_pair.where(Showing.left_system_id == system).scalar_subquery()
        for system in (Pair.system_a_id, Pair.system_b_id)
    )
    session.execute(
        update(Pair)
        .where(Pair.id.in_(select(Showing.pair_id).where(gone)))
        .values(shown_a_left=Pair.shown_a_left - a_left, shown_b_left=Pair.shown_b_left - b_left)
    )
