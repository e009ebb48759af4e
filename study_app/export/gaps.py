"""What is missing from the logs: holes in the numbers, pages that just stop, answers and pages without a log."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from sqlalchemy import case, func, select
from sqlalchemy.orm import Session

from study_app.export.people import takes_part
from study_app.store.models import Assignment, Judgment, PageLoad, Showing, Slot, StoredEvent, Worker
from study_app.store.task_models import Follow, StreamView

STREAM_PAGES = ("stream_pages", "stream_pages_by_form_only", "silent_stream_pages")
"""Pages of streams that were served; those without a log of which the form tells, as without script; and those that are
silent altogether, because nobody looked (a prefetch, a preview of a link) or everything was lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageGaps:
    """What came of one page load's events.

    Attributes
    ----------
    events, highest : int
        How many are stored, and the highest number among them. Numbers begin at 1, so the difference is missing.
    has_end : bool
        `close`, `submit` or `leave` is among them. Without it the last events may be lost, and nobody knows how many.
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
    """What is missing from all logs together; see `PageGaps`, `MissingLogs` and `STREAM_PAGES`."""

    pages: int
    pages_with_gaps: int
    pages_without_end: int
    missing_events: int
    unlogged_answers: int
    stream_pages: int
    stream_pages_by_form_only: int
    silent_stream_pages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingLogs:
    """What is missing, page by page and worker by worker.

    Attributes
    ----------
    pages : sequence of PageGaps
        Every page load that logged anything, in order of the workers' arrival and of serving.
    unlogged_answers : Counter
        Worker -> answers to pairs, as they finally stand, whose page logged nothing.
    streams : mapping of str to Counter
        Worker -> pages of streams, by `STREAM_PAGES`.
    """

    pages: Sequence[PageGaps]
    unlogged_answers: Counter[str]
    streams: Mapping[str, Counter[str]]

    def total(self) -> LogGaps:
        """Add up what is missing."""
        served = sum(self.streams.values(), Counter[str]())
        return LogGaps(
            pages=len(self.pages),
            pages_with_gaps=sum(page.missing > 0 for page in self.pages),
            pages_without_end=sum(not page.has_end for page in self.pages),
            missing_events=sum(page.missing for page in self.pages),
            unlogged_answers=self.unlogged_answers.total(),
            **{name: served[name] for name in STREAM_PAGES},
        )


def missing_logs(session: Session, study_id: int) -> MissingLogs:
    """Return what is missing from the logs of a study."""
    return MissingLogs(
        pages=_page_logs(session, study_id),
        unlogged_answers=_unlogged_answers(session, study_id),
        streams=_stream_pages(session, study_id),
    )


def _page_logs(session: Session, study_id: int) -> list[PageGaps]:
    ends = func.max(case((StoredEvent.kind.in_(["close", "submit", "leave"]), 1), else_=0))
    highest = func.coalesce(func.max(StoredEvent.number), 0)
    counted = (
        select(
            PageLoad.id,
            func.count(StoredEvent.id).label("events"),
            highest.label("highest"),
            ends.label("ends"),
        )
        .join(Worker, Worker.id == PageLoad.worker_id)
        .outerjoin(StoredEvent, StoredEvent.page_load_id == PageLoad.id)
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
        PageGaps(
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


def _unlogged_answers(session: Session, study_id: int) -> Counter[str]:
    newest = (
        select(Judgment.showing_id, func.max(Judgment.revision).label("revision"))
        .group_by(Judgment.showing_id)
        .subquery()
    )
    answers = (
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
    return Counter(dict(session.execute(answers).all()))


def _stream_pages(session: Session, study_id: int) -> dict[str, Counter[str]]:
    form_only = case((PageLoad.id.is_(None) & StreamView.left_at.is_not(None), 1), else_=0)
    silent = case((PageLoad.id.is_(None) & StreamView.left_at.is_(None), 1), else_=0)
    served = (
        select(Worker.pseudonym, func.count(), func.sum(form_only), func.sum(silent))
        .select_from(StreamView)
        .join(StreamView.follow)
        .join(Follow.slot)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .outerjoin(PageLoad, PageLoad.key == StreamView.key)
        .where(takes_part(study_id))
        .group_by(Worker.pseudonym)
    )
    return {
        worker: Counter(dict(zip(STREAM_PAGES, counts, strict=True)))
        for worker, *counts in session.execute(served)
    }


def _missing_numbers(session: Session, study_id: int) -> dict[int, str]:
    """Return page load -> the numbers missing, for those with any: each hole lies before an event that came."""
    before = func.coalesce(
        func.lag(StoredEvent.number).over(partition_by=StoredEvent.page_load_id, order_by=StoredEvent.number),
        0,
    )
    steps = (
        select(StoredEvent.page_load_id, StoredEvent.number, before.label("before"))
        .join(PageLoad, PageLoad.id == StoredEvent.page_load_id)
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
