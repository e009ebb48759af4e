"""Gaps of the page logs: missing events, missing ends, answers without a log."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sqlalchemy import BigInteger, case, func, select, type_coerce
from sqlalchemy.orm import Session

from study_app.export.event_log import EventLog, times
from study_app.logs.event_arrays import CLOSE, KIND, LEAVE, NUMBER, SUBMIT, Int64s
from study_app.store.models import (
    Assignment,
    Judgment,
    PageLoad,
    Showing,
    Slot,
    Worker,
)
from study_app.store.revisions import is_newest
from study_app.store.submissions import takes_part
from study_app.store.task_models import Follow, StreamView

STREAM_PAGES = ("stream_pages", "stream_pages_by_form_only", "silent_stream_pages")
"""Counts of served stream pages: all, known by their form alone, unknown.

A page without script leaves a form and no log; a silent page was never seen (a prefetch, a preview of a
link), or everything was lost.
"""


PAGE_GAPS = ("pages", "pages_with_gaps", "pages_without_end", "events", "missing")
"""Counts of page loads with any log, gaps, no end; of events stored, missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogGaps:
    """Totals of the gaps of all logs; see `PAGE_GAPS` and `STREAM_PAGES`."""

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
    """Gaps of the logs by worker.

    Attributes
    ----------
    unlogged_answers : Counter
        Newest answers to pairs whose page logged nothing, by worker.
    streams : mapping of str to Counter
        Counts named by `STREAM_PAGES`, by worker.
    pages : Counter
        Sums of `PAGE_GAPS` over the pages that `add` was given.
    """

    unlogged_answers: Counter[str]
    streams: Mapping[str, Counter[str]]
    pages: Counter[str]

    def add(self, gaps: pd.DataFrame) -> None:
        """Add the gaps of some pages, as `page_gaps` returns them."""
        self.pages.update(_page_figures(gaps).sum().to_dict())

    def by_worker(self, workers: Sequence[str], gaps: pd.DataFrame) -> pd.DataFrame:
        """Return rows of the raw table worker_gaps for some workers."""
        pages = _page_figures(gaps).groupby(gaps["worker"]).sum().reindex(workers, fill_value=0)
        served = [self.streams.get(worker, Counter[str]()) for worker in workers]
        others = {name: [counts[name] for counts in served] for name in STREAM_PAGES}
        unlogged = [self.unlogged_answers[worker] for worker in workers]
        return pages.assign(unlogged_answers=unlogged, **others).reset_index(names="worker")

    def total(self) -> LogGaps:
        """Return the totals over all workers."""
        served = sum(self.streams.values(), Counter[str]())
        return LogGaps(
            pages=self.pages["pages"],
            pages_with_gaps=self.pages["pages_with_gaps"],
            pages_without_end=self.pages["pages_without_end"],
            missing_events=self.pages["missing"],
            unlogged_answers=self.unlogged_answers.total(),
            **{name: served[name] for name in STREAM_PAGES},
        )


def missing_logs(session: Session, study_id: int) -> MissingLogs:
    """Return the gaps of a study's logs, before any page is added."""
    return MissingLogs(
        unlogged_answers=_unlogged_answers(session, study_id),
        streams=_stream_pages(session, study_id),
        pages=Counter(),
    )


def _page_figures(gaps: pd.DataFrame) -> pd.DataFrame:
    """Return the counts named by `PAGE_GAPS` for each page."""
    columns = (np.ones(len(gaps)), gaps["missing"] > 0, ~gaps["has_end"], gaps["events"], gaps["missing"])
    return pd.DataFrame(dict(zip(PAGE_GAPS, columns, strict=True))).astype("int64")


def page_gaps(session: Session, workers: Sequence[int], log: EventLog) -> pd.DataFrame:
    """Return the gaps of each page load of some workers that logged anything.

    Rows are in order of the pseudonyms and of serving. The columns are those of the raw table page_gaps, and
    ``row``, that of the page load. Numbers begin at 1, so whatever is not stored below the highest is
    missing. ``has_end``: `close`, `submit` or `leave` is stored. Without it the last events may be lost, in
    an unknown number.
    """
    loads = (
        select(
            PageLoad.id,
            Worker.pseudonym,
            PageLoad.key,
            PageLoad.step,
            Showing.name,
            type_coerce(PageLoad.served_at, BigInteger),
            type_coerce(PageLoad.first_received_at, BigInteger),
        )
        .join(Worker, Worker.id == PageLoad.worker_id)
        .outerjoin(Showing, Showing.id == PageLoad.showing_id)
        .where(Worker.id.in_(workers))
        .order_by(Worker.pseudonym, PageLoad.served_at, PageLoad.key)
    )
    names = ["row", "worker", "page", "step", "judgment", "served_at", "first_received_at"]
    pages = pd.DataFrame(session.execute(loads).all(), columns=names)
    order, first = log.order(pages["row"].tolist())
    number, events = log.log[order, NUMBER], np.diff(first)
    page = np.repeat(np.arange(len(pages)), events)
    highest, has_end = np.zeros(len(pages), np.int64), np.zeros(len(pages), bool)
    np.maximum.at(highest, page, number)
    has_end[page[np.isin(log.log[order, KIND], (CLOSE, SUBMIT, LEAVE))]] = True
    return pages.assign(
        served_at=times(pages["served_at"].to_numpy(np.int64)),
        first_received_at=times(pages["first_received_at"].to_numpy(np.int64)),
        events=events,
        highest=highest,
        missing=highest - events,
        missing_numbers=_missing_numbers(page, number, len(pages)),
        has_end=has_end,
    )


def _missing_numbers(page: Int64s, number: Int64s, pages: int) -> list[str]:
    """Return the missing numbers of each page, such as ``4-6 9``.

    Each gap lies before an event that arrived.
    """
    before = np.where(np.diff(page, prepend=-1) == 0, np.roll(number, 1), 0)
    holes: list[list[str]] = [[] for _ in range(pages)]
    for event in np.flatnonzero(number > before + 1).tolist():
        first, last = before[event] + 1, number[event] - 1
        holes[page[event]].append(f"{first}" if first == last else f"{first}-{last}")
    return [" ".join(some) for some in holes]


def _unlogged_answers(session: Session, study_id: int) -> Counter[str]:
    answers = (
        select(Worker.pseudonym, func.count())
        .select_from(Judgment)
        .join(Judgment.showing)
        .join(Showing.slot)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .outerjoin(PageLoad, PageLoad.key == Judgment.page_key)
        .where(takes_part(study_id), is_newest(Judgment), PageLoad.id.is_(None))
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
