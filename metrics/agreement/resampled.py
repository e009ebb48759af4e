"""Correlation coefficients of many resampled pairs of scorings at once.

The coefficients are those of `metrics.agreement.correlation`, computed for every row of two (rows, systems) arrays. What each
needs is how many systems stand above a system in both rankings; that is counted in O(n sqrt(n)) a row, block by block of the
systems in their order, and takes memory of the order of the rows times the systems.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from metrics.agreement.correlation import harmonic
from metrics.arrays import Bools, Floats, Ints

CELLS = 4_000_000
"""Largest number of cells of an array made at once."""


def resampled_sums(scores: Floats, counts: Floats) -> Floats:
    """Return each system's summed scores over resampled topics, less a constant.

    The constant is the sum of the topics' means in that resample.

    Systems whose sums differ by no more than the noise of arithmetic are equal: a tie must not depend on the order of a sum.

    Parameters
    ----------
    scores : (systems, topics) ndarray of float
        By one measure.
    counts : (resamples, topics) ndarray of float
        How often each topic was drawn.

    Returns
    -------
    (resamples, systems) ndarray of float
    """
    apart = scores - scores.mean(axis=0)
    sums = counts @ apart.T
    noise = 4 * np.finfo(np.float64).eps * math.sqrt(scores.shape[1]) * float(np.abs(sums).max(initial=0))
    return np.asarray(np.round(sums / noise) * noise if noise else sums)


def draws(topics: int, resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield blocks of topic counts until all resamples are drawn, (block, topics)."""
    at_once = max(1, CELLS // topics)
    chances = np.full(topics, 1 / topics)
    for start in range(0, resamples, at_once):
        size = min(at_once, resamples - start)
        yield rng.multinomial(topics, chances, size=size).astype(np.float64)


def row_ranks(values: Floats) -> Ints:
    """Rank each row from 0, smallest value first, ties on one rank without gaps."""
    order = np.argsort(values, axis=1, kind="stable")
    placed = np.take_along_axis(values, order, axis=1)
    steps = np.zeros(values.shape, dtype=np.int64)
    np.cumsum(placed[:, 1:] > placed[:, :-1], axis=1, out=steps[:, 1:])
    ranks = np.empty_like(steps)
    np.put_along_axis(ranks, order, steps, axis=1)
    return ranks


class RankedRows(NamedTuple):
    """Rows of scores, (rows, systems), and their ranks."""

    scores: Floats
    ranks: Ints

    @classmethod
    def of(cls, scores: Floats) -> "RankedRows":
        """Rank each row."""
        return cls(scores, row_ranks(scores))


def row_coefficients(x: RankedRows, y: RankedRows) -> dict[str, Floats]:
    """Return every coefficient of two scorings, row by row.

    The coefficients are those of `metrics.agreement.correlation.COEFFICIENTS`.

    Parameters
    ----------
    x, y : RankedRows
        Of as many rows and systems; ``x`` is the reference of tau-AP.

    Returns
    -------
    dict of str to (rows,) ndarray of float
        NaN where one is undefined.
    """
    by_y, by_x = _Walk(y.ranks, x.ranks), _Walk(x.ranks, y.ranks)
    return {
        "tau-b": _tau_b(by_x, by_y),
        "tau-AP": by_y.tau_ap(),
        "tau-AP-sym": (by_y.half() + by_x.half()) / 2,
        "pearson": _pearson(x.scores, y.scores),
    }


def row_tau_b(x: RankedRows, y: RankedRows) -> Floats:
    """Return tau-b for each row of two scorings; NaN where it is undefined."""
    return _tau_b(_Walk(x.ranks, y.ranks), _Walk(y.ranks, x.ranks))


class _Walk:
    """Rows of systems in the order of a ranking under test.

    Among equal systems, the worst by the reference comes first.

    Attributes
    ----------
    start, end : (rows, systems) ndarray of int
        Where the group of equal systems begins that a system is of, and where the next one begins: so many stand above it, or beside.
    agreeing : (rows, systems) ndarray of int
        How many stand above a system in both rankings.
    tied_in_both : (rows,) ndarray of int
        Pairs of systems that are equal in both.
    """

    def __init__(self, test: Ints, reference: Ints) -> None:
        n = test.shape[1]
        key = (n - 1 - test) * n + reference
        key = np.sort(key.astype(np.int16 if n * n < 2**15 else np.int64), axis=1, kind="stable").astype(
            np.int64
        )
        self._group, self._reference = np.divmod(key, n)
        self.start, self.end = _groups(self._group)
        start, end = _groups(key)
        self.tied_in_both = _pairs(end - start)
        self.agreeing = _greater_before(self._reference)

    def tied(self) -> Ints:
        """Return the number of pairs equal in the ranking under test, (rows,)."""
        return _pairs(self.end - self.start)

    def half(self) -> Floats:
        """Return the mean of 2 c / p - 1 over systems below the first group, (rows,).

        A mean over no systems is NaN.
        """
        walked = self.start > 0
        terms = np.where(walked, 2 * self.agreeing / np.maximum(self.start, 1) - 1, 0.0)
        total = walked.sum(axis=1)
        means: Floats = np.divide(terms.sum(axis=1), total, out=np.full(total.shape, np.nan), where=total > 0)
        return means

    def tau_ap(self) -> Floats:
        """Return the mean tau_AP over the orders of equal systems, (rows,).

        It is NaN where the reference has ties.
        """
        rows, n = self._reference.shape
        if n < 2:
            return np.full(rows, np.nan)
        higher, group = self.start, self.end - self.start
        above = (self.end - 1 - np.arange(n)) / np.maximum(group - 1, 1)
        harmonics = harmonic(n)
        reciprocals = harmonics[self.end - 1] - harmonics[np.maximum(higher - 1, 0)]
        ratios = (group - (higher == 0)) - higher * reciprocals
        expected = (self.agreeing * reciprocals + above * ratios) / group
        is_strict = self._reference.max(axis=1) == n - 1
        return np.where(is_strict, 2 * expected.sum(axis=1) / (n - 1) - 1, np.nan)


def _tau_b(by_x: _Walk, by_y: _Walk) -> Floats:
    """Return tau-b from its counts of pairs, (rows,)."""
    n = by_x.agreeing.shape[1]
    pairs = n * (n - 1) // 2
    in_x, in_y = pairs - by_x.tied(), pairs - by_y.tied()
    in_both = in_x + in_y - pairs + by_x.tied_in_both
    difference = 2.0 * by_y.agreeing.sum(axis=1) - in_both
    untied = in_x.astype(np.float64) * in_y
    taus: Floats = np.divide(difference, np.sqrt(untied), out=np.full(untied.shape, np.nan), where=untied > 0)
    return taus


def _pearson(x: Floats, y: Floats) -> Floats:
    """Return Pearson's coefficient, (rows,); NaN where all scores of a side are equal."""
    varies: Bools = (np.ptp(x, axis=1) > 0) & (np.ptp(y, axis=1) > 0)
    u, v = (
        side / np.maximum(np.abs(side).max(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        for side in (x, y)
    )
    u, v = (side - side.mean(axis=1, keepdims=True) for side in (u, v))
    squares = np.sqrt((u * u).sum(axis=1) * (v * v).sum(axis=1))
    coefficients = np.divide((u * v).sum(axis=1), squares, out=np.full(squares.shape, np.nan), where=varies)
    return np.asarray(np.clip(coefficients, -1, 1))


def _groups(ordered: Ints) -> tuple[Ints, Ints]:
    """Return the first and the end index of each element's group of equal neighbours."""
    n = ordered.shape[1]
    index = np.broadcast_to(np.arange(n), ordered.shape)
    first = np.ones(ordered.shape, dtype=np.bool_)
    first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    start = np.maximum.accumulate(np.where(first, index, 0), axis=1)
    last = np.ones_like(first)
    last[:, :-1] = first[:, 1:]
    end = np.minimum.accumulate(np.where(last, index + 1, n)[:, ::-1], axis=1)[:, ::-1]
    return start, end


def _pairs(sizes: Ints) -> Ints:
    """Return the number of pairs within groups, (rows,).

    The input has the size of each element's group.
    """
    return np.asarray((sizes - 1).sum(axis=1) // 2)


def _greater_before(ranks: Ints) -> Ints:
    """Count the greater elements before each element of each row.

    Ranks are from 0 to below the length of a row.

    Within a block of sqrt(n) elements every two are compared; those of earlier blocks are looked up in the counts of all ranks.
    """
    rows, n = ranks.shape
    size = max(1, math.isqrt(n))
    numbers = np.empty_like(ranks)
    seen = np.zeros((rows, n), dtype=np.int64)
    row = np.arange(rows)[:, None] * n
    for start in range(0, n, size):
        block = ranks[:, start : start + size]
        if start:
            numbers[:, start : start + size] = start - np.take_along_axis(
                np.cumsum(seen, axis=1), block, axis=1
            )
        else:
            numbers[:, :size] = 0
        for index in range(1, block.shape[1]):
            numbers[:, start + index] += (block[:, :index] > block[:, index : index + 1]).sum(axis=1)
        seen += np.bincount((row + block).ravel(), minlength=rows * n).reshape(rows, n)
    return numbers
