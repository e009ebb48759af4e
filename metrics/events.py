"""Judged events, and runs of updates about them, as values, whatever files they were read from.

`metrics.readers.tempsum` reads them; `metrics.updates.score` and `metrics.msu.score` score them. Ids are text and stay as
written; times are seconds since 1970-01-01 UTC.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrics.arrays import Floats
from metrics.topics import TopicNames


class Nugget(NamedTuple):
    """A fact of an event.

    seconds is when it became known, importance what the assessors gave it (3 is the most), words the length column of
    its file: words in 2013, characters in 2014.
    """

    seconds: float
    importance: float
    words: int
    text: str


class Update(NamedTuple):
    """An update that was sampled for judging.

    words is the length column of its file (see `Nugget`), original the update whose copy it is, None for no copy. The
    original of an original is not looked for.
    """

    text: str
    words: int
    original: str | None


class Match(NamedTuple):
    """A nugget in an update; start and end are the first byte of its words in the text (UTF-8) and the one after."""

    nugget: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One topic with its judgments.

    Attributes
    ----------
    start, end : float
        When it begins and ends, in seconds since 1970-01-01 UTC.
    nuggets : mapping of str to Nugget
        Nugget -> what it is, in the order of the judgments.
    updates : mapping of str to Update
        Sampled update -> what it is.
    matches : mapping of str to tuple of Match
        Update -> its matches, each of a nugget of this event, in the order of the judgments. What an update has as a
        copy is not here, see `nuggets_of`.
    """

    start: float
    end: float
    nuggets: Mapping[str, Nugget]
    updates: Mapping[str, Update]
    matches: Mapping[str, tuple[Match, ...]]

    def nuggets_of(self, update: str) -> tuple[str, ...]:
        """Return each nugget in an update once: its own, then its original's if it is a copy."""
        sampled = self.updates.get(update)
        found = self.matches.get(update, ())
        if sampled is not None and sampled.original is not None:
            found += self.matches.get(sampled.original, ())
        return tuple(dict.fromkeys([match.nugget for match in found])) if found else ()


class SkippedMatches(NamedTuple):
    """How many matches were left out because they name a nugget, or else an update, that no other file has."""

    nugget: int
    update: int

    def sentence(self, *, nuggets: object, updates: object) -> str:
        """Say how many were left out by the names of the two files, nothing when none was."""
        parts = [
            f"{count} of {what}s that {file} does not have"
            for count, what, file in zip(self, ("nugget", "update"), (nuggets, updates), strict=True)
            if count
        ]
        return f"skipped matches: {', '.join(parts)}" if parts else ""


NONE_SKIPPED = SkippedMatches(nugget=0, update=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventCollection:
    """Judged events.

    Attributes
    ----------
    name : str
        How messages call it.
    topics : mapping of str to Event
        By id, as the judgments write it, in the order of the topics.
    skipped : SkippedMatches
        What was left out in reading.
    incomplete : tuple of str
        Topics that are not judged because one of the files lacks them.
    converted_from : str or None
        The kind of collection this one was made from, by `metrics.readers.convert`; None for judged events.
    """

    name: str
    topics: Mapping[str, Event]
    skipped: SkippedMatches = NONE_SKIPPED
    incomplete: tuple[str, ...] = ()
    converted_from: str | None = None

    def __repr__(self) -> str:
        """``EventCollection('topics.xml', topics=2)``."""
        return f"EventCollection({self.name!r}, topics={len(self.topics)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateRun:
    """What one system gave out, an update an entry, in file order.

    Attributes
    ----------
    name : str
        What stands in the column ``run`` of scores.
    topics, updates : tuple of str
        Topic, as the run writes it, and update of each entry.
    seconds : (n,) ndarray of float64
        When each was given out, finite; read-only.
    confidence : (n,) ndarray of float64
        How sure the system was, perhaps infinite, never NaN; read-only.
    """

    name: str
    topics: tuple[str, ...]
    updates: tuple[str, ...]
    seconds: Floats
    confidence: Floats

    def __repr__(self) -> str:
        """``UpdateRun('prompt', updates=30)``."""
        return f"UpdateRun({self.name!r}, updates={len(self.updates)})"

    def __post_init__(self) -> None:
        """Check that there is one value of each for every update, and close the arrays."""
        for name in ("seconds", "confidence"):
            values = np.array(getattr(self, name), dtype=np.float64)
            values.flags.writeable = False
            object.__setattr__(self, name, values)
        if not len(self.topics) == len(self.updates) == self.seconds.size == self.confidence.size:
            raise ValueError("topics, updates, seconds and confidence must be of one length")
        if not np.isfinite(self.seconds).all() or np.isnan(self.confidence).any():
            raise ValueError("times must be finite, and a confidence must be a number")

    def entries(self, judged: Iterable[str]) -> dict[str, NDArray[np.int64]]:
        """Return the entries of each judged topic, in file order; a topic that the run has nothing for is left out."""
        names = TopicNames(judged)
        found = {topic: names.find(topic) for topic in set(self.topics)}
        entries: defaultdict[str, list[int]] = defaultdict(list)
        for entry, topic in enumerate(self.topics):
            name = found[topic]
            if name is not None:
                entries[name].append(entry)
        return {topic: np.array(rows, dtype=np.int64) for topic, rows in entries.items()}
