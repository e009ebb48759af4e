"""What a worker does on a page: leave the search, vote, judge, finish. Answers are only ever added."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from study_app.models import Ballot, Judgment, Showing, Slot
from study_app.services.whereabouts import Whereabouts
from study_app.steps import Step
from study_app.tokens import NewToken, PageToken

COMPLETION_LETTERS = 12
CLOCK_TOLERANCE_MS = 2_000


# Written once: these run with every pair page.
_SHOWING = select(Showing).where(Showing.slot_id == bindparam("slot"), Showing.position == bindparam("pair"))
_NEWEST_JUDGMENT = (
    select(Judgment)
    .where(Judgment.showing_id == bindparam("showing"))
    .order_by(Judgment.revision.desc())
    .limit(1)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the form of a pair page says; ``decision_ms`` and ``layout`` as the script filled them, else None."""

    choice: str
    decision_ms: int | None
    layout: str | None


def show_search(session: Session, slot: Slot, *, now: datetime) -> None:
    """Start the search clock, the first time the page is shown."""
    if slot.search_shown_at is None:
        slot.search_shown_at = now
        session.flush()


def search_seconds(slot: Slot, *, now: datetime) -> float:
    """Return how long the worker has been searching, by the server's clock; 0 before the page was shown."""
    return 0.0 if slot.search_shown_at is None else max(0.0, (now - slot.search_shown_at).total_seconds())


def leave_search(session: Session, slot: Slot, *, least_seconds: float, now: datetime) -> bool:
    """End the search; False when it is too early to leave. Leaving again changes nothing."""
    if slot.search_left_at is None:
        if search_seconds(slot, now=now) < least_seconds:
            return False
        slot.search_left_at = now
        session.flush()
    return True


def vote(session: Session, slot: Slot, intents: Sequence[str], page: PageToken, *, now: datetime) -> None:
    """Store a worker's intent votes; the same votes again change nothing, others are a new revision."""
    newest = session.scalars(
        select(Ballot).where(Ballot.slot_id == slot.id).order_by(Ballot.revision.desc()).limit(1)
    ).one_or_none()
    if newest is None or newest.intents != list(intents):
        revision = 1 if newest is None else newest.revision + 1
        session.add(
            Ballot(
                slot_id=slot.id, revision=revision, intents=list(intents), page_key=page.key, decided_at=now
            )
        )
        slot.done_at = slot.done_at or now
        session.flush()


def judge(
    session: Session, here: Whereabouts, step: Step, answer: Answer, page: PageToken, *, now: datetime
) -> None:
    """Store the answer to a pair; the same choice again changes nothing, another one is a new revision.

    The slot is done with the last answer it needs.
    """
    slot = here.slot(step)
    showing = showing_of(session, here, step)
    newest = newest_judgment(session, showing.id)
    if newest is not None and newest.choice == answer.choice:
        return
    decision_ms, timing = decision_time(answer.decision_ms, page.served_at, now=now)
    session.add(
        Judgment(
            showing_id=showing.id,
            revision=1 if newest is None else newest.revision + 1,
            choice=answer.choice,
            page_key=page.key,
            shown_at=page.served_at,
            decided_at=now,
            decision_ms=decision_ms,
            timing=timing,
            layout=answer.layout,
            late=slot.late,
        )
    )
    answered = here.state.tasks[step.task - 1].slots[step.query - 1].answered
    if all(done or number == step.pair for number, done in enumerate(answered, start=1)):
        slot.done_at = slot.done_at or now
    session.flush()


def showing_of(session: Session, here: Whereabouts, step: Step) -> Showing:
    """Return what a pair page shows."""
    return session.scalars(_SHOWING, {"slot": here.slot(step).id, "pair": step.pair}).one()


def newest_judgment(session: Session, showing: int) -> Judgment | None:
    """Return the answer that counts, None before there is one."""
    return session.scalars(_NEWEST_JUDGMENT, {"showing": showing}).one_or_none()


def decision_time(claimed_ms: int | None, served_at: datetime, *, now: datetime) -> tuple[int, str]:
    """Return (milliseconds, whose clock): the browser's measure when the server's does not contradict it."""
    measured_ms = max(0, round((now - served_at).total_seconds() * 1000))
    if claimed_ms is not None and 0 <= claimed_ms <= measured_ms + CLOCK_TOLERANCE_MS:
        return claimed_ms, "browser"
    return measured_ms, "server"


def finish(session: Session, here: Whereabouts, *, now: datetime, new_token: NewToken) -> bool:
    """Complete the worker and make the code, only when every required row is stored; False when some are missing."""
    worker = here.worker
    if worker.completed_at is None:
        if not here.state.has_all:
            return False
        worker.completed_at = max(now, worker.last_seen_at)  # also when the clock was set back
        worker.completion_code = here.plan.entry.completion_code or new_token(COMPLETION_LETTERS).upper()
        session.flush()
    return True
