"""Two random halves of a pair's votes: how well they agree, on average over all ways to split them.

A half has a hypergeometric number of the votes of each sort: a, b and c of F votes for one side, S for the other and T ties, with
a + b + c = H, half of all votes N, in

    C(F, a) C(S, b) C(T, c) / C(N, H)

of all ways. Whose majority a half has depends on a - b alone. So what pairs with the same F and S have in common is summed by
a + b once, and meets the ties of each.
"""

import numpy as np
from scipy.special import gammaln

from metrics.arrays import Floats, Ints

FAR = 9.0
"""Standard deviations beyond which a half has so many votes with a probability below rounding errors."""


def halves_agreement(patterns: Ints) -> Floats:
    """Return how well two halves of the votes agree, for pairs of each pattern.

    Of an odd number of votes a random one is left out.

    Parameters
    ----------
    patterns : (p, 3) ndarray of int
        Votes for either side, and ties; two or more a pattern.

    Returns
    -------
    (p, 2) ndarray of float
        Probability that the majorities of both halves are the same, a tie counting half; expected share of the votes of one
        half for the majority of the other.
    """
    patterns = np.reshape(patterns, (-1, 3))
    votes = patterns.sum(axis=1, keepdims=True)
    chance = np.where(votes % 2, patterns / votes, [1.0, 0.0, 0.0])  # to leave out a vote of each sort
    less = patterns[:, None, :] - (votes % 2)[:, :, None] * np.eye(3, dtype=np.intp)
    even, which = np.unique(less[chance > 0], axis=0, return_inverse=True)
    agreement = np.zeros((*chance.shape, 2))
    agreement[chance > 0] = _of_even(even)[which.ravel()]
    return np.asarray((chance[:, :, None] * agreement).sum(axis=1))


def _of_even(patterns: Ints) -> Floats:
    """Return both numbers for even numbers of votes, (p, 2); patterns in the order of their columns."""
    starts = np.flatnonzero(np.diff(patterns[:, :2], axis=0).any(axis=1)) + 1
    parts = [
        _of_couple(int(part[0, 0]), int(part[0, 1]), part[:, 2])
        for part in np.split(patterns, starts)
        if len(part)
    ]
    return np.concatenate([np.empty((0, 2)), *parts])


def _of_couple(first: int, second: int, ties: Ints) -> Floats:
    """Return both numbers for pairs with these votes and each number of ties; the margins of the halves add up to the whole's."""
    votes = first + second + ties
    half = votes // 2
    a, b = (_likely_counts(of_side, int(half.max())) for of_side in (first, second))
    one = a[:, None] - b
    other = (first - second) - one
    ways = _ways(first, a)[:, None] * _ways(second, b)
    untied = (a[:, None] + b).ravel()
    sums = [np.bincount(untied, (ways * np.sign(one) * what).ravel()) for what in (np.sign(other), other)]
    c = half[:, None] - np.arange(len(sums[0]))
    possible = (c >= 0) & (c <= ties[:, None])
    of_ties = np.where(possible, _ways(ties[:, None], np.where(possible, c, 0)), 0.0)
    together, share = (of_ties @ np.transpose(sums) / _ways(votes, half)[:, None]).T
    return np.stack([0.5 + together / 2, 0.5 + share / half / 2], axis=1)


def _likely_counts(votes: int, half: int) -> Ints:
    """Return the numbers of these votes that may be in one half."""
    reach = FAR * (np.sqrt(votes) / 2 + 1)
    return np.arange(max(0, int(votes / 2 - reach)), min(votes, half, int(votes / 2 + reach) + 1) + 1)


def _ways(votes: Ints | int, taken: Ints) -> Floats:
    """Return in how many ways so many votes are taken, as a share of all ways to take any number of them."""
    votes = np.asarray(votes)
    log = gammaln(votes + 1) - gammaln(taken + 1) - gammaln(votes - taken + 1)
    return np.asarray(np.exp(log - votes * np.log(2)))
