"""What pair pages logged: their rows of reads, and of stops where summaries or ranked lists are judged, worked out some people at a time so that memory stays bounded."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import pandas as pd
from pydantic_core import from_json
from sqlalchemy import BigInteger, ColumnElement, Text, cast, select, type_coerce
from sqlalchemy.orm import Session, aliased

from calibration.tables.tables import SIDES, TABLES
from study_app.logs.dwell import LoggedEvent, PageReading, read_page, server_times
from study_app.protocol.items import Item, end_offsets, text_stop
from study_app.store.models import (
    EPOCH,
    MILLISECOND,
    PageLoad,
    Pair,
    Showing,
    Slot,
    StoredEvent,
    StoredSummary,
    System,
    Task,
    Topic,
    Worker,
)
from study_app.tasks.kinds import KINDS

_NEED_DETAIL = frozenset({"see", "layer", "open", "layout"})
_NO_DETAIL: Mapping[str, Any] = MappingProxyType({})


def logged_events(
    session: Session, workers: Sequence[int], pages: ColumnElement[bool]
) -> defaultdict[str, list[LoggedEvent]]:
    """Return page load -> its events by ascending number.

    Parameters
    ----------
    workers : sequence of int
        Rows of the workers.
    pages : condition on `PageLoad`
        Which of their pages.
    """
    logged = (
        select(
            PageLoad.key,
            StoredEvent.number,
            StoredEvent.kind,
            StoredEvent.page_ms,
            StoredEvent.wall_ms,
            # as text, since most kinds have no detail that matters here, and times as the integers they are stored as
            cast(StoredEvent.detail, Text),
            type_coerce(StoredEvent.received_at, BigInteger),
        )
        .join(PageLoad, PageLoad.id == StoredEvent.page_load_id)
        .where(PageLoad.worker_id.in_(workers), pages)
        .order_by(StoredEvent.page_load_id, StoredEvent.number)
    )
    events: defaultdict[str, list[LoggedEvent]] = defaultdict(list)
    details: dict[str, Mapping[str, Any]] = {}
    for page, number, kind, page_ms, wall_ms, detail, received_ms in session.execute(logged):
        of_event = _NO_DETAIL
        if kind in _NEED_DETAIL and (of_event := details.get(detail, _NO_DETAIL)) is _NO_DETAIL:
            of_event = details[detail] = from_json(detail)
        events[page].append(LoggedEvent(number, kind, page_ms, wall_ms, of_event, received_ms))
    return events


class _PageRow(NamedTuple):
    """A page load that showed a pair."""

    page: str
    served_at: datetime
    worker: str
    judgment: str
    topic_id: int
    topic: str
    kind: str
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
    kind : str
        Of the task.
    systems : dict
        Side -> name of the system.
    texts : dict
        Side -> items shown.
    times : dict of int to int
        Number of an event -> when it happened, in milliseconds since 1970.
    """

    page: str
    worker: str
    judgment: str
    topic: str
    kind: str
    language: str
    systems: dict[str, str]
    texts: dict[str, tuple[Item, ...]]
    reading: PageReading
    times: dict[int, int]


Summaries: TypeAlias = Mapping[tuple[int, int], tuple[Item, ...]]
"""(topic, system) by row -> items of what is shown."""


def pair_readings(session: Session, workers: Sequence[int], summaries: Summaries) -> list[PairReading]:
    """Return the pair pages of some people that told what was on their screen.

    In order of the workers' arrival, and of the time at which the pages were served.
    """
    events = logged_events(session, workers, PageLoad.showing_id.is_not(None))
    pages = (_pair_page(row, events[row.page], summaries) for row in _page_rows(session, workers))
    return [page for page in pages if page.reading.items]


def reads_rows(pages: Sequence[PairReading]) -> pd.DataFrame:
    """Return rows of table reads: each item of each page that was seen."""
    rows = [row for page in pages for side in SIDES for row in _items_read(page, side)]
    return pd.DataFrame(rows, columns=list(TABLES["reads"].column_names))


def stops_rows(pages: Sequence[PairReading]) -> pd.DataFrame:
    """Return rows of table stops: how far each summary or ranked list of each judgment was read, over all loads of its page.

    Other sides have none: the stops are what the patience of readers, and their persistence in lists, is fitted to.
    """
    loads: defaultdict[str, list[PairReading]] = defaultdict(list)
    for page in pages:
        if "stops" in KINDS[page.kind].tables:
            loads[page.judgment].append(page)
    rows = [_stop(same, side) for same in loads.values() for side in SIDES]
    return pd.DataFrame(rows, columns=list(TABLES["stops"].column_names))


def _items_read(page: PairReading, side: str) -> Iterator[tuple[Any, ...]]:
    """Cells in the order of table reads."""
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
                EPOCH + page.times[read.first_seen] * MILLISECOND,
                None,
                whole_milliseconds(read.dwell_seconds),
                read.fully_seen,
                read.interrupted,
                page.language,
            )


def _stop(loads: Sequence[PairReading], side: str) -> tuple[Any, ...]:
    """Cells in the order of table stops, for one text and every load of its page."""
    shares: defaultdict[str, float] = defaultdict(float)
    layouts: defaultdict[str, float] = defaultdict(float)
    opened: set[str] = set()
    tops = {page.reading.tops[side][1] for page in loads if side in page.reading.tops}
    for page in loads:
        opened |= _opened(page, side)
        for (where, key), item in page.reading.items.items():
            if where == side:
                shares[key] = max(shares[key], item.share)
        for layout, seconds in page.reading.layout_seconds.items():
            layouts[layout] += seconds
    last = loads[-1]
    form = KINDS[last.kind].side
    stop = text_stop(last.texts[side], shares, opened, tops)
    return (
        last.worker,
        last.topic,
        last.systems[side],
        last.page,
        last.judgment,
        side,
        max(reversed(layouts), key=lambda layout: layouts[layout], default=None),
        round(stop.chars_read, 3),
        stop.chars_least,
        stop.text_chars,
        stop.reached_end,
        stop.opened,
        *((stop.place_read, stop.places) if form and form.ranked and stop.places else (None, None)),
        last.language,
    )


def _opened(page: PairReading, side: str) -> set[str]:
    return {key for where, key in page.reading.opened if where == side}


def whole_milliseconds(seconds: float) -> float:
    """Round down, so that rounding never makes a page's dwell times add up to more than its visible time."""
    return int(seconds * 1000 + 1e-6) / 1000


def summary_texts(session: Session, study_id: int) -> Summaries:
    """Return the items of every topic that somebody took."""
    shown = (
        select(
            StoredSummary.topic_id, StoredSummary.system_id, StoredSummary.content, Task.kind, Task.language
        )
        .join(Topic, Topic.id == StoredSummary.topic_id)
        .join(Topic.task)
        .where(Task.study_id == study_id, Topic.id.in_(select(Slot.topic_id)))
    )
    return {
        (topic, system): form.items(content, language)
        for topic, system, content, kind, language in session.execute(shown)
        if (form := KINDS[kind].side) is not None
    }


def _page_rows(session: Session, workers: Sequence[int]) -> Iterator[_PageRow]:
    left, right = aliased(System), aliased(System)
    rows = (
        select(
            PageLoad.key,
            PageLoad.served_at,
            Worker.pseudonym,
            Showing.name,
            Topic.id,
            Topic.name,
            Task.kind,
            Task.language,
            left.id,
            left.name,
            right.id,
            right.name,
        )
        .join(Worker, Worker.id == PageLoad.worker_id)
        .join(Showing, Showing.id == PageLoad.showing_id)
        .join(Showing.pair)
        .join(Topic, Topic.id == Pair.topic_id)
        .join(Topic.task)
        .join(left, left.id == Showing.left_system_id)
        .join(right, right.id == Showing.right_system_id)
        .where(Worker.id.in_(workers))
        .order_by(Worker.number, PageLoad.served_at, PageLoad.key)
    )
    return map(_PageRow._make, session.execute(rows))


def _pair_page(
    row: _PageRow,
    events: Sequence[LoggedEvent],
    summaries: Summaries,
) -> PairReading:
    times = server_times(events, (row.served_at - EPOCH) // MILLISECOND)
    texts = {"left": summaries[row.topic_id, row.left_id], "right": summaries[row.topic_id, row.right_id]}
    return PairReading(
        page=row.page,
        worker=row.worker,
        judgment=row.judgment,
        topic=row.topic,
        kind=row.kind,
        language=row.language,
        systems={"left": row.left, "right": row.right},
        texts=texts,
        reading=read_page(events, texts),
        times=dict(zip((event.number for event in events), times, strict=True)),
    )
