"""Random push judgments, runs and rules, small enough to shrink to something readable."""

from datetime import UTC, datetime

import numpy as np
from hypothesis import strategies as st

from metrics.push.days import PushRules
from metrics.push.streams import Created, PushCollection, PushRun

DAYS = ("20150720", "20150721", "20150722")
TOPICS = ("MB1", "MB2")
TWEETS = tuple(f"t{number}" for number in range(14))
START = int(datetime(2015, 7, 20, tzinfo=UTC).timestamp())
DAY_SECONDS = 86_400

gains = st.sampled_from([0.0, 0.5, 1.0])
times = st.integers(-DAY_SECONDS // 60, 4 * DAY_SECONDS // 60).map(lambda minute: START + 60 * minute)


def day_of(seconds):
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y%m%d")


@st.composite
def collections(draw):
    """Two topics over three days; the last tweets may be judged without having been pooled."""
    posted = {tweet: draw(times) for tweet in TWEETS[:12]}
    home = st.one_of(st.none(), st.integers(0, 3))
    clusters = {}
    for topic in TOPICS:
        of_tweet = {tweet: draw(home) for tweet in TWEETS}
        found = (tuple(tweet for tweet in TWEETS if of_tweet[tweet] == number) for number in range(4))
        clusters[topic] = tuple(cluster for cluster in found if cluster)
    return PushCollection(
        name="collection",
        days=dict.fromkeys(TOPICS, DAYS),
        gains={topic: draw(st.dictionaries(st.sampled_from(TWEETS), gains)) for topic in TOPICS},
        clusters=clusters,
        created={tweet: Created(day_of(seconds), seconds) for tweet, seconds in posted.items()},
    )


@st.composite
def runs(draw):
    """Pushes of any tweet at any time, also for a topic that nobody judged; often more than ten a day."""
    pushes = st.tuples(st.sampled_from([*TOPICS, "MB9"]), st.sampled_from([*TWEETS, "x"]), times)
    return run_of(draw(st.lists(pushes, max_size=60)))


rules = st.builds(
    PushRules,
    order=st.sampled_from(["file", "time"]),
    denom=st.sampled_from(["all", "capped"]),
    gain=st.sampled_from(["cluster_day_max", "own"]),
    clip=st.booleans(),
    dup_delay=st.sampled_from(["last", "own"]),
    unpooled=st.sampled_from(["skip", "nonrel"]),
)


def run_of(pushes, *, name="run"):
    """A run of (topic, tweet, seconds)."""
    topics, tweets, epochs = zip(*pushes, strict=True) if pushes else ((), (), ())
    return PushRun(name=name, topics=topics, tweets=tweets, epochs=np.array(epochs, dtype=np.int64))
