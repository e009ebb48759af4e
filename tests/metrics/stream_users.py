"""A plain event and given users, for the tests of what users read."""

from metrics.events import Event, Match, Nugget, Update
from metrics.msu.measures import MSU, MSUPerSecond
from metrics.msu.score import msu_scores
from metrics.msu.trails import GivenUsers, trails
from tests.metrics.event_strategies import START, collection_of


def simple(*, nuggets=("n",), words=10, start=START, seconds=86_400, known=0.0):
    """Updates u0, u1, ... of so many words; each tells the nugget of its number."""
    text = "w " * words
    names = [f"u{number}" for number in range(4)]
    return Event(
        start=start,
        end=start + seconds,
        nuggets={name: Nugget(start + known, 1.0, 1, "x") for name in nuggets},
        updates={name: Update(text, 0, None) for name in names},
        matches={update: (Match(nugget, 0, 1),) for update, nugget in zip(names, nuggets, strict=False)},
    )


def msu(event, run, users, **options):
    """MSU of one topic for given users."""
    scores = msu_scores(collection_of(event), [run], [MSU(**options)], GivenUsers(trails(users)))
    return scores[0].value


def per_second(event, run, users, **options):
    """MSU/s of one topic for given users."""
    scores = msu_scores(collection_of(event), [run], [MSUPerSecond(**options)], GivenUsers(trails(users)))
    return scores[0].value


class Cut(GivenUsers):
    """Given users whose visits end with the topic, as those of a population do."""

    ends_with_topic = True
