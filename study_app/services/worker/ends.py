"""The ends of a worker's part that are not its completion: screened out, failed checks, stopped on their own, withdrawn."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from sqlalchemy import select
from sqlalchemy.orm import Session

from study_app.services.worker.whereabouts import Whereabouts
from study_app.store.models import Study, Worker
from study_app.store.rows import change

End: TypeAlias = Literal["screened_out", "failed_checks", "partial"]


def stop(session: Session, here: Whereabouts, end: End, *, now: datetime) -> None:
    """End a worker's part for good; what they hold and have not done returns to the pool at once.

    The code is the study's for that end; for a partial one only if some answer is stored. A worker whose part has
    ended already is left alone.
    """
    worker = here.worker
    if worker.completed_at is not None or worker.stopped_at is not None:
        return
    code = getattr(here.plan.entry.codes, end) if end != "partial" or has_answer(here) else None
    change(session, worker, stopped_at=max(now, worker.last_seen_at), stopped_as=end, completion_code=code)
    for slots in here.slots.values():
        for slot in slots:
            if slot.done_at is None:
                change(session, slot, expires_at=min(slot.expires_at, now))


def has_answer(here: Whereabouts) -> bool:
    """Say whether anything that a worker was asked to do is stored; a stream that was followed for a while is."""
    return any(slot.followed or any(slot.answered) for task in here.state.tasks for slot in task.slots)


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawal:
    """Whose answers do not count any more; ``again`` when they did not before either."""

    study: str
    pseudonym: str
    again: bool


def withdraw(session: Session, code: str, *, now: datetime) -> Withdrawal | None:
    """Withdraw the worker who holds a code; None when nobody does. A code copied by hand may be in capitals."""
    if not code.isprintable():  # PostgreSQL refuses NUL even in a question
        return None
    found = session.execute(
        select(Worker, Study.name)
        .join(Study)
        .where(Worker.withdrawal_code == code.strip().lower())
        .with_for_update(of=Worker)
    ).one_or_none()
    if found is None:
        return None
    worker, study = found
    again = worker.withdrawn_at is not None
    worker.withdrawn_at = worker.withdrawn_at or now
    session.flush()
    return Withdrawal(study=study, pseudonym=worker.pseudonym, again=again)
