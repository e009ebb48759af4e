"""Places of workers who gave their work back at the platform, or ran out of time there."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from sqlalchemy import exists, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from study_app.store.models import Assignment, PlatformEntry, PlatformIdentity, Slot, Worker
from study_app.store.platform_models import PlatformEvent
from study_app.study.platforms import PLATFORMS

FREED_STATES = frozenset({"RETURNED", "TIMEDOUT"})
"""Prolific's states of a submission whose place is free again, as `plain_state` writes them."""
EventEffect: TypeAlias = Literal["freed", "nothing to free", "duplicate", "older", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionEvent:
    """Change of a submission's state of which a platform told.

    Attributes
    ----------
    event, signature : str
        Name of the event, the same whenever it is told again; signature of this telling.
    worker, submission, status : str
        In the platform's words.
    happened_at : datetime
        When it happened there.
    """

    event: str
    signature: str
    worker: str
    submission: str
    status: str
    happened_at: datetime


def plain_state(word: str) -> str:
    """Return a platform's word for a state in capitals, without blanks and marks."""
    return "".join(letter for letter in word.upper() if letter.isalnum())


def take_event(session: Session, platform: str, event: SubmissionEvent, *, now: datetime) -> EventEffect:
    """Store an event and free the place that it frees; whatever is told twice, late or replayed does nothing.

    Of a submission only the newest event counts, in whatever order they come.
    """
    identity = identity_of_submission(session, platform, event.worker, event.submission)
    if identity is None:
        return "unknown"
    session.execute(select(Worker.id).where(Worker.id == identity.worker_id).with_for_update(key_share=True))
    newest = session.scalars(
        select(PlatformEvent.happened_at)
        .where(PlatformEvent.identity_id == identity.id, PlatformEvent.submission == event.submission)
        .order_by(PlatformEvent.happened_at.desc())
        .limit(1)
    ).one_or_none()
    dialect = postgresql if session.connection().dialect.name == "postgresql" else sqlite
    stored = session.execute(
        dialect.insert(PlatformEvent)
        .values(
            event=_digest(event.event),
            signature=_digest(event.signature),
            identity_id=identity.id,
            submission=event.submission,
            status=event.status,
            happened_at=event.happened_at,
            received_at=now,
        )
        .on_conflict_do_nothing()
        .returning(PlatformEvent.id)
    ).one_or_none()
    if stored is None:
        return "duplicate"
    if newest is not None and event.happened_at < newest:
        return "older"
    frees = plain_state(event.status) in FREED_STATES
    return (
        "freed" if frees and free_place(session, identity, event.submission, now=now) else "nothing to free"
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def identity_of_submission(
    session: Session, platform: str, worker: str, submission: str
) -> PlatformIdentity | None:
    """Return who came under a submission, None for nobody."""
    identities = select(PlatformIdentity).where(
        PlatformIdentity.platform == platform, PlatformIdentity.platform_worker == worker
    )
    for identity in session.scalars(identities.order_by(PlatformIdentity.id)):
        if submission in _submissions(session, identity):
            return identity
    return None


def free_place(session: Session, identity: PlatformIdentity, submission: str, *, now: datetime) -> int:
    """Free what a worker holds and has not done; return the number of slots freed.

    Nothing is freed for a submission other than the worker's latest, of a worker whose part has ended, or twice: whoever answers
    after all goes on as after an expired lease.
    """
    submissions = _submissions(session, identity)
    worker = session.scalars(
        select(Worker).where(Worker.id == identity.worker_id).with_for_update(key_share=True)
    ).one()
    has_ended = not (worker.completed_at is worker.stopped_at is worker.withdrawn_at is None)
    if not submissions or submissions[-1] != submission or has_ended or worker.returned_at is not None:
        return 0
    worker.returned_at = now
    session.flush()
    held = exists().where(Assignment.id == Slot.assignment_id, Assignment.worker_id == worker.id)
    freed = session.execute(
        update(Slot)
        .where(held, Slot.done_at.is_(None), Slot.expires_at > now)
        .values(expires_at=now)
        .returning(Slot.id)
    )
    return len(freed.all())


def _submissions(session: Session, identity: PlatformIdentity) -> list[str]:
    """Return the submissions under which a worker came, by arrival."""
    name = PLATFORMS[identity.platform].submission_parameter
    arrivals = select(PlatformEntry.parameters).where(PlatformEntry.identity_id == identity.id)
    return [
        parameters[name]
        for parameters in session.scalars(arrivals.order_by(PlatformEntry.id))
        if name is not None and name in parameters
    ]
