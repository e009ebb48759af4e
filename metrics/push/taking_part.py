"""What of push judgments and runs over them takes no part in the scores of `metrics.push.score`."""

import numpy as np
from numpy.typing import NDArray

from metrics.push.streams import PushCollection, PushRun
from metrics.taking_part import (
    MILLISECONDS,
    TOPIC,
    LeftOut,
    left_out_entries,
    left_out_names,
    topics_without,
    unjudged_entries,
)
from metrics.topics import TopicNames

SECONDS_A_DAY = 86_400
PUSH, POOLED = ("push", "pushes"), ("pooled push", "pooled pushes")
TWEET = ("clustered tweet", "clustered tweets")
COLUMNS = "a line of a run is: topic tweet epoch runtag"


def push_left_out(collection: PushCollection, run: PushRun) -> list[LeftOut]:
    """Count what of a run takes no part, or has a time that no system meant.

    Parameters
    ----------
    collection : PushCollection
        Judgments.
    run : PushRun
        What was pushed.

    Returns
    -------
    list of LeftOut
        Of the pushes those for topics that are not judged, and those of tweets that were not pooled; of the pooled ones
        those of tweets posted on a day that is not scored, those before the tweet was posted, and those a day or more
        after it; then the judged topics without a push, which is nothing odd. What was not found is not in the list.
    """
    names = TopicNames(collection.days)
    found = {written: names.find(written) for written in set(run.topics)}
    any_day = {day for days in collection.days.values() for day in days}
    scored = {written: set(collection.days[topic]) if topic else any_day for written, topic in found.items()}
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
            noun=PUSH,
            says="are for topics that are not judged",
            cause=f"the qrels may be of another year, or the columns swapped ({COLUMNS})",
        ),
        *left_out_entries(
            ~pooled,
            run.tweets,
            noun=PUSH,
            says="are of tweets in no pool",
            cause=f"the epochs may be of another collection, or the columns swapped ({COLUMNS})",
        ),
        *left_out_entries(
            np.array(outside, dtype=np.bool_),
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
            found.values(),
            "push",
        ),
    ]


def push_judgments_left_out(collection: PushCollection) -> list[LeftOut]:
    """Count what of push judgments takes no part.

    Returns
    -------
    list of LeftOut
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
        *left_out_names(
            bare,
            len(collection.days),
            noun=TOPIC,
            says="have no cluster",
            cause="the clusters may be of another year",
        ),
        *left_out_names(
            ungraded,
            len(clustered),
            noun=TWEET,
            says="have no grade",
            cause="the clusters may be of another year than the qrels",
        ),
        *left_out_names(
            undated,
            len(clustered),
            noun=TWEET,
            says="have no time of posting",
            then="are left out",
            cause="the epochs may be of another year",
        ),
        *left_out_names(
            outside,
            len(clustered),
            noun=TWEET,
            says=f"were posted outside the days{_span(collection)}",
            then="are left out",
            cause="the days may be of another year",
        ),
    ]


def _span(collection: PushCollection) -> str:
    """Write the first and the last day of all topics, nothing where there is none."""
    days = [day for of_topic in collection.days.values() for day in of_topic]
    return f" {min(days)}:{max(days)}" if days else ""


def _in_time(run: PushRun, delay: NDArray[np.int64], pooled: NDArray[np.bool_]) -> list[LeftOut]:
    """Count pooled pushes at times that no system meant; ``delay`` is in seconds, (n,)."""
    cause = "the times may be of another time zone or unit: an epoch is in seconds since 1970-01-01 UTC"
    if delay.size and np.median(run.epochs) > MILLISECONDS:
        cause = "the times are in milliseconds: divide them by 1000"
    early, late = "came before the tweet was posted", "came a day or more after the tweet was posted"
    return [
        part
        for chosen, says in [(delay < 0, early), (delay >= SECONDS_A_DAY, late)]
        for part in left_out_entries(chosen, run.tweets, among=pooled, noun=POOLED, says=says, cause=cause)
    ]
