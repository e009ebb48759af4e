"""Push judgments as arrays: topic-days, pooled tweets and their clusters.

One pool serves many runs. A *row* is a day of a topic; rows stand topic by topic, each in the order of its days. Nothing here depends on a
run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrics.arrays import Bools, Floats, Ints
from metrics.push.streams import PushCollection, parsed_day

EPOCH = date(1970, 1, 1).toordinal()
DAY_SPAN = 10_000_000
"""Factor that joins topic and day in one number; more days than any calendar has."""
NO_TOPIC = 100_000_000
"""Sorts after every topic."""


class Members(NamedTuple):
    """Clustered, pooled tweets, one entry a topic and tweet, then one for the others.

    All other tweets share the last entry, in cluster -1.

    Attributes
    ----------
    key : (members + 1,) ndarray of int
        Topic and tweet as one number, ascending.
    cluster : (members + 1,) ndarray of int
        Counted over all topics.
    row : (members + 1,) ndarray of int
        Of the day when it was posted; -1 when the topic is not scored then.
    gain : (members + 1,) ndarray of float
        Its own.
    best : (members + 1,) ndarray of float
        The largest of its cluster on its day.
    """

    key: Ints
    cluster: Ints
    row: Ints
    gain: Floats
    best: Floats


class Entries(NamedTuple):
    """Clusters of each row: those with a tweet posted then, largest gain first.

    Attributes
    ----------
    row, cluster : (entries,) ndarray of int
        Which cluster on which day.
    best : (entries,) ndarray of float
        Its largest gain that day.
    """

    row: Ints
    cluster: Ints
    best: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class PushPool:
    """Topic-days, tweets and clusters by which a run's pushes are looked up.

    Days are counted from 1970-01-01.

    Attributes
    ----------
    collection : PushCollection
        Where all of this comes from.
    topics : tuple of str
        Judged topics, in order.
    days : tuple of str
        Day of each row, ``YYYYMMDD``.
    row_topic, row_key : (rows,) ndarray of int
        Index in ``topics``; topic and day as one number, ascending.
    tweets : dict of str to int
        Index of each pooled tweet.
    posted_day, posted_seconds : (tweets + 1,) ndarray of int
        When each was posted; the last entry stands for any other tweet and means nothing.
    members : Members
        Who is in which cluster.
    entries : Entries
        Which clusters a day has.
    """

    collection: PushCollection
    topics: tuple[str, ...]
    days: tuple[str, ...]
    row_topic: Ints
    row_key: Ints
    tweets: dict[str, int]
    posted_day: Ints
    posted_seconds: Ints
    members: Members
    entries: Entries

    def __post_init__(self) -> None:
        """Freeze the arrays."""
        close(
            self.row_topic, self.row_key, self.posted_day, self.posted_seconds, *self.members, *self.entries
        )

    @property
    def clusters(self) -> int:
        """Number of clusters, over all topics."""
        return int(self.members.cluster.max()) + 1

    @property
    def has_cluster(self) -> Bools:
        """Mask of rows on which a clustered tweet was posted, (rows,).

        Such a day is eventful by the pool.
        """
        return np.bincount(self.entries.row, minlength=len(self.days)) > 0

    def rows(self, topic: Ints, day: Ints) -> Ints:
        """Return the row of each topic and day, -1 where it is not scored."""
        return found_in(self.row_key, topic * DAY_SPAN + np.clip(day, -DAY_SPAN // 2, DAY_SPAN // 2 - 1))

    def member(self, topic: Ints, tweet: Ints) -> Ints:
        """Return the index in `members` of each topic and tweet, -1 outside clusters."""
        return np.where(tweet < 0, -1, found_in(self.members.key, topic * len(self.tweets) + tweet))


def close(*arrays: NDArray[Any]) -> None:
    """Make arrays read-only."""
    for array in arrays:
        array.flags.writeable = False


def found_in(keys: Ints, numbers: Ints) -> Ints:
    """Return the index of each number among ascending keys, -1 where absent."""
    if not keys.size:
        return np.full(numbers.shape, -1)
    position = np.minimum(np.searchsorted(keys, numbers), keys.size - 1)
    return np.where(keys[position] == numbers, position, -1)


def push_pool(collection: PushCollection) -> PushPool:
    """Convert a collection into arrays.

    Raises
    ------
    ValueError
        If a topic has no days, one does not follow the one before it, or a tweet is in two clusters of a topic.
    """
    scored = list(collection.days.values())
    days = tuple(day for of_topic in scored for day in of_topic)
    lengths = np.array([len(of_topic) for of_topic in scored], dtype=np.int64)
    row_topic = np.repeat(np.arange(len(scored)), lengths)
    row_key = row_topic * DAY_SPAN + _day_numbers(days)
    steps, same_topic = np.diff(row_key), np.diff(row_topic) == 0
    if not lengths.all() or (steps[same_topic] != 1).any():
        raise ValueError("each topic must have every day it is scored on, in order and without a gap")
    created = list(collection.created.values())
    posted_day = _day_numbers([*(when.day for when in created), "19700101"])
    tweets = {tweet: index for index, tweet in enumerate(collection.created)}
    members = _members(collection, tweets, posted_day, row_key)
    return PushPool(
        collection=collection,
        topics=tuple(collection.days),
        days=days,
        row_topic=row_topic,
        row_key=row_key,
        tweets=tweets,
        posted_day=posted_day,
        posted_seconds=np.array([*(when.epoch for when in created), 0], dtype=np.int64),
        members=members,
        entries=_entries(members),
    )


def _day_numbers(days: Sequence[str]) -> Ints:
    """Count days from 1970-01-01."""
    number = {day: parsed_day(day).toordinal() - EPOCH for day in set(days)}
    return np.array([number[day] for day in days], dtype=np.int64)


def _members(
    collection: PushCollection, tweets: Mapping[str, int], posted_day: Ints, row_key: Ints
) -> Members:
    """Assign numbers to the clusters, and index their pooled tweets."""
    clusters = [
        (number, topic, cluster)
        for number, topic in enumerate(collection.days)
        for cluster in collection.clusters.get(topic, ())
    ]
    members = [
        (number, tweets[tweet], home, collection.gains[topic].get(tweet, 0.0))
        for home, (number, topic, cluster) in enumerate(clusters)
        for tweet in dict.fromkeys(cluster)
        if tweet in tweets
    ]
    members.append((NO_TOPIC, 0, -1, 0.0))
    topic, tweet, cluster = np.array([member[:3] for member in members], dtype=np.int64).T
    gain = np.array([member[3] for member in members], dtype=np.float64)
    key = topic * len(tweets) + tweet
    if np.unique(key).size < key.size:
        raise ValueError("a tweet is in two clusters of a topic")
    row = found_in(row_key, topic * DAY_SPAN + posted_day[tweet])
    _, group = np.unique(np.stack([row, cluster]), axis=1, return_inverse=True)
    largest = np.zeros(group.max() + 1)
    np.maximum.at(largest, group, gain)
    order = np.argsort(key)
    return Members(key[order], cluster[order], row[order], gain[order], largest[group][order])


def _entries(members: Members) -> Entries:
    """Return one entry a row and cluster, of scored days."""
    order = np.lexsort((members.cluster, -members.best, members.row))
    row, cluster, best = members.row[order], members.cluster[order], members.best[order]
    distinct = row >= 0
    distinct[1:] &= (row[1:] != row[:-1]) | (cluster[1:] != cluster[:-1])
    return Entries(row[distinct], cluster[distinct], best[distinct])
