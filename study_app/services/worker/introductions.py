"""The page before a task: every form of it is a try at its check, and two may fail."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from study_app.store.plan import TaskPlan
from study_app.store.rows import WorkerRow
from study_app.store.task_models import Introduction
from study_app.store.tokens import PageToken
from study_app.tasks.checks import TRIES, CheckItem, check_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How far a worker is with the page before a task.

    Attributes
    ----------
    passed : bool
        The task may begin.
    tries_left : int
        How often the check may still be answered.
    picked : tuple of int
        Options of the last try, from 1; () before the first.
    """

    passed: bool
    tries_left: int
    picked: tuple[int, ...]


def standing(session: Session, worker: WorkerRow, task: TaskPlan) -> Standing:
    """Return how far a worker is."""
    return _standing(_tries(session, worker, task))


def attempt(
    session: Session,
    worker: WorkerRow,
    task: TaskPlan,
    picked: Sequence[int],
    page: PageToken,
    *,
    now: datetime,
) -> Standing:
    """Store a try; the same form sent twice is one, and after the check was passed nothing is stored.

    Parameters
    ----------
    picked : sequence of int
        The option of each question of the check, from 1; empty without a check.
    """
    tries = _tries(session, worker, task)
    is_repeat = any(one.page_key == page.key and one.answers == list(picked) for one in tries)
    if not is_repeat and not _standing(tries).passed:
        done = Introduction(
            worker_id=worker.id,
            task_id=task.id,
            number=len(tries) + 1,
            answers=list(picked),
            passed=wrong_answers(check_of(task.entry), picked) == (),
            page_key=page.key,
            decided_at=now,
        )
        session.add(done)
        session.flush()
        tries = [*tries, done]
    return _standing(tries)


def wrong_answers(check: Sequence[CheckItem], picked: Sequence[int]) -> tuple[int, ...]:
    """Return the numbers (from 1) of the questions that were answered wrongly."""
    pairs = enumerate(zip(check, picked, strict=True), start=1)
    return tuple(number for number, (item, option) in pairs if option != item.answer)


def _tries(session: Session, worker: WorkerRow, task: TaskPlan) -> list[Introduction]:
    mine = select(Introduction).where(Introduction.worker_id == worker.id, Introduction.task_id == task.id)
    return list(session.scalars(mine.order_by(Introduction.number)))


def _standing(tries: Sequence[Introduction]) -> Standing:
    return Standing(
        passed=any(one.passed for one in tries),
        tries_left=TRIES - len(tries),
        picked=tuple(tries[-1].answers) if tries else (),
    )
