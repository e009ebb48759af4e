"""Storage of workers' searches, votes, choices, check tries, ratings and replies.

For each kind of answer: the one that counts so far, and storing a form; an equal answer again changes
nothing. Answers are only ever added. Every form of the page before a task is a try at its check, and two may
fail.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import bindparam, insert, select
from sqlalchemy.orm import Session

from study_app.protocol.steps import Step
from study_app.services.worker.ends import time_of_end
from study_app.services.worker.worker_progress import WorkerProgress
from study_app.store.models import Ballot, Judgment, Showing
from study_app.store.study_cache import CachedTask, CachedTopic, SlotRow, StudyCache, WorkerRow, update_rows
from study_app.store.task_models import Introduction, Rating, Reply, Sheet
from study_app.store.tokens import NewToken, PageToken
from study_app.study.pair_answers import PairAnswer
from study_app.study.question_answers import ReplyValue
from study_app.tasks.kinds import TRIES, CheckItem

Revised = TypeVar("Revised", Ballot, Rating, Reply)
COMPLETION_LETTERS = 12
CLOCK_TOLERANCE_MS = 2_000
# Written once: these run with every pair page.
_SHOWN_PAIR = (
    select(
        Showing.id,
        Showing.pair_id,
        Showing.left_system_id,
        Showing.right_system_id,
        Showing.reveals_silence,
        Judgment.revision,
        Judgment.choice,
        Judgment.strength,
        Judgment.criteria,
        Judgment.reason,
    )
    .outerjoin(Showing.judgments)
    .where(Showing.slot_id == bindparam("slot"), Showing.position == bindparam("pair"))
    .order_by(Judgment.revision.desc())
    .limit(1)
)
_NEW_JUDGMENT = insert(Judgment)


@dataclass(frozen=True, slots=True)
class ShownPair:
    """Content of a pair page, with the current answer and its revision.

    The answer is None before there is one.
    """

    id: int
    pair_id: int
    left_system_id: int
    right_system_id: int
    reveals_silence: bool | None
    revision: int | None
    choice: str | None
    strength: int | None
    criteria: dict[str, list[str | int | None]] | None
    reason: str | None

    @property
    def answer(self) -> PairAnswer | None:
        """The current answer, None before there is one."""
        if self.choice is None:
            return None
        return PairAnswer(
            choice=self.choice, strength=self.strength, criteria=self.criteria, reason=self.reason
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Form of a pair page; ``decision_ms`` and ``layout`` as the script filled them.

    Without a script both are None.
    """

    pair: PairAnswer
    decision_ms: int | None
    layout: str | None


def show_search(session: Session, slot: SlotRow, *, now: datetime) -> None:
    """Start the search clock when the page is shown for the first time."""
    if slot.search_shown_at is None:
        update_rows(session, slot, search_shown_at=now)


def search_seconds(slot: SlotRow, *, now: datetime) -> float:
    """Return the seconds of a search by the server's clock.

    It is 0 before the search page was displayed.
    """
    return 0.0 if slot.search_shown_at is None else max(0.0, (now - slot.search_shown_at).total_seconds())


def leave_search(session: Session, slot: SlotRow, *, least_seconds: float, now: datetime) -> bool:
    """End a search; return False when it is too early to leave.

    Leaving again changes nothing.
    """
    if slot.search_left_at is None:
        if search_seconds(slot, now=now) < least_seconds:
            return False
        update_rows(session, slot, search_left_at=now)
    return True


def vote(session: Session, slot: SlotRow, intents: Sequence[str], page: PageToken, *, now: datetime) -> None:
    """Store a worker's intent votes.

    The same votes again change nothing; others are a new revision.
    """
    newest = newest_answer(session, Ballot, slot.id)
    if newest is None or newest.intents != list(intents):
        session.add(Ballot(slot_id=slot.id, intents=list(intents), **_revision(newest, page, now)))
        finish_slot(session, slot, now=now)
        session.flush()


def judge(
    session: Session, progress: WorkerProgress, step: Step, answer: Answer, page: PageToken, *, now: datetime
) -> None:
    """Store the answer to a pair.

    The same answer again changes nothing, another one is a new revision: another choice, criterion or reason. The slot is done with the last
    answer it needs.
    """
    slot = progress.slot(step)
    shown = shown_pair(session, progress, step)
    if shown.answer == answer.pair:
        return
    decision_ms, timing = decision_time(answer.decision_ms, page.served_at, now=now)
    judgment = {
        "showing_id": shown.id,
        "revision": (shown.revision or 0) + 1,
        "choice": answer.pair.choice,
        "strength": answer.pair.strength,
        "criteria": answer.pair.criteria,
        "reason": answer.pair.reason,
        "page_key": page.key,
        "shown_at": page.served_at,
        "decided_at": now,
        "decision_ms": decision_ms,
        "timing": timing,
        "layout": answer.layout,
        "late": slot.late,
        "study_version": page.version,
    }
    session.connection().execute(_NEW_JUDGMENT, judgment)
    _finish_with_page(session, progress, step, now=now)


def _finish_with_page(session: Session, progress: WorkerProgress, step: Step, *, now: datetime) -> None:
    """Finish a slot if the page at hand was the last without an answer."""
    answered = progress.state.tasks[step.task - 1].slots[step.query - 1].answered
    if all(done or number == step.pair for number, done in enumerate(answered, start=1)):
        finish_slot(session, progress.slot(step), now=now)


def finish_slot(session: Session, slot: SlotRow, *, now: datetime) -> None:
    """Store the time at which a slot became complete, the first time only."""
    if slot.done_at is None:
        update_rows(session, slot, done_at=now)


def newest_answer(
    session: Session, answer: type[Revised], owner: int, *, until: datetime | None = None
) -> Revised | None:
    """Return the revision of an answer that counts now or at ``until``, None before the first.

    ``owner``: row of the sheet of ratings, or of the slot of votes and of answers to questions.
    """
    owned_by = getattr(answer, "sheet_id" if answer is Rating else "slot_id")
    revisions = select(answer).where(owned_by == owner)
    if until is not None:
        revisions = revisions.where(answer.decided_at < until)
    return session.scalars(revisions.order_by(answer.revision.desc()).limit(1)).one_or_none()


def _revision(newest: Ballot | Rating | Reply | None, page: PageToken, now: datetime) -> dict[str, Any]:
    """Return what every new revision of an answer has."""
    number = 1 if newest is None else newest.revision + 1
    return {"revision": number, "page_key": page.key, "decided_at": now}


def shown_pair(
    session: Session, progress: WorkerProgress, step: Step, *, until: datetime | None = None
) -> ShownPair:
    """Return the content of a pair page, with its answer now or at ``until``."""
    ids = {"slot": progress.slot(step).id, "pair": step.pair}
    shown = ShownPair(*session.connection().execute(_SHOWN_PAIR, ids).one())
    if until is None:
        return shown
    answers = select(
        Judgment.revision, Judgment.choice, Judgment.strength, Judgment.criteria, Judgment.reason
    ).where(Judgment.showing_id == shown.id, Judgment.decided_at < until)
    answer = session.execute(answers.order_by(Judgment.revision.desc()).limit(1)).one_or_none()
    revision, choice, strength, criteria, reason = (None,) * 5 if answer is None else answer
    return replace(
        shown, revision=revision, choice=choice, strength=strength, criteria=criteria, reason=reason
    )


def decision_time(claimed_ms: int | None, served_at: datetime, *, now: datetime) -> tuple[int, str]:
    """Return the milliseconds of a decision and their clock.

    It is the browser's measure when the server's does not contradict it.
    """
    measured_ms = max(0, round((now - served_at).total_seconds() * 1000))
    if claimed_ms is not None and 0 <= claimed_ms <= measured_ms + CLOCK_TOLERANCE_MS:
        return claimed_ms, "browser"
    return measured_ms, "server"


def finish(session: Session, progress: WorkerProgress, *, now: datetime, new_token: NewToken) -> bool:
    """Complete a worker and create the completion code.

    It returns False when a required answer is missing.
    """
    worker = progress.worker
    if worker.completed_at is None:
        if not progress.state.has_all:
            return False
        update_rows(
            session,
            worker,
            completed_at=time_of_end(session, worker, now=now),
            completion_code=progress.plan.entry.completion_code or new_token(COMPLETION_LETTERS).upper(),
        )
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    """Request of a worker for a step's page.

    Attributes
    ----------
    shown : ShownPair or None
        Content of a pair page.
    error : str or None
        Catalogue key of the fault of the last form.
    sent : mapping of str to sequence of str
        The fields of the form that was wrong, so that it can come back as it was filled in.
    home : str
        The worker's standing link.
    arrival : str
        Source of the arrival, as the query of an address; empty for a worker who came on their own.
    until : datetime or None
        For a page of the past: answers that were stored later are as if they were not there.
    """

    session: Session
    plans: StudyCache
    here: WorkerProgress
    step: Step
    now: datetime
    shown: ShownPair | None = None
    error: str | None = None
    sent: Mapping[str, Sequence[str]] = field(default_factory=dict)
    home: str = ""
    arrival: str = ""
    until: datetime | None = None

    @property
    def language(self) -> str:
        """Language of the step's task, or of the study for pages of no task."""
        return self.task.entry.language if self.step.task else self.here.plan.language

    @property
    def task(self) -> CachedTask:
        """Task of the step."""
        return self.here.task(self.step)

    @property
    def slot(self) -> SlotRow:
        """Slot of the step."""
        return self.here.slot(self.step)

    @property
    def topic(self) -> CachedTopic:
        """Query or event of the step's slot."""
        return self.task.topic(self.slot.topic_id)


HIGHEST = 4
"""Highest rating of an iUnit: highly important.

2 is somewhat important and 0 unimportant (two-layered-summaries §4.1).
"""
_SHEET = select(Sheet).where(Sheet.slot_id == bindparam("slot"), Sheet.position == bindparam("position"))


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckProgress:
    """Progress of a worker with the page before a task.

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
    session: Session, worker: WorkerRow, task: CachedTask, *, until: datetime | None = None
) -> CheckProgress:
    """Return a worker's progress with the page before a task, now or at ``until``."""
    tries = _tries(session, worker, task)
    return _standing(
        [attempt_row for attempt_row in tries if until is None or attempt_row.decided_at < until]
    )


def attempt(
    session: Session,
    worker: WorkerRow,
    task: CachedTask,
    picked: Sequence[int],
    page: PageToken,
    *,
    now: datetime,
) -> CheckProgress:
    """Store a try at a check.

    The same form sent twice is one try; after the check was passed nothing is stored.

    Parameters
    ----------
    picked : sequence of int
        The option of each question of the check, from 1; empty without a check.
    """
    tries = _tries(session, worker, task)
    is_repeat = any(earlier.page_key == page.key and earlier.answers == list(picked) for earlier in tries)
    if not is_repeat and not _standing(tries).passed:
        done = Introduction(
            worker_id=worker.id,
            task_id=task.id,
            number=len(tries) + 1,
            answers=list(picked),
            passed=wrong_answers(task.check, picked) == (),
            page_key=page.key,
            decided_at=now,
        )
        session.add(done)
        session.flush()
        tries = [*tries, done]
    return _standing(tries)


def wrong_answers(check: Sequence[CheckItem], picked: Sequence[int]) -> tuple[int, ...]:
    """Return the numbers (from 1) of the questions answered wrongly."""
    pairs = enumerate(zip(check, picked, strict=True), start=1)
    return tuple(number for number, (item, option) in pairs if option != item.answer)


def _tries(session: Session, worker: WorkerRow, task: CachedTask) -> list[Introduction]:
    mine = select(Introduction).where(Introduction.worker_id == worker.id, Introduction.task_id == task.id)
    return list(session.scalars(mine.order_by(Introduction.number)))


def _standing(tries: Sequence[Introduction]) -> CheckProgress:
    return CheckProgress(
        passed=any(attempt_row.passed for attempt_row in tries),
        tries_left=TRIES - len(tries),
        picked=tuple(tries[-1].answers) if tries else (),
    )


def sheet_of(session: Session, progress: WorkerProgress, step: Step) -> Sheet:
    """Return the sheet of iUnits of a page."""
    return session.scalars(_SHEET, {"slot": progress.slot(step).id, "position": step.pair}).one()


def sent_ratings(sheet: Sheet, sent: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return the ratings in a form by iUnit, from 0 to `HIGHEST`.

    Missing and invalid ratings are left out.
    """
    allowed = {str(rating): rating for rating in range(HIGHEST + 1)}
    sent_values = {
        iunit: next(iter(sent.get(f"rating-{number}", ())), "")
        for number, iunit in enumerate(sheet.iunits, start=1)
    }
    return {iunit: allowed[value] for iunit, value in sent_values.items() if value in allowed}


def rate(
    session: Session,
    progress: WorkerProgress,
    step: Step,
    ratings: Mapping[str, int],
    page: PageToken,
    *,
    now: datetime,
) -> bool:
    """Store the ratings of a sheet; False when some are missing.

    The same ratings again change nothing, others are a new revision. The slot is done with the last sheet it
    needs.
    """
    sheet = sheet_of(session, progress, step)
    if set(ratings) != set(sheet.iunits):
        return False
    newest = newest_answer(session, Rating, sheet.id)
    if newest is None or newest.ratings != dict(ratings):
        session.add(Rating(sheet_id=sheet.id, ratings=dict(ratings), **_revision(newest, page, now)))
        _finish_with_page(session, progress, step, now=now)
        session.flush()
    return True


def reply(
    session: Session, slot: SlotRow, answers: Mapping[str, ReplyValue], page: PageToken, *, now: datetime
) -> None:
    """Store answers to questions.

    The same answers again change nothing; others are a new revision.
    """
    newest = newest_answer(session, Reply, slot.id)
    if newest is None or newest.answers != dict(answers):
        session.add(Reply(slot_id=slot.id, answers=dict(answers), **_revision(newest, page, now)))
        finish_slot(session, slot, now=now)
        session.flush()
