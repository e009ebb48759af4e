"""Pure: loops over signs of life: which events of many pages are signs, and which signs are rows of table activity.

As those in `study_app.logs.loops` they are plain Python that numba can compile; `loops_for` says which to take.
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
    Events,
    Flags,
    Int8s,
    Int64s,
    ItemReadings,
    Shown,
)
from study_app.protocol.domain import VISIT_GAP_SECONDS

OUT_OF_SIGHT = (HIDDEN, CLOSE)
GOING = (HIDDEN, CLOSE, LEAVE, BLUR)
NOBODY = (BEAT, SLEEP)
ROWS = (OPEN, BEAT, HIDDEN, VISIBLE, CLOSE)
GAP_MS = 1000 * VISIT_GAP_SECONDS
HEARTBEAT_MS = 5_000

FOLLOW, AT, PAGE, SIGN_NUMBER, SIGN_KIND, FLAGS, EVENT = range(7)
"""Columns of signs of life: whose; when; on which page; number of the event, of the last one before it where it is none, 0 for none;
its kind; `ACT` where somebody did something, `IDLE` where nobody did for the idle time after it; and the event, -1 for none."""

KEPT, WAITS, ACT, IDLE = 1, 2, 4, 8
"""What `watch` says of an event: it is a sign of life; it waits for somebody to do something; somebody did; then nobody did any more."""


def watch(events: Events, at: Int64s, idle_ms: Int64s, signs: Int8s) -> None:
    """Say which events of pages are ``signs`` of life. Heartbeats wait until the next event says whether somebody was there."""
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
                is_act = kind not in GOING and (number != before + 1 or kind not in NOBODY)
                if kind in NOBODY and not is_act:
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
    """Say whether a page opens in a tab behind others: then the very next event says so."""
    after = event + 1
    return bool(after < end and log[after, KIND] == HIDDEN and log[after, NUMBER] == log[event, NUMBER] + 1)


def settle(signs: Int8s, waiting: int, upto: int, latest: int, was_there: bool) -> None:  # noqa: FBT001 - numba
    """Keep the heartbeats that wait, or drop them when they lasted too long: then nobody was there after the latest sign."""
    if waiting < 0:
        return
    for event in range(waiting, upto):
        if signs[event] == WAITS:
            signs[event] = KEPT if was_there else 0
            if not was_there and latest >= 0:
                signs[latest] |= IDLE


def tell_activity(first: Int64s, signs: Int64s, away: Int64s, kinds: Int64s) -> None:
    """Say of the signs of visits, each of which begins at ``first``, which kind of row each is, -1 for none.

    ``away``: page -> its last row, where that says that the page went out of sight.
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
    """Return the row before a sign in its visit that says the same, or else the sign itself."""
    before = sign - 1
    while before >= first and signs[before, AT] == signs[sign, AT]:
        if signs[before, PAGE] == signs[sign, PAGE] and kinds[before] == kind:
            return before
        before -= 1
    return sign


class Loops(NamedTuple):
    """The loops, plain or compiled."""

    place_in_time: Callable[[Events, Int64s, Int64s], None]
    read_pages: Callable[[Events, Shown, Flags, Flags, ItemReadings], None]
    watch: Callable[[Events, Int64s, Int64s, Int8s], None]
    tell_activity: Callable[[Int64s, Int64s, Int64s, Int64s], None]


PLAIN = Loops(loops.place_in_time, loops.read_pages, watch, tell_activity)
WORTH_COMPILING = 400_000
"""So many events are worth the time to load compiled loops."""


def loops_for(events: int) -> Loops:
    """Return the loops for so many events in all: compiled where these are worth it."""
    return _compiled() if events >= WORTH_COMPILING else PLAIN


@cache
def _compiled() -> Loops:
    """Return the loops compiled; from the second process on the machine code is read from a file.

    That file is made anew when the module of a loop changes, not when a constant does that it takes from another one: whoever
    changes such a constant removes ``__pycache__``.
    """
    from numba.extending import register_jitable  # noqa: PLC0415 - slow to import

    from metrics.msu.kernels import compiled  # noqa: PLC0415 - it needs numba

    for helper in (*loops.HELPERS, opens_hidden, settle, same_row):
        register_jitable(helper)
    return Loops(*(compiled(loop) for loop in PLAIN))
