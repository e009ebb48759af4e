"""What workers send besides choices and votes: the check before a task, ratings of iUnits, and answers to questions.

Of each: what counts so far, and storing what a form says; the same again changes nothing. Every form of the page before a task is a try
at its check, and two may fail.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from study_app.protocol.steps import Step
from study_app.services.worker.answers import finish_slot
from study_app.services.worker.whereabouts import Whereabouts
from study_app.store.plan import SlotRow, TaskPlan, WorkerRow
from study_app.store.task_models import Introduction, Rating, Reply, Sheet
from study_app.store.tokens import PageToken
from study_app.study.question_answers import ReplyValue
from study_app.tasks.kinds import TRIES, CheckItem, check_of

HIGHEST = 4
"""Highly important; 2 is somewhat important and 0 unimportant (two-layered-summaries §4.1)."""

_SHEET = select(Sheet).where(Sheet.slot_id == bindparam("slot"), Sheet.position == bindparam("position"))
_RATINGS = (
    select(Rating).where(Rating.sheet_id == bindparam("sheet")).order_by(Rating.revision.desc()).limit(1)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckStanding:
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


def standing(
    session: Session, worker: WorkerRow, task: TaskPlan, *, until: datetime | None = None
) -> CheckStanding:
    """Return how far a worker is, or was at ``until``."""
    tries = _tries(session, worker, task)
    return _standing([one for one in tries if until is None or one.decided_at < until])


def attempt(
    session: Session,
    worker: WorkerRow,
    task: TaskPlan,
    picked: Sequence[int],
    page: PageToken,
    *,
    now: datetime,
) -> CheckStanding:
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


def _standing(tries: Sequence[Introduction]) -> CheckStanding:
    return CheckStanding(
        passed=any(one.passed for one in tries),
        tries_left=TRIES - len(tries),
        picked=tuple(tries[-1].answers) if tries else (),
    )


def sheet_of(session: Session, here: Whereabouts, step: Step) -> Sheet:
    """Return what a page with iUnits shows."""
    return session.scalars(_SHEET, {"slot": here.slot(step).id, "position": step.pair}).one()


def newest_rating(session: Session, sheet: Sheet, *, until: datetime | None = None) -> Rating | None:
    """Return the answer that counts, or did at ``until``; None before there is one."""
    ratings = _RATINGS if until is None else _RATINGS.where(Rating.decided_at < until)
    return session.scalars(ratings, {"sheet": sheet.id}).one_or_none()


def sent_ratings(sheet: Sheet, sent: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return the ratings that a form says, iUnit -> 0 to `HIGHEST`; what it leaves out or says wrongly is not in it."""
    allowed = {str(rating): rating for rating in range(HIGHEST + 1)}
    sent_values = {
        iunit: next(iter(sent.get(f"rating-{number}", ())), "")
        for number, iunit in enumerate(sheet.iunits, start=1)
    }
    return {iunit: allowed[value] for iunit, value in sent_values.items() if value in allowed}


def rate(
    session: Session,
    here: Whereabouts,
    step: Step,
    ratings: Mapping[str, int],
    page: PageToken,
    *,
    now: datetime,
) -> bool:
    """Store the ratings of a sheet; False when some are missing.

    The same again change nothing, others are a new revision. The slot is done with the last sheet it needs.
    """
    slot, sheet = here.slot(step), sheet_of(session, here, step)
    if set(ratings) != set(sheet.iunits):
        return False
    newest = newest_rating(session, sheet)
    if newest is not None and newest.ratings == dict(ratings):
        return True
    session.add(
        Rating(
            sheet_id=sheet.id,
            revision=1 if newest is None else newest.revision + 1,
            ratings=dict(ratings),
            page_key=page.key,
            decided_at=now,
        )
    )
    answered = here.state.tasks[step.task - 1].slots[step.query - 1].answered
    if all(done or number == step.pair for number, done in enumerate(answered, start=1)):
        finish_slot(session, slot, now=now)
    session.flush()
    return True


def newest_reply(session: Session, slot: SlotRow, *, until: datetime | None = None) -> Reply | None:
    """Return the answers that count, or did at ``until``; None before there are any."""
    mine = select(Reply).where(Reply.slot_id == slot.id)
    if until is not None:
        mine = mine.where(Reply.decided_at < until)
    return session.scalars(mine.order_by(Reply.revision.desc()).limit(1)).one_or_none()


def reply(
    session: Session, slot: SlotRow, answers: Mapping[str, ReplyValue], page: PageToken, *, now: datetime
) -> None:
    """Store answers; the same again change nothing, others are a new revision."""
    newest = newest_reply(session, slot)
    if newest is None or newest.answers != dict(answers):
        session.add(
            Reply(
                slot_id=slot.id,
                revision=1 if newest is None else newest.revision + 1,
                answers=dict(answers),
                page_key=page.key,
                decided_at=now,
            )
        )
        finish_slot(session, slot, now=now)
        session.flush()
