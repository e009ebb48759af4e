"""iUnits rated for an intent: what a sheet shows, and the answers to it."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from study_app.protocol.steps import Step
from study_app.services.worker.answers import finish_slot
from study_app.services.worker.whereabouts import Whereabouts
from study_app.store.task_models import Rating, Sheet
from study_app.store.tokens import PageToken

HIGHEST = 4
"""Highly important; 2 is somewhat important and 0 unimportant (two-layered-summaries §4.1)."""

_SHEET = select(Sheet).where(Sheet.slot_id == bindparam("slot"), Sheet.position == bindparam("position"))
_NEWEST = (
    select(Rating).where(Rating.sheet_id == bindparam("sheet")).order_by(Rating.revision.desc()).limit(1)
)


def sheet_of(session: Session, here: Whereabouts, step: Step) -> Sheet:
    """Return what a page with iUnits shows."""
    return session.scalars(_SHEET, {"slot": here.slot(step).id, "position": step.pair}).one()


def newest_rating(session: Session, sheet: Sheet) -> Rating | None:
    """Return the answer that counts, None before there is one."""
    return session.scalars(_NEWEST, {"sheet": sheet.id}).one_or_none()


def sent_ratings(sheet: Sheet, sent: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return the ratings that a form says, iUnit -> 0 to `HIGHEST`; what it leaves out or says wrongly is not in it."""
    allowed = {str(rating): rating for rating in range(HIGHEST + 1)}
    said = {
        iunit: next(iter(sent.get(f"rating-{number}", ())), "")
        for number, iunit in enumerate(sheet.iunits, start=1)
    }
    return {iunit: allowed[value] for iunit, value in said.items() if value in allowed}


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
