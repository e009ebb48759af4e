"""What pages logged: the tables reads and stops, worked out some people at a time so that memory stays bounded."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, NamedTuple

import pandas as pd
from pydantic_core import from_json
from sqlalchemy import Text, cast, select
from sqlalchemy.orm import Session, aliased

from calibration.tables import SIDES, TABLES
from study_app.dwell import LoggedEvent, PageReading, read_page
from study_app.export.people import worker_groups
from study_app.models import MILLISECOND, Event, PageLoad, Showing, Slot, Summary, System, Task, Topic, Worker
from study_app.text_items import Item, end_offsets, summary_items, text_stop

_NEED_DETAIL = frozenset({"see", "layer", "open", "layout"})
_NO_DETAIL: Mapping[str, Any] = MappingProxyType({})


class _PageRow(NamedTuple):
    """A page load that showed a pair."""

    id: int
    page: str
    served_at: datetime
    worker: str
    judgment: str
    topic_id: int
    topic: str
    language: str
    left_id: int
    left: str
    right_id: int
    right: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PairReading:
    """One load of a pair page and what its events tell.

    Attributes
    ----------
    systems : dict
        Side -> name of the system.
    texts : dict
        Side -> items shown.
    """

    page: str
    served_at: datetime
    worker: str
    judgment: str
    topic: str
    language: str
    systems: dict[str, str]
    texts: dict[str, tuple[Item, ...]]
    reading: PageReading


def pair_readings(session: Session, study_id: int) -> Iterator[list[PairReading]]:
    """Yield the pair pages that told what was on their screen, a group of people at a time.

    In order of the workers' arrival, and of the time at which the pages were served.
    """
    summaries = _summary_texts(session, study_id)
    for some in worker_groups(session, study_id):
        events = _events(session, some)
        pages = (_pair_page(row, events[row.id], summaries) for row in _page_rows(session, some))
        yield [page for page in pages if page.reading.items]


def reads_rows(pages: Sequence[PairReading], *, now: datetime) -> pd.DataFrame:
    """Return rows of table reads: each item of each page that was seen, at the latest ``now``."""
    rows = [row for page in pages for side in SIDES for row in _items_read(page, side, now)]
    return pd.DataFrame(rows, columns=list(TABLES["reads"].column_names))


def stops_rows(pages: Sequence[PairReading]) -> pd.DataFrame:
    """Return rows of table stops: how far each text of each judgment was read, over all loads of its page."""
    loads: defaultdict[str, list[PairReading]] = defaultdict(list)
    for page in pages:
        loads[page.judgment].append(page)
    rows = [_stop(same, side) for same in loads.values() for side in SIDES]
    return pd.DataFrame(rows, columns=list(TABLES["stops"].column_names))


def _items_read(page: PairReading, side: str, now: datetime) -> Iterator[tuple[Any, ...]]:
    """Cells in the order of table reads."""
    latest_ms = (now - page.served_at) // MILLISECOND
    ends = end_offsets(page.texts[side], _opened(page, side))
    for item in page.texts[side]:
        read = page.reading.items.get((side, item.key))
        if read is not None:
            yield (
                page.worker,
                page.topic,
                page.systems[side],
                page.page,
                None,
                page.judgment,
                side,
                item.id,
                item.kind,
                item.words,
                item.chars,
                ends[item.key],
                page.served_at + timedelta(milliseconds=min(read.first_seen_ms, latest_ms)),
                None,
                _whole_milliseconds(read.dwell_seconds),
                read.fully_seen,
                read.interrupted,
                page.language,
            )


def _stop(loads: Sequence[PairReading], side: str) -> tuple[Any, ...]:
    """Cells in the order of table stops, for one text and every load of its page."""
    shares: defaultdict[str, float] = defaultdict(float)
    layouts: defaultdict[str, float] = defaultdict(float)
    opened: set[str] = set()
    for page in loads:
        opened |= _opened(page, side)
        for (where, key), item in page.reading.items.items():
            if where == side:
                shares[key] = max(shares[key], item.share)
        for layout, seconds in page.reading.layout_seconds.items():
            layouts[layout] += seconds
    last = loads[-1]
    stop = text_stop(last.texts[side], shares, opened)
    return (
        last.worker,
        last.topic,
        last.systems[side],
        last.page,
        last.judgment,
        side,
        max(reversed(layouts), key=lambda layout: layouts[layout], default=None),
        round(stop.chars_read, 3),
        stop.text_chars,
        stop.reached_end,
        stop.opened,
        last.language,
    )


def _opened(page: PairReading, side: str) -> set[str]:
    return {key for where, key in page.reading.opened if where == side}


def _whole_milliseconds(seconds: float) -> float:
    """Round down, so that rounding never makes a page's dwell times add up to more than its visible time."""
    return int(seconds * 1000 + 1e-6) / 1000


def _summary_texts(session: Session, study_id: int) -> dict[tuple[int, int], tuple[Item, ...]]:
    """Return (topic, system) by row -> items, for every query that somebody took."""
    shown = (
        select(Summary.topic_id, Summary.system_id, Summary.content, Task.language)
        .join(Topic, Topic.id == Summary.topic_id)
        .join(Topic.task)
        .where(Task.study_id == study_id, Topic.id.in_(select(Slot.topic_id)))
    )
    return {
        (topic, system): summary_items(content, language)
        for topic, system, content, language in session.execute(shown)
    }


def _page_rows(session: Session, workers: Sequence[int]) -> Iterator[_PageRow]:
    left, right = aliased(System), aliased(System)
    rows = (
        select(
            PageLoad.id,
            PageLoad.key,
            PageLoad.served_at,
            Worker.pseudonym,
            Showing.name,
            Topic.id,
            Topic.name,
            Task.language,
            left.id,
            left.name,
            right.id,
            right.name,
        )
        .join(Worker, Worker.id == PageLoad.worker_id)
        .join(Showing, Showing.id == PageLoad.showing_id)
        .join(Showing.slot)
        .join(Slot.topic)
        .join(Topic.task)
        .join(left, left.id == Showing.left_system_id)
        .join(right, right.id == Showing.right_system_id)
        .where(Worker.id.in_(workers))
        .order_by(Worker.number, PageLoad.served_at, PageLoad.key)
    )
    return map(_PageRow._make, session.execute(rows))


def _events(session: Session, workers: Sequence[int]) -> defaultdict[int, list[LoggedEvent]]:
    """Return page load -> its events. The detail is fetched as text: most kinds have none that matters here."""
    logged = (
        select(
            Event.page_load_id,
            Event.number,
            Event.kind,
            Event.page_ms,
            Event.wall_ms,
            cast(Event.detail, Text),
        )
        .join(PageLoad, PageLoad.id == Event.page_load_id)
        .where(PageLoad.worker_id.in_(workers), PageLoad.showing_id.is_not(None))
    )
    events: defaultdict[int, list[LoggedEvent]] = defaultdict(list)
    for page, number, kind, page_ms, wall_ms, detail in session.execute(logged):
        told = from_json(detail) if kind in _NEED_DETAIL else _NO_DETAIL
        events[page].append(LoggedEvent(number, kind, page_ms, wall_ms, told))
    return events


def _pair_page(
    row: _PageRow,
    events: Sequence[LoggedEvent],
    summaries: dict[tuple[int, int], tuple[Item, ...]],
) -> PairReading:
    texts = {"left": summaries[row.topic_id, row.left_id], "right": summaries[row.topic_id, row.right_id]}
    return PairReading(
        page=row.page,
        served_at=row.served_at,
        worker=row.worker,
        judgment=row.judgment,
        topic=row.topic,
        language=row.language,
        systems={"left": row.left, "right": row.right},
        texts=texts,
        reading=read_page(events, texts),
    )
