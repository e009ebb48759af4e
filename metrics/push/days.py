"""Daily accounts of a run's pushes on each topic, for every push measure.

`account` turns a run into one `DayTable`; the measures of `metrics.push.score` are formulas over its columns. Which reading
of the rules is followed is a `PushRules` value; its two named ones are `TRACK` and `PAPER`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from metrics.arrays import Bools, Floats, Ints, summed
from metrics.push.pool import PushPool, close
from metrics.push.streams import PushRun
from metrics.topic_ids import STREAM_TOPICS, TopicNames

Order: TypeAlias = Literal["file", "time"]
Denominator: TypeAlias = Literal["all", "capped"]
GainOf: TypeAlias = Literal["cluster_day_max", "own"]
RedundantDay: TypeAlias = Literal["silent", "eventful"]
Unpooled: TypeAlias = Literal["skip", "nonrel"]
DuplicateDelay: TypeAlias = Literal["last", "own"]

DAILY_LIMIT = 10
"""Largest number of pushes of a topic and day that gain, and of ideal clusters."""

SECONDS_A_DAY = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class PushRules:
    """Rules by which pushes are counted; defaults are those of the TREC 2015 script.

    Attributes
    ----------
    order : {'file', 'time'}
        What decides redundancy and the first 10 of a day: the lines of the run, or the time of the push (equal times
        by line).
    denom : {'all', 'capped'}
        Pushes after the first 10 of a topic and day: count for all but gain, or are dropped altogether.
    gain : {'cluster_day_max', 'own'}
        Gain before latency: the best of the cluster that day, or the tweet's own.
    clip : bool
        A tweet pushed before it was posted gains as if pushed at once; otherwise more than its gain.
    dup_delay : {'last', 'own'}
        Delay of a tweet pushed twice: that of the last of its lines, or each its own.
    unpooled : {'skip', 'nonrel'}
        Pushes of tweets without a time of posting: ignored, or non-relevant on the UTC day of the push.
    """

    order: Order = "file"
    denom: Denominator = "all"
    gain: GainOf = "cluster_day_max"
    clip: bool = False
    dup_delay: DuplicateDelay = "last"
    unpooled: Unpooled = "skip"


TRACK = PushRules()
PAPER = PushRules(order="time", denom="capped", gain="own", clip=True, dup_delay="own")


@dataclass(frozen=True, slots=True, kw_only=True)
class DayTable:
    """Counts of one run's topic-days, in the order of `metrics.push.pool.PushPool`.

    Every array has one entry a row.

    Attributes
    ----------
    topics : tuple of str
        Judged topics, in order.
    topic : (rows,) ndarray of int
        Index in ``topics``.
    days : tuple of str
        ``YYYYMMDD``.
    pushes : (rows,) ndarray of float
        Number of pushes that count.
    gain : (rows,) ndarray of float
        Credited: one credit a cluster, the first 10 pushes of the day, less for latency.
    ideal : (rows,) ndarray of float
        Z: the 10 largest gains among the day's clusters that this run did not push before the day.
    nonrelevant, redundant : (rows,) ndarray of float
        Numbers of pushes of tweets in no cluster of the topic; of clusters that this run had pushed already.
    pool_eventful, run_eventful : (rows,) ndarray of bool
        The day has a cluster; it has one that this run did not push before the day.
    """

    topics: tuple[str, ...]
    topic: Ints
    days: tuple[str, ...]
    pushes: Floats
    gain: Floats
    ideal: Floats
    nonrelevant: Floats
    redundant: Floats
    pool_eventful: Bools
    run_eventful: Bools

    def __post_init__(self) -> None:
        """Freeze the arrays."""
        close(self.topic, self.pushes, self.gain, self.ideal, self.nonrelevant, self.redundant)
        close(self.pool_eventful, self.run_eventful)

    @property
    def quiet(self) -> Bools:
        """Mask of the days without a push that counts, (rows,)."""
        return np.equal(self.pushes, 0)

    def silent(self, redundant_day: RedundantDay) -> Bools:
        """Mask of the silent days, (rows,).

        A day whose clusters were all used before is silent if ``redundant_day`` says so.
        """
        return ~(self.run_eventful if redundant_day == "silent" else self.pool_eventful)

    def kinds(self) -> list[str]:
        """Kind of each row: ``eventful``, ``redundant`` or ``silent``."""
        names = ("silent", "redundant", "eventful")
        return [names[n] for n in (self.pool_eventful.astype(int) + self.run_eventful).tolist()]

    def totals(self, column: NDArray[Any]) -> Floats:
        """Return the sums of a column over the days of each topic, (topics,)."""
        return summed(column, self.topic, len(self.topics))

    def means(self, column: NDArray[Any]) -> Floats:
        """Return the means of a column over the days of each topic, (topics,)."""
        return self.totals(column) / np.bincount(self.topic, minlength=len(self.topics))


def count_pushes(pool: PushPool, run: PushRun, rules: PushRules) -> DayTable:
    """Count a run's pushes by topic and day.

    gain of a push = its gain by ``rules.gain`` * max(0, (100 - d) / 100),  d whole minutes from posting to push

    and 0 for all but the first push of a cluster, and from the 11th push of the day on (Tan, Roegiest, Lin and
    Clarke, SIGIR 2016, section 2). A cluster is used up by its first push, also when that gained nothing. Pushes for
    topics that are not judged and days that are not scored are ignored.
    """
    pushes = _counted(pool, run, rules)
    clustered = pushes.member >= 0
    cluster = pool.members.cluster[pushes.member]
    new = clustered & _first(cluster)
    gain = _gains(pool, pushes, rules) * (new & (_rank(pushes.row) < DAILY_LIMIT))
    ideal, run_eventful = _left_to_gain(pool, cluster[new], pushes.row[new])

    def per_row(column: NDArray[Any]) -> Floats:
        return summed(column, pushes.row, len(pool.days))

    return DayTable(
        topics=pool.topics,
        topic=pool.row_topic,
        days=pool.days,
        pushes=per_row(np.ones_like(pushes.row)),
        gain=per_row(gain),
        ideal=ideal,
        nonrelevant=per_row(~clustered),
        redundant=per_row(clustered & ~new),
        pool_eventful=pool.has_cluster,
        run_eventful=run_eventful,
    )


class _Pushes(NamedTuple):
    """Pushes as columns: row, index of tweet, index of member, time in seconds.

    `PushPool.members` lists the members.
    """

    row: Ints
    tweet: Ints
    member: Ints
    seconds: Ints

    def at(self, index: NDArray[Any]) -> "_Pushes":
        """Select or reorder pushes."""
        return _Pushes(*(column[index] for column in self))


def _counted(pool: PushPool, run: PushRun, rules: PushRules) -> _Pushes:
    """Return the pushes that count, by row, in their order within the day.

    The order decides redundancy and the first 10 pushes.
    """
    pushes = _judged(pool, run, rules)
    if rules.order == "time":
        pushes = pushes.at(np.argsort(pushes.seconds, kind="stable"))
    pushes = pushes.at(pushes.row >= 0)
    if rules.dup_delay == "last":
        same = pushes.row * pool.posted_day.size + pushes.tweet
        pushes = pushes._replace(seconds=_last(pushes.seconds, same))
    pushes = pushes.at(np.argsort(pushes.row, kind="stable"))
    return pushes.at(_rank(pushes.row) < DAILY_LIMIT) if rules.denom == "capped" else pushes


def _judged(pool: PushPool, run: PushRun, rules: PushRules) -> _Pushes:
    """Look up the pushes for judged topics, in file order."""
    names = TopicNames(pool.topics, STREAM_TOPICS, where=run.name)
    index = {name: number for number, name in enumerate(pool.topics)}
    topic_of = {written: index.get(names.find(written) or "", -1) for written in set(run.topics)}
    topic = np.array([topic_of[written] for written in run.topics], dtype=np.int64)
    judged = np.flatnonzero(topic >= 0)
    topic, seconds = topic[judged], run.epochs[judged]
    tweets = [run.tweets[push] for push in judged.tolist()]
    tweet = np.array([pool.tweets.get(name, -1) for name in tweets], dtype=np.int64)
    pooled = tweet >= 0
    row = pool.rows(topic, np.where(pooled, pool.posted_day[tweet], seconds // SECONDS_A_DAY))
    row[~pooled if rules.unpooled == "skip" else _carried_over(pool, topic, tweets, pooled)] = -1
    return _Pushes(row, tweet, pool.member(topic, tweet), seconds)


def _carried_over(pool: PushPool, topic: Ints, tweets: Sequence[str], pooled: Bools) -> Bools:
    """Return which tweets are relevant to their topic without having been pooled.

    Their grade was carried over from a tweet of the same text, and nothing is known about when they were posted: they
    are ignored even where unpooled tweets count as non-relevant.
    """
    is_carried_over = np.zeros(topic.size, dtype=np.bool_)
    for push in np.flatnonzero(~pooled).tolist():
        gains = pool.collection.gains[pool.topics[topic[push]]]
        is_carried_over[push] = gains.get(tweets[push], 0) > 0
    return is_carried_over


def _rank(row: Ints) -> Ints:
    """Count from 0 within each row; rows ascend."""
    return np.arange(row.size) - np.searchsorted(row, row)


def _last(values: Ints, group: Ints) -> Ints:
    """Spread the value of each group's last member over the group."""
    _, position, inverse = np.unique(group[::-1], return_index=True, return_inverse=True)
    return values[::-1][position[inverse]][::-1]


def _first(cluster: Ints) -> Bools:
    """Return whether each entry is the first of its number."""
    first = np.zeros(cluster.size, dtype=np.bool_)
    first[np.unique(cluster, return_index=True)[1]] = True
    return first


def _gains(pool: PushPool, pushes: _Pushes, rules: PushRules) -> Floats:
    """Return the gain of each push as if it were new.

    The value means nothing for a tweet in no cluster.
    """
    minutes = (pushes.seconds - pool.posted_seconds[pushes.tweet]) // 60
    latency = np.maximum(0.0, (100 - minutes) / 100)
    gains = pool.members.gain if rules.gain == "own" else pool.members.best
    return gains[pushes.member] * (np.minimum(1.0, latency) if rules.clip else latency)


def _left_to_gain(pool: PushPool, cluster: Ints, row: Ints) -> tuple[Floats, Bools]:
    """Return Z of each row, and whether it has a cluster not used before.

    The inputs say on which row each cluster was first used.
    """
    row_of_use = np.full(pool.clusters, len(pool.days))
    row_of_use[cluster] = row
    entries = pool.entries
    left = row_of_use[entries.cluster] >= entries.row
    of_row, best = entries.row[left], entries.best[left]
    best = np.where(_rank(of_row) < DAILY_LIMIT, best, 0.0)
    ideal = summed(best, of_row, len(pool.days))
    return ideal, np.bincount(of_row, minlength=len(pool.days)) > 0
