"""Facts about workers: last task, quality checks, window, and log gaps.

The database counts each for some workers at once. None reveals a preferred system.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from study_app.store.care import Workers, care_checks
from study_app.store.models import Assignment, Judgment, PageLoad, Showing, Slot, StoredEvent
from study_app.store.revisions import is_newest
from study_app.store.study_cache import CachedStudy

MIN_COMPUTER_PIXELS = 600
"""Smallest side of a computer's window; a phone's has a shorter one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LastTask:
    """Last task with slots of a worker, and the number of finished ones."""

    number: int
    name: str
    done: int
    slots: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerLogGaps:
    """Pages of a worker with missing events, and answers whose page logged nothing."""

    pages: int = 0
    answers: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Size in CSS pixels of the window of a worker's newest logged page."""

    width: int
    height: int

    @property
    def device(self) -> str:
        """Phone or computer, by the shorter side."""
        return "phone" if min(self.width, self.height) < MIN_COMPUTER_PIXELS else "computer"


def last_tasks(session: Session, study: CachedStudy, workers: Workers, now: datetime) -> dict[int, LastTask]:
    """Return the last task of each worker who has slots."""
    done = func.count().filter(Slot.done_at <= now)
    slots = (
        select(Assignment.worker_id, Assignment.task_id, done, func.count(Slot.id))
        .join(Assignment.slots)
        .where(Assignment.worker_id.in_(workers))
        .group_by(Assignment.worker_id, Assignment.task_id)
    )
    last: dict[int, LastTask] = {}
    for worker, row, finished, number in session.execute(slots):
        task = study.task(row)
        if worker not in last or task.number > last[worker].number:
            last[worker] = LastTask(
                number=task.number, name=str(task.entry.name), done=finished, slots=number
            )
    return last


def windows(session: Session, workers: Workers) -> dict[int, Window]:
    """Return the window of the newest page of each worker that logged how it opened."""
    newest = select(func.max(PageLoad.id)).where(PageLoad.worker_id.in_(workers)).group_by(PageLoad.worker_id)
    opened = (
        select(PageLoad.worker_id, StoredEvent.detail)
        .join(StoredEvent, (StoredEvent.page_load_id == PageLoad.id) & (StoredEvent.number == 1))
        .where(PageLoad.id.in_(newest), StoredEvent.kind == "open")
    )
    return {
        worker: Window(width=detail["width"], height=detail["height"])
        for worker, detail in session.execute(opened)
    }


def log_gaps(session: Session, workers: Workers) -> dict[int, WorkerLogGaps]:
    """Return the log gaps of each worker who has any."""
    above = (StoredEvent.page_load_id == PageLoad.id) & (StoredEvent.number > PageLoad.upto)
    holed = (
        select(PageLoad.worker_id, func.count())
        .where(PageLoad.worker_id.in_(workers), select(StoredEvent.id).where(above).exists())
        .group_by(PageLoad.worker_id)
    )
    missing = func.count() - func.count(PageLoad.id)
    unlogged = (
        select(Assignment.worker_id, missing)
        .select_from(Assignment)
        .join(Assignment.slots)
        .join(Slot.showings)
        .join(Showing.judgments)
        .outerjoin(PageLoad, PageLoad.key == Judgment.page_key)
        .where(Assignment.worker_id.in_(workers), is_newest(Judgment))
        .group_by(Assignment.worker_id)
        .having(missing > 0)
    )
    pages, answers = (dict(session.execute(each).all()) for each in (holed, unlogged))
    return {
        worker: WorkerLogGaps(pages=pages.get(worker, 0), answers=answers.get(worker, 0))
        for worker in pages | answers
    }


Fact: TypeAlias = Callable[[Session, CachedStudy, Workers, datetime], Mapping[int, Any]]

FACTS: Mapping[str, Fact] = {
    "last_task": last_tasks,
    "care": lambda session, study, workers, _: care_checks(session, study, workers),
    "window": lambda session, _study, workers, _: windows(session, workers),
    "gaps": lambda session, _study, workers, _: log_gaps(session, workers),
}
"""Facts by name; a worker without one is missing from its answer."""
