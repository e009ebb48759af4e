"""Arrays of what pages logged and showed, read from the database."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from pydantic_core import from_json
from sqlalchemy import BigInteger, Text, cast, select, type_coerce
from sqlalchemy.orm import Session

from study_app.logs.activity_kernels import PLAIN, EventKernels
from study_app.logs.event_arrays import (
    IN_FORCE,
    IS_OPEN,
    ITEM,
    KIND,
    KINDS,
    LAYER,
    LAYOUT,
    NUMBER,
    OPEN,
    OTHER,
    SEE,
    EventArrays,
    Flags,
    Floats,
    Int64s,
    SideContent,
)
from study_app.logs.page_events import MAX_NUMBER
from study_app.protocol.items import Item
from study_app.protocol.streams import SIDE
from study_app.store.models import EPOCH, MILLISECOND, PageLoad, StoredEvent

ROWS_AT_ONCE = 500
"""Rows fetched at a time.

Few: the values of some hundred rows stay in the processor's cache, and Python does not look for circles among
them.
"""
_PER_PAGE = MAX_NUMBER + 1
"""Factor that joins a page and an event's number in one integer.

The number is at most `MAX_NUMBER`.
"""
SIDES = ("left", "right", SIDE)
"""Sides that an event may name, in the order in which a page has them."""


class TextItems:
    """Text as arrays; ``place`` is the index of each key."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items
        self.place = {item.key: index for index, item in enumerate(items)}
        self.weight = np.array([item.weight for item in items], float)
        self.chars = np.array([item.chars for item in items], np.int64)
        layers = [-1 if item.layer is None else self.place[item.layer] for item in items]
        self.layer = np.array(layers, np.int64)


class SideItems(NamedTuple):
    """Items ``begin`` to ``end`` of a text on one side of a page."""

    text: TextItems
    begin: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PageItems:
    """Events and items of some pages.

    Attributes
    ----------
    events : EventArrays
        Events of the pages.
    shown : SideContent
        Items of the pages.
    page_of_item : array of int, shape (items,)
        The page of each item shown.
    texts : sequence of TextItems
        Every text of which something was shown, once.
    first_item : array of int, shape (texts,)
        Index of the first item of each text, when all texts are joined.
    item : array of int, shape (items,)
        Index of each item shown among the items of all texts.
    """

    events: EventArrays
    shown: SideContent
    page_of_item: Int64s
    texts: Sequence[TextItems]
    first_item: Int64s
    item: Int64s

    def place_in_text(self, item: Int64s) -> Int64s:
        """Return the index of each item shown within its text, from 0."""
        text = np.searchsorted(self.first_item, self.item[item], side="right") - 1
        return self.item[item] - self.first_item[text]

    @property
    def items(self) -> list[Item]:
        """Items of all texts."""
        return [item for text in self.texts for item in text.items]

    @property
    def chars(self) -> Int64s:
        """Counted characters of each item shown."""
        chars: Int64s = _joined([text.chars for text in self.texts])[self.item]
        return chars


class _Details(NamedTuple):
    """Parsed details of events, each text of a detail once."""

    side: Int64s
    key: Int64s
    share: Floats
    is_open: Int64s
    layout: Int64s


class EventLog:
    """Logged events of a group of workers, as arrays.

    Attributes
    ----------
    page, text : array of int, shape (events,)
        Row of the page load; index of ``kinds`` and ``details``.
    kinds, details : sequence of str
        Every kind with a detail, once.
    loops : EventKernels
        Kernels over the events.
    log : array of int, shape (events, 8)
        As in `EventArrays`; items seen and layouts are filled in later.
    """

    def __init__(self, session: Session, workers: Sequence[int], loops: EventKernels = PLAIN) -> None:
        self.loops = loops
        texts: defaultdict[str, int] = defaultdict(count().__next__)
        parts = [
            np.column_stack(
                [
                    *(np.fromiter(column, np.int64, len(column)) for column in numbers),
                    np.fromiter(map(texts.__getitem__, kind_and_detail), np.int64, len(kind_and_detail)),
                ]
            )
            for *numbers, kind_and_detail in _columns(session, workers)
        ]
        rows = np.concatenate(parts) if parts else np.zeros((0, 5), np.int64)
        parted = [text.partition("{") for text in texts]
        self.kinds, self.details = [kind for kind, _, _ in parted], ["{" + detail for _, _, detail in parted]
        self.page, self.text = rows[:, 0] // _PER_PAGE, rows[:, 4]
        known = {kind: code for code, kind in enumerate(KINDS)}
        self.log = np.zeros((len(rows), IN_FORCE + 1), np.int64)
        self.log[:, NUMBER] = rows[:, 0] % _PER_PAGE
        self.log[:, KIND] = np.array([known.get(kind, OTHER) for kind in self.kinds], np.int64)[self.text]
        self.log[:, KIND + 1 : ITEM] = rows[:, 1:4]
        self.layouts: dict[str, int] = {}
        self._keys: dict[str, int] = {}

    def happened(self, events: EventArrays, served_ms: Int64s) -> Int64s:
        """Return the time of each event of some pages, in milliseconds since 1970."""
        at = np.zeros(len(events.log), np.int64)
        self.loops.place_in_time(events, served_ms, at)
        return at

    def order(self, pages: Sequence[int]) -> tuple[Int64s, Int64s]:
        """Return the events of some pages by page and number, and each page's first index."""
        rows, index = np.unique(self.page, return_inverse=True)
        rank_of_page = {row: rank for rank, row in enumerate(pages)}
        rank = np.array([rank_of_page.get(row, -1) for row in rows.tolist()], np.int64)[index]
        order = np.lexsort((self.log[:, NUMBER], rank))[np.count_nonzero(rank < 0) :]
        return order, _begins(np.bincount(rank[order], minlength=len(pages)))

    def screens(self, pages: Sequence[int], showings: Sequence[Mapping[str, SideItems]]) -> PageItems:
        """Return the events and items of some pages.

        Parameters
        ----------
        pages : sequence of int
            Rows of the page loads in the order wanted; 0 where nothing was logged.
        showings : sequence of mapping
            Items that each page showed, by side.
        """
        texts = {id(one.text): one.text for page in showings for one in page.values()}
        places = {text: index for index, text in enumerate(texts)}
        table = np.zeros((len(pages), len(SIDES), 3), np.int64)
        table[:, :, 0] = -1
        for page, sides in enumerate(showings):
            for side, (text, begin, end) in sides.items():
                table[page, SIDES.index(side)] = places[id(text)], begin, end
        return self._screens(pages, list(texts.values()), table)

    def _screens(self, pages: Sequence[int], texts: Sequence[TextItems], table: Int64s) -> PageItems:
        """Return the events and items of pages by a table of texts.

        The array ``table`` has a text (-1 for none), begin and end by page and side.
        """
        text, begin, end = (table[:, :, column] for column in range(3))
        first = _begins((end - begin).ravel())
        base = first[:-1].reshape(text.shape)
        side_of = np.repeat(np.arange(text.size), (end - begin).ravel())
        first_item = _begins(np.array([len(one.items) for one in texts], np.int64))
        shift = (begin - base).ravel()[side_of]
        item = np.arange(first[-1]) + shift + first_item[text.ravel()[side_of]]
        layer = _joined([one.layer for one in texts])[item]
        shown = SideContent(
            pages=np.column_stack([base[:, 0], base[:, 1], first[len(SIDES) :: len(SIDES)]]),
            weight=_joined([one.weight for one in texts])[item].astype(float),
            layer=np.where(layer < 0, -1, layer - shift),
        )
        order, first_event = self.order(pages)
        page = np.repeat(np.arange(len(pages)), np.diff(first_event))
        log, told, details = self.log[order], self.text[order], self._details
        side, key = details.side[told], details.key[told]
        seen = np.flatnonzero(side >= 0)
        where = page[seen], side[seen]
        found = self._places(texts, text[where], key[seen])
        is_shown = (found >= begin[where]) & (found < end[where])
        log[:, ITEM] = -1
        log[seen, ITEM] = np.where(is_shown, found + (base - begin)[where], -1)
        log[:, IS_OPEN], log[:, IN_FORCE] = details.is_open[told], details.layout[told]
        return PageItems(
            events=EventArrays(first_event, log, details.share[told]),
            shown=shown,
            page_of_item=side_of // len(SIDES),
            texts=texts,
            first_item=first_item[:-1],
            item=item,
        )

    def _places(self, texts: Sequence[TextItems], text: Int64s, key: Int64s) -> Int64s:
        """Return the indices of keys in texts, -1 for unknown keys."""
        pairs, index = np.unique(text * len(self._keys) + key, return_inverse=True)
        keys = list(self._keys)
        indices = [
            -1 if pair < 0 else texts[pair // len(keys)].place.get(keys[pair % len(keys)], -1)
            for pair in pairs.tolist()
        ]
        return np.array(indices, np.int64)[index]

    @cached_property
    def _details(self) -> _Details:
        """Parsed details that matter to reading."""
        size = len(self.details)
        details = _Details(
            *(np.full(size, -1), np.full(size, -1), np.zeros(size), np.zeros(size, int), np.full(size, -1))
        )
        needed: Flags = np.isin(self.log[:, KIND], (SEE, LAYER, OPEN, LAYOUT))
        for index in np.unique(self.text[needed]).tolist():
            detail: dict[str, Any] = from_json(self.details[index])
            if "layout" in detail:
                details.layout[index] = self.layouts.setdefault(detail["layout"], len(self.layouts))
            elif detail["side"] in SIDES:
                details.side[index] = SIDES.index(detail["side"])
                details.key[index] = self._keys.setdefault(detail["item"], len(self._keys))
                details.share[index] = detail.get("share", 0.0)
                details.is_open[index] = detail.get("open", False)
        return details


def _columns(session: Session, workers: Sequence[int]) -> Iterator[Any]:
    """Yield the columns of stored events, in batches.

    Columns are page and number as one, both clocks, time of storing, kind and detail as one. They are as the
    driver gives them: every value less is time saved. Times are the integers they are stored as, and details
    are text, since most do not matter to reading, and many are equal.
    """
    logged = (
        select(
            cast(StoredEvent.page_load_id, BigInteger) * _PER_PAGE + StoredEvent.number,
            StoredEvent.page_ms,
            StoredEvent.wall_ms,
            type_coerce(StoredEvent.received_at, BigInteger),
            StoredEvent.kind + cast(StoredEvent.detail, Text),
        )
        .join(PageLoad, PageLoad.id == StoredEvent.page_load_id)
        .where(PageLoad.worker_id.in_(workers))
    )
    with session.connection().execute(logged) as result:
        cursor: Any = result.cursor
        while rows := cursor.fetchmany(ROWS_AT_ONCE):
            yield zip(*rows, strict=True)


def milliseconds(time: datetime) -> int:
    """Return the milliseconds from 1970 to a time."""
    return (time - EPOCH) // MILLISECOND


def text_column(values: Sequence[Any], places: Int64s) -> "pd.Series[str]":
    """Return a column of texts by index."""
    texts = pa.array(values, pa.large_string(), from_pandas=True).take(pa.array(places))
    return pd.Series(pd.array(texts, dtype="str"))


def flags(values: Flags) -> "pd.Series[bool]":
    """Return a column of flags."""
    return pd.Series(values, dtype="boolean")


def times(milliseconds: Int64s) -> Any:
    """Return a column of times from milliseconds since 1970."""
    return pd.Series(pd.to_datetime(milliseconds, unit="ms", utc=True).as_unit("ms"))


def _begins(sizes: Int64s) -> Int64s:
    """Return the first index of each run of given sizes, and the end of the last."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])


def _joined(arrays: Sequence[Any]) -> Any:
    return np.concatenate(arrays) if arrays else np.zeros(0, np.int64)
