"""Workers with complete data: every required answer is stored."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Select, or_, select, update
from sqlalchemy.orm import Session

from study_app.services.worker.ends import last_answers
from study_app.services.worker.worker_progress import load_progress
from study_app.store.models import Assignment, LoadedStudy, Slot, Worker
from study_app.store.study_cache import CachedStudy, StudyCache

AT_A_TIME = 1000
"""Most workers named in one statement, since databases limit how many."""

_UNFINISHED = select(Assignment.worker_id, Slot.id).join(Slot.assignment)


def complete_workers(
    session: Session, plans: StudyCache, loaded_study: CachedStudy, *, now: datetime
) -> dict[int, datetime]:
    """Return when the data of each worker (row) of a study were complete.

    It is the time of the last button or, without that, of the last required answer or the last stream's end.
    """
    workers = session.scalars(
        select(Worker)
        .where(Worker.study_id == loaded_study.id, Worker.consented_at.is_not(None))
        .order_by(Worker.number)
    ).all()
    unpressed = unpressed_workers(session, plans, workers, now=now)
    return {
        worker.id: worker.completed_at or unpressed[worker.id]
        for worker in workers
        if worker.completed_at is not None or worker.id in unpressed
    }


def unpressed_workers(
    session: Session, plans: StudyCache, workers: Sequence[Any], *, now: datetime
) -> dict[int, datetime]:
    """Return the time of the last required answer of those who pressed no button.

    ``workers`` are rows with id, completed_at and stopped_at.
    """
    undecided = [worker.id for worker in workers if worker.completed_at is None and worker.stopped_at is None]
    is_open = or_(Slot.done_at.is_(None), Slot.done_at > now)
    unfinished = rows_by_owner(session, _UNFINISHED.where(is_open), Assignment.worker_id, undecided)
    times: dict[int, datetime] = {}
    for worker in undecided:
        if unfinished[worker]:
            continue
        progress = load_progress(session, plans, worker, now=now)
        if progress.state.is_complete:
            ends = [follow.ends_at for follow in progress.follows.values()]
            times[worker] = max([*last_answers(session, worker), *ends], default=now)
    return times


def rows_by_owner(
    session: Session, query: Select[int, Any], owner: Any, owners: Sequence[int]
) -> defaultdict[int, list[Any]]:
    """Return the rows of each owner, asked for `AT_A_TIME` owners at a time."""
    rows: defaultdict[int, list[Any]] = defaultdict(list)
    for start in range(0, len(owners), AT_A_TIME):
        for owned_by, row in session.execute(query.where(owner.in_(owners[start : start + AT_A_TIME]))):
            rows[owned_by].append(row)
    return rows


def release_finished(session: Session, study: LoadedStudy, *, now: datetime) -> None:
    """Give nothing more to workers who lack only the last button.

    What is added to the study would lead them back from the last page.
    """
    workers = session.execute(
        select(Worker.id, Worker.completed_at, Worker.stopped_at)
        .where(
            Worker.study_id == study.id,
            Worker.consented_at.is_not(None),
            Worker.completed_at.is_(None),
            Worker.stopped_at.is_(None),
            Worker.withdrawn_at.is_(None),
        )
        .order_by(Worker.id)
    ).all()
    finished = unpressed_workers(session, StudyCache(), workers, now=now)
    for worker in sorted(finished):
        session.execute(update(Worker).where(Worker.id == worker).values(at_end_at=now))
