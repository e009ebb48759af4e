"""Audit of a study: a chain of lines that say when, whose key, and what."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from study_app.store.console_models import AuditEntry
from study_app.store.models import LoadedStudy

INSTALLATION = "key of the installation"
COMMAND_LINE = "command line"
STRANGER = "nobody known"
RESERVED = frozenset({INSTALLATION, COMMAND_LINE, STRANGER})
"""Names that the audit gives; no key may have one of them."""

LOOK_UP = "look up by platform id"
NOBODY = "nobody has this id"
REPLAY = "replay a page with systems"
"""A replay that is a view of results."""
WRONG_KEY = "wrong key"
MAX_WRONG_KEYS = 20
WRONG_KEYS_WITHIN = timedelta(hours=1)
"""Time in which at most `MAX_WRONG_KEYS` wrong keys are listed.

The limit keeps strangers from filling the disk.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyHolder:
    """Holder of a key; ``id`` is the key's row, None for the key of the installation."""

    id: int | None
    name: str
    role: str


def add_audit_entry(
    session: Session, study_id: int, holder: KeyHolder | None, what: str, detail: str, *, now: datetime
) -> AuditEntry:
    """Add the next line to a study's audit; no holder means the command line.

    It locks the study's row first, so that two simultaneous actions are written one after the other.
    """
    session.execute(select(LoadedStudy.id).where(LoadedStudy.id == study_id).with_for_update(key_share=True))
    newest = select(AuditEntry.number, AuditEntry.sha256).where(AuditEntry.study_id == study_id)
    number, previous = session.execute(newest.order_by(AuditEntry.number.desc()).limit(1)).one_or_none() or (
        0,
        "",
    )
    entry = AuditEntry(
        study_id=study_id,
        key_id=None if holder is None else holder.id,
        who=COMMAND_LINE if holder is None else holder.name,
        at=now,
        what=what,
        number=number + 1,
        previous=previous,
    )
    session.add(entry)
    describe(session, entry, detail)
    return entry


def describe(session: Session, entry: AuditEntry, detail: str) -> None:
    """Set the detail of the newest line of the audit, before its transaction ends."""
    entry.detail = detail
    entry.sha256 = entry.digest
    session.flush()


def add_wrong_key(session: Session, study_id: int, *, now: datetime) -> None:
    """Add a wrong key to the audit, at most `MAX_WRONG_KEYS` within an hour."""
    recent = select(func.count()).where(
        AuditEntry.study_id == study_id,
        AuditEntry.what == WRONG_KEY,
        AuditEntry.at > now - WRONG_KEYS_WITHIN,
    )
    listed = session.scalar(recent) or 0
    if listed < MAX_WRONG_KEYS:
        is_last = listed == MAX_WRONG_KEYS - 1
        detail = "no further wrong key is listed until this hour is over" if is_last else ""
        stranger = KeyHolder(id=None, name=STRANGER, role="")
        add_audit_entry(session, study_id, stranger, WRONG_KEY, detail, now=now)


_PEOPLE = re.compile(r"\b(\d[\d,]*) (?:person|people)\b")
OF_ONE = frozenset({"withdraw", LOOK_UP, REPLAY})
"""Acts that concern one person, with whose pseudonym their detail begins."""


def people_in(entry: AuditEntry) -> int | None:
    """Return the number of people whom an act concerns, as its line says it; None where it concerns nobody in particular."""
    if entry.what in OF_ONE:
        return int(entry.detail != NOBODY)
    numbers = [int(number.replace(",", "")) for number in _PEOPLE.findall(entry.detail)]
    return sum(numbers) if numbers else None


def audit_entries(
    session: Session, study_id: int, *, limit: int | None, before: int | None = None
) -> Sequence[AuditEntry]:
    """Return lines of the audit, the newest first, or those before a line; at most ``limit``, None for all."""
    entries = select(AuditEntry).where(AuditEntry.study_id == study_id)
    if before is not None:
        entries = entries.where(AuditEntry.number < before)
    return session.scalars(entries.order_by(AuditEntry.number.desc()).limit(limit)).all()
