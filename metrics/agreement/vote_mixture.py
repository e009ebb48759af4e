"""How strong preferences are over the pairs of a study: a mixture of vote probabilities, fitted without a shape.

Each pair has a probability that a vote is a tie, and one that a vote that is none goes to the side that more people
prefer. Over pairs these two follow any distribution at all on a grid (the nonparametric maximum-likelihood mixture of
Kiefer and Wolfowitz 1956, by EM), so that studies in which everything is close and studies in which nothing is are
served alike. Which side is preferred carries no name: both ways are equally likely.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

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
