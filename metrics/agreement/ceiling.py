"""The ceiling of agreement: how well the people agree with each other.

Votes are noisy, so no metric agrees with all of them. The votes of a pair are split at random into two halves, and
it is counted how often the majorities of both halves fall on the same system. Halves are noisier than the whole, so
to this count is added what a model of the votes says that the full size gains.

How strong preferences are over the pairs is a mixture of vote probabilities, fitted without a shape. Each pair has a
probability that a vote is a tie, and one that a vote that is none goes to the side that more people prefer. Over pairs
these two follow any distribution at all on a grid (the nonparametric maximum-likelihood mixture of Kiefer and Wolfowitz
1956, by EM), so that studies in which everything is close and studies in which nothing is are served alike. Which side is
preferred carries no name: both ways are equally likely.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, xlogy

from metrics.agreement.agreement import Ties
from metrics.agreement.query_mean import QueryMean, mean_by_query, read_only
from metrics.arrays import Floats, Ints, Places

SIDES = np.linspace(0.5, 1.0, 26)
TIES = np.array([0.0, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 1.0])
MAX_STEPS = 500
TOLERANCE = 1e-6
"""EM ends when a step gains less log-likelihood a pair."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VoteMixture:
    """Kinds of pairs and their shares.

    Attributes
    ----------
    preferred, other, tie : (k,) ndarray of float
        Probability of a vote for the side that more people prefer, for the other, for neither.
    weight : (k,) ndarray of float
        Share of pairs of each kind; they add up to 1.
    """

    preferred: Floats
    other: Floats
    tie: Floats
    weight: Floats

    @property
    def lead(self) -> Floats:
        """Expected vote share of the preferred side less one half, (k,)."""
        return (self.preferred - self.other) / 2

    def majority(self, votes: int) -> Floats:
        """Return the expected sign of the majority of so many votes, (k,): 1 if always the preferred side's, 0 if even."""
        margin = np.zeros((self.tie.size, 2 * votes + 1))
        margin[:, votes] = 1.0
        for _ in range(votes):
            step = self.tie[:, None] * margin
            step[:, 1:] += self.preferred[:, None] * margin[:, :-1]
            step[:, :-1] += self.other[:, None] * margin[:, 1:]
            margin = step
        ahead, behind = margin[:, votes + 1 :].sum(axis=1), margin[:, :votes].sum(axis=1)
        return np.asarray(ahead - behind, dtype=np.float64)


def fit_vote_mixture(counts: Ints) -> VoteMixture:
    """Fit the mixture to the votes of pairs.

    Parameters
    ----------
    counts : (pairs, 3) ndarray of int
        Votes for either side, and ties; at least one vote a pair.
    """
    patterns, times = np.unique(counts, axis=0, return_counts=True)
    side, tie = (grid.ravel() for grid in np.meshgrid(SIDES, TIES))
    preferred, other = side * (1 - tie), (1 - side) * (1 - tie)
    likelihood = _likelihood(patterns, preferred, other, tie)
    weight, before = np.full(side.size, 1 / side.size), -np.inf
    for _ in range(MAX_STEPS):
        joint = likelihood * weight
        total = joint.sum(axis=1)
        weight = times @ (joint / total[:, None]) / times.sum()
        loglik = float(times @ np.log(total)) / times.sum()
        if loglik - before < TOLERANCE:
            break
        before = loglik
    return VoteMixture(preferred=preferred, other=other, tie=tie, weight=weight)


def _likelihood(patterns: Ints, preferred: Floats, other: Floats, tie: Floats) -> Floats:
    """Return the probability of each pattern of votes under each kind, either side being the preferred one."""
    first, second, ties = (column[:, None] for column in patterns.T)
    ways = gammaln(patterns.sum(axis=1) + 1) - gammaln(patterns + 1).sum(axis=1)
    of_ties = ways[:, None] + xlogy(ties, tie)
    one = np.exp(of_ties + xlogy(first, preferred) + xlogy(second, other))
    return np.asarray((one + np.exp(of_ties + xlogy(second, preferred) + xlogy(first, other))) / 2)


Rows = Places


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """What full size adds to the agreement of halves.

    Attributes
    ----------
    majority : float
        To the agreement of majorities, a tie counting half.
    weighted : float
        To the mean share of votes for the other half's choice.
    """

    majority: float
    weighted: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """Agreement of people with people, from split halves.

    Attributes
    ----------
    halves : QueryMean
        Agreement of the majorities of two halves, a tie counting half.
    halves_weighted : QueryMean
        Mean share of the votes of one half for the majority of the other.
    to_panel : Gain
        What is added for a second panel of full size against the whole of this one.
    to_perfect : Gain
        What is added for a metric that knows which side more people prefer.
    tied : float
        Share of pairs whose vote at full size is a tie.
    most_weighted : float
        Mean share of votes for the side that more people chose: no choice gets more of these votes.
    pairs : int
        Pairs with at least two votes.
    """

    halves: QueryMean
    halves_weighted: QueryMean
    to_panel: Gain
    to_perfect: Gain
    tied: float
    most_weighted: float
    pairs: int

    def panel(self, ties: Ties = "against") -> float:
        """Agreement with these votes to expect from a second panel of the same size, its ties broken at random."""
        return self._with(self.to_panel, self._measured(ties).value, ties)

    def perfect(self, ties: Ties = "against") -> float:
        """Agreement with these votes to expect from a metric that knew what most people prefer."""
        return self._with(self.to_perfect, self._measured(ties).value, ties)

    def panel_interval(self, ties: Ties = "against", level: float = 0.95) -> tuple[float, float]:
        """Query t interval of `panel`: that of the halves, with the same gain added at both ends."""
        low, high = self._measured(ties).confidence_interval(level)
        return self._with(self.to_panel, low, ties), self._with(self.to_panel, high, ties)

    def perfect_interval(self, ties: Ties = "against", level: float = 0.95) -> tuple[float, float]:
        """Query t interval of `perfect`, as `panel_interval`."""
        low, high = self._measured(ties).confidence_interval(level)
        return self._with(self.to_perfect, low, ties), self._with(self.to_perfect, high, ties)

    def _measured(self, ties: Ties) -> QueryMean:
        return self.halves_weighted if ties == "weighted" else self.halves

    def _with(self, gain: Gain, halves: float, ties: Ties) -> float:
        """Add a gain to the agreement of halves, and go over to the convention for ties."""
        if math.isnan(halves):
            return math.nan
        if ties == "weighted":
            return min(self.most_weighted, halves + gain.weighted)
        untied = 1 - self.tied
        agreeing = min(max(0.0, halves + gain.majority - self.tied / 2), untied)
        return {
            "half": agreeing + self.tied / 2,
            "against": agreeing,
            "drop": agreeing / untied if untied else math.nan,
        }[ties]


def ceiling(
    votes: ArrayLike, pair: ArrayLike, query: ArrayLike, *, splits: int = 200, rng: np.random.Generator
) -> Ceiling:
    """Split the votes of every pair into random halves and compare their majorities.

    Parameters
    ----------
    votes : (judgments,) array_like of float
        1 for a vote for R, 0 for R', 0.5 for an equal one.
    pair : (judgments,) array_like of int or str
        The pair of each vote; pairs with a single vote do not count.
    query : (judgments,) array_like of str
        The query of each vote.
    splits : int
        Random splits to average over. With an odd number of votes a random one is left out of each split.
    rng : Generator
        Source of the splits.

    Returns
    -------
    Ceiling
        Every number in it is NaN when no pair has two votes.

    Raises
    ------
    ValueError
        If the lengths differ or a vote is something else.
    """
    votes = np.asarray(votes, dtype=np.float64)
    if not np.isin(votes, (0.0, 0.5, 1.0)).all():
        raise ValueError("votes must be 0, 0.5 or 1")
    names, first, codes = np.unique(np.asarray(pair), return_index=True, return_inverse=True)
    if not votes.shape == codes.shape == np.shape(query):
        raise ValueError("votes, pair and query must be vectors of one length")
    sizes = np.bincount(codes, minlength=names.size)
    agree, weighted = _mean_over_splits(votes, codes, sizes, splits, rng)
    query_of_pair = np.asarray(query, dtype=np.str_)[first]
    counted = sizes >= 2
    shares = np.bincount(codes, votes, minlength=names.size) / sizes
    to_panel, to_perfect = _gains(votes, codes, sizes)
    return Ceiling(
        halves=mean_by_query(np.where(counted, agree, np.nan), query_of_pair),
        halves_weighted=mean_by_query(np.where(counted, weighted, np.nan), query_of_pair),
        to_panel=to_panel,
        to_perfect=to_perfect,
        tied=float((shares == 0.5).mean()) if shares.size else math.nan,
        most_weighted=float((0.5 + np.abs(shares - 0.5)).mean()) if shares.size else math.nan,
        pairs=int(counted.sum()),
    )


def _gains(votes: Floats, codes: Rows, sizes: Rows) -> tuple[Gain, Gain]:
    """Return what a second panel of full size, and a perfect metric, have over a half, by the fitted mixture."""
    counted = sizes >= 2
    if not counted.any():
        unknown = Gain(majority=math.nan, weighted=math.nan)
        return unknown, unknown
    counts = [np.bincount(codes[votes == worth], minlength=sizes.size) for worth in (1.0, 0.0, 0.5)]
    mixture = fit_vote_mixture(np.stack(counts, axis=1))
    found, times = np.unique(sizes[counted], return_counts=True)
    expected = np.average([_expected(mixture, int(size)) for size in found], axis=0, weights=times)
    gains = expected[1:] - expected[0]
    panel, perfect = (Gain(majority=float(row[0]), weighted=float(row[1])) for row in gains)
    return panel, perfect


def _expected(mixture: VoteMixture, size: int) -> Floats:
    """Return the agreement to expect with pairs of ``size`` votes under a mixture.

    Returns
    -------
    (3, 2) ndarray of float
        Rows: half against half, a second panel against the whole, a perfect metric against the whole. Columns: of
        majorities, a tie counting half; mean share of votes for the choice.
    """
    half, whole = mixture.majority(size // 2), mixture.majority(size)
    perfect = np.ones_like(whole)
    choice, target = np.stack([half, whole, perfect]), np.stack([half, whole, whole])
    majority = 0.5 + choice * target @ mixture.weight / 2
    weighted = 0.5 + choice * mixture.lead @ mixture.weight
    return np.stack([majority, weighted], axis=1)


def _mean_over_splits(
    votes: Floats, codes: Rows, sizes: Rows, splits: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return for each pair, over random splits, how often halves agree, and how many votes a majority gets."""
    start = np.cumsum(sizes) - sizes
    half = sizes // 2
    agree, weighted = np.zeros(sizes.size), np.zeros(sizes.size)
    for _ in range(splits):
        order = np.lexsort((rng.random(codes.size), codes))
        in_order = codes[order]
        place = np.arange(codes.size) - start[in_order]
        margins = [
            np.bincount(in_order[part], votes[order][part] - 0.5, minlength=sizes.size)
            for part in (place < half[in_order], (place >= half[in_order]) & (place < 2 * half[in_order]))
        ]
        one, other = np.sign(margins[0]), np.sign(margins[1])
        agree += 0.5 + 0.5 * one * other
        weighted += 0.5 + (one * margins[1] + other * margins[0]) / (2 * np.maximum(half, 1))
    return read_only(agree / splits), read_only(weighted / splits)
