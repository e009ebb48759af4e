"""Logged events of one page load: when each happened, and what was wholly seen; pure.

When an event happened, by the server's clock: a page has a monotonic clock, which is right about durations but may stand
still while the machine sleeps, and a wall clock, which may show any time of day and may be set at any time. So an event is
placed at

    time of serving the page + monotonic clock + sleep before it,

where a step of more than `DRIFT_MS` by which the wall clock runs ahead of the monotonic one is sleep, unless this or a
later event would then have happened after it arrived: in that case the clock was set. Whatever a browser claims,
no event is placed later than it arrived, nor later than one with a higher number.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from operator import add, sub
from typing import Any, NamedTuple, TypeAlias

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


def is_known(before: LoggedEvent, after: LoggedEvent) -> bool:
    """Return whether no event was lost and no sleep lies between two events."""
    length = after.page_ms - before.page_ms
    return (
        after.number == before.number + 1
        and after.kind != "sleep"
        and 0 < length <= SILENT_MS
        and abs(after.wall_ms - before.wall_ms - length) <= DRIFT_MS
    )


def wholly_seen(events: Iterable[LoggedEvent], items: Collection[ItemKey]) -> set[ItemKey]:
    """Return the items of a page that were on the screen as a whole, as `study_app.logs.loops` finds them.

    Parameters
    ----------
    events : iterable of LoggedEvent
        Of one page load, by ascending number, each once.
    items : collection of ItemKey
        What the page showed, without second layers.
    """
    whole, shares = set[ItemKey](), dict[ItemKey, float]()
    is_visible, is_closed = True, False
    for event in events:
        changed: Collection[ItemKey] = shares
        match event.kind:
            case "see":
                item_key = event.detail["side"], event.detail["item"]
                shares[item_key], changed = event.detail["share"], (item_key,)
            case "visible" | "beat" | "hidden":
                is_visible = event.kind != "hidden"
            case "open":
                is_closed = False
            case "close":
                is_closed = True
        if is_visible and not is_closed:
            whole.update(item_key for item_key in changed if shares[item_key] >= FULL)
    return whole.intersection(items)


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
    for number, (before, after) in enumerate(pairwise(events), start=1):
        ahead = _ahead(before, after)
        total = slept[-1] + ahead
        is_sleep = ahead > DRIFT_MS and total <= room[number] + DRIFT_MS
        slept.append(total if is_sleep else slept[-1])
    return slept


def _ahead(before: LoggedEvent, after: LoggedEvent) -> int:
    """Return the milliseconds by which the wall clock ran ahead between two events."""
    return (after.wall_ms - before.wall_ms) - (after.page_ms - before.page_ms)


def _least_from_here(values: Iterable[int]) -> list[int]:
    """Return the minimum of each value and all after it."""
    return list(accumulate(reversed(list(values)), min))[::-1]
