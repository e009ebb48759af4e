"""Storage of a page's events, once each however often they are sent.

Events are acknowledged up to the first gap.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    Connection,
    Executable,
    Row,
    and_,
    bindparam,
    case,
    func,
    select,
    type_coerce,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from study_app.logs.page_events import PageEvent
from study_app.protocol.steps import CONSENT
from study_app.services.worker.slots import SIGN_OF_LIFE_EVERY, keep_alive
from study_app.services.worker.worker_progress import UnknownWorkerError, load_progress
from study_app.store.models import (
    EPOCH,
    MILLISECOND,
    Assignment,
    LoadedStudy,
    PageLoad,
    Slot,
    StoredEvent,
    Worker,
)
from study_app.store.study_cache import StudyCache
from study_app.store.tokens import PageToken
from study_app.study.entries import StudyEntry

MAX_PAGE_EVENTS = 20_000
"""Most events stored of a page load: a day of reading."""
MAX_WORKER_EVENTS = 200_000
"""Most events stored of a worker when another page begins: weeks of reading."""

# Written once: they run with every batch.
_EVENTS_OF_A_WORKER = select(func.count()).select_from(
    select(StoredEvent.id)
    .join(PageLoad, PageLoad.id == StoredEvent.page_load_id)
    .where(PageLoad.worker_id == bindparam("worker"))
    .limit(MAX_WORKER_EVENTS)
    .subquery()
)
_WORKER = (
    select(
        Worker.pseudonym,
        Worker.consented_at,
        Worker.withdrawn_at,
        Worker.stopped_at,
        type_coerce(Worker.last_seen_at, BigInteger).label("seen_ms"),
        LoadedStudy.id,
        LoadedStudy.version,
        PageLoad.id.label("page_load"),
        case((PageLoad.id.is_(None), _EVENTS_OF_A_WORKER.scalar_subquery())).label("so_far"),
        type_coerce(Slot.leased_at, BigInteger).label("leased_ms"),
        type_coerce(Slot.expires_at, BigInteger).label("expires_ms"),
    )
    .join(LoadedStudy)
    .outerjoin(PageLoad, PageLoad.key == bindparam("key"))
    .outerjoin(Assignment, Assignment.worker_id == Worker.id)
    .outerjoin(Slot, and_(Slot.assignment_id == Assignment.id, Slot.done_at.is_(None)))
    .where(Worker.id == bindparam("worker"))
)
"""Select of a worker with the page load, and a row for each unfinished slot.

A new page load has the number of the worker's events in place of its row.
"""
_PAGE_LOAD = select(PageLoad.id, PageLoad.upto).where(PageLoad.key == bindparam("key")).with_for_update()
_STORED_UPTO = update(PageLoad).where(PageLoad.id == bindparam("load")).values(upto=bindparam("reached"))
_NUMBERS_ABOVE = (
    select(StoredEvent.number)
    .where(StoredEvent.page_load_id == bindparam("load"), StoredEvent.number > bindparam("stored"))
    .order_by(StoredEvent.number)
)
_UNFINISHED = (
    Slot.assignment_id.in_(select(Assignment.id).where(Assignment.worker_id == bindparam("worker_id"))),
    Slot.done_at.is_(None),
    type_coerce(Slot.expires_at, BigInteger) - type_coerce(Slot.leased_at, BigInteger)
    > bindparam("first_ms"),
)
"""Unfinished slots of a worker, without those that wait for the first answer.

Such slots have a fixed lease, which activity does not renew.
"""
_SEEN = update(Worker).where(Worker.id == bindparam("worker_id")).values(last_seen_at=bindparam("now"))
_PROLONGED = update(Slot).where(*_UNFINISHED).values(expires_at=bindparam("until"))


# In the drivers' own forms: a batch has dozens of rows, and to SQLAlchemy each is a dictionary that it goes through twice.
_EVENTS_OF_A_FILE = (
    "INSERT INTO event (page_load_id, received_at, number, kind, page_ms, wall_ms, detail) VALUES (?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT DO NOTHING"
)
_EVENTS_OF_A_SERVER = (
    "INSERT INTO event (page_load_id, received_at, number, kind, page_ms, wall_ms, detail) "
    "SELECT %s, %s, number, kind, page_ms, wall_ms, detail FROM json_to_recordset(%s) "
    "AS new(number int, kind text, page_ms bigint, wall_ms bigint, detail json) ON CONFLICT DO NOTHING"
)
"""Insertion of all events of a batch in one statement.

A database server spends more on a statement than on a row.
"""


@cache
def _new_page_load(dialect: str) -> Executable:
    """Return the statement that inserts a new page load and returns its row's id."""
    insert = postgresql.insert(PageLoad) if dialect == "postgresql" else sqlite.insert(PageLoad)
    return insert.on_conflict_do_nothing().returning(PageLoad.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Receipt of events: the worker's pseudonym, and the highest number without a gap."""

    worker: str
    upto: int


def store_events(
    session: Session, plans: StudyCache, page: PageToken, events: Sequence[PageEvent], *, now: datetime
) -> Receipt:
    """Store the new events of a page, and renew the leases of its worker.

    Returns
    -------
    Receipt
        Of the page that asks for consent, of a worker who has not given it, and of one who has withdrawn, nothing is stored, nor beyond what is kept of a page load and of a
        worker; then the highest number of the batch comes back so that the page stops sending.

    Raises
    ------
    UnknownWorkerError
        If the page's worker is not in this database.
    """
    connection = session.connection()
    rows = connection.execute(_WORKER, {"worker": page.worker, "key": page.key}).all()
    if not rows:
        raise UnknownWorkerError(page.worker)
    row = rows[0]
    let_go = Receipt(worker=row.pseudonym, upto=max((event.n for event in events), default=0))
    is_at_the_door = row.consented_at is None or page.step == CONSENT.path
    if is_at_the_door or row.withdrawn_at is not None:
        return let_go
    is_too_much = let_go.upto > MAX_PAGE_EVENTS
    reached = 0 if is_too_much else _without_hole(0, sorted({event.n for event in events}))
    is_known = row.page_load is not None
    if not is_known and row.so_far >= MAX_WORKER_EVENTS:
        return let_go
    page_load = _page_load(connection, page, reached, is_known=is_known, now=now)
    if is_too_much:
        return let_go
    if events:
        _store_new(connection, page_load.id, events, (now - EPOCH) // MILLISECOND)
    upto = reached if page_load.is_new else _contiguous(connection, page_load)
    if row.stopped_at is None:
        entry = plans.of(session, row.id, row.version).entry
        _keep_lease(session, plans, page.worker, entry, rows, now=now)
    return Receipt(worker=row.pseudonym, upto=upto)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Load:
    """Page load: its row, its highest stored number, and if this batch is its first."""

    id: int
    stored: int
    is_new: bool


def _page_load(
    connection: Connection, page: PageToken, reached: int, *, is_known: bool, now: datetime
) -> _Load:
    """Return the row of a page load, inserted by its first batch.

    A first batch has no gap up to number ``reached``.
    """
    known = connection.execute(_PAGE_LOAD, {"key": page.key}).one_or_none() if is_known else None
    if known is None:
        row = {
            "key": page.key,
            "worker_id": page.worker,
            "step": page.step,
            "showing_id": page.showing,
            "served_at": page.served_at,
            "first_received_at": now,
            "upto": reached,
            "study_version": page.version,
        }
        new = connection.execute(_new_page_load(connection.dialect.name), row).scalar_one_or_none()
        if new is not None:
            return _Load(id=new, stored=reached, is_new=True)
        known = connection.execute(_PAGE_LOAD, {"key": page.key}).one()  # another batch was faster
    return _Load(id=known.id, stored=known.upto, is_new=False)


def _store_new(connection: Connection, load: int, events: Sequence[PageEvent], received_ms: int) -> None:
    """Insert the events of a page load that are not stored yet."""
    if connection.dialect.name == "sqlite":
        rows = [
            (load, received_ms, event.n, event.kind, event.ms, event.wall, json.dumps(event.detail()))
            for event in events
        ]
        connection.exec_driver_sql(_EVENTS_OF_A_FILE, rows)
    else:
        new = [
            {
                "number": event.n,
                "kind": event.kind,
                "page_ms": event.ms,
                "wall_ms": event.wall,
                "detail": event.detail(),
            }
            for event in events
        ]
        connection.exec_driver_sql(_EVENTS_OF_A_SERVER, (load, received_ms, json.dumps(new)))


def _contiguous(connection: Connection, load: _Load) -> int:
    """Store and return the highest number of a page's events without a gap."""
    numbers = connection.scalars(_NUMBERS_ABOVE, {"load": load.id, "stored": load.stored})
    upto = _without_hole(load.stored, numbers)
    if upto != load.stored:
        connection.execute(_STORED_UPTO, {"load": load.id, "reached": upto})
    return upto


def _without_hole(upto: int, numbers: Iterable[int]) -> int:
    """Return the end of the run of ascending numbers that follows ``upto``."""
    for number in numbers:
        if number != upto + 1:
            break
        upto = number
    return upto


def _keep_lease(
    session: Session,
    plans: StudyCache,
    worker: int,
    entry: StudyEntry,
    rows: Sequence[Row[Any]],
    *,
    now: datetime,
) -> None:
    """Store recent activity, and renew the leases of a worker's unfinished slots.

    Activity is stored where the last one is old enough; ``rows`` are those of `_WORKER`. What has expired
    takes the longer way. The worker's row is locked before the slot's, in the same order as for forms: else
    the two would wait for each other.
    """
    connection = session.connection()
    now_ms, often_ms = (now - EPOCH) // MILLISECOND, SIGN_OF_LIFE_EVERY // MILLISECOND
    first_ms = entry.first_lease // MILLISECOND if entry.first_lease < entry.lease else -1
    leases = [
        row.expires_ms
        for row in rows
        if row.expires_ms is not None and row.expires_ms - row.leased_ms > first_ms
    ]
    if leases and min(leases) <= now_ms:
        keep_alive(session, load_progress(session, plans, worker, now=now, lock=True), now=now)
        return
    ages = bool(leases) and now_ms + entry.lease // MILLISECOND - min(leases) >= often_ms
    if ages or now_ms - rows[0].seen_ms >= often_ms:
        connection.execute(_SEEN, {"worker_id": worker, "now": now})
    if ages:
        until = {"worker_id": worker, "first_ms": first_ms, "until": now + entry.lease}
        connection.execute(_PROLONGED, until)
