"""What tick rates come from: the Beta distribution of all intents, and voters who tick at random.

Who ticks at random: a class of voters whose ticks have nothing to do with what the others ticked.

How many intents somebody ticked on a ballot is taken as given, so that nobody is careless for ticking many or few; the question is
which ones. With o_i the odds that the other voters of the topic give to intent i, a voter who follows them with power g ticks the set
T of k intents with probability

    prod_{i in T} o_i^g / sum of the same over all sets of k intents        (conditional logit, McFadden 1974)

and one who ticks by lot has g = 0: all sets of k are as likely.

Who ticks every intent, ballot after ballot, follows any odds as well as none; whether there are more of them than the rates explain is a
question of its own.

Where nothing speaks clearly for such voters there may be some all the same, the more the fewer topics people vote on: of a single ballot
nobody can say who filled it in. The intervals then hold also what the probabilities are if as many tick by lot as the votes leave open.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from scipy.special import betaln, pdtrc

from calibration.inference.people import POWERS, CarelessClass, share_left_open, who_follows_nobody
from metrics.arrays import Bools, Floats, Places

FEWEST_INTENTS = 8
"""Below this many intents in all, a and b cannot be told and are 1."""
_MEANS = np.linspace(0.01, 0.99, 50)
_CONCENTRATIONS = np.geomspace(0.1, 1000.0, 60)


@dataclass(frozen=True, slots=True, kw_only=True)
class BetaPrior:
    """What is known of the Beta distribution of tick rates: values of (a, b) with weights that add up to 1.

    Attributes
    ----------
    a, b, weight : (m,) ndarray of float
    """

    a: Floats
    b: Floats
    weight: Floats

    @property
    def mean_rate(self) -> float:
        """The average of a / (a + b)."""
        return float(self.weight @ (self.a / (self.a + self.b)))

    @property
    def concentration(self) -> float:
        """The average of a + b, on the log scale."""
        return float(np.exp(self.weight @ np.log(self.a + self.b)))

    @property
    def typical(self) -> tuple[float, float]:
        """The (a, b) of the mean rate and the concentration."""
        return self.mean_rate * self.concentration, (1 - self.mean_rate) * self.concentration

    def mean_rates(self, n: Floats, voters: Floats) -> Floats:
        """Return E(q_i | n_i) = E((n_i + a) / (W_i + a + b)): (k,) and (k,) -> (k,)."""
        return ((n[:, None] + self.a) / (voters[:, None] + self.a + self.b)) @ self.weight

    def rate_draws(self, n: Floats, voters: Floats, draws: int, rng: np.random.Generator) -> Floats:
        """Draw (a, b), and with it q_i ~ Beta(n_i + a, W_i - n_i + b): (k,) and (k,) -> (draws, k)."""
        drawn = rng.choice(len(self.weight), size=draws, p=self.weight)
        return rng.beta(n + self.a[drawn, None], voters - n + self.b[drawn, None])


FLAT = BetaPrior(a=np.ones(1), b=np.ones(1), weight=np.ones(1))


def beta_posterior(n: Floats, voters: Floats) -> BetaPrior:
    """Return the posterior of (a, b) given votes, on a grid of mean m = a / (a + b) and concentration s = a + b.

    p(m, s | n) ~ (1 + s)^-2 prod_i B(n_i + a, W_i - n_i + b) / B(a, b)

    The prior is flat in m and in 1 / (1 + s), how far one vote moves a rate from m.

    Parameters
    ----------
    n, voters : (k,) ndarray of float
        n_i and W_i.
    """
    return next(beta_posteriors([n], voters))


def beta_posteriors(studies: Iterable[Floats], voters: Floats) -> Iterator[BetaPrior]:
    """Yield the `beta_posterior` of each of several collections of votes by as many voters.

    What n ticks of W voters say of the grid is worked out once, for all collections in which they come.

    Parameters
    ----------
    studies : iterable of (k,) ndarray of float
        n_i of each collection.
    voters : (k,) ndarray of float
        W_i.
    """
    mean, concentration = (axis.ravel() for axis in np.meshgrid(_MEANS, _CONCENTRATIONS))
    a, b = mean * concentration, (1 - mean) * concentration
    before, alone = -2 * np.log1p(concentration), betaln(a, b)
    spacing = np.log(concentration)  # the grid is even on the log scale
    told: dict[tuple[float, float], Floats] = {}
    for n in studies:
        different, times = np.unique(np.stack([n, voters], axis=1), axis=0, return_counts=True)
        pairs = [(ticked, asked) for ticked, asked in different.tolist()]
        told |= {
            (ticked, asked): betaln(ticked + a, asked - ticked + b) - alone
            for ticked, asked in pairs
            if (ticked, asked) not in told
        }
        loglik = times @ np.stack([told[pair] for pair in pairs])
        weight = np.exp(loglik + before + spacing - loglik.max())
        yield BetaPrior(a=a, b=b, weight=weight / weight.sum())


def rates_prior(n: Floats, voters: Floats) -> BetaPrior:
    """Return `beta_posterior`, or the flat prior where intents are too few to tell a and b."""
    return beta_posterior(n, voters) if len(n) >= FEWEST_INTENTS else FLAT


Ballots: TypeAlias = Sequence[tuple[Places, Bools]]
"""Of each topic the voters, (w,), and what each of them ticked, (w, intents)."""
LEFT_OPEN = 1.92
"""Log-likelihood lost at the largest share of such voters that the votes leave open: half of the chi-squared that chance exceeds in one of twenty."""


MORE_THAN_CHANCE = 0.01
"""A p-value below it shows that some tick everything, and not only often."""
FEW_OF_ALL = 0.05
"""Share of the voters up to which those who tick everything hardly move a probability, and may only care for much."""


class RandomTickers(NamedTuple):
    """Who ticks at random.

    Attributes
    ----------
    voters : Index of str
        In the order of the posteriors.
    kind : CarelessClass or None
        The class; None where nothing speaks clearly for it.
    left_open : float
        The largest share of ticks by such voters that the votes leave open.
    everything : (w,) ndarray of bool
        Who ticks every intent of most topics, where they are more than the rates explain; else nobody.
    """

    voters: "pd.Index[str]"
    kind: CarelessClass | None
    left_open: float
    everything: Bools


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
    ticks = np.zeros(len(voters))
    for who, ticked in ballots:
        ticks[who] += ticked.sum(axis=1)
    left_open = share_left_open(logliks(np.ones(len(voters))), ticks, LEFT_OPEN)
    return RandomTickers(voters, kind, left_open, _ticks_everything(ballots, len(voters), prior))


def _ticks_everything(ballots: Ballots, voters: int, prior: tuple[float, float]) -> Bools:
    """Return who ticked every intent on more than half of their ballots, (w,), if chance seldom makes as many; else nobody."""
    a, b = prior
    full, asked, expected = np.zeros(voters), np.zeros(voters), np.zeros(voters)
    for who, ticked in ballots:
        rates = (ticked.sum(axis=0) + a) / (len(who) + a + b)
        full[who] += ticked.all(axis=1)
        asked[who] += 1
        expected[who] += rates.prod()
    those = full > asked / 2
    by_chance = float(pdtrc(np.floor(asked / 2), expected).sum())
    many = those.mean() > FEW_OF_ALL and pdtrc(those.sum() - 1, by_chance) < MORE_THAN_CHANCE
    return those & bool(many)


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


def mid_probabilities(n: Floats, voters: Floats, a: float, b: float) -> Floats:
    """Return P(N < n) + P(N = n) / 2 under the beta-binomial of each number of voters, (i,)."""
    middle = np.empty(len(n))
    for count in np.unique(voters):
        k = np.arange(count + 1)
        ways = -np.log(count + 1) - betaln(count - k + 1, k + 1)
        share = np.exp(ways + betaln(k + a, count - k + b) - betaln(a, b))
        here = voters == count
        middle[here] = (np.cumsum(share) - share / 2)[n[here].astype(np.intp)]
    return middle


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
