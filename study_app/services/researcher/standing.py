"""Standing of a worker: what was done, which code was shown, and what was paid."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from study_app.services.researcher.completion import unpressed_workers
from study_app.services.worker.worker_progress import load_progress
from study_app.store.care import CareChecks, care_checks
from study_app.store.models import PlatformIdentity, Worker
from study_app.store.platform_models import PlatformOrder
from study_app.store.study_cache import CachedStudy, StudyCache
from study_app.store.task_models import CodeShown, PlatformRecord

AT_WORK = timedelta(minutes=10)
"""A worker without a sign of life for longer is away."""

STATES = {
    "door": "came, has not agreed",
    "work": "at work",
    "away": "away",
    "complete": "finished",
    "screened_out": "screened out",
    "failed_checks": "failed the checks",
    "partial": "stopped early",
    "withdrawn": "withdrew",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStanding:
    """Places of a worker in a task: how many are held and done, and the answers stored for them."""

    number: int
    name: str
    done: int
    places: int
    answers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Payment:
    """What is known of one payment: the platform's record of a submission, or an order to the platform.

    Attributes
    ----------
    submission : str
        The submission's id there; empty if unknown.
    words : str
        State in the platform's words or the order's kind and amount, and what prefcal makes of it.
    at : datetime
        When that was read, or the order made.
    """

    submission: str
    words: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Standing of a worker.

    Attributes
    ----------
    state : str
        A key of `STATES`.
    tasks : sequence of TaskStanding
        Those that the worker has a place in.
    codes : sequence of (str, datetime)
        Kind and first display of each code that was shown.
    care : CareChecks
        Flags, and why the exclusion rule leaves the worker out.
    payments : sequence of Payment
        By time.
    """

    state: str
    tasks: Sequence[TaskStanding]
    codes: Sequence[tuple[str, datetime]]
    care: CareChecks
    payments: Sequence[Payment]


def state_of(worker: Any, complete_at: datetime | None, now: datetime) -> str:
    """Return the state of a worker's row, a key of `STATES`.

    ``complete_at``: when the last required answer was stored or the last button pressed, None where neither was.
    """
    if worker.withdrawn_at is not None:
        return "withdrawn"
    if complete_at is not None:
        return "complete"
    if worker.stopped_as is not None:
        return str(worker.stopped_as)
    if worker.consented_at is None:
        return "door"
    return "work" if now - worker.last_seen_at <= AT_WORK else "away"


def standing_of(
    session: Session, plans: StudyCache, study: CachedStudy, worker: Worker, *, now: datetime
) -> Standing:
    """Return the standing of a worker; of one who withdrew there are no tasks and no checks."""
    is_undecided = worker.consented_at is not None and worker.withdrawn_at is None
    unpressed = unpressed_workers(session, plans, [worker] if is_undecided else [], now=now)
    is_shown = worker.withdrawn_at is None
    return Standing(
        state=state_of(worker, worker.completed_at or unpressed.get(worker.id), now),
        tasks=_tasks(session, plans, study, worker, now=now) if is_shown else (),
        codes=codes_shown(session, worker.id),
        care=care_checks(session, study, [worker.id]).get(worker.id, CareChecks())
        if is_shown
        else CareChecks(),
        payments=payments_of(session, worker.id),
    )


def _tasks(
    session: Session, plans: StudyCache, study: CachedStudy, worker: Worker, *, now: datetime
) -> list[TaskStanding]:
    states = load_progress(session, plans, worker.id, now=now).state.tasks
    return [
        TaskStanding(
            number=task.number,
            name=str(task.entry.name),
            done=sum(slot.is_done for slot in state.slots),
            places=len(state.slots),
            answers=sum(sum(slot.answered) for slot in state.slots),
        )
        for task, state in zip(study.tasks, states, strict=True)
        if state.slots
    ]


def codes_shown(session: Session, worker: int) -> list[tuple[str, datetime]]:
    """Return kind and time of the codes that were shown to a worker (a row)."""
    shown = (
        select(CodeShown.kind, CodeShown.shown_at)
        .where(CodeShown.worker_id == worker)
        .order_by(CodeShown.shown_at, CodeShown.id)
    )
    return [(kind, at) for kind, at in session.execute(shown)]


def payments_of(session: Session, worker: int) -> list[Payment]:
    """Return what the platform's lists say of a worker (a row), and what was ordered there."""
    records = session.scalars(
        select(PlatformRecord)
        .join(PlatformIdentity, PlatformIdentity.id == PlatformRecord.identity_id)
        .where(PlatformIdentity.worker_id == worker)
    )
    orders = session.scalars(select(PlatformOrder).where(PlatformOrder.worker_id == worker))
    found = [
        Payment(submission=record.submission, words=_record_words(record), at=record.read_at)
        for record in records
    ]
    found += [
        Payment(submission=order.submission, words=_order_words(order), at=order.intended_at)
        for order in orders
        if order.kind != "message"
    ]
    return sorted(found, key=lambda payment: payment.at)


def _record_words(record: PlatformRecord) -> str:
    finding = record.finding or ("paid" if record.paid else "handed in" if record.confirmed else "open")
    if record.marked_paid_at is not None and not record.paid:
        finding = f"marked as paid in the console on {record.marked_paid_at:%Y-%m-%d}"
    return f"{record.status or 'no state'} on the platform's list: {finding.replace('_', ' ')}"


def _order_words(order: PlatformOrder) -> str:
    amount = "" if order.cents is None else f" of {order.cents / 100:.2f} {order.currency}"
    return f"{order.kind}{amount} by Prolific's API: {order.state}"
