"""Times of a page load's events, and dwell time of each item; pure.

The rules, where the log leaves a choice:

- Time is counted while the page is visible and has the focus; from `open` on it is both until an event says
  otherwise. After `close` nothing counts until the page is shown again (`open` of a restored page).
- A moment is divided among the items on screen by what is visible of each: words (in a language without spaces
  characters) x share shown. An item inside a second layer is on screen only while its layer is open. A moment
  with nothing on screen belongs to none.
- Only time between two events with neighbouring numbers counts. Across a gap in the numbers the screen is
  unknown: counting stops at the last event before the gap and goes on, with what was last known, at the
  first one after it. Time after the last event does not count either.
- Sleep is cut: the whole stretch before a `sleep` event, or between two events whose clocks drift apart by more
  than `DRIFT_MS`, does not count. Where the monotonic clock goes on during sleep, only the heartbeat stops: a stretch
  of more than `SILENT_MS` without any event does not count either, since a page that runs in sight of somebody beats
  every five seconds.
- An item is seen when it is on screen while the page is visible, whether or not it has the focus.

When an event happened, by the server's clock: a page has a monotonic clock, which is right about durations but may stand
still while the machine sleeps, and a wall clock, which may show any time of day and may be set at any time. So an event is
placed at

    time of serving the page + monotonic clock + sleep before it,

where a step of more than `DRIFT_MS` by which the wall clock runs ahead of the monotonic one is sleep, unless this or a
later event would then have happened after it arrived: in that case the clock was set. Whatever a browser claims,
no event is placed later than it arrived, nor later than one with a higher number.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from operator import add, itemgetter, sub
from typing import Any, NamedTuple, TypeAlias

from study_app.protocol.items import Item

DRIFT_MS = 2_000
SILENT_MS = 15_000
"""Longest time in ms without an event in a visible page: three heartbeats."""
FULL = 0.99
"""Share from which an item counts as wholly visible.

Browsers round to fractions of a pixel.
"""
ItemKey: TypeAlias = tuple[str, str]
"""Side of a text, and key of an item in it."""


class LoggedEvent(NamedTuple):
    """Logged event: number in the page load, kind, clocks in milliseconds, detail.

    ``received_ms`` is the time of storing, in milliseconds since 1970, or None where it is not needed.
    """

    number: int
    kind: str
    page_ms: int
    wall_ms: int
    detail: Mapping[str, Any]
    received_ms: int | None = None


_NUMBER = itemgetter(0)
Texts: TypeAlias = Mapping[str, Sequence[Item]]
"""Items by side; those of a second layer follow their link, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemReading:
    """Dwell time and visibility of one item that was seen.

    Attributes
    ----------
    dwell_seconds : float
        Its part of the counted time.
    first_seen : int
        Number of the event since which it was seen.
    wholly_seen : int or None
        Number of the event since which all of it had been on screen at once; None if that never was.
    share : float
        The largest share of it on screen at once, 1 from `FULL` on.
    interrupted : bool
        The page ended while it was being read: of the items on screen at the end it was the one first seen last
        (of several the one furthest on), and it was never fully seen, or the page was left without an answer.
    """

    dwell_seconds: float
    first_seen: int
    wholly_seen: int | None
    share: float
    interrupted: bool

    @property
    def fully_seen(self) -> bool:
        """True if all of it was on screen at some time."""
        return self.wholly_seen is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageReading:
    """Dwell times and items seen of one page load.

    Attributes
    ----------
    visible_seconds : float
        Counted time; the dwell times never add up to more.
    items : mapping
        Every item that was seen, in the order of the texts.
    opened : frozenset
        Links whose second layer was opened.
    layout_seconds : mapping of str to float
        Counted time of each layout that was in force, in order of appearance.
    broken_off : mapping of int to Place
        Item that was being read when each pause began, unless it was read on later in the same page.
    tops : mapping of str to Place
        First item on the screen when the furthest one of each side came into view.
    """

    visible_seconds: float
    items: Mapping[ItemKey, ItemReading]
    opened: frozenset[ItemKey]
    layout_seconds: Mapping[str, float]
    broken_off: Mapping[int, ItemKey]
    tops: Mapping[str, ItemKey]


def read_page(
    events: Iterable[LoggedEvent], texts: Texts, *, pauses: Collection[int] = frozenset()
) -> PageReading:
    """Return the dwell times and items seen of one page load.

    Parameters
    ----------
    events : iterable of LoggedEvent
        In any order; a repeated number counts once.
    texts : Texts
        What the page showed. Events about anything else are ignored.
    pauses : collection of int
        Numbers of the events after which the reader went away, perhaps to come back to the same page.
    """
    page = _Page(texts)
    before: LoggedEvent | None = None
    for event in sorted(events, key=_NUMBER):
        if before is not None:
            if event.number == before.number:
                continue
            page.pass_time(before, event)
        page.happen(event)
        if event.number in pauses:
            page.pause(event)
        before = event
    return page.reading()


class _Screen:
    """Items on screen, and the time that each got.

    Dividing every moment among many items would cost time for each; instead `_per_word_ms` grows by a moment
    over the visible words, and an item takes its visible words x growth when they change. (Words stand for
    `Item.weight`.)
    """

    def __init__(self, texts: Texts) -> None:
        self.items = {(side, item.key): item for side, items in texts.items() for item in items}
        self._inside: dict[ItemKey, list[ItemKey]] = {}
        for (side, key), item in self.items.items():
            if item.layer is not None:
                self._inside.setdefault((side, item.layer), []).append((side, key))
        self.shown: dict[ItemKey, float] = {}
        self.dwell_ms: dict[ItemKey, float] = {}
        self.opened: set[ItemKey] = set()
        self._open: set[ItemKey] = set()
        self._shares: dict[ItemKey, float] = {}
        self._words: dict[ItemKey, float] = {}
        self._since: dict[ItemKey, float] = {}
        self._per_word_ms = 0.0

    def pass_time(self, length_ms: int) -> None:
        """Divide ``length_ms`` among the items on screen."""
        words = sum(self._words.values())
        if words > 0:
            self._per_word_ms += length_ms / words

    def see(self, item_key: ItemKey, share: float) -> None:
        """Set the share of an item that is in the viewport."""
        self._shares[item_key] = share
        self._place(item_key)

    def turn(self, link: ItemKey, *, is_open: bool) -> Sequence[ItemKey]:
        """Open or close the second layer of a link; return the items in it."""
        if is_open:
            self._open.add(link)
            self.opened.add(link)
        else:
            self._open.discard(link)
        inside = self._inside.get(link, ())
        for item_key in inside:
            self._place(item_key)
        return inside

    def clear(self) -> None:
        """Remove all items from the screen."""
        for item_key in list(self.shown):
            self._take_off(item_key)

    def _place(self, item_key: ItemKey) -> None:
        self._take_off(item_key)
        item, share = self.items[item_key], self._shares.get(item_key, 0.0)
        if share > 0 and (item.layer is None or (item_key[0], item.layer) in self._open):
            self.shown[item_key] = share
            self._words[item_key] = item.weight * share
            self._since[item_key] = self._per_word_ms

    def _take_off(self, item_key: ItemKey) -> None:
        if self.shown.pop(item_key, None) is not None:
            got = self._words.pop(item_key) * (self._per_word_ms - self._since.pop(item_key))
            self.dwell_ms[item_key] = self.dwell_ms.get(item_key, 0.0) + got


class _Page:
    """State of a page after some of its events."""

    def __init__(self, texts: Texts) -> None:
        self._screen = _Screen(texts)
        self._visible = self._focused = True
        self._closed = self._submitted = False
        self._layout: str | None = None
        self._layout_ms: dict[str, int] = {}
        self._counted_ms = 0
        self._first: dict[ItemKey, LoggedEvent] = {}
        self._whole: dict[ItemKey, int] = {}
        self._most: dict[ItemKey, float] = {}
        self._broken_off: dict[int, ItemKey] = {}
        self._order = {item_key: number for number, item_key in enumerate(self._screen.items)}
        self._furthest: dict[str, int] = {}
        self._tops: dict[str, ItemKey] = {}

    def pass_time(self, before: LoggedEvent, after: LoggedEvent) -> None:
        """Count the time between two events, if it is known and the page was visible."""
        if self._visible and self._focused and not self._closed and is_known(before, after):
            length = after.page_ms - before.page_ms
            self._counted_ms += length
            self._screen.pass_time(length)
            if self._broken_off:
                self._read_on()
            if self._layout is not None:
                self._layout_ms[self._layout] += length

    def _read_on(self) -> None:
        """Remove the items in view from those whose reading broke off."""
        for pause, item_key in list(self._broken_off.items()):
            if item_key in self._screen.shown:
                del self._broken_off[pause]

    def pause(self, event: LoggedEvent) -> None:
        """Store the item being read as the reader goes away."""
        being_read = self._being_read()
        if being_read is not None:
            self._broken_off[event.number] = being_read

    def happen(self, event: LoggedEvent) -> None:
        """Apply one event."""
        match event.kind:
            case "see":
                item_key = (event.detail["side"], event.detail["item"])
                if item_key in self._screen.items:
                    self._screen.see(item_key, event.detail["share"])
                    self._note_seen((item_key,), event)
            case "layer":
                link = (event.detail["side"], event.detail["item"])
                if link in self._screen.items:
                    inside = self._screen.turn(link, is_open=event.detail["open"])
                    self._note_seen(inside, event)
            case "open" | "layout":
                self._closed = self._closed and event.kind == "layout"
                self._layout = event.detail["layout"]
                self._layout_ms.setdefault(self._layout, 0)
                self._note_seen(self._screen.shown, event)
            case "visible" | "beat" | "hidden":
                self._visible = event.kind != "hidden"
                self._note_seen(self._screen.shown, event)
            case "focus" | "blur":
                self._focused = event.kind == "focus"
            case "submit":
                self._submitted = True
            case "close":
                self._closed = True

    def _note_seen(self, places: Iterable[ItemKey], event: LoggedEvent) -> None:
        """Store what is visible of some items, if the page is visible."""
        if not self._visible or self._closed:
            return
        for item_key in places:
            share = self._screen.shown.get(item_key, 0.0)
            if share > self._most.get(item_key, 0.0):
                self._first.setdefault(item_key, event)
                self._most[item_key] = share
                self._note_depth(item_key)
                if _rounded(share) == 1.0:
                    self._whole.setdefault(item_key, event.number)

    def _note_depth(self, item_key: ItemKey) -> None:
        """Store the top of the screen, if an item is the furthest seen of its side."""
        side, number = item_key[0], self._order[item_key]
        if number >= self._furthest.get(side, 0):
            self._furthest[side] = number
            self._tops[side] = min(
                (p for p in self._screen.shown if p[0] == side), key=self._order.__getitem__
            )

    def reading(self) -> PageReading:
        """Return the dwell times and items seen."""
        interrupted = self._interrupted()
        self._screen.clear()
        items = {
            item_key: ItemReading(
                dwell_seconds=self._screen.dwell_ms.get(item_key, 0.0) / 1000,
                first_seen=self._first[item_key].number,
                wholly_seen=self._whole.get(item_key),
                share=_rounded(self._most[item_key]),
                interrupted=item_key == interrupted,
            )
            for item_key in self._screen.items
            if item_key in self._most
        }
        return PageReading(
            visible_seconds=self._counted_ms / 1000,
            items=items,
            opened=frozenset(self._screen.opened),
            layout_seconds={layout: ms / 1000 for layout, ms in self._layout_ms.items()},
            broken_off=self._broken_off,
            tops=self._tops,
        )

    def _interrupted(self) -> ItemKey | None:
        """Return the item whose reading the end of the page interrupted."""
        last = self._being_read()
        return None if self._submitted and last in self._whole else last

    def _being_read(self) -> ItemKey | None:
        """Return the item being read: of those on screen the one first seen last."""
        on_screen = [p for p in self._screen.items if p in self._screen.shown and p in self._first]
        return max(reversed(on_screen), key=lambda item_key: self._first[item_key].page_ms, default=None)


def is_known(before: LoggedEvent, after: LoggedEvent) -> bool:
    """Return whether no event was lost and no sleep lies between two events."""
    length = after.page_ms - before.page_ms
    return (
        after.number == before.number + 1
        and after.kind != "sleep"
        and 0 < length <= SILENT_MS
        and abs(after.wall_ms - before.wall_ms - length) <= DRIFT_MS
    )


def _rounded(share: float) -> float:
    return 1.0 if share >= FULL else share


def server_times(events: Sequence[LoggedEvent], served_ms: int) -> list[int]:
    """Return the time of each event, in milliseconds since 1970 and ascending.

    Parameters
    ----------
    events : sequence of LoggedEvent
        Of one page load, by ascending number, each once. One without ``received_ms`` never arrives too early.
    served_ms : int
        When the page was served, in milliseconds since 1970.
    """
    awake = [served_ms + event.page_ms for event in events]
    arrived = [_NEVER if event.received_ms is None else max(event.received_ms, served_ms) for event in events]
    slept = _sleep_before(events, awake, arrived)
    return _least_from_here(map(min, map(add, awake, slept), arrived))


_NEVER = 2**62


def _sleep_before(events: Sequence[LoggedEvent], awake: Sequence[int], arrived: Sequence[int]) -> list[int]:
    """Return the milliseconds slept before each event.

    Sleep is assumed only where it and all later events still precede their arrival.
    """
    if not any(_ahead(before, after) > DRIFT_MS for before, after in pairwise(events)):
        return [0] * len(events)
    room, slept = _least_from_here(map(sub, arrived, awake)), [0]
    for item_key, (before, after) in enumerate(pairwise(events), start=1):
        ahead = _ahead(before, after)
        total = slept[-1] + ahead
        is_sleep = ahead > DRIFT_MS and total <= room[item_key] + DRIFT_MS
        slept.append(total if is_sleep else slept[-1])
    return slept


def _ahead(before: LoggedEvent, after: LoggedEvent) -> int:
    """Return the milliseconds by which the wall clock ran ahead between two events."""
    return (after.wall_ms - before.wall_ms) - (after.page_ms - before.page_ms)


def _least_from_here(values: Iterable[int]) -> list[int]:
    """Return the minimum of each value and all after it."""
    return list(accumulate(reversed(list(values)), min))[::-1]
