"""Two random halves of a pair's votes: how well they agree, on average over all ways to split them."""

from functools import lru_cache

import numpy as np
from scipy.special import gammaln

from metrics.arrays import Floats, Ints

FAR = 9.0
"""Standard deviations beyond which a half has so many votes with a probability below rounding errors."""


def halves_agreement(patterns: Ints) -> Floats:
    """Return how well two halves of the votes agree, for pairs of each pattern.

    A half has a hypergeometric number of the votes of each sort. Of an odd number of votes a random one is left out.

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
    return np.array([_agreement(row) for row in patterns.tolist()], dtype=np.float64).reshape(-1, 2)


def _agreement(pattern: list[int]) -> Floats:
    if sum(pattern) % 2 == 0:
        return _of_even(*pattern)
    without_one = np.array(pattern) - np.eye(3, dtype=int)
    likely = np.array(pattern) / sum(pattern)
    return np.asarray(
        np.sum(
            [
                share * _of_even(*rest)
                for share, rest in zip(likely, without_one.tolist(), strict=True)
                if share
            ],
            axis=0,
        )
    )


@lru_cache(maxsize=2**16)
def _of_even(first: int, second: int, ties: int) -> Floats:
    """Return both numbers for an even number of votes; the margins of the halves add up to that of the whole."""
    votes = first + second + ties
    half = votes // 2
    a, b = _likely_counts(first, half)[:, None], _likely_counts(second, half)
    c = half - a - b
    possible = (c >= 0) & (c <= ties)
    log = _log_ways(first, a) + _log_ways(second, b) + _log_ways(ties, np.where(possible, c, 0))
    chance = np.where(possible, np.exp(log - _log_ways(votes, half)), 0.0)
    one, other = a - b, (first - second) - (a - b)
    together = (chance * np.sign(one) * np.sign(other)).sum()
    share = (chance * np.sign(one) * other).sum() / half
    return np.array([0.5 + together / 2, 0.5 + share / 2])


def _likely_counts(votes: int, half: int) -> Ints:
    """Return the numbers of these votes that may be in one half."""
    reach = FAR * (np.sqrt(votes) / 2 + 1)
    return np.arange(max(0, int(votes / 2 - reach)), min(votes, half, int(votes / 2 + reach) + 1) + 1)


def _log_ways(votes: int, taken: Ints | int) -> Floats:
    return np.asarray(gammaln(votes + 1) - gammaln(taken + 1) - gammaln(votes - np.asarray(taken) + 1))
