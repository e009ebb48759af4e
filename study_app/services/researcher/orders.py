"""Orders to a platform to approve, to pay and to tell: what is due, what was sent, and what nobody knows.

An order becomes unknown in the database before its call is made, and sent or intended again when an answer says so. So whatever
ends this process, an order that may have been carried out is never taken for one that was not.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypeAlias

from sqlalchemy import Row, Select, and_, delete, exists, or_, select, update
from sqlalchemy.orm import Session, aliased

from metrics.errors import FaultLog, input_fault, join_names
from study_app.services.researcher.reconcile import PAYS
from study_app.store.models import PlatformIdentity, Worker
from study_app.store.platform_models import PlatformOrder, ProlificStudy
from study_app.store.task_models import PlatformRecord

OrderKind: TypeAlias = Literal["approval", "bonus", "message"]
INTENDED, UNKNOWN, SENT, CONFIRMED = "intended", "unknown", "sent", "confirmed"
OPEN_STATES = (UNKNOWN, SENT)
"""States in which the platform may still do something, or have done it."""
STATES = {
    INTENDED: "nothing was sent",
    UNKNOWN: "a call was made and its answer is lost: look there, then release it or say that it was paid",
    SENT: "the platform took it, and does not show it yet",
    CONFIRMED: "the platform shows it, or a person said so",
}
"""Meaning of each state."""
APPROVED = ("pay_without_code", "pay")
"""Findings of submissions that are to be approved."""


def remote_studies(session: Session, study_id: int) -> Sequence[ProlificStudy]:
    """Return the studies on Prolific that send workers to a study, by age."""
    known = select(ProlificStudy).where(ProlificStudy.study_id == study_id).order_by(ProlificStudy.id)
    return session.scalars(known).all()


def intend_approvals(session: Session, study_id: int, *, read_at: datetime, now: datetime) -> int:
    """Store an order to approve each submission that is due by the list read then; return how many are new.

    Orders of which nothing was sent, and that are not due any more, are dropped.
    """
    due = {
        record.submission: (record, worker)
        for record, worker in session.execute(_records(study_id).where(PlatformRecord.read_at == read_at))
        if record.finding in APPROVED and record.submission and record.marked_paid_at is None
    }
    known = {
        order.purpose: order
        for order in session.scalars(orders_of(study_id).where(PlatformOrder.kind == "approval"))
    }
    stale = [order.id for name, order in known.items() if order.state == INTENDED and name not in due]
    session.execute(delete(PlatformOrder).where(PlatformOrder.id.in_(stale)))
    new = [
        _order(study_id, worker, record, "approval", record.submission, now)
        for record, worker in due.values()
        if record.submission not in known
    ]
    session.add_all(new)
    session.flush()
    return len(new)


def due_approvals(session: Session, study_id: int, *, read_at: datetime) -> Sequence[tuple[str, str]]:
    """Return pseudonym and submission of whom an approval is due and not ordered, and of intended ones."""
    ordered = exists().where(
        PlatformOrder.kind == "approval",
        PlatformOrder.purpose == PlatformRecord.submission,
        PlatformOrder.worker_id == PlatformIdentity.worker_id,
        PlatformOrder.state != INTENDED,
    )
    rows = session.execute(
        _records(study_id)
        .join(Worker, Worker.id == PlatformIdentity.worker_id)
        .with_only_columns(Worker.pseudonym, PlatformRecord.submission)
        .where(
            PlatformRecord.read_at == read_at,
            PlatformRecord.finding.in_(APPROVED),
            PlatformRecord.marked_paid_at.is_(None),
            PlatformRecord.submission != "",
            ~ordered,
        )
    )
    return [(row.pseudonym, row.submission) for row in rows]


def intend_bonuses(
    session: Session, study_id: int, purpose: str, cents: Mapping[str, int], currency: str, *, now: datetime
) -> int:
    """Store a bonus for each worker (pseudonym) and purpose once; return how many are new.

    Raises
    ------
    InputError
        If a worker has a bonus of another amount for the same purpose, or no submission that was read from the API.
    """
    records = _paying_records(session, study_id)
    workers = dict(
        session.execute(select(Worker.pseudonym, Worker.id).where(Worker.study_id == study_id)).all()
    )
    known = {
        order.worker_id: order
        for order in session.scalars(
            orders_of(study_id).where(PlatformOrder.kind == "bonus", PlatformOrder.purpose == purpose)
        )
    }
    log, new = FaultLog("bonuses"), 0
    for name, amount in cents.items():
        order, record = known.get(workers[name]), records.get(workers[name])
        if order is not None and (order.cents, order.currency) != (amount, currency):
            log.add(
                f"worker {name} has a bonus of {money(order.cents or 0, order.currency or '')} for {purpose!r} already",
                cure="give the new one another purpose with --for",
            )
        elif order is None and record is None:
            log.add(
                f"worker {name} has no submission that was read from Prolific",
                cure="run prefcal prolific sync",
            )
        elif order is None and record is not None:
            new += 1
            session.add(
                _order(
                    study_id,
                    workers[name],
                    record,
                    "bonus",
                    purpose,
                    now,
                    cents=amount,
                    currency=currency,
                )
            )
    log.raise_if_any()
    session.flush()
    return new


def intend_messages(
    session: Session, study_id: int, purpose: str, workers: Collection[int], *, now: datetime
) -> None:
    """Store a message to each worker (row) and purpose once.

    Raises
    ------
    InputError
        If no submission of a worker was read from the API.
    """
    records = _paying_records(session, study_id)
    known = set(
        session.scalars(
            orders_of(study_id)
            .with_only_columns(PlatformOrder.worker_id)
            .where(PlatformOrder.kind == "message", PlatformOrder.purpose == purpose)
        )
    )
    if missing := [worker for worker in workers if worker not in records]:
        raise input_fault(
            f"{len(missing)} of these workers have no submission that was read from Prolific",
            cure="run prefcal prolific sync",
        )
    session.add_all(
        _order(study_id, worker, records[worker], "message", purpose, now)
        for worker in workers
        if worker not in known
    )
    session.flush()


def intended(
    session: Session, study_id: int, kind: OrderKind, *, limit: int, besides: Collection[int] = ()
) -> Sequence[PlatformOrder]:
    """Return orders of one kind and one study on Prolific of which nothing was sent, the oldest first.

    A bonus waits while another of the same worker may still be paid: which of two is seen on a submission could not be told.
    """
    other = aliased(PlatformOrder)
    waits = and_(
        PlatformOrder.kind == "bonus",
        exists().where(
            other.worker_id == PlatformOrder.worker_id,
            other.kind == "bonus",
            other.id != PlatformOrder.id,
            or_(other.state.in_(OPEN_STATES), and_(other.state == INTENDED, other.id < PlatformOrder.id)),
        ),
    )
    ready = orders_of(study_id).where(
        PlatformOrder.kind == kind,
        PlatformOrder.state == INTENDED,
        PlatformOrder.submission != "",
        PlatformOrder.id.not_in(list(besides)),
        ~waits,
    )
    rows = session.scalars(ready.limit(limit)).all()
    return [row for row in rows if row.prolific_study_id == rows[0].prolific_study_id]


def claim(session: Session, orders: Collection[int], *, batch: str | None, now: datetime) -> bool:
    """Mark intended orders as unknown, before the call; False where somebody else has taken one."""
    rows = session.scalars(
        select(PlatformOrder.id)
        .where(PlatformOrder.id.in_(orders), PlatformOrder.state == INTENDED)
        .with_for_update()
    ).all()
    if len(rows) < len(set(orders)):
        return False
    _set(session, orders, state=UNKNOWN, batch=batch, sent_at=now, note="")
    return True


def mark_sent(session: Session, orders: Collection[int]) -> None:
    """Mark orders whose call was answered as taken."""
    _set(session, orders, state=SENT)


def mark_confirmed(session: Session, orders: Collection[int], *, now: datetime) -> None:
    """Mark orders as carried out."""
    _set(session, orders, state=CONFIRMED, settled_at=now)


def mark_intended(session: Session, orders: Collection[int], note: str) -> None:
    """Mark orders of which it is certain that nothing was done as not sent."""
    _set(session, orders, state=INTENDED, batch=None, sent_at=None, note=note)


def note_bonuses_before(session: Session, bonuses: Mapping[int, list[int]]) -> None:
    """Store which bonuses (cents) the submission of each order had before it."""
    for order, before in bonuses.items():
        _set(session, [order], seen_before=before)


def shows_bonus(order: PlatformOrder, bonuses: Sequence[int]) -> bool:
    """Return whether a submission has more bonuses of an order's amount than it had before."""
    cents = order.cents or 0
    return Counter(bonuses)[cents] > Counter(order.seen_before or ())[cents]


def confirm_approvals(session: Session, study_id: int, *, now: datetime) -> int:
    """Confirm the approvals whose submissions the newest list has as paid; return how many."""
    paid = exists().where(
        PlatformRecord.identity_id == PlatformIdentity.id,
        PlatformIdentity.worker_id == PlatformOrder.worker_id,
        PlatformRecord.submission == PlatformOrder.submission,
        PlatformRecord.paid,
    )
    done = session.scalars(
        orders_of(study_id)
        .with_only_columns(PlatformOrder.id)
        .where(PlatformOrder.kind == "approval", PlatformOrder.state != CONFIRMED, paid)
    ).all()
    mark_confirmed(session, done, now=now)
    return len(done)


def open_orders(session: Session, study_id: int, kind: OrderKind) -> Sequence[PlatformOrder]:
    """Return the orders of a kind that may have been carried out and are not seen to be."""
    return session.scalars(
        orders_of(study_id).where(PlatformOrder.kind == kind, PlatformOrder.state.in_(OPEN_STATES))
    ).all()


def settled_by_hand(session: Session, study_id: int, ids: Collection[int]) -> Sequence[PlatformOrder]:
    """Return the orders that a person names to release them or to say that they were carried out.

    Raises
    ------
    InputError
        If one is not of this study, or nothing of it was ever sent, or it is confirmed.
    """
    found = {order.id: order for order in session.scalars(orders_of(study_id)) if order.id in ids}
    if unknown := [number for number in ids if number not in found]:
        raise input_fault(
            f"no order {join_names([str(number) for number in unknown])} of this study",
            cure="prefcal prolific pay lists them with their numbers",
        )
    for order in found.values():
        if order.state not in OPEN_STATES:
            raise input_fault(
                f"order {order.id} is {order.state}, so there is nothing to settle",
                cure="name one that is unknown or sent",
            )
    return list(found.values())


def order_counts(session: Session, study_id: int) -> Counter[tuple[str, str]]:
    """Count the orders of a study by kind and state."""
    return Counter((order.kind, order.state) for order in session.scalars(orders_of(study_id)))


def listed_orders(
    session: Session, study_id: int, *, states: Collection[str]
) -> Sequence[Row[PlatformOrder, str, str | None]]:
    """Return orders in some states with pseudonym and platform id, if it is still known."""
    return session.execute(
        orders_of(study_id)
        .join(Worker, Worker.id == PlatformOrder.worker_id)
        .outerjoin(PlatformIdentity, PlatformIdentity.worker_id == Worker.id)
        .with_only_columns(PlatformOrder, Worker.pseudonym, PlatformIdentity.platform_worker)
        .where(PlatformOrder.state.in_(states))
    ).all()


def money(cents: int, currency: str) -> str:
    """Return an amount as people read it."""
    return f"{cents / 100:.2f} {currency}".strip()


def orders_of(study_id: int) -> Select[PlatformOrder]:
    """Return the orders of a study, by age."""
    return select(PlatformOrder).where(PlatformOrder.study_id == study_id).order_by(PlatformOrder.id)


def _set(session: Session, orders: Collection[int], **values: Any) -> None:
    session.execute(update(PlatformOrder).where(PlatformOrder.id.in_(orders)).values(**values))


def _order(
    study_id: int,
    worker: int,
    record: PlatformRecord,
    kind: OrderKind,
    purpose: str,
    now: datetime,
    *,
    cents: int | None = None,
    currency: str | None = None,
) -> PlatformOrder:
    return PlatformOrder(
        study_id=study_id,
        worker_id=worker,
        prolific_study_id=record.prolific_study_id,
        kind=kind,
        purpose=purpose,
        submission=record.submission,
        cents=cents,
        currency=currency,
        state=INTENDED,
        note="",
        intended_at=now,
    )


def _paying_records(session: Session, study_id: int) -> dict[int, PlatformRecord]:
    """Return the submission of each worker (row) that pays for the work, or the newest."""
    order: dict[str, int] = {finding: place for place, finding in enumerate(PAYS)}
    rows = session.execute(_records(study_id)).all()
    best: dict[int, PlatformRecord] = {}
    for record, worker in sorted(rows, key=lambda row: -row[0].id):
        rank = order.get(record.finding or "", len(order))
        if worker not in best or rank < order.get(best[worker].finding or "", len(order)):
            best[worker] = record
    return best


def _records(study_id: int) -> Select[PlatformRecord, int]:
    return (
        select(PlatformRecord, PlatformIdentity.worker_id)
        .join(PlatformIdentity, PlatformIdentity.id == PlatformRecord.identity_id)
        .where(PlatformIdentity.study_id == study_id, PlatformRecord.prolific_study_id.is_not(None))
        .order_by(PlatformRecord.id)
    )
