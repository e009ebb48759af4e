"""What the compiled loop of `metrics.msu.kernels` works on: users' visits, and a stream of updates, as arrays."""

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]


class Trails(NamedTuple):
    """The visits of some users, times in seconds since the start of whatever topic they follow.

    Attributes
    ----------
    speed : (users,) ndarray of float64
        Words read in a second, > 0.
    first_visit : (users + 1,) ndarray of int64
        Visits ``first_visit[u]`` up to ``first_visit[u + 1]`` are user u's, in order of time.
    start, duration : (visits,) ndarray of float64
        When each visit begins, and how long it lasts. A user's first begins at 0.
    """

    speed: FloatArray
    first_visit: IntArray
    start: FloatArray
    duration: FloatArray

    @property
    def most_visits(self) -> int:
        """Return how many visits the user with the most of them makes."""
        return int(np.diff(self.first_visit).max(initial=0))


class Stream(NamedTuple):
    """A run's updates on one topic, from the one that is shown last to the one that is shown first.

    Attributes
    ----------
    end : float
        The topic's length in seconds.
    emitted : (n,) ndarray of float64
        When each update came, in seconds since the topic's start.
    words : (n,) ndarray of float64
        How long each is.
    first_nugget : (n + 1,) ndarray of int64
        The nuggets of update u stand in ``nugget[first_nugget[u]:first_nugget[u + 1]]``.
    nugget : (m,) ndarray of int64
        Nuggets, as places in ``known``.
    known : (nuggets,) ndarray of float64
        When each nugget of the topic became known, in seconds since the topic's start.
    """

    end: float
    emitted: FloatArray
    words: FloatArray
    first_nugget: IntArray
    nugget: IntArray
    known: FloatArray
