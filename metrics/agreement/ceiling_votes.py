"""Agreement of halves of the votes, and the mixture of vote probabilities.

How well two random halves of a pair's votes agree is a mean over all ways to split them. A half has a hypergeometric number of the votes of each sort: a, b and c of F votes for one side, S for the other and T ties, with
a + b + c = H, half of all votes N, in

    C(F, a) C(S, b) C(T, c) / C(N, H)

of all ways. Whose majority a half has depends on a - b alone. So what pairs with the same F and S have in common is summed by
a + b once, and meets the ties of each.

How strong preferences are over pairs is a mixture of vote probabilities, fitted without a shape. Each pair has a probability that a vote is a tie, and one that a vote that is none goes to the side that more people prefer.
Over pairs these two follow any distribution at all on a grid (the nonparametric maximum-likelihood mixture of Kiefer and
Wolfowitz 1956, by EM), so that studies in which everything is close and studies in which nothing is are served alike. Which
side is preferred carries no name: both ways are equally likely.

EM takes a fixed number of steps from a fixed start. So the weights are a smooth function of the votes, as a jackknife needs, and
no kind of pair is ruled out for good. Votes hardly tell pairs that are truly equal from pairs that are nearly so: where both
are possible, the start decides, and two starts show how much hangs on it.
"""

from collections.abc import Iterator
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from scipy.special import bdtr, bdtrc, gammaln, xlogy

from metrics.arrays import Floats, Ints

FAR = 9.0
"""Standard deviations beyond which a half's count of votes has no weight.

Its probability is below rounding errors.
"""


def halves_agreement(patterns: Ints) -> Floats:
    """Return the agreement of two halves of the votes, for pairs of each pattern.

    A random vote is left out of an odd number.

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
    """Return both agreements for even numbers of votes, (p, 2), a row per pattern."""
    starts = np.flatnonzero(np.diff(patterns[:, :2], axis=0).any(axis=1)) + 1
    parts = [
        _of_couple(int(part[0, 0]), int(part[0, 1]), part[:, 2])
        for part in np.split(patterns, starts)
        if len(part)
    ]
    return np.concatenate([np.empty((0, 2)), *parts])


def _of_couple(first: int, second: int, ties: Ints) -> Floats:
    """Return both agreements for pairs with these votes and each number of ties.

    The margins of the halves add up to the whole's.
    """
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
    """Return the counts of these votes that one half may have."""
    reach = FAR * (np.sqrt(votes) / 2 + 1)
    return np.arange(max(0, int(votes / 2 - reach)), min(votes, half, int(votes / 2 + reach) + 1) + 1)


def _ways(votes: Ints | int, taken: Ints) -> Floats:
    """Return the share of ways that take each number of votes, among all ways."""
    votes = np.asarray(votes)
    return np.asarray(np.exp(_log_ways(votes, taken) - votes * np.log(2)))


def _log_ways(votes: Ints | int, taken: Ints) -> Floats:
    """Return the log number of ways to take each number of votes."""
    votes = np.asarray(votes)
    return np.asarray(gammaln(votes + 1) - gammaln(taken + 1) - gammaln(votes - taken + 1))


FIRST_SIDE_SHARES = np.linspace(0.5, 1.0, 26)
TIE_RATES = np.array([0.0, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 1.0])
LEAD = np.outer(2 * FIRST_SIDE_SHARES - 1, 1 - TIE_RATES).ravel() / 2
"""Expected vote share of the preferred side less one half, by kind of pair.

A kind is a share of votes for the preferred side, and a rate of ties.
"""
STEPS = 200
SIFTED_AT = MappingProxyType({2: 1e-20, 4: 1e-20, 8: 1e-20, 16: 1e-20, 25: 1e-6, 75: 1e-6})
"""EM steps after which kinds below a frequency are dropped, with that frequency.

Most kinds are dropped: EM never brings rare ones back. The first steps drop those that add nothing to the probability of any pattern
but what rounding takes off again.
"""
MIN_EXPECTED_SHARE = 1e-300
"""Added to expected shares, which are 0 for a pattern that a sample lacks."""
BLOCK = 512
"""Number of patterns computed together."""
RARE, MANY = 3, 8 * BLOCK
"""Samples that share a rare pattern, at most; patterns from which it matters."""


def every_kind_alike() -> Floats:
    """Return a start in which every kind is as frequent, (kinds,)."""
    return np.full(LEAD.size, 1 / LEAD.size)


def half_of_side(share: float) -> Floats:
    """Return a start with one preferred vote share in half of the pairs, (kinds,).

    The share of the votes that are no ties is one of `FIRST_SIDE_SHARES`.
    """
    of_side = np.where(share == FIRST_SIDE_SHARES, 0.5, 0.5 / (FIRST_SIDE_SHARES.size - 1))
    return np.repeat(of_side, TIE_RATES.size) / TIE_RATES.size


def fit_vote_mixtures(patterns: Ints, times: Floats, start: Floats) -> Floats:
    """Fit the mixture to the votes of one or more samples of pairs.

    Parameters
    ----------
    patterns : (p, 3) ndarray of int
        Votes for either side, and ties; at least one vote a pattern.
    times : (samples, p) ndarray of float
        Number of pairs of each pattern in each sample.
    start : (kinds,) or (samples, kinds) ndarray of float
        Where EM begins.

    Returns
    -------
    (samples, kinds) ndarray of float
        Share of pairs of each kind; 0 for a sample without pairs.
    """
    kept = np.arange(LEAD.size)
    weight = np.broadcast_to(start, (len(times), LEAD.size)).copy()
    blocks = list(_blocks(patterns, times / np.maximum(times.sum(axis=1, keepdims=True), 1)))
    likelihoods: list[Floats] = []  # of all kinds they would fill the memory
    for step in range(STEPS):
        if step in SIFTED_AT:
            frequent = weight.max(axis=0) >= SIFTED_AT[step]
            weight, kept = weight[:, frequent], kept[frequent]
            likelihoods.clear()
            likelihoods.extend(block.likelihood(kept) for block in blocks)
        rise = np.zeros_like(weight)
        of_blocks = likelihoods or (block.likelihood(kept) for block in blocks)
        for block, likelihood in zip(blocks, of_blocks, strict=True):
            expected = weight[block.rows] @ likelihood.T
            expected += MIN_EXPECTED_SHARE
            rise[block.rows] += np.divide(block.shares, expected, out=expected) @ likelihood
        weight *= rise
    shares = np.zeros((len(times), LEAD.size))
    shares[:, kept] = weight
    return shares


class _VoteBlock(NamedTuple):
    """Patterns that the same samples have, with their shares and likelihood factors.

    The factors are the probability of their sides, (p, sides), and that of their ties, (p, ties).
    """

    rows: Ints
    shares: Floats
    of_side: Floats
    of_tie: Floats

    def likelihood(self, kinds: Ints) -> Floats:
        """Return the probability of each pattern under some kinds, (p, kinds).

        Each pattern's probabilities are scaled so that the largest over all kinds is 1.
        """
        return np.asarray(self.of_side[:, kinds // TIE_RATES.size] * self.of_tie[:, kinds % TIE_RATES.size])


def _blocks(patterns: Ints, shares: Floats) -> Iterator[_VoteBlock]:
    """Cut the patterns into blocks that fit the processor's cache.

    Rare patterns are grouped by the samples that have them: nearly all other samples have none.
    """
    has = shares > 0
    is_rare = has.sum(axis=0) <= (RARE if len(patterns) > MANY else 0)
    rare = [(np.array([row]), np.flatnonzero(own)) for row, own in enumerate(has & is_rare)]
    common = np.flatnonzero(~is_rare)
    order = common[np.lexsort(has[::-1, common])]
    parts = [order[first : first + BLOCK] for first in range(0, len(order), BLOCK)]
    for rows, some in [*rare, *((np.flatnonzero(has[:, part].any(axis=1)), part) for part in parts)]:
        if some.size:
            yield _VoteBlock(rows, shares[np.ix_(rows, some)], *_factors(patterns[some]))


def _factors(patterns: Ints) -> tuple[Floats, Floats]:
    """Return each pattern's probabilities by side and by tie rate.

    The arrays are (p, sides) and (p, ties); each pattern's largest entry is 1.
    """
    first, second, ties = (column[:, None] for column in patterns.T)
    of_side = np.logaddexp(
        xlogy(first, FIRST_SIDE_SHARES) + xlogy(second, 1 - FIRST_SIDE_SHARES),
        xlogy(second, FIRST_SIDE_SHARES) + xlogy(first, 1 - FIRST_SIDE_SHARES),
    )
    of_tie = xlogy(ties, TIE_RATES) + xlogy(first + second, 1 - TIE_RATES)
    factors = [np.exp(log - log.max(axis=1, keepdims=True)) for log in (of_side, of_tie)]
    return factors[0], factors[1]


def majority(votes: int) -> tuple[Floats, Floats]:
    """Return the expected majorities of a number of votes in pairs of each kind.

    Returns
    -------
    sign : (kinds,) ndarray of float
        Its expected sign: 1 if it is always the preferred side's, 0 if either's as often.
    even : (kinds,) ndarray of float
        Probability that there is none.
    """
    ties = np.arange(votes + 1)
    untied = votes - ties
    log = (
        _log_ways(votes, ties)[:, None]
        + xlogy(ties[:, None], TIE_RATES)
        + xlogy(untied[:, None], 1 - TIE_RATES)
    )
    how_often = np.asarray(np.exp(log), dtype=np.float64)
    ahead = bdtrc(untied // 2, untied, FIRST_SIDE_SHARES[:, None])
    below_half = (untied + 1) // 2 - 1
    behind = np.where(
        below_half >= 0, bdtr(np.maximum(below_half, 0), untied, FIRST_SIDE_SHARES[:, None]), 0.0
    )
    return ((ahead - behind) @ how_often).ravel(), ((1 - ahead - behind) @ how_often).ravel()
