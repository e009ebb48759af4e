"""Pausing a study: nobody new is let in, whoever has begun goes on."""

from datetime import datetime

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from study_app.store.models import Study

_PAUSED_AT = select(Study.paused_at).where(Study.id == bindparam("study"))


def pause(session: Session, study: Study, *, now: datetime) -> bool:
    """Let nobody new in from now on; False when that was so already."""
    if study.paused_at is not None:
        return False
    study.paused_at = now
    session.flush()
    return True


def resume(session: Session, study: Study) -> bool:
    """Let new workers in again; False when they were let in all the time."""
    if study.paused_at is None:
        return False
    study.paused_at = None
    session.flush()
    return True


def is_paused(session: Session, study: int) -> bool:
    """Say whether a study lets nobody new in."""
    return session.connection().scalar(_PAUSED_AT, {"study": study}) is not None
