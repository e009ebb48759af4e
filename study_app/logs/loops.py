"""Kernels over the events of many pages: times of events, dwell times and items seen; pure.

They are plain Python that numba can also compile: loading the compiled ones takes longer than running the plain ones over a small log.
Items on the screen are kept with the sum of time per word up to which each has its time: to divide every moment among all of
them would take time for each.

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
"""

from typing import NamedTuple

import numpy as np

from study_app.logs.event_arrays import (
    BEAT,
    BEGIN,
    BLUR,
    CLOSE,
    DWELL_MS,
    END,
    FIRST_SEEN,
    FOCUS,
    HIDDEN,
    IN_FORCE,
    IS_INTERRUPTED,
    IS_OPEN,
    IS_OPENED,
    IS_SHOWN,
    ITEM,
    KIND,
    LAYER,
    LAYOUT,
    LENGTH_NOW,
    NUMBER,
    OPEN,
    PAGE_MS,
    RECEIVED_MS,
    SECOND,
    SEE,
    SHARE,
    SHARE_NOW,
    SINCE,
    SLEEP,
    SUBMIT,
    VISIBLE,
    WALL_MS,
    WAS_OPENED,
    WHOLLY_SEEN,
    EventArrays,
    Flags,
    Floats,
    Int64s,
    ItemReadings,
    SideContent,
)
from study_app.logs.logged_events import DRIFT_MS, FULL, SILENT_MS


def place_in_time(events: EventArrays, served_ms: Int64s, at: Int64s) -> None:
    """Write the time of each event into ``at``, as function `server_times` does."""
    log = events.log
    for page in range(served_ms.size):
        served, begin, end = served_ms[page], events.first[page], events.first[page + 1]
        least = 1 << 62
        for event in range(end - 1, begin - 1, -1):
            arrived = max(log[event, RECEIVED_MS], served)
            least = min(least, arrived - served - log[event, PAGE_MS])
            at[event] = least  # room for sleep before this event and every later one
        slept = 0
        for event in range(begin, end):
            if event > begin:
                wall = log[event, WALL_MS] - log[event - 1, WALL_MS]
                ahead = wall - (log[event, PAGE_MS] - log[event - 1, PAGE_MS])
                if ahead > DRIFT_MS and slept + ahead <= at[event] + DRIFT_MS:
                    slept += ahead
            at[event] = min(served + log[event, PAGE_MS] + slept, max(log[event, RECEIVED_MS], served))
        for event in range(end - 2, begin - 1, -1):
            at[event] = min(at[event], at[event + 1])


LOOKED_AT, FOCUSED, CLOSED, SUBMITTED, STANDING, ON_SCREEN, PAUSES, LAYOUTS, TOP = range(9)
"""Indices of `PageState.state`.

Four flags; the layout in force; how many items are on the screen, pauses not read on after, and layouts that
were in force; from `TOP` on the top of each side.
"""


class PageState(NamedTuple):
    """State of a page after some of its events.

    Attributes
    ----------
    state : array of int, shape (11,)
        Indices `LOOKED_AT` to `TOP`.
    on_screen, pauses : array of int
        The items on the screen in the order in which they came, and the events of pauses not read on after.
    per_word_ms : array of float, shape (1,)
        Running sum of time per word on the screen; an item's time is its words times the growth of this sum.
    """

    state: Int64s
    on_screen: Int64s
    pauses: Int64s
    per_word_ms: Floats


def read_pages(
    events: EventArrays, shown: SideContent, passed: Flags, is_pause: Flags, read: ItemReadings
) -> None:
    """Read pages, without the events ``passed`` over; ``is_pause`` marks those after which the reader went away."""
    items, log = len(read.notes), events.log
    page = PageState(
        np.zeros(TOP + 2, np.int64),
        np.zeros(items + 1, np.int64),
        np.zeros(len(log) + 1, np.int64),
        np.zeros(1),
    )
    for number in range(len(shown.pages)):
        begin_page(page)
        bounds, before = shown.pages[number], -1
        for event in range(events.first[number], events.first[number + 1]):
            if passed[event]:
                continue
            if before >= 0 and is_counted(log, before, event, page.state):
                length = log[event, PAGE_MS] - log[before, PAGE_MS]
                divide_time(length, read.parts, page)
                read_on(read.notes, page, read.broken_off)
                if page.state[STANDING] >= 0:
                    read.layout_ms[number, page.state[STANDING]] += length
            if log[event, KIND] == SEE or log[event, KIND] == LAYER:
                look(event, events, bounds, shown, read.notes, read.parts, page)
            else:
                happen(event, log, read.layout_place[number], page)
                note_screen(event, bounds, read.notes, read.parts, page)
            if is_pause[event]:
                pause(event, log, read.notes, read.broken_off, page)
            before = event
        end_page(log, read.notes, read.parts, page)
        read.top[number] = page.state[TOP : TOP + 2]


def begin_page(page: PageState) -> None:
    """Set the state before the first event."""
    page.state[:] = 0
    page.state[LOOKED_AT] = page.state[FOCUSED] = 1
    page.state[STANDING] = page.state[TOP] = page.state[TOP + 1] = -1
    page.per_word_ms[0] = 0.0


def end_page(log: Int64s, notes: Int64s, parts: Floats, page: PageState) -> None:
    """Store the item that the page's end interrupted, and clear the screen."""
    last = being_read(log, notes, page)
    if last >= 0 and not (page.state[SUBMITTED] and notes[last, WHOLLY_SEEN] >= 0):
        notes[last, IS_INTERRUPTED] = 1
    while page.state[ON_SCREEN]:
        take_off(page.on_screen[0], notes, parts, page)


def is_counted(log: Int64s, before: int, after: int, state: Int64s) -> bool:
    """Return whether the time between two events is known and the page was visible."""
    length = log[after, PAGE_MS] - log[before, PAGE_MS]
    drift = log[after, WALL_MS] - log[before, WALL_MS] - length
    return bool(
        state[LOOKED_AT]
        and state[FOCUSED]
        and not state[CLOSED]
        and log[after, NUMBER] == log[before, NUMBER] + 1
        and log[after, KIND] != SLEEP
        and 0 < length <= SILENT_MS
        and abs(drift) <= DRIFT_MS
    )


def divide_time(length: int, parts: Floats, page: PageState) -> None:
    """Divide a stretch of time among the items on the screen."""
    words = 0.0
    for index in range(page.state[ON_SCREEN]):
        words += parts[page.on_screen[index], LENGTH_NOW]
    if words > 0:
        page.per_word_ms[0] += length / words


def pause(event: int, log: Int64s, notes: Int64s, broken_off: Int64s, page: PageState) -> None:
    """Store the item being read as the reader goes away."""
    broken_off[event] = being_read(log, notes, page)
    if broken_off[event] >= 0:
        page.pauses[page.state[PAUSES]] = event
        page.state[PAUSES] += 1


def read_on(notes: Int64s, page: PageState, broken_off: Int64s) -> None:
    """Remove the items in view from those whose reading broke off."""
    kept = 0
    for index in range(page.state[PAUSES]):
        event = page.pauses[index]
        if notes[broken_off[event], IS_SHOWN]:
            broken_off[event] = -1
        else:
            page.pauses[kept] = event
            kept += 1
    page.state[PAUSES] = kept


def happen(event: int, log: Int64s, layouts: Int64s, page: PageState) -> None:
    """Apply an event that concerns the whole page."""
    state, kind, layout = page.state, log[event, KIND], log[event, IN_FORCE]
    if kind in (OPEN, LAYOUT):
        state[CLOSED] = state[CLOSED] and kind == LAYOUT
        state[STANDING] = layout
        if layouts[layout] == 0:
            state[LAYOUTS] += 1
            layouts[layout] = state[LAYOUTS]
    elif kind in (VISIBLE, BEAT, HIDDEN):
        state[LOOKED_AT] = kind != HIDDEN
    elif kind in (FOCUS, BLUR):
        state[FOCUSED] = kind == FOCUS
    elif kind in (SUBMIT, CLOSE):
        state[SUBMITTED if kind == SUBMIT else CLOSED] = 1


def look(
    event: int,
    events: EventArrays,
    bounds: Int64s,
    shown: SideContent,
    notes: Int64s,
    parts: Floats,
    page: PageState,
) -> None:
    """Apply an event that shows or hides items, or opens or closes a layer."""
    item = inside = events.log[event, ITEM]
    if item < 0:
        return
    if events.log[event, KIND] == SEE:
        parts[item, SHARE_NOW] = events.share[event]
        put(item, shown, notes, parts, page)
        note_seen(item, event, bounds, notes, parts, page.state)
        return
    notes[item, IS_OPENED] = events.log[event, IS_OPEN]
    notes[item, WAS_OPENED] |= events.log[event, IS_OPEN]
    while inside + 1 < bounds[END] and shown.layer[inside + 1] == item:
        inside += 1
        put(inside, shown, notes, parts, page)
    for within in range(item + 1, inside + 1):
        note_seen(within, event, bounds, notes, parts, page.state)


def put(item: int, shown: SideContent, notes: Int64s, parts: Floats, page: PageState) -> None:
    """Put an item on the screen as it is visible now, or take it off."""
    take_off(item, notes, parts, page)
    share, layer = parts[item, SHARE_NOW], shown.layer[item]
    if share > 0 and (layer < 0 or notes[layer, IS_OPENED]):
        notes[item, IS_SHOWN] = 1
        parts[item, LENGTH_NOW] = shown.weight[item] * share
        parts[item, SINCE] = page.per_word_ms[0]
        page.on_screen[page.state[ON_SCREEN]] = item
        page.state[ON_SCREEN] += 1


def take_off(item: int, notes: Int64s, parts: Floats, page: PageState) -> None:
    """Remove an item from the screen, and add its share of the time."""
    if not notes[item, IS_SHOWN]:
        return
    notes[item, IS_SHOWN] = 0
    parts[item, DWELL_MS] += parts[item, LENGTH_NOW] * (page.per_word_ms[0] - parts[item, SINCE])
    index, on_screen = 0, page.on_screen
    while on_screen[index] != item:
        index += 1
    page.state[ON_SCREEN] -= 1
    for later in range(index, page.state[ON_SCREEN]):
        on_screen[later] = on_screen[later + 1]


def note_screen(event: int, bounds: Int64s, notes: Int64s, parts: Floats, page: PageState) -> None:
    """Store what is visible of everything on the screen."""
    for index in range(page.state[ON_SCREEN]):
        note_seen(page.on_screen[index], event, bounds, notes, parts, page.state)


def note_seen(item: int, event: int, bounds: Int64s, notes: Int64s, parts: Floats, state: Int64s) -> None:
    """Store what is visible of an item, if the page is visible."""
    share = parts[item, SHARE_NOW]
    if not state[LOOKED_AT] or state[CLOSED] or not notes[item, IS_SHOWN] or share <= parts[item, SHARE]:
        return
    parts[item, SHARE] = share
    if notes[item, FIRST_SEEN] < 0:
        notes[item, FIRST_SEEN] = event
    if share >= FULL and notes[item, WHOLLY_SEEN] < 0:
        notes[item, WHOLLY_SEEN] = event
    side = 1 if item >= bounds[SECOND] else 0
    for further in range(item + 1, bounds[SECOND + side]):
        if notes[further, FIRST_SEEN] >= 0:
            return
    top = bounds[BEGIN + side]
    while not notes[top, IS_SHOWN]:
        top += 1
    state[TOP + side] = top


def being_read(log: Int64s, notes: Int64s, page: PageState) -> int:
    """Return the item being read, -1 for none.

    It is the item on screen first seen last, and the furthest of several.
    """
    latest, when = -1, -1
    for index in range(page.state[ON_SCREEN]):
        item = page.on_screen[index]
        if notes[item, FIRST_SEEN] >= 0:
            at = log[notes[item, FIRST_SEEN], PAGE_MS]
            if at > when or (at == when and item > latest):
                latest, when = item, at
    return latest


HELPERS = (
    begin_page,
    end_page,
    is_counted,
    divide_time,
    pause,
    read_on,
    happen,
    look,
    put,
    take_off,
    note_screen,
    note_seen,
    being_read,
)
"""Kernels that `read_pages` calls."""
