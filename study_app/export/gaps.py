"""What is missing from the logs: holes in the numbers, pages that just stop, answers whose page logged nothing."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from sqlalchemy import case, func, select
from sqlalchemy.orm import Session

from study_app.export.people import takes_part
from study_app.models import Assignment, Event, Judgment, PageLoad, Showing, Slot, Worker


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLog:
    """What came of one page load's events.

    Attributes
    ----------
    events, highest : int
        How many are stored, and the highest number among them. Numbers begin at 1, so the difference is missing.
    has_end : bool
        `close` or `submit` is among them. Without it the last events may be lost, and nobody knows how many.
    missing_numbers : str
        Such as ``4-6 9``.
    """

    worker: str
    page: str
    step: str
    judgment: str | None
    served_at: datetime
    first_received_at: datetime
    events: int
    highest: int
    has_end: bool
    missing_numbers: str

    @property
    def missing(self) -> int:
        """Events below the highest number that never came."""
        return self.highest - self.events


@dataclass(frozen=True, slots=True, kw_only=True)
class LogGaps:
    """What is missing from all logs together: see `PageLog`; ``unlogged_answers`` are those of `unlogged_answers`."""

    pages: int
    pages_with_gaps: int
    pages_without_end: int
    missing_events: int
    unlogged_answers: int


def log_gaps(pages: Sequence[PageLog], unlogged: Counter[str]) -> LogGaps:
    """Add up what is missing."""
    return LogGaps(
        pages=len(pages),
        pages_with_gaps=sum(page.missing > 0 for page in pages),
        pages_without_end=sum(not page.has_end for page in pages),
        missing_events=sum(page.missing for page in pages),
        unlogged_answers=unlogged.total(),
    )


def page_logs(session: Session, study_id: int) -> list[PageLog]:
    """Return every page load that logged anything, in order of the workers' arrival and of serving."""
    ends = func.max(case((Event.kind.in_(["close", "submit"]), 1), else_=0))
    highest = func.coalesce(func.max(Event.number), 0)
    counted = (
        select(
            PageLoad.id, func.count(Event.id).label("events"), highest.label("highest"), ends.label("ends")
        )
        .join(Worker, Worker.id == PageLoad.worker_id)
        .outerjoin(Event, Event.page_load_id == PageLoad.id)
        .where(takes_part(study_id))
        .group_by(PageLoad.id)
        .subquery()
    )
    rows = session.execute(
        select(PageLoad, Worker.pseudonym, Showing.name, counted.c.events, counted.c.highest, counted.c.ends)
        .join(counted, counted.c.id == PageLoad.id)
        .join(Worker, Worker.id == PageLoad.worker_id)
        .outerjoin(Showing, Showing.id == PageLoad.showing_id)
        .order_by(Worker.number, PageLoad.served_at, PageLoad.key)
    )
    missing = _missing_numbers(session, study_id)
    return [
        PageLog(
            worker=worker,
            page=load.key,
            step=load.step,
            judgment=judgment,
            served_at=load.served_at,
            first_received_at=load.first_received_at,
            events=events,
            highest=highest,
            has_end=bool(ends),
            missing_numbers=missing.get(load.id, ""),
        )
        for load, worker, judgment, events, highest, ends in rows
    ]


def unlogged_answers(session: Session, study_id: int) -> Counter[str]:
    """Return worker -> answers to pairs, as they finally stand, whose page logged nothing."""
    newest = (
        select(Judgment.showing_id, func.max(Judgment.revision).label("revision"))
        .group_by(Judgment.showing_id)
        .subquery()
    )
    found = (
        select(Worker.pseudonym, func.count())
        .select_from(Judgment)
        .join(newest, (newest.c.showing_id == Judgment.showing_id) & (newest.c.revision == Judgment.revision))
        .join(Judgment.showing)
        .join(Showing.slot)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .outerjoin(PageLoad, PageLoad.key == Judgment.page_key)
        .where(takes_part(study_id), PageLoad.id.is_(None))
        .group_by(Worker.pseudonym)
    )
    return Counter(dict(session.execute(found).all()))


def _missing_numbers(session: Session, study_id: int) -> dict[int, str]:
    """Return page load -> the numbers missing, for those with any: each hole lies before an event that came."""
    before = func.coalesce(
        func.lag(Event.number).over(partition_by=Event.page_load_id, order_by=Event.number), 0
    )
    steps = (
        select(Event.page_load_id, Event.number, before.label("before"))
        .join(PageLoad, PageLoad.id == Event.page_load_id)
        .join(Worker, Worker.id == PageLoad.worker_id)
        .where(takes_part(study_id))
        .subquery()
    )
    holes = session.execute(
        select(steps.c.page_load_id, steps.c.before + 1, steps.c.number - 1)
        .where(steps.c.number > steps.c.before + 1)
        .order_by(steps.c.page_load_id, steps.c.number)
    )
    return {
        page: " ".join(str(first) if first == last else f"{first}-{last}" for _, first, last in some)
        for page, some in groupby(holes, key=lambda hole: hole[0])
    }
