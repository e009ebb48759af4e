"""The ends of a worker's part that are not its completion: screened out, failed checks, stopped on their own."""

from datetime import datetime
from typing import Literal, TypeAlias

from sqlalchemy.orm import Session

from study_app.services.worker.whereabouts import Whereabouts
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
