"""The ceiling of agreement: how well the people agree with each other.

Votes are noisy, so no metric agrees with all of them. The votes of a pair are split at random into two halves, and
it is counted how often the majorities of both halves fall on the same system. Halves are noisier than the whole, so
the count is carried over to full size by a model that is stated below and checked by simulation in the benchmarks.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.agreement import Ties
from metrics.query_mean import Floats, QueryMean, mean_by_query, read_only

Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """Agreement of people with people, from split halves.

    The model: the majority margins of two halves are bivariate normal with correlation r. Then halves agree, a tie
    counting half, with probability A = 1/2 + asin(r)/pi, which gives r; a panel k times as large has reliability
    k r / (1 + (k - 1) r) (Spearman 1910, Brown 1910), and its correlation with what everybody would prefer is the
    square root of that. The same formula turns them back into agreements.

    Attributes
    ----------
    halves : QueryMean
        Agreement of the majorities of two halves, a tie counting half.
    halves_weighted : QueryMean
        Mean share of the votes of one half for the majority of the other.
    growth : float
        k, the size of the whole over the size of a half: 2, or a little more where numbers are odd.
    tied : float
        Share of pairs whose vote at full size is a tie.
    pairs : int
        Pairs with at least two votes.
    """

    halves: QueryMean
    halves_weighted: QueryMean
    growth: float
    tied: float
    pairs: int

    def panel(self, ties: Ties = "against") -> float:
        """Agreement with these votes to expect from a second panel of the same size, its ties broken at random."""
        return self._at(self.halves.value, self.halves_weighted.value, ties, perfect=False)

    def perfect(self, ties: Ties = "against") -> float:
        """Agreement with these votes to expect from a metric that knew what everybody would prefer."""
        return self._at(self.halves.value, self.halves_weighted.value, ties, perfect=True)

    def panel_interval(self, ties: Ties = "against", level: float = 0.95) -> tuple[float, float]:
        """Return the query t interval of `panel`: both ends of the halves' interval, carried to full size."""
        low, high = self.halves.confidence_interval(level)
        if ties != "weighted":
            return tuple(self._at(end, math.nan, ties, perfect=False) for end in (low, high))  # type: ignore[return-value]
        ends = self.halves_weighted.confidence_interval(level)
        return tuple(self._at(self.halves.value, end, ties, perfect=False) for end in ends)  # type: ignore[return-value]

    def _at(self, halves: float, weighted: float, ties: Ties, *, perfect: bool) -> float:
        """Carry the agreement of halves to full size, and from there to the convention for ties."""
        if not self.pairs:
            return math.nan
        half = max(0.0, math.sin(math.pi * (halves - 0.5)))  # reliability of one half
        whole = self.growth * half / (1 + (self.growth - 1) * half)
        if ties == "weighted":
            gain = math.sqrt((1.0 if perfect else whole) / half) if half else 0.0
            return 0.5 + (weighted - 0.5) * gain
        tie_half = 0.5 + math.asin(math.sqrt(whole) if perfect else whole) / math.pi
        agreeing = max(0.0, tie_half - self.tied / 2)
        untied = 1 - self.tied
        return {"half": tie_half, "against": agreeing, "drop": agreeing / untied if untied else math.nan}[
            ties
        ]


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
    return Ceiling(
        halves=mean_by_query(np.where(counted, agree, np.nan), query_of_pair),
        halves_weighted=mean_by_query(np.where(counted, weighted, np.nan), query_of_pair),
        growth=float(sizes[counted].sum() / (sizes[counted] // 2).sum()) if counted.any() else math.nan,
        tied=float((shares == 0.5).mean()) if shares.size else math.nan,
        pairs=int(counted.sum()),
    )


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
