"""Judged streams of push notifications, and runs over them, as values.

The values do not depend on the format of the files.

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

GAIN_OF_GRADE = {-1: 0.0, 0: 0.0, 1: 0.5, 3: 0.5, 2: 1.0, 4: 1.0}
"""Gain of a tweet by its grade in the qrels.

Grades 3 and 4 are 1 and 2 carried over from a tweet of the same text; -1 is a carried 0.
"""


class Created(NamedTuple):
    """Day ``YYYYMMDD`` and epoch in seconds at which a tweet was posted.

    Examples
    --------
    >>> Created("20121008", 1349694000).day
    '20121008'
    """

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
        The kind of collection this one was made from, by `metrics.push.conversion`; None for push judgments.

    Examples
    --------
    >>> import prefcal
    >>> folder = "examples/push_streams/collection"
    >>> collection = prefcal.read_push_collection(
    ...     qrels=f"{folder}/qrels.txt",
    ...     clusters=f"{folder}/clusters.json",
    ...     epochs=f"{folder}/epochs.txt",
    ...     days="20121008:20121014",
    ... )
    >>> collection.name, len(collection.days)
    ('examples/push_streams/collection/qrels.txt', 3)
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
    """Notifications that one system pushed, one an entry, in file order.

    Attributes
    ----------
    name : str
        Name in the column ``run`` of scores.
    topics, tweets : tuple of str
        Topic, as the run writes it, and tweet of each push.
    epochs : (n,) ndarray of int64
        When each was pushed, in seconds; read-only.

    Examples
    --------
    >>> import prefcal
    >>> run = prefcal.read_push_run("examples/push_streams/runs/careful.txt")
    >>> run
    PushRun('careful', pushes=16)
    """

    name: str
    topics: tuple[str, ...]
    tweets: tuple[str, ...]
    epochs: NDArray[np.int64]

    def __repr__(self) -> str:
        """``PushRun('eager', pushes=41)``."""
        return f"PushRun({self.name!r}, pushes={len(self.tweets)})"

    def __post_init__(self) -> None:
        """Check that every column has one value per push, and freeze the array."""
        if not len(self.topics) == len(self.tweets) == len(self.epochs):
            raise ValueError("topics, tweets and epochs must be of one length")
        epochs = np.array(self.epochs, dtype=np.int64)
        epochs.flags.writeable = False
        object.__setattr__(self, "epochs", epochs)


MAX_DAYS = 10_000
"""Largest number of days of an evaluation; each topic has a row a day."""


def days_between(first: str, last: str) -> tuple[str, ...]:
    """Return every day of a range written ``YYYYMMDD``, both ends included.

    Raises
    ------
    ValueError
        If one is no day, the last comes before the first, or they are more than `MAX_DAYS`.
    """
    start, end = parsed_day(first), parsed_day(last)
    if end < start:
        raise ValueError(f"{last} comes before {first}")
    if (end - start).days >= MAX_DAYS:
        raise ValueError(f"{first} to {last} are more than {MAX_DAYS:,} days")
    return tuple((start + timedelta(n)).isoformat().replace("-", "") for n in range((end - start).days + 1))


def every_day(days: str | Sequence[str]) -> tuple[str, ...]:
    """Return the days of an evaluation, in order.

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
    for index, (day, following) in enumerate(pairwise(listed)):
        if dates[index + 1] - dates[index] != timedelta(days=1):
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


SECONDS_A_DAY = 86_400
PUSH, POOLED = ("push", "pushes"), ("pooled push", "pooled pushes")
TWEET = ("clustered tweet", "clustered tweets")
COLUMNS = "a line of a run is: topic tweet epoch runtag"


def push_left_out(
    collection: PushCollection, run: PushRun, *, topics: Topics = "judged"
) -> list[UnusedInput]:
    """Count a run's pushes that no score uses, or with implausible times.

    Parameters
    ----------
    collection : PushCollection
        Judgments.
    run : PushRun
        What was pushed.
    topics : {'judged', 'run'}
        What the mean of the scores is over.

    Returns
    -------
    list of UnusedInput
        Of the pushes those for topics that are not judged, and those of tweets that were not pooled; of the pooled ones
        those of tweets posted on a day that is not scored, those before the tweet was posted, and those a day or more
        after it; then the judged topics without a push, which is nothing odd. What was not found is not in the list.
    """
    names = TopicNames(collection.days, STREAM_TOPICS, where=run.name)
    judged_topics = {written: names.find(written) for written in set(run.topics)}
    any_day = {day for days in collection.days.values() for day in days}
    scored = {
        written: set(collection.days[topic]) if topic else any_day for written, topic in judged_topics.items()
    }
    created = [collection.created.get(tweet) for tweet in run.tweets]
    pooled = np.array([when is not None for when in created], dtype=np.bool_)
    outside = [
        when is not None and when.day not in scored[topic]
        for when, topic in zip(created, run.topics, strict=True)
    ]
    posted = [epoch if when is None else when.epoch for when, epoch in zip(created, run.epochs, strict=True)]
    return [
        *unjudged_entries(
            run.topics,
            collection.days,
            prefix=STREAM_TOPICS,
            noun=PUSH,
            says="are for topics that are not judged",
            cause=f"the qrels may be of another year, or the columns swapped ({COLUMNS})",
        ),
        *count_unused_entries(
            ~pooled,
            run.tweets,
            noun=PUSH,
            says="are of tweets in no pool",
            cause=f"the epochs may be of another collection, or the columns swapped ({COLUMNS})",
        ),
        *count_unused_entries(
            outside,
            run.tweets,
            among=pooled,
            noun=POOLED,
            says=f"are of tweets posted outside the days{_span(collection)}",
            cause="the days may be of another year",
            then="are left out",
        ),
        *_in_time(run, run.epochs - np.array(posted, dtype=np.int64), pooled),
        *topics_without(
            collection.days,
            judged_topics.values(),
            "push",
            topics=topics,
            worth="count with the score of silence",
        ),
    ]


def push_judgments_left_out(collection: PushCollection) -> list[UnusedInput]:
    """Count the push judgments that no score uses.

    Returns
    -------
    list of UnusedInput
        The topics without a cluster; of the clustered tweets those without a grade, those without a time of posting, and
        those posted on a day that is not scored.
    """
    clustered = [
        (topic, tweet)
        for topic in collection.days
        for cluster in collection.clusters.get(topic, ())
        for tweet in cluster
    ]
    bare = [topic for topic in collection.days if not collection.clusters.get(topic)]
    ungraded = [tweet for topic, tweet in clustered if tweet not in collection.gains.get(topic, {})]
    undated = [tweet for _, tweet in clustered if tweet not in collection.created]
    outside = [
        tweet
        for topic, tweet in clustered
        if tweet in collection.created and collection.created[tweet].day not in collection.days[topic]
    ]
    return [
        *count_unused_names(
            bare,
            len(collection.days),
            noun=TOPIC,
            says="have no cluster",
            cause="the clusters may be of another year",
        ),
        *count_unused_names(
            ungraded,
            len(clustered),
            noun=TWEET,
            says="have no grade",
            cause="the clusters may be of another year than the qrels",
        ),
        *count_unused_names(
            undated,
            len(clustered),
            noun=TWEET,
            says="have no time of posting",
            then="are left out",
            cause="the epochs may be of another year",
        ),
        *count_unused_names(
            outside,
            len(clustered),
            noun=TWEET,
            says=f"were posted outside the days{_span(collection)}",
            then="are left out",
            cause="the days may be of another year",
        ),
    ]


def _span(collection: PushCollection) -> str:
    """Format the first and the last day of all topics; empty without days."""
    days = [day for of_topic in collection.days.values() for day in of_topic]
    return f" {min(days)}:{max(days)}" if days else ""


def _in_time(run: PushRun, delay: NDArray[np.int64], pooled: NDArray[np.bool_]) -> list[UnusedInput]:
    """Count pooled pushes with implausible times; ``delay`` is in seconds, (n,)."""
    cause = "the times may be of another time zone or unit: an epoch is in seconds since 1970-01-01 UTC"
    if delay.size and np.median(run.epochs) > MILLISECONDS:
        cause = "the times are in milliseconds: divide them by 1000"
    early, late = "came before the tweet was posted", "came a day or more after the tweet was posted"
    return [
        part
        for chosen, says in [(delay < 0, early), (delay >= SECONDS_A_DAY, late)]
        for part in count_unused_entries(
            chosen, run.tweets, among=pooled, noun=POOLED, says=says, cause=cause
        )
    ]
