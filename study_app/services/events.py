"""Events of a page: stored once whatever is retried, acknowledged up to the first gap."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Table, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from study_app.models import Assignment, Base, Event, PageLoad, Slot, Study, Worker
from study_app.page_events import PageEvent
from study_app.plan import Plans
from study_app.services.slots import keep_alive
from study_app.services.whereabouts import UnknownWorkerError, locate
from study_app.tokens import PageToken


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Whose events came (the pseudonym), and the highest number up to which every one of the page is stored."""

    worker: str
    upto: int


def store_events(
    session: Session, plans: Plans, page: PageToken, events: Sequence[PageEvent], *, now: datetime
) -> Receipt:
    """Store the events of a page that are not stored yet, and keep its worker's lease alive.

    Returns
    -------
    Receipt
        For a worker who has withdrawn nothing is stored, and the highest number of the batch comes back so that
        the page stops sending.

    Raises
    ------
    UnknownWorkerError
        If the page's worker is not in this database.
    """
    found = session.execute(
        select(Worker.pseudonym, Worker.withdrawn_at, Worker.stopped_at, Study.id, Study.version)
        .join(Study)
        .where(Worker.id == page.worker)
    ).one_or_none()
    if found is None:
        raise UnknownWorkerError(page.worker)
    if found.withdrawn_at is not None:
        return Receipt(worker=found.pseudonym, upto=max((event.n for event in events), default=0))
    load = _page_load(session, page, now=now)
    _insert_new(session, Event, [_row(load, event, now=now) for event in events])
    load.upto = _contiguous(session, load)
    if found.stopped_at is None:
        lease = timedelta(minutes=plans.of(session, found.id, found.version).entry.lease_minutes)
        _keep_lease(session, plans, page.worker, lease, now=now)
    return Receipt(worker=found.pseudonym, upto=load.upto)


def _page_load(session: Session, page: PageToken, *, now: datetime) -> PageLoad:
    wanted = select(PageLoad).where(PageLoad.key == page.key).with_for_update()
    found = session.scalars(wanted).one_or_none()
    if found is None:
        row = {
            "key": page.key,
            "worker_id": page.worker,
            "step": page.step,
            "showing_id": page.showing,
            "served_at": page.served_at,
            "first_received_at": now,
            "upto": 0,
        }
        _insert_new(session, PageLoad, [row])
        found = session.scalars(wanted).one()
    return found


def _row(load: PageLoad, event: PageEvent, *, now: datetime) -> dict[str, Any]:
    return {
        "page_load_id": load.id,
        "number": event.n,
        "kind": event.kind,
        "page_ms": event.ms,
        "wall_ms": event.wall,
        "received_at": now,
        "detail": event.detail(),
    }


def _insert_new(session: Session, model: type[Base], rows: list[dict[str, Any]]) -> None:
    """Insert the rows that break no unique constraint."""
    table = model.__table__
    if rows and isinstance(table, Table):
        dialect = session.get_bind().dialect.name
        insert = postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)
        session.execute(insert.on_conflict_do_nothing(), rows)


def _contiguous(session: Session, load: PageLoad) -> int:
    """Return the number up to which the page's events are stored without a hole."""
    upto = load.upto
    above = select(Event.number).where(Event.page_load_id == load.id, Event.number > upto)
    for number in session.scalars(above.order_by(Event.number)):
        if number != upto + 1:
            break
        upto = number
    return upto


def _keep_lease(session: Session, plans: Plans, worker: int, lease: timedelta, *, now: datetime) -> None:
    """Prolong the worker's live slot by one statement; an expired one takes the longer way.

    The worker's row comes before the slot's, as where forms are taken: else the two would wait for each other.
    """
    mine = select(Assignment.id).where(Assignment.worker_id == worker)
    unfinished = (Slot.assignment_id.in_(mine), Slot.done_at.is_(None))
    expired = session.scalar(select(Slot.id).where(*unfinished, Slot.expires_at <= now).limit(1))
    if expired is not None:
        keep_alive(session, locate(session, plans, worker, now=now, lock=True), now=now)
        return
    session.execute(update(Worker).where(Worker.id == worker).values(last_seen_at=now))
    session.execute(update(Slot).where(*unfinished).values(expires_at=now + lease))
