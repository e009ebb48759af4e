"""Who ticks at random: a class of voters whose ticks have nothing to do with what the others ticked.

How many intents somebody ticked on a ballot is taken as given, so that nobody is careless for ticking many or few; the question is
which ones. With o_i the odds that the other voters of the topic give to intent i, a voter who follows them with power g ticks the set
T of k intents with probability

    prod_{i in T} o_i^g / sum of the same over all sets of k intents        (conditional logit, McFadden 1974)

and one who ticks by lot has g = 0: all sets of k are as likely.

Where nothing speaks clearly for such voters there may be some all the same, the more the fewer topics people vote on: of a single ballot
nobody can say who filled it in. The intervals then hold also what the probabilities are if as many tick by lot as the votes leave open.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from calibration.inference.careless import CarelessClass
from calibration.inference.following import POWERS, share_left_open, who_follows_nobody
from calibration.intents.prior import rates_prior
from metrics.arrays import Bools, Floats, Places

Ballots: TypeAlias = Sequence[tuple[Places, Bools]]
"""Of each topic the voters, (w,), and what each of them ticked, (w, intents)."""


LEFT_OPEN = 1.92
"""Log-likelihood lost at the largest share of such voters that the votes leave open: half of the chi-squared that chance exceeds in one of twenty."""


class RandomTickers(NamedTuple):
    """Who ticks at random.

    Attributes
    ----------
    voters : Index of str
        In the order of the posteriors.
    kind : CarelessClass or None
        The class; None where nothing speaks clearly for it.
    left_open : float
        The largest share of such voters that the votes leave open.
    """

    voters: "pd.Index[str]"
    kind: CarelessClass | None
    left_open: float


def random_tickers(votes: pd.DataFrame, counts: pd.DataFrame) -> RandomTickers:
    """Find who ticks at random.

    Parameters
    ----------
    votes : DataFrame
        Table intent_votes.
    counts : DataFrame
        topic, intent, votes, voters of every intent (`calibration.intents.fit.vote_counts`).
    """
    voters = pd.Index(votes["worker"].unique())
    prior = rates_prior(*(counts[name].to_numpy(np.float64) for name in ("votes", "voters"))).typical
    ballots = list(_ballots(votes, counts, voters))

    def logliks(weight: Floats) -> Floats:
        return _logliks(ballots, weight, prior)

    kind = who_follows_nobody(logliks, len(voters), tastes=False)
    return RandomTickers(voters, kind, share_left_open(logliks(np.ones(len(voters))), LEFT_OPEN))


def _logliks(ballots: Ballots, weight: Floats, prior: tuple[float, float]) -> Floats:
    """(voters, powers) log-likelihoods, where the others count with these weights."""
    total = np.zeros((len(weight), len(POWERS)))
    for who, ticked in ballots:
        total[who] += _ballot_logliks(ticked, _odds(ticked, weight[who], prior))
    return total


def _ballots(
    votes: pd.DataFrame, counts: pd.DataFrame, voters: "pd.Index[str]"
) -> Iterator[tuple[Places, Bools]]:
    """Yield the voters of each topic, (w,), and what each of them ticked, (w, intents)."""
    intents = {topic: pd.Index(rows["intent"]) for topic, rows in counts.groupby("topic")}
    for topic, rows in votes[votes["topic"].isin(list(intents))].groupby("topic"):
        who, worker = np.unique(voters.get_indexer(rows["worker"]), return_inverse=True)
        ticked = np.zeros((len(who), len(intents[topic])), dtype=bool)
        place = intents[topic].get_indexer(rows["intent"])
        ticked[worker[place >= 0], place[place >= 0]] = True
        yield who, ticked


def _odds(ticked: Bools, weight: Floats, prior: tuple[float, float]) -> Floats:
    """(w, intents) log odds of a tick by the other voters of the topic."""
    a, b = prior
    own = weight[:, None] * ticked
    rate = (own.sum(axis=0) - own + a) / ((weight.sum() - weight)[:, None] + a + b)
    return np.asarray(np.log(rate) - np.log1p(-rate))


def _ballot_logliks(ticked: Bools, odds: Floats) -> Floats:
    """(w, powers) log-likelihoods of which intents were ticked, given how many."""
    odds = odds - odds.mean(axis=1, keepdims=True)
    chance = np.exp(POWERS[:, None, None] * odds)  # (powers, w, intents)
    sets = np.zeros((*chance.shape[:2], odds.shape[1] + 1))
    sets[..., 0] = 1.0  # sums over all sets of k of the first intents
    for place in range(odds.shape[1]):
        sets[..., 1:] += chance[..., place, None] * sets[..., :-1]
    number = ticked.sum(axis=1)
    chosen = (odds * ticked).sum(axis=1)
    return np.asarray((POWERS[:, None] * chosen - np.log(sets[:, np.arange(len(number)), number])).T)
