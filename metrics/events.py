"""Judged events, and runs of updates about them, as values.

The values do not depend on the format of the files.

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
from metrics.results import Topics
from metrics.topic_ids import STREAM_TOPICS, TopicNames
from metrics.unused_input import (
    MILLISECONDS,
    TOPIC,
    UnusedInput,
    count_unused_entries,
    count_unused_names,
    topics_without,
    unjudged_entries,
)


class Nugget(NamedTuple):
    """A fact of an event.

    seconds is when it became known, importance what the assessors gave it (3 is the most), words the length column of
    its file: words in 2013, characters in 2014.

    Examples
    --------
    >>> Nugget(1325376000.0, 3.0, 6, "The canal is closed for ships.").importance
    3.0
    """

    seconds: float
    importance: float
    words: int
    text: str


class Update(NamedTuple):
    """An update that was sampled for judging.

    words is the length column of its file (see `Nugget`), original the update whose copy it is, None for no copy. The
    original of an original is not looked for.

    Examples
    --------
    >>> Update("The canal was closed today.", 5, None).words
    5
    """

    text: str
    words: int
    original: str | None


class Match(NamedTuple):
    """Nugget matched in an update, with its first byte and end byte in the text.

    Offsets count bytes of UTF-8; the end is exclusive.

    Examples
    --------
    >>> Match("N1", 0, 12).nugget
    'N1'
    """

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

    Examples
    --------
    >>> import prefcal
    >>> folder = "examples/two_layered/streams"
    >>> events = prefcal.read_events(
    ...     topics=f"{folder}/topics.xml",
    ...     nuggets=f"{folder}/nuggets.tsv",
    ...     matches=f"{folder}/matches.tsv",
    ...     updates=f"{folder}/updates.tsv",
    ... )
    >>> event = next(iter(events.topics.values()))
    >>> len(event.nuggets), len(event.updates)
    (67, 1395)
    """

    start: float
    end: float
    nuggets: Mapping[str, Nugget]
    updates: Mapping[str, Update]
    matches: Mapping[str, tuple[Match, ...]]

    def nuggets_of(self, update: str) -> tuple[str, ...]:
        """Return each nugget in an update once.

        The update's own nuggets come first, then those of its original if it is a copy.
        """
        sampled = self.updates.get(update)
        matches = self.matches.get(update, ())
        if sampled is not None and sampled.original is not None:
            matches += self.matches.get(sampled.original, ())
        return tuple(dict.fromkeys([match.nugget for match in matches])) if matches else ()


class SkippedMatches(NamedTuple):
    """Counts of matches skipped for an unknown nugget or update."""

    nugget: int
    update: int

    def sentence(self, *, nuggets: object, updates: object) -> str:
        """Return a sentence on the skipped matches, or an empty text.

        It names both files.
        """
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
        The kind of collection this one was made from, by `metrics.push.conversion`; None for judged events.

    Examples
    --------
    >>> import prefcal
    >>> folder = "examples/two_layered/streams"
    >>> events = prefcal.read_events(
    ...     topics=f"{folder}/topics.xml",
    ...     nuggets=f"{folder}/nuggets.tsv",
    ...     matches=f"{folder}/matches.tsv",
    ...     updates=f"{folder}/updates.tsv",
    ... )
    >>> events
    EventCollection('examples/two_layered/streams/nuggets.tsv', topics=2)
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
    """Updates that one system emitted, one an entry, in file order.

    Attributes
    ----------
    name : str
        Name in the column ``run`` of scores.
    topics, updates : tuple of str
        Topic, as the run writes it, and update of each entry.
    seconds : (n,) ndarray of float64
        When each was given out, finite; read-only.
    confidence : (n,) ndarray of float64
        How sure the system was, perhaps infinite, never NaN; read-only.

    Examples
    --------
    >>> import prefcal
    >>> run = prefcal.read_update_run("examples/two_layered/streams/runs/prompt.txt")
    >>> run.name, len(run.updates)
    ('prompt', 358)
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
        """Check that every column has one value per update, and freeze the arrays."""
        for name in ("seconds", "confidence"):
            values = np.array(getattr(self, name), dtype=np.float64)
            values.flags.writeable = False
            object.__setattr__(self, name, values)
        if not len(self.topics) == len(self.updates) == self.seconds.size == self.confidence.size:
            raise ValueError("topics, updates, seconds and confidence must be of one length")
        if not np.isfinite(self.seconds).all() or np.isnan(self.confidence).any():
            raise ValueError("times must be finite, and a confidence must be a number")

    def entries(self, judged: Iterable[str]) -> dict[str, NDArray[np.int64]]:
        """Return the entries of each judged topic, in file order.

        A topic without entries in the run is left out.
        """
        names = TopicNames(judged, STREAM_TOPICS, where=self.name)
        judged_topics = {topic: names.find(topic) for topic in set(self.topics)}
        entries: defaultdict[str, list[int]] = defaultdict(list)
        for entry, topic in enumerate(self.topics):
            name = judged_topics[topic]
            if name is not None:
                entries[name].append(entry)
        return {topic: np.array(rows, dtype=np.int64) for topic, rows in entries.items()}


UPDATE = ("update", "updates")
JUDGED = ("update about judged topics", "updates about judged topics")
COLUMNS = "a line of a run is: qid team run doc sentence time confidence"


def updates_left_out(
    collection: EventCollection,
    run: UpdateRun,
    *,
    lengths: Mapping[str, Mapping[str, float]] | None = None,
    topics: Topics = "judged",
) -> list[UnusedInput]:
    """Count a run's updates that no score uses, or whose time is outside the event.

    Parameters
    ----------
    collection : EventCollection
        Judgments.
    run : UpdateRun
        What was given out.
    lengths : mapping of topic to mapping of update to float, optional
        Words of updates, where they are given.
    topics : {'judged', 'run'}
        What the mean of the scores is over.

    Returns
    -------
    list of UnusedInput
        Of the updates those about topics that are not judged, those that were not sampled for judging, those before their
        event began or after it ended, and those without a given length; then the judged topics without an update. What
        was not found is not in the list.
    """
    names = TopicNames(collection.topics, STREAM_TOPICS, where=run.name)
    judged_topics = {written: names.find(written) for written in set(run.topics)}
    named = [judged_topics[written] for written in run.topics]
    events = [None if topic is None else collection.topics[topic] for topic in named]
    judged = np.array([event is not None for event in events], dtype=np.bool_)
    entries = list(zip(events, run.updates, run.seconds.tolist(), strict=True))
    unsampled = [event is not None and update not in event.updates for event, update, _ in entries]
    outside = [event is not None and not event.start <= seconds <= event.end for event, _, seconds in entries]
    unmeasured = [
        lengths is not None and topic is not None and update not in lengths.get(topic, {})
        for topic, update in zip(named, run.updates, strict=True)
    ]
    late = "the topics file may be of another year; a time is in seconds since 1970-01-01 UTC"
    if run.seconds.size and np.median(run.seconds) > MILLISECONDS:
        late = "the times are in milliseconds: divide them by 1000"
    return [
        *unjudged_entries(
            run.topics,
            collection.topics,
            prefix=STREAM_TOPICS,
            noun=UPDATE,
            says="are about topics that are not judged",
            cause=f"the judgments may be of another year, or the columns swapped ({COLUMNS})",
        ),
        *count_unused_entries(
            unsampled,
            run.updates,
            among=judged,
            noun=JUDGED,
            says="are not among the sampled ones",
            cause="the updates file may be of another year, or the run may have updates without judgments",
        ),
        *count_unused_entries(
            outside,
            run.updates,
            among=judged,
            noun=JUDGED,
            says="are from before the event begins or after it ends",
            cause=late,
        ),
        *count_unused_entries(
            unmeasured,
            run.updates,
            among=judged,
            noun=JUDGED,
            says="have no length in the file of lengths",
            cause="the lengths may be of another year",
        ),
        *topics_without(
            collection.topics,
            judged_topics.values(),
            "update",
            topics=topics,
            cause="the run may be empty or not whole, or the judgments of another year",
        ),
    ]


def events_left_out(collection: EventCollection) -> list[UnusedInput]:
    """Count the judgments that no score uses.

    Returns
    -------
    list of UnusedInput
        The topics that one of the files lacks; the matches that were skipped, where they are most of all (their numbers are
        in `EventCollection.skipped` anyhow); the judged topics without a match.
    """
    whole, skipped = len(collection.topics) + len(collection.incomplete), sum(collection.skipped)
    used = sum(len(of) for event in collection.topics.values() for of in event.matches.values())
    unmatched = [topic for topic, event in collection.topics.items() if not event.matches]
    cause = "the files may be of different years"
    matches = UnusedInput(
        count=skipped,
        of=used + skipped,
        noun=("match", "matches"),
        says="name a nugget or update that is missing from its own file",
        cause=cause,
        then="are skipped",
    )
    return [
        *count_unused_names(
            collection.incomplete,
            whole,
            noun=("topic", "topics"),
            says="are not in all of topics file, nuggets and updates",
            cause=cause,
            then="are left out",
        ),
        *([matches] if matches.is_most else []),
        *count_unused_names(unmatched, len(collection.topics), noun=TOPIC, says="have no match", cause=cause),
    ]
