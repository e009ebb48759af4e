"""One page as it was logged: its texts, short ways to write its events, and what the loops make of them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from study_app.logs.activity_kernels import PLAIN, EventKernels
from study_app.logs.event_arrays import (
    DWELL_MS,
    FIRST_SEEN,
    IS_INTERRUPTED,
    KINDS,
    NUMBER,
    OTHER,
    SHARE,
    WAS_OPENED,
    WHOLLY_SEEN,
    EventArrays,
    ItemReadings,
    SideContent,
)
from study_app.logs.logged_events import FULL, ItemKey, LoggedEvent
from study_app.protocol.items import Item

LAYOUTS = ("stacked", "side_by_side")

SHORT = Item(key="f0", id="u0", kind="iunit", words=10, chars=40, weight=10)
LONG = Item(key="f1", id="u1", kind="iunit", words=30, chars=120, weight=30)
LINK = Item(key="f2", id="i1", kind="link", words=2, chars=8, weight=2)
INNER = Item(key="s2.0", id="u2", kind="iunit", words=20, chars=80, weight=20, layer="f2")
TEXTS = {"left": (SHORT, LONG, LINK, INNER), "right": (SHORT,)}
WALL = 1_767_225_600_000


def log(*happenings, first=1):
    """Events numbered from ``first``: (milliseconds, kind) or (milliseconds, kind, detail)."""
    return [
        LoggedEvent(number, kind, ms, WALL + ms, detail[0] if detail else {})
        for number, (ms, kind, *detail) in enumerate(happenings, start=first)
    ]


def opened(layout="stacked"):
    return {"layout": layout, "width": 390, "height": 844, "restored": False}


def sees(item, share, side="left"):
    return {"side": side, "item": item, "share": share}


def turns(item, is_open, side="left"):
    return {"side": side, "item": item, "open": is_open}


@dataclass(frozen=True, kw_only=True)
class ItemReading:
    """What the columns of `ItemReadings` say of an item, with numbers of events for their indices."""

    dwell_seconds: float
    first_seen: int
    wholly_seen: int | None
    share: float
    interrupted: bool

    @property
    def fully_seen(self) -> bool:
        return self.wholly_seen is not None


@dataclass(frozen=True, kw_only=True)
class PageReading:
    """What the loops say of a page, by side and key of its items."""

    items: Mapping[ItemKey, ItemReading]
    opened: frozenset[ItemKey]
    layout_seconds: Mapping[str, float]
    broken_off: Mapping[int, ItemKey]
    tops: Mapping[str, ItemKey]

    @property
    def visible_seconds(self) -> float:
        """Counted time under a layout, which every page has from its first event on."""
        return sum(self.layout_seconds.values())


def in_arrays(
    pages: Sequence[Sequence[LoggedEvent]], texts: Mapping[str, Sequence[Item]] = TEXTS
) -> tuple[EventArrays, SideContent]:
    """Pages as the loops take them; each shows both texts."""
    slots = [(side, item) for side in ("left", "right") for item in texts.get(side, ())]
    slot_of = {(side, item.key): slot for slot, (side, item) in enumerate(slots)}
    log = [
        (
            *(event.number, KINDS.index(event.kind) if event.kind in KINDS else OTHER),
            *(event.page_ms, event.wall_ms, event.received_ms or 0),
            -1 if place is None else page * len(slots) + place,
            event.detail.get("open", False),
            LAYOUTS.index(event.detail["layout"]) if "layout" in event.detail else -1,
        )
        for page, events in enumerate(pages)
        for event in events
        for place in [slot_of.get((event.detail.get("side", ""), event.detail.get("item", "")))]
    ]
    layers = [-1 if item.layer is None else slot_of[side, item.layer] for side, item in slots]
    begins = len(slots) * np.arange(len(pages))
    shown = SideContent(
        pages=begins[:, None] + np.array([0, len(texts.get("left", ())), len(slots)]),
        weight=np.tile([float(item.weight) for _, item in slots], len(pages)),
        layer=np.concatenate(
            [[layer if layer < 0 else layer + begin for layer in layers] for begin in begins]
        ).astype(np.int64),
    )
    shares = [event.detail.get("share", 0.0) for events in pages for event in events]
    first = np.cumsum([0, *map(len, pages)])
    return EventArrays(first, np.array(log, np.int64).reshape(-1, 8), np.array(shares, float)), shown


def read_pages(
    pages: Sequence[Sequence[LoggedEvent]],
    texts: Mapping[str, Sequence[Item]] = TEXTS,
    *,
    pauses: Collection[int] = (),
    loops: EventKernels = PLAIN,
) -> list[PageReading]:
    """Read pages in one go."""
    events, shown = in_arrays(pages, texts)
    read = ItemReadings.unread(events, shown, len(LAYOUTS))
    is_pause = np.isin(events.log[:, NUMBER], list(pauses))
    loops.read_pages(events, shown, np.zeros(len(events.log), bool), is_pause, read)
    return [_reading(page, events, shown, read, texts) for page in range(len(pages))]


def _reading(
    page: int,
    events: EventArrays,
    shown: SideContent,
    read: ItemReadings,
    texts: Mapping[str, Sequence[Item]],
) -> PageReading:
    (begin, _, end), numbers = shown.pages[page].tolist(), events.log[:, NUMBER].tolist()
    places = [(side, item.key) for side in ("left", "right") for item in texts.get(side, ())]
    rows = list(zip(places, read.notes[begin:end].tolist(), read.parts[begin:end].tolist(), strict=True))
    order = sorted((place, layout) for layout, place in enumerate(read.layout_place[page].tolist()) if place)
    of_page = range(events.first[page], events.first[page + 1])
    return PageReading(
        items={
            place: ItemReading(
                dwell_seconds=part[DWELL_MS] / 1000,
                first_seen=numbers[note[FIRST_SEEN]],
                wholly_seen=numbers[note[WHOLLY_SEEN]] if note[WHOLLY_SEEN] >= 0 else None,
                share=1.0 if part[SHARE] >= FULL else part[SHARE],
                interrupted=note[IS_INTERRUPTED] == 1,
            )
            for place, note, part in rows
            if note[FIRST_SEEN] >= 0
        },
        opened=frozenset(place for place, note, _ in rows if note[WAS_OPENED]),
        layout_seconds={LAYOUTS[layout]: int(read.layout_ms[page, layout]) / 1000 for _, layout in order},
        broken_off={
            numbers[event]: places[read.broken_off[event] - begin]
            for event in of_page
            if read.broken_off[event] >= 0
        },
        tops={places[top - begin][0]: places[top - begin] for top in read.top[page].tolist() if top >= 0},
    )


def read_page(
    events: Iterable[LoggedEvent],
    texts: Mapping[str, Sequence[Item]] = TEXTS,
    *,
    pauses: Collection[int] = (),
) -> PageReading:
    return read_pages([list(events)], texts, pauses=pauses)[0]


def dwell(events):
    return {place: item.dwell_seconds for place, item in read_page(events, TEXTS).items.items()}
