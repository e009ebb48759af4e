"""Four states that are not the same: data complete, code shown, confirmed by the platform, paid; and how the others ended."""

from dataclasses import dataclass

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from study_app.store.models import PlatformIdentity, Worker
from study_app.store.task_models import CodeShown, PlatformRecord

ENDS = ("screened_out", "failed_checks", "partial")


@dataclass(frozen=True, slots=True, kw_only=True)
class Handover:
    """How many workers reached each state; none of them follows from another.

    Attributes
    ----------
    complete : int
        Every required row is stored.
    shown : int
        The completion code was shown.
    confirmed, paid : int
        The platform's list, as read last, has some work of theirs as handed in; as paid.
    early : dict of str to int
        How a part ended that was not completed -> workers.
    visit_codes : int
        Codes for single visits that were shown.
    """

    complete: int
    shown: int
    confirmed: int
    paid: int
    early: dict[str, int]
    visit_codes: int


def handover(session: Session, study: int) -> Handover:
    """Count the workers of a study by what they and the platform know."""
    mine = select(Worker.id).where(Worker.study_id == study)
    codes = select(CodeShown.worker_id).where(CodeShown.worker_id.in_(mine))
    listed = (
        select(PlatformIdentity.worker_id)
        .join(PlatformRecord, PlatformRecord.identity_id == PlatformIdentity.id)
        .where(PlatformIdentity.study_id == study)
        .distinct()
    )
    return Handover(
        complete=_count(session, mine.where(Worker.completed_at.is_not(None))),
        shown=_count(session, codes.where(CodeShown.kind == "complete")),
        confirmed=_count(session, listed.where(PlatformRecord.confirmed)),
        paid=_count(session, listed.where(PlatformRecord.paid)),
        early={end: _count(session, mine.where(Worker.stopped_as == end)) for end in ENDS},
        visit_codes=_count(session, codes.where(CodeShown.kind == "visit")),
    )


def _count(session: Session, found: Select[int]) -> int:
    return session.scalar(select(func.count()).select_from(found.subquery())) or 0
