"""Compiled loops. Each has a plain Python twin among the tests, which says what it computes; nothing else is here.

Machine code is kept beside this file, or where it cannot be written in the user's cache folder; where neither can be
written it is made anew in every process.
"""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numba
import numpy as np

from metrics.msu.trails import FloatArray, Stream, Trails

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function, from the cache if there is one."""
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
    worth: FloatArray,
    only_new: bool,  # noqa: FBT001 - numba has no keyword-only arguments
) -> tuple[FloatArray, FloatArray]:
    """Let every user visit and read one stream: the loop of `metrics.msu.reading.read`."""
    gain = np.zeros((worth.shape[0], users.speed.size))
    seconds = np.zeros(users.speed.size)
    last_reader = np.full(stream.known.size, -1, np.int64)
    for user in range(users.speed.size):
        shown = closed = 0  # updates that have come, and updates up to the newest that was read
        last_end = -np.inf
        for visit in range(users.first_visit[user], users.first_visit[user + 1]):
            now, left = users.start[visit], users.duration[visit]
            if now + left > stream.end or closed == stream.emitted.size:
                break
            while shown < stream.emitted.size and stream.emitted[shown] <= now:
                shown += 1
            oldest = closed
            for update in range(shown - 1, oldest - 1, -1):
                needed = stream.words[update] / users.speed[user]
                if needed > left or (only_new and stream.emitted[update] <= last_end):
                    break
                left -= needed
                seconds[user] += needed
                closed = shown
                for place in range(stream.first_nugget[update], stream.first_nugget[update + 1]):
                    nugget = stream.nugget[place]
                    if last_reader[nugget] != user:
                        last_reader[nugget] = user
                        late = visits_late(users, user, visit, stream.known[nugget])
                        for decay in range(worth.shape[0]):
                            gain[decay, user] += worth[decay, late]
            last_end = now + users.duration[visit]
    return gain, seconds


@compiled
def visits_late(users: Trails, user: int, visit: int, known: float) -> int:
    """Return how many visits ago a nugget could have been read: 0 if it became known after this visit began."""
    low, high = users.first_visit[user], visit
    if low == high or users.start[visit - 1] < known:
        return 0
    while low < high:
        middle = (low + high) // 2
        if users.start[middle] < known:
            low = middle + 1
        else:
            high = middle
    late: int = visit - low
    return late
