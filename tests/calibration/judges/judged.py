"""Votes of people and verdicts of a judge on small pairs, for tests."""

import itertools

import numpy as np
import pandas as pd

from calibration.judges.beside_people import PeoplesVotes
from metrics.agreement.crossed_errors import VotesByPerson, crossing

WORTH = {"a": 1.0, "b": 0.0, "=": 0.5}
VERDICT = {"a": "votes_a", "b": "votes_b", "=": "equally_good"}


def votes_of(people, topics, workers=None):
    """Return votes from a string of `a`, `b`, `=` a pair, its topic, and who gave each vote."""
    pair = np.repeat(np.arange(len(people)), [len(each) for each in people])
    query = pd.factorize(np.array(topics))[0][pair]
    return VotesByPerson(
        pair=pair,
        for_a=np.array([WORTH[vote] for each in people for vote in each]),
        crossing=crossing(query, workers),
    )


def beside(people, topics, judge, workers=None, lengths=None, names=None):
    """Hold a judge's verdicts, one letter a pair or a space, against people."""
    names = names or [(f"s{place}", f"t{place}") for place in range(len(people))]
    pairs = pd.DataFrame(names, columns=["system_a", "system_b"]).assign(topic=list(topics))
    rows = pairs.assign(vote=[VERDICT.get(vote) for vote in judge]).dropna(subset="vote")
    rows = rows.assign(order=1, is_swapped=False, repeat=1).astype({"order": "Int64"})
    lengths = None if lengths is None else np.array(lengths, dtype=float)
    return PeoplesVotes(pairs, votes_of(people, topics, workers)).beside(rows, lengths)


def drawn_votes(rng, *, topics=12, pairs=6, people=9, votes=4):
    """Return votes, topics, workers and verdicts that are drawn: people of a taste each judge pairs of several topics."""
    taste, said, of_topic, workers, judge = rng.normal(0, 1, people), [], [], [], []
    for topic, _ in itertools.product(range(topics), range(pairs)):
        worth = rng.normal(0, 1)
        who = rng.choice(people, votes, replace=False)
        lead = worth + taste[who] * rng.normal() + rng.logistic(size=votes)
        said.append("".join(np.select([lead > 0.4, lead < -0.4], ["a", "b"], "=")))
        judge.append("a" if worth + rng.logistic() > 0 else "b")
        of_topic.append(f"q{topic}")
        workers += list(who)
    return said, of_topic, judge, np.array(workers)
