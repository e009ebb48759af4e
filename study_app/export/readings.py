"""Tables reads and stops, from the logs of pair pages.

They are computed for some people at a time, so that memory stays bounded.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.arrays import IntegerArray
from sqlalchemy import BigInteger, select, type_coerce
from sqlalchemy.orm import Session, aliased

from calibration.tables.tables import SIDES, TABLES
from study_app.export.event_log import EventLog, PageItems, SideItems, TextItems, flags, text_column, times
from study_app.export.past_texts import PastSides, past_sides
from study_app.logs.event_arrays import (
    DWELL_MS,
    END,
    FIRST_SEEN,
    IS_INTERRUPTED,
    SECOND,
    SHARE,
    WAS_OPENED,
    WHOLLY_SEEN,
    Floats,
    Int64s,
    ItemReadings,
)
from study_app.logs.logged_events import FULL
from study_app.protocol.items import text_stop
from study_app.protocol.sides import Side
from study_app.store.models import PageLoad, Pair, Showing, Slot, StoredSummary, System, Task, Topic, Worker
from study_app.tasks.kinds import KINDS


class PairLoad(NamedTuple):
    """A page load that showed a pair."""

    row: int
    page: str
    served_ms: int
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
    study_version: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairLogs:
    """Pair pages of some people, by pseudonym and time of serving.

    Attributes
    ----------
    pages : sequence of PairLoad
        The pages.
    texts : sequence of (TextItems, TextItems)
        What each showed on its sides.
    screens : PageItems
        What they logged and showed.
    happened_ms : array of int, shape (events,)
        When each event happened, in milliseconds since 1970.
    read : ItemReadings
        What was on the screens.
    layouts : sequence of str
        The layouts that were in force.
    """

    pages: Sequence[PairLoad]
    texts: Sequence[tuple[TextItems, TextItems]]
    screens: PageItems
    happened_ms: Int64s
    read: ItemReadings
    layouts: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SideVersions:
    """Side of each (topic, system), by row, as it is shown now and as it was before it was mended."""

    now: Mapping[tuple[int, int], TextItems]
    past: Mapping[tuple[int, int], Sequence[TextItems]]
    past_sides: PastSides

    def of(self, topic: int, system: int, study_version: int | None) -> TextItems:
        """Return what a page of a version of the study showed."""
        place = self.past_sides.before(topic, system, study_version)
        return self.now[topic, system] if place is None else self.past[topic, system][place]


def pair_logs(session: Session, workers: Sequence[int], log: EventLog, summaries: SideVersions) -> PairLogs:
    """Return the logs of the pair pages of some people."""
    pages = _pages(session, workers)
    texts = [
        (
            summaries.of(row.topic_id, row.left_id, row.study_version),
            summaries.of(row.topic_id, row.right_id, row.study_version),
        )
        for row in pages
    ]
    showings = [
        {side: SideItems(text, 0, len(text.items)) for side, text in zip(SIDES, both, strict=True)}
        for both in texts
    ]
    screens = log.screens([row.row for row in pages], showings)
    events, nothing = screens.events, np.zeros(len(screens.events.log), bool)
    read = ItemReadings.unread(events, screens.shown, len(log.layouts))
    log.loops.read_pages(events, screens.shown, nothing, nothing, read)
    return PairLogs(
        pages=pages,
        texts=texts,
        screens=screens,
        happened_ms=log.happened(events, np.array([row.served_ms for row in pages], np.int64)),
        read=read,
        layouts=list(log.layouts),
    )


def reads_rows(logs: PairLogs) -> pd.DataFrame:
    """Return rows of table reads: each item of each page that was seen."""
    seen = np.flatnonzero(logs.read.notes[:, FIRST_SEEN] >= 0)
    page = logs.screens.page_of_item[seen]
    is_right = seen >= logs.screens.shown.pages[page, SECOND]
    systems = [name for row in logs.pages for name in (row.left, row.right)]
    return pd.DataFrame(
        {
            "worker": text_column([row.worker for row in logs.pages], page),
            "topic": text_column([row.topic for row in logs.pages], page),
            "system": text_column(systems, 2 * page + is_right),
            "page": text_column([row.page for row in logs.pages], page),
            "judgment": text_column([row.judgment for row in logs.pages], page),
            "side": text_column(SIDES, is_right.astype(np.int64)),
            **items_read(logs.screens, logs.read, seen),
            "end_offset_chars": of_words(_end_offsets(logs)[seen], logs.screens, seen),
            "first_seen": times(logs.happened_ms[logs.read.notes[seen, FIRST_SEEN]]),
            "interrupted": flags(logs.read.notes[seen, IS_INTERRUPTED] == 1),
            "language": text_column([row.language for row in logs.pages], page),
        }
    )


def items_read(screens: PageItems, read: ItemReadings, seen: Int64s) -> dict[str, Any]:
    """Return the columns of table reads about visible items and times."""
    items, item = screens.items, screens.item[seen]
    return {
        "item": text_column([screen_item.id for screen_item in items], item),
        "kind": text_column([screen_item.kind for screen_item in items], item),
        "words": of_words(
            np.array([screen_item.words for screen_item in items], np.int64)[item], screens, seen
        ),
        "chars": of_words(screens.chars[seen], screens, seen),
        "dwell_seconds": whole_milliseconds(read.parts[seen, DWELL_MS] / 1000),
        "fully_seen": flags(read.notes[seen, WHOLLY_SEEN] >= 0),
    }


def of_words(numbers: Int64s, screens: PageItems, seen: Int64s) -> IntegerArray:
    """Return the words or characters of visible items, none for wordless ones."""
    is_wordless = np.array([screen_item.kind == "media" for screen_item in screens.items], bool)[
        screens.item[seen]
    ]
    return IntegerArray(numbers, is_wordless)


def items_by_page(screens: PageItems, read: ItemReadings) -> Iterator[tuple[int, str, float]]:
    """Yield page, key, and largest share seen, of each item that was seen."""
    seen = np.flatnonzero(read.notes[:, FIRST_SEEN] >= 0)
    share = read.parts[seen, SHARE]
    items = screens.items
    keys = [items[item].key for item in screens.item[seen].tolist()]
    whole = np.where(share >= FULL, 1.0, share)
    return zip(screens.page_of_item[seen].tolist(), keys, whole.tolist(), strict=True)


def _end_offsets(logs: PairLogs) -> Int64s:
    """Return the counted characters up to and including each item, as read."""
    layer, begins = logs.screens.shown.layer, logs.screens.shown.pages[:, :END]
    in_order = (layer < 0) | (logs.read.notes[layer, WAS_OPENED] == 1)
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(logs.screens.chars * in_order)])
    page = logs.screens.page_of_item
    is_right = np.arange(len(page)) >= begins[page, SECOND]
    offsets: Int64s = ends[1:] - ends[begins[page, is_right.astype(np.int64)]]
    return offsets


def stops_rows(logs: PairLogs) -> pd.DataFrame:
    """Return rows of table stops: reading depth per judgment.

    A row is of one summary or ranked list, over all loads of its page.

    Other sides have none: the stops are what the patience of readers, and their persistence in lists, is fitted to.
    """
    seen = set(logs.screens.page_of_item[logs.read.notes[:, FIRST_SEEN] >= 0].tolist())
    loads: defaultdict[str, list[int]] = defaultdict(list)
    for page, row in enumerate(logs.pages):
        if page in seen and "stops" in KINDS[row.kind].tables:
            loads[row.judgment].append(page)
    rows = [_stop(logs, same, side) for same in loads.values() for side in range(len(SIDES))]
    return pd.DataFrame(rows, columns=list(TABLES["stops"].column_names))


def _stop(logs: PairLogs, loads: Sequence[int], side: int) -> tuple[Any, ...]:
    """Cells in the order of table stops, for one text and every load of its page.

    Loads that showed an earlier version of the text are left out.
    """
    last, text = logs.pages[loads[-1]], logs.texts[loads[-1]][side]
    loads = [load for load in loads if logs.texts[load][side] is text]
    begins = logs.screens.shown.pages[loads, side]
    slots = begins[:, None] + np.arange(len(text.items))
    share = logs.read.parts[slots, SHARE].max(axis=0)
    opened = logs.read.notes[slots, WAS_OPENED].any(axis=0)
    tops = logs.read.top[loads, side]
    stop = text_stop(
        text.items,
        dict(zip(text.place, np.where(share >= FULL, 1.0, share).tolist(), strict=True)),
        {text.items[index].key for index in np.flatnonzero(opened).tolist()},
        {text.items[index].key for index in (tops - begins)[tops >= 0].tolist()},
    )
    form = KINDS[last.kind].side
    return (
        last.worker,
        last.topic,
        (last.left, last.right)[side],
        last.page,
        last.judgment,
        SIDES[side],
        _longest_layout(logs, loads),
        round(stop.chars_read, 3),
        stop.chars_least,
        stop.text_chars,
        stop.reached_end,
        stop.opened,
        *((stop.place_read, stop.places) if form and form.ranked and stop.places else (None, None)),
        last.language,
    )


def _longest_layout(logs: PairLogs, loads: Sequence[int]) -> str | None:
    """Return the layout that was in force longest; of several the one that came last."""
    seconds: defaultdict[str, float] = defaultdict(float)
    for page in loads:
        order, ms = logs.read.layout_place[page], logs.read.layout_ms[page].tolist()
        for layout in np.argsort(order).tolist()[np.count_nonzero(order == 0) :]:
            seconds[logs.layouts[layout]] += ms[layout] / 1000
    return max(reversed(seconds), key=lambda layout: seconds[layout], default=None)


def whole_milliseconds(seconds: Floats) -> Floats:
    """Round down to whole milliseconds.

    Dwell times then never add up to more than a page's visible time.
    """
    rounded: Floats = np.trunc(seconds * 1000 + 1e-6) / 1000
    return rounded


def shown_texts(session: Session, study_id: int) -> SideVersions:
    """Return the sides of every topic that somebody took, or of which gold pairs were shown."""
    taken = select(Slot.topic_id).union(select(Pair.topic_id).where(Pair.gold.is_not(None)))
    shown = (
        select(StoredSummary.topic_id, StoredSummary.system_id, StoredSummary.content, Task.language)
        .join(Topic, Topic.id == StoredSummary.topic_id)
        .join(Topic.task)
        .where(Task.study_id == study_id, Topic.id.in_(taken))
    )
    rows = session.execute(shown).all()
    past = past_sides(session, study_id)
    return SideVersions(
        now={
            (topic, system): TextItems(Side.of(content).items(language))
            for topic, system, content, language in rows
        },
        past={
            (topic, system): [TextItems(side.items(language)) for side in past.sides[topic, system]]
            for topic, system, _, language in rows
            if (topic, system) in past.sides
        },
        past_sides=past,
    )


def _pages(session: Session, workers: Sequence[int]) -> list[PairLoad]:
    left, right = aliased(System), aliased(System)
    rows = (
        select(
            PageLoad.id,
            PageLoad.key,
            type_coerce(PageLoad.served_at, BigInteger),
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
            PageLoad.study_version,
        )
        .join(Worker, Worker.id == PageLoad.worker_id)
        .join(Showing, Showing.id == PageLoad.showing_id)
        .join(Showing.pair)
        .join(Topic, Topic.id == Pair.topic_id)
        .join(Topic.task)
        .join(left, left.id == Showing.left_system_id)
        .join(right, right.id == Showing.right_system_id)
        .where(Worker.id.in_(workers))
        .order_by(Worker.pseudonym, PageLoad.served_at, PageLoad.key)
    )
    return list(map(PairLoad._make, session.execute(rows)))
