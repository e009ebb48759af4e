"""Kernels that find activity in the events of many pages; pure.

Like those in `study_app.logs.loops` they are plain Python that numba can compile; `loops_for` chooses between
both.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from study_app.logs import loops
from study_app.logs.event_arrays import (
    BEAT,
    BLUR,
    CLOSE,
    HIDDEN,
    KIND,
    LEAVE,
    NUMBER,
    OPEN,
    SLEEP,
    VISIBLE,
    EventArrays,
    Flags,
    Int8s,
    Int64s,
    ItemReadings,
    SideContent,
)
from study_app.protocol.domain import VISIT_GAP_SECONDS

OUT_OF_SIGHT = (HIDDEN, CLOSE)
GOING = (HIDDEN, CLOSE, LEAVE, BLUR)
PASSIVE = (BEAT, SLEEP)
ROWS = (OPEN, BEAT, HIDDEN, VISIBLE, CLOSE)
GAP_MS = 1000 * VISIT_GAP_SECONDS
HEARTBEAT_MS = 5_000

FOLLOW, AT, PAGE, SIGN_NUMBER, SIGN_KIND, FLAGS, EVENT = range(7)
"""Columns of the array of activity.

Follow, time, page, number and kind of the event, flags, and index of the event (-1 for none). Without an
event of its own the number is that of the event before, 0 for none. The flags are `ACT` where somebody did
something, `IDLE` where nobody did for the idle time after it.
"""

KEPT, WAITS, ACT, IDLE = 1, 2, 4, 8
"""Flags of an event: activity; waits for an action; action; idle after it."""


def mark_activity(events: EventArrays, at: Int64s, idle_ms: Int64s, signs: Int8s) -> None:
    """Mark the events of pages that are activity, in ``signs``.

    Heartbeats wait until the next event shows whether somebody was there.
    """
    log = events.log
    for page in range(idle_ms.size):
        begin, end, idle = events.first[page], events.first[page + 1], idle_ms[page]
        is_visible, before, latest = True, 0, -1
        since = until = waiting = -1
        for event in range(begin, end):
            kind, number = log[event, KIND], log[event, NUMBER]
            if kind == OPEN:
                is_visible = not opens_hidden(log, event, end)
            elif kind in (VISIBLE, BEAT):
                is_visible = True
            if is_visible:
                if until < 0 or at[event] - until > GAP_MS:
                    settle(signs, waiting, event, latest, until - since <= idle)
                    since, waiting, latest = at[event], event, -1
                until = at[event]
                is_act = kind not in GOING and (number != before + 1 or kind not in PASSIVE)
                if kind in PASSIVE and not is_act:
                    signs[event] = WAITS
                else:
                    was_there = at[event] - since <= idle
                    settle(signs, waiting, event, latest, was_there)
                    latest = event if was_there or is_act else -1
                    if latest >= 0:
                        signs[event] = KEPT | (ACT if is_act else 0)
                    since, waiting = at[event], event + 1
            is_visible = is_visible and kind not in OUT_OF_SIGHT
            before = number
        settle(signs, waiting, end, latest, until - since <= idle)


def opens_hidden(log: Int64s, event: int, end: int) -> bool:
    """Return whether a page opens in a hidden tab, as its very next event shows."""
    after = event + 1
    return bool(after < end and log[after, KIND] == HIDDEN and log[after, NUMBER] == log[event, NUMBER] + 1)


def settle(signs: Int8s, waiting: int, upto: int, latest: int, was_there: bool) -> None:  # noqa: FBT001 - numba
    """Keep the waiting heartbeats, or drop them where they lasted too long.

    Heartbeats that lasted too long mean that nobody was there after the latest activity.
    """
    if waiting < 0:
        return
    for event in range(waiting, upto):
        if signs[event] == WAITS:
            signs[event] = KEPT if was_there else 0
            if not was_there and latest >= 0:
                signs[latest] |= IDLE


def tell_activity(first: Int64s, signs: Int64s, away: Int64s, kinds: Int64s) -> None:
    """Assign each activity of visits its kind of row in table activity, -1 for none.

    Each visit begins at ``first``. ``away``: by page, its last row, where that shows that the page went out
    of sight.
    """
    for visit in range(first.size - 1):
        rows, last_at = 0, signs[first[visit], AT]
        for sign in range(first[visit], first[visit + 1]):
            at, page, kind = signs[sign, AT], signs[sign, PAGE], signs[sign, SIGN_KIND]
            is_last = sign + 1 == first[visit + 1]
            if kind not in ROWS:
                is_near = not is_last and max(at - last_at, signs[sign + 1, AT] - at) <= HEARTBEAT_MS
                if rows and is_near and not signs[sign, FLAGS] & IDLE:
                    continue
                kind = CLOSE if kind == LEAVE and is_last and away[page] < 0 else BEAT
            elif kind in OUT_OF_SIGHT and away[page] >= 0:
                kind = BEAT  # its form did not take it out of sight
            gone, away[page] = away[page], -1
            row = same_row(sign, first[visit], kind, signs, kinds)
            if kind in OUT_OF_SIGHT:
                away[page] = row
            elif gone >= 0 and signs[gone, AT] == at:
                kinds[gone] = -1
                rows -= 1
            rows += kinds[row] < 0
            kinds[row] = kind
            last_at = at


def same_row(sign: int, first: int, kind: int, signs: Int64s, kinds: Int64s) -> int:
    """Return the equal row before an activity in its visit, or the activity itself."""
    before = sign - 1
    while before >= first and signs[before, AT] == signs[sign, AT]:
        if signs[before, PAGE] == signs[sign, PAGE] and kinds[before] == kind:
            return before
        before -= 1
    return sign


class EventKernels(NamedTuple):
    """Kernels over events, plain or compiled."""

    place_in_time: Callable[[EventArrays, Int64s, Int64s], None]
    read_pages: Callable[[EventArrays, SideContent, Flags, Flags, ItemReadings], None]
    watch: Callable[[EventArrays, Int64s, Int64s, Int8s], None]
    tell_activity: Callable[[Int64s, Int64s, Int64s, Int64s], None]


PLAIN = EventKernels(loops.place_in_time, loops.read_pages, mark_activity, tell_activity)
WORTH_COMPILING = 400_000
"""Fewest events for which loading the compiled kernels saves time."""


def loops_for(events: int) -> EventKernels:
    """Return compiled kernels for many events, else the plain ones."""
    return _compiled() if events >= WORTH_COMPILING else PLAIN


@cache
def _compiled() -> EventKernels:
    """Return compiled kernels; later processes read their machine code from a file.

    That file is made anew when the module of a kernel changes, not when a constant does that it imports:
    after changing such a constant remove ``__pycache__``.
    """
    from numba.extending import register_jitable  # noqa: PLC0415 - slow to import

    from metrics.msu.kernels import compiled  # noqa: PLC0415 - it needs numba

    for helper in (*loops.HELPERS, opens_hidden, settle, same_row):
        register_jitable(helper)
    return EventKernels(*(compiled(loop) for loop in PLAIN))
