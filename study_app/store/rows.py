"""The rows that every page and every answer reads, as plain values, and the one way to change them.

The database's own objects (`study_app.store.models`) cost ten times as much to read and to write: too much for what happens with
every page.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Insert, Update, bindparam, update
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import InstrumentedAttribute

from study_app.store.models import Slot, Worker


@dataclass(slots=True)
class WorkerRow:
    """A person in one study: what `models.Worker` says of them."""

    id: int
    study_id: int
    number: int
    pseudonym: str
    withdrawal_code: str
    last_seen_at: datetime
    consented_at: datetime | None
    consent_sha256: str | None
    completed_at: datetime | None
    completion_code: str | None
    withdrawn_at: datetime | None
    stopped_at: datetime | None
    stopped_as: str | None


@dataclass(slots=True)
class SlotRow:
    """A query, a unit of it, or a stream that a worker holds: what `models.Slot` says of it."""

    id: int
    assignment_id: int
    topic_id: int
    unit: int
    position: int
    expires_at: datetime
    late: bool
    search_shown_at: datetime | None
    search_left_at: datetime | None
    done_at: datetime | None


def columns(model: type[Any], row: type[Any]) -> list[InstrumentedAttribute[Any]]:
    """Return the columns of ``model`` that a row of this kind is made from, in the order of its fields."""
    return [getattr(model, field.name) for field in fields(row)]


def store(session: Session, statement: Insert, values: Mapping[str, object]) -> int:
    """Store a row; return its number."""
    key: Any = session.connection().execute(statement, values).inserted_primary_key
    return int(key[0])


def change(session: Session, row: WorkerRow | SlotRow, **values: object) -> None:
    """Store new values of columns, and give them to ``row`` too."""
    statement = _changing(Worker if isinstance(row, WorkerRow) else Slot, tuple(values))
    session.connection().execute(
        statement, {"row": row.id} | {f"new_{name}": value for name, value in values.items()}
    )
    for name, value in values.items():
        setattr(row, name, value)


@cache
def _changing(model: type[Worker | Slot], names: tuple[str, ...]) -> Update:
    """Return the statement that gives columns of one row new values; there are only as many as ways to call `change`."""
    changed = update(model).where(model.id == bindparam("row"))
    return changed.values({name: bindparam(f"new_{name}") for name in names})
