"""Pure: when the events of a page happened, by the server's clock.

A page has a monotonic clock, which is right about durations but may stand still while the machine sleeps, and a wall
clock, which may show any time of day and may be set at any time. So an event is placed at

    time of serving the page + monotonic clock + sleep before it,

where a step of more than `DRIFT_MS` by which the wall clock runs ahead of the monotonic one is sleep, unless this or a
later event would then have happened after it arrived: in that case somebody set the clock. Whatever a browser claims,
no event is placed later than it arrived, nor later than one with a higher number.
"""

from collections.abc import Sequence
from itertools import pairwise

from study_app.logs.dwell import DRIFT_MS, LoggedEvent


def server_times(events: Sequence[LoggedEvent], served_ms: int) -> list[int]:
    """Return when each event happened, in milliseconds since 1970; none is earlier than the one before.

    Parameters
    ----------
    events : sequence of LoggedEvent
        Of one page load, by ascending number, each once. One without ``received_ms`` never arrives too early.
    served_ms : int
        When the page was served, in milliseconds since 1970.
    """
    awake = [served_ms + event.page_ms for event in events]
    arrived = [_NEVER if event.received_ms is None else max(event.received_ms, served_ms) for event in events]
    slept = _sleep_before(
        events, _least_from_here([came - time for came, time in zip(arrived, awake, strict=True)])
    )
    placed = [min(time + sleep, came) for time, sleep, came in zip(awake, slept, arrived, strict=True)]
    return _least_from_here(placed)


_NEVER = 2**62


def _sleep_before(events: Sequence[LoggedEvent], room: Sequence[int]) -> list[int]:
    """Return the milliseconds slept before each event; ``room`` is what there was between it and its arrival."""
    slept = [0][: len(events)]
    for place, (before, after) in enumerate(pairwise(events), start=1):
        ahead = (after.wall_ms - before.wall_ms) - (after.page_ms - before.page_ms)
        total = slept[-1] + ahead
        is_sleep = ahead > DRIFT_MS and total <= room[place] + DRIFT_MS
        slept.append(total if is_sleep else slept[-1])
    return slept


def _least_from_here(values: Sequence[int]) -> list[int]:
    """Return the smallest of each value and all after it."""
    least = list(values)
    for place in range(len(least) - 2, -1, -1):
        least[place] = min(least[place], least[place + 1])
    return least
