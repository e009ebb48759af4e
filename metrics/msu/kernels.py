"""Compiled loops of Modeled Stream Utility.

The tests have a plain Python twin of each loop, which states what it computes. Machine code is kept beside this file, or where it cannot be
written in the user's cache folder; where neither can be written it is made anew in every process.
"""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numba
import numpy as np

from metrics.arrays import Floats
from metrics.msu.trails import Stream, Trails

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function, or load it from the cache."""
    try:
        made: Any = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # no folder to keep machine code in
        made = numba.njit(nogil=True, error_model="numpy")(function)
    result: Callable[P, R] = made
    return result


@compiled
def read_stream(
    users: Trails,
    stream: Stream,
    worth: Floats,
    only_new: bool,  # noqa: FBT001 - numba has no keyword-only arguments
) -> tuple[Floats, Floats]:
    """Compute which updates every user reads of one stream, and when.

    `metrics.msu.measures.read` calls this loop.

    ``worth`` is (late, decays) here and the gain (users, decays), so that many decays lie side by side in memory.
    """
    most_late, decays = worth.shape[0] - 1, worth.shape[1]
    gain = np.zeros((users.speed.size, decays))
    seconds = np.zeros(users.speed.size)
    last_reader = np.full(stream.known.size, -1, np.int64)
    for user in range(users.speed.size):
        shown = closed = 0  # updates that have come, and updates up to the newest that was read
        visit, last = users.first_visit[user], users.first_visit[user + 1]
        while visit < last:
            now, left = users.start[visit], users.duration[visit]
            if now + left > stream.end or closed == stream.emitted.size:
                break
            shown = come_by(stream.emitted, shown, now)
            if shown == closed:
                visit = first_from(users.start, visit + 1, last, stream.emitted[shown])
                continue
            last_end = end_before(users, user, visit) if only_new else -np.inf
            oldest = closed
            for update in range(shown - 1, oldest - 1, -1):
                needed = stream.words[update] / users.speed[user]
                if needed > left or stream.emitted[update] <= last_end:
                    break
                left -= needed
                seconds[user] += needed
                closed = shown
                for index in range(stream.first_nugget[update], stream.first_nugget[update + 1]):
                    nugget = stream.nugget[index]
                    if last_reader[nugget] != user:
                        last_reader[nugget] = user
                        late = min(visits_late(users, user, visit, stream.known[nugget]), most_late)
                        for decay in range(decays):
                            gain[user, decay] += worth[late, decay]
            visit += 1
    return gain, seconds


@compiled
def come_by(emitted: Floats, shown: int, now: float) -> int:
    """Return the number of updates published by a time, from an earlier number."""
    while shown < emitted.size and emitted[shown] <= now:
        shown += 1
    return shown


@compiled
def end_before(users: Trails, user: int, visit: int) -> float:
    """Return the end of the user's previous visit; -inf before the first."""
    if visit == users.first_visit[user]:
        return -np.inf
    end: float = users.start[visit - 1] + users.duration[visit - 1]
    return end


@compiled
def first_from(times: Floats, low: int, high: int, time: float) -> int:
    """Return the first index in [low, high) whose time is not before a time.

    Times ascend; the result is ``high`` if there is none.
    """
    step = 1
    while low + step < high and times[low + step] < time:
        step *= 2
    high = min(high, low + step + 1)
    while low < high:
        middle = (low + high) // 2
        if times[middle] < time:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def visits_late(users: Trails, user: int, visit: int, known: float) -> int:
    """Return by how many visits a nugget is late.

    It is 0 if the nugget became known after this visit began.
    """
    low = users.first_visit[user]
    if low == visit or users.start[visit - 1] < known:
        return 0
    late: int = visit - first_from(users.start, low, visit, known)
    return late
