"""Judged streams of push notifications and runs over them as values, whatever files they were read from.

`metrics.readers.push` reads them, `metrics.push.score` scores them. Ids are text and stay as written; times are whole
seconds since 1970-01-01 UTC; days are written ``YYYYMMDD``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

GAIN_OF_GRADE = {-1: 0.0, 0: 0.0, 1: 0.5, 3: 0.5, 2: 1.0, 4: 1.0}
"""Gain of a tweet by the grade in the qrels: 3 and 4 are 1 and 2 carried over from a tweet of the same text, and -1
is 0 carried over."""


class Created(NamedTuple):
    """When a tweet was posted: its day ``YYYYMMDD``, and the epoch in seconds."""

    day: str
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PushCollection:
    """Topics with judged, clustered tweets.

    Attributes
    ----------
    name : str
        How messages call it.
    days : mapping of str to tuple of str
        Judged topic -> every day it is scored on, in order and without a gap, at least one. The topics stand in the order of the
        judgments.
    gains : mapping of str to mapping of str to float
        Topic -> tweet -> gain in [0, 1]; a tweet that is missing has 0.
    clusters : mapping of str to tuple of tuple of str
        Topic -> its clusters, each the tweets that say the same; a tweet is in one cluster of a topic at most.
    created : mapping of str to Created
        Tweet -> when it was posted, for every tweet of the pool; a judged tweet that is missing was not pooled.
    converted_from : str or None
        The kind of collection this one was made from, by `metrics.readers.convert`; None for push judgments.
    """

    name: str
    days: Mapping[str, tuple[str, ...]]
    gains: Mapping[str, Mapping[str, float]]
    clusters: Mapping[str, tuple[tuple[str, ...], ...]]
    created: Mapping[str, Created]
    converted_from: str | None = None

    def __repr__(self) -> str:
        """``PushCollection('qrels.txt', topics=4, pooled=90)``."""
        return f"PushCollection({self.name!r}, topics={len(self.days)}, pooled={len(self.created)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class PushRun:
    """What one system pushed, a notification an entry, in file order.

    Attributes
    ----------
    name : str
        What stands in the column ``run`` of scores.
    topics, tweets : tuple of str
        Topic, as the run writes it, and tweet of each push.
    epochs : (n,) ndarray of int64
        When each was pushed, in seconds; read-only.
    """

    name: str
    topics: tuple[str, ...]
    tweets: tuple[str, ...]
    epochs: NDArray[np.int64]

    def __repr__(self) -> str:
        """``PushRun('eager', pushes=41)``."""
        return f"PushRun({self.name!r}, pushes={len(self.tweets)})"

    def __post_init__(self) -> None:
        """Check that there is one value of each for every push, and close the array."""
        if not len(self.topics) == len(self.tweets) == len(self.epochs):
            raise ValueError("topics, tweets and epochs must be of one length")
        epochs = np.array(self.epochs, dtype=np.int64)
        epochs.flags.writeable = False
        object.__setattr__(self, "epochs", epochs)


def days_between(first: str, last: str) -> tuple[str, ...]:
    """Every day from ``first`` to ``last``, both written ``YYYYMMDD`` and included.

    Raises
    ------
    ValueError
        If one is no day, or the last comes before the first.
    """
    start, end = parsed_day(first), parsed_day(last)
    if end < start:
        raise ValueError(f"{last} comes before {first}")
    return tuple(f"{start + timedelta(n):%Y%m%d}" for n in range((end - start).days + 1))


def every_day(days: str | Sequence[str]) -> tuple[str, ...]:
    """Return every day of an evaluation, in order.

    Parameters
    ----------
    days : str or sequence of str
        ``FIRST:LAST``, both written ``YYYYMMDD`` and included, or every day without a gap; so the first and the last
        alone, which would leave out what lies between, are refused.

    Raises
    ------
    ValueError
        If one is no day, the last comes before the first, or a day does not follow the one before it.
    """
    if isinstance(days, str):
        first, _, last = days.partition(":")
        return days_between(first, last)
    listed = tuple(days)
    dates = [parsed_day(day) for day in listed]
    for place, (day, following) in enumerate(pairwise(listed)):
        if dates[place + 1] - dates[place] != timedelta(days=1):
            raise ValueError(
                f"{following} does not follow {day}: list every day in order, or write '{listed[0]}:{listed[-1]}'"
            )
    return listed


def parsed_day(text: str) -> date:
    """Read a day written ``YYYYMMDD``.

    Raises
    ------
    ValueError
        If it is not written like that, or there is no such day.
    """
    if not (len(text) == 8 and text.isascii() and text.isdigit()):
        raise ValueError(f"{text!r} is no day")
    try:
        return date(int(text[:4]), int(text[4:6]), int(text[6:]))
    except ValueError:
        raise ValueError(f"there is no day {text}") from None
