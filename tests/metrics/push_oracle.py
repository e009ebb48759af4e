"""The accounting of push notifications written out push by push: slow, and as close to the words as code can be.

`tests` compare `metrics.push.days` with it, `benchmarks/push.py` times it.
"""

from collections import defaultdict
from datetime import UTC, datetime
from typing import NamedTuple


class Day(NamedTuple):
    """What `metrics.push.days.DayTable` says of one topic and day."""

    topic: str
    day: str
    pushes: int
    gain: float
    ideal: float
    nonrelevant: int
    redundant: int
    pool_eventful: bool
    run_eventful: bool


class Push(NamedTuple):
    tweet: str
    seconds: int


def count_days(collection, run, rules):
    """Every topic's days in order; topics must be written as the collection does."""
    pushes = pushes_by_day(collection, run, rules)
    days = []
    for topic, scored in collection.days.items():
        home = {
            tweet: number for number, cluster in enumerate(collection.clusters[topic]) for tweet in cluster
        }
        used = set()
        for day in scored:
            best = best_gains(collection, topic, day, home)
            days.append(count_day(collection, topic, day, home, best, used, pushes[topic, day], rules))
    return days


def pushes_by_day(collection, run, rules):
    """The pushes that count, by topic and day, in the order that decides redundancy."""
    lines = list(zip(run.topics, run.tweets, run.epochs.tolist(), strict=True))
    if rules.order == "time":
        lines.sort(key=lambda line: line[2])
    last = {(topic, tweet): seconds for topic, tweet, seconds in lines}
    by_day = defaultdict(list)
    for topic, tweet, seconds in lines:
        if topic not in collection.days:
            continue
        created = collection.created.get(tweet)
        if created is not None:
            day = created.day
        elif rules.unpooled == "nonrel" and not collection.gains[topic].get(tweet, 0) > 0:
            day = datetime.fromtimestamp(seconds, UTC).strftime("%Y%m%d")
        else:
            continue
        delayed = last[topic, tweet] if rules.dup_delay == "last" else seconds
        by_day[topic, day].append(Push(tweet, delayed))
    if rules.denom == "capped":
        return defaultdict(list, {key: pushes[:10] for key, pushes in by_day.items()})
    return by_day


def best_gains(collection, topic, day, home):
    """The largest gain of each cluster that has tweets of that day."""
    best = {}
    for tweet, number in home.items():
        if tweet in collection.created and collection.created[tweet].day == day:
            best[number] = max(best.get(number, 0.0), collection.gains[topic].get(tweet, 0.0))
    return best


def count_day(collection, topic, day, home, best, used, pushes, rules):
    """One day; ``used`` is what the run has pushed before, and grows."""
    unused = sorted((gain for number, gain in best.items() if number not in used), reverse=True)
    gain, nonrelevant, redundant = 0.0, 0, 0
    for rank, push in enumerate(pushes):
        number = home.get(push.tweet) if push.tweet in collection.created else None
        if number is None:
            nonrelevant += 1
        elif number in used:
            redundant += 1
        else:
            used.add(number)
            if rank < 10:
                own = collection.gains[topic].get(push.tweet, 0.0)
                minutes = (push.seconds - collection.created[push.tweet].epoch) // 60
                latency = max(0.0, (100 - minutes) / 100)
                latency = min(1.0, latency) if rules.clip else latency
                gain += (own if rules.gain == "own" else best[number]) * latency
    return Day(
        topic,
        day,
        len(pushes),
        gain,
        sum(unused[:10]),
        nonrelevant,
        redundant,
        bool(best),
        bool(unused),
    )


def topic_mean(days, value):
    """Mean over days of a topic, then over topics, of ``value(day)``."""
    by_topic = defaultdict(list)
    for day in days:
        by_topic[day.topic].append(value(day))
    return sum(sum(values) / len(values) for values in by_topic.values()) / len(by_topic)


def elg(days, *, silent_days, redundant_silent):
    """ELG-1 or ELG-0 of a run."""

    def value(day):
        if not (day.run_eventful if redundant_silent else day.pool_eventful):
            return silent_days if day.pushes == 0 else 0.0
        return day.gain / day.pushes if day.pushes else 0.0

    return topic_mean(days, value)


def ncg(days, *, silent_days, redundant_silent):
    """nCG-1 or nCG-0 of a run."""

    def value(day):
        if not (day.run_eventful if redundant_silent else day.pool_eventful):
            return silent_days if day.pushes == 0 else 0.0
        return day.gain / day.ideal if day.ideal else 0.0

    return topic_mean(days, value)


def t11u(days, *, alpha):
    """T11U of a run: sums over days, mean over topics."""
    topics = len({day.topic for day in days})
    return sum(alpha * day.gain - (1 - alpha) * day.nonrelevant for day in days) / topics
