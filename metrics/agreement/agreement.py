"""Agreement of a metric with preferences, and query-clustered means of shares.

Pairs of one query share its topic and its workers, so they are no independent observations: an interval that
treats them so (the binomial one) is too narrow. Here the query is the unit, always.

A pair (R, R') of a query has a metric difference M(R) - M(R') and a vote share y: the share of preferences for R,
an equal vote counting half to each (Kato et al., EVIA 2016, section 4.3). Agreement is how often the better score is on the side
that people chose. What a tie is worth, in the metric or in the votes, is a convention that moves the number more than most metrics
do, so there are three, and a fourth number without any majority step. Tests are in `metrics.agreement.comparison`, the highest
agreement to hope for in `metrics.agreement.ceiling`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from metrics.arrays import Floats, align_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryMean:
    """Mean over pairs of a quantity between 0 and 1, kept as sums and counts by query.

    mean = sum_q S_q / sum_q n_q

    Attributes
    ----------
    queries : tuple of str
        The units, in alphabetical order.
    sums : (queries,) ndarray of float
        Sum over the pairs of each query that count.
    counts : (queries,) ndarray of float
        Number of pairs of each query that count; 0 where none does.
    """

    queries: tuple[str, ...]
    sums: Floats
    counts: Floats

    def __repr__(self) -> str:
        """Format as ``QueryMean(value=0.911, queries=8)``."""
        return f"QueryMean(value={self.value:.4g}, queries={self.units})"

    @property
    def value(self) -> float:
        """The mean over all pairs that count; NaN when none does."""
        total = self.counts.sum()
        return float(self.sums.sum() / total) if total else float("nan")

    @property
    def by_query(self) -> Floats:
        """The mean of each query, NaN where no pair counts."""
        means = np.full(self.sums.shape, np.nan)
        np.divide(self.sums, self.counts, out=means, where=self.counts > 0)
        return means

    @property
    def units(self) -> int:
        """Number of queries with a pair that counts."""
        return int((self.counts > 0).sum())

    @property
    def influence(self) -> Floats:
        """Influence of each query on the mean: (S_q - mean n_q) / sum n.

        It is (mean of q - mean) / queries where every query has as many pairs.
        """
        total = self.counts.sum()
        return (self.sums - self.value * self.counts) / total if total else np.zeros_like(self.sums)

    @property
    def standard_error(self) -> float:
        """Query-clustered standard error of the mean; NaN for fewer than two queries.

        sqrt(Q/(Q-1) sum influence^2).

        With as many pairs in every query it is the standard deviation of the query means over sqrt(Q).
        """
        return standard_error(self.influence, self.units)

    def confidence_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return an interval for the mean, with queries as the unit.

        It is Student's t with Q - 1 degrees of freedom, cut at 0 and 1.

        Parameters
        ----------
        level : float
            Confidence level.

        Returns
        -------
        (float, float)
            Lower and upper end; NaN when fewer than two queries count or all of them agree: without variation
            between queries nothing is known about it.
        """
        if not self.standard_error > 0:
            return float("nan"), float("nan")
        reach = float(stdtrit(self.units - 1, (1 + level) / 2)) * self.standard_error
        return max(0.0, self.value - reach), min(1.0, self.value + reach)


def mean_by_query(values: ArrayLike, query: ArrayLike) -> QueryMean:
    """Sum the values of pairs within queries.

    Parameters
    ----------
    values : (pairs,) array_like of float in [0, 1]
        What is averaged; NaN for a pair that does not count.
    query : (pairs,) array_like of str
        The query of each pair. A query whose pairs do not count is kept, with count 0.

    Raises
    ------
    ValueError
        If the two differ in length.
    """
    values, query = np.asarray(values, dtype=np.float64), np.asarray(query, dtype=np.str_)
    if values.ndim != 1 or values.shape != query.shape:
        raise ValueError(f"values and query must be vectors of one length, got {values.shape}, {query.shape}")
    names, codes = np.unique(query, return_inverse=True)
    counts = ~np.isnan(values)
    return QueryMean(
        queries=tuple(names.tolist()),
        sums=read_only(np.bincount(codes, np.where(counts, values, 0.0), minlength=names.size)),
        counts=read_only(np.bincount(codes, counts.astype(np.float64), minlength=names.size)),
    )


def simultaneous_band(
    means: Sequence[QueryMean],
    level: float = 0.95,
    *,
    reach: Floats | None = None,
    draws: int = 10_000,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Return a band that covers a whole curve of means at once at this level.

    band_k = mean_k -+ c se_k,  c = quantile of max_k |T_k|

    where T is multivariate t with Q - 1 degrees of freedom and the correlation of the points' influences (a
    multiplier bootstrap with normal weights; sup-t). For a single point it is the interval of `QueryMean`.

    Parameters
    ----------
    means : sequence of QueryMean
        The points of the curve, all over the same queries.
    level : float
        Probability that the band holds every point.
    reach : (points,) ndarray of float, optional
        Half the width of each point's interval of this level, where people are a sample too (`metrics.agreement.crossed_errors`): the
        band is wider than these intervals by the same factor. By default those of `QueryMean`.
    draws : int
        Number of draws for the quantile.
    rng : Generator
        Source of the draws.

    Returns
    -------
    low, high : (points,) ndarray of float
        Cut at 0 and 1; NaN at a point without variation between queries.

    Raises
    ------
    ValueError
        If the points are not over the same queries.
    """
    if len({mean.queries for mean in means}) > 1:
        raise ValueError("every point of a curve must be over the same queries")
    value = np.array([mean.value for mean in means])
    error = np.array([mean.standard_error for mean in means])
    known = error > 0
    if not known.any():
        return np.full(value.shape, np.nan), np.full(value.shape, np.nan)
    units = max(mean.units for mean in means)
    standardised = np.array([mean.influence for mean in means])[known] / error[known, np.newaxis]
    normal = rng.standard_normal((draws, standardised.shape[1])) * np.sqrt(units / (units - 1))
    scale = np.sqrt(rng.chisquare(units - 1, size=draws) / (units - 1))
    largest = np.abs(normal @ standardised.T).max(axis=1) / scale
    of_point = float(stdtrit(units - 1, (1 + level) / 2))
    wider = max(1.0, float(np.quantile(largest, level)) / of_point)
    reach = wider * np.where(known, of_point * error if reach is None else reach, np.nan)
    return np.clip(value - reach, 0, 1), np.clip(value + reach, 0, 1)


def standard_error(influence: Floats, units: int) -> float:
    """Return the standard error of Q summed influences, clustered by unit.

    sqrt(Q/(Q-1) sum influence^2) for Q units; NaN for fewer than two, 0 for rounding errors only.
    """
    if units < 2:
        return float("nan")
    error = float(np.sqrt(units / (units - 1) * np.sum(influence**2)))
    return error if error > 1e-12 else 0.0


def read_only(values: ArrayLike) -> Floats:
    """Return the values as an array that cannot be changed."""
    array = np.array(values, dtype=np.float64)
    array.flags.writeable = False
    return array


Ties: TypeAlias = Literal["against", "half", "drop", "weighted"]
TIES: MappingProxyType[Ties, str] = MappingProxyType(
    {
        "against": "a tie in the metric or in the votes counts as disagreement (the paper's definition)",
        "half": "a tie counts as half an agreement",
        "drop": "pairs with a tie are left out",
        "weighted": "the mean share of votes for the metric's choice; no majority is taken",
    }
)
RELATIVE_TIE, OF_LARGEST, ROUNDING = 1e-12, 1e-9, 4e-15


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Share of pairs in which a metric agrees with the votes, under one convention.

    Attributes
    ----------
    ties : str
        The convention, a key of `TIES`.
    mean : QueryMean
        The agreement, its standard error and its intervals, over queries.
    pairs : int
        All pairs, tied ones too.
    metric_ties : int
        Pairs whose scores are equal.
    vote_ties : int
        Pairs whose vote share is exactly one half.
    tied_pairs : int
        Pairs that are tied in either.
    """

    ties: Ties
    mean: QueryMean
    pairs: int
    metric_ties: int
    vote_ties: int
    tied_pairs: int

    @property
    def value(self) -> float:
        """The agreement in [0, 1]; NaN when no pair counts."""
        return self.mean.value


def agreement(
    difference: ArrayLike, share: ArrayLike, query: ArrayLike, *, ties: Ties = "against"
) -> Agreement:
    """Return the share of pairs in which metric and votes prefer the same system.

    agreement = share of pairs with (M(R) - M(R')) (y - 0.5) > 0      (Kato et al., EVIA 2016, section 4.3)

    Parameters
    ----------
    difference : (pairs,) array_like of float
        M(R) - M(R'), exactly 0 for a tie; see `score_difference`.
    share : (pairs,) array_like of float in [0, 1]
        y, the share of preferences for R.
    query : (pairs,) array_like of str
        The query each pair belongs to.
    ties : {'against', 'half', 'drop', 'weighted'}
        What a tie is worth; `TIES` says it in words.

    Raises
    ------
    ValueError
        If lengths differ, a share leaves [0, 1], a difference is NaN, or the convention is unknown.
    """
    difference, share, query = align_rows(difference, share, query)
    difference, share = _validated(difference, share)
    return Agreement(
        ties=ties,
        mean=mean_by_query(pair_credit(difference, share, ties=ties), query),
        pairs=difference.size,
        metric_ties=int((difference == 0).sum()),
        vote_ties=int((share == 0.5).sum()),
        tied_pairs=int(((difference == 0) | (share == 0.5)).sum()),
    )


def agreements(difference: ArrayLike, share: ArrayLike, query: ArrayLike) -> Mapping[Ties, Agreement]:
    """Return the agreement under every convention, in the order of `TIES`.

    Parameters
    ----------
    difference : (pairs,) array_like of float
        M(R) - M(R'), exactly 0 for a tie.
    share : (pairs,) array_like of float in [0, 1]
        The share of preferences for R.
    query : (pairs,) array_like of str
        The query each pair belongs to.

    Returns
    -------
    mapping of str to Agreement
        Convention -> ``value``, ``mean`` over queries with its interval, and how many pairs were tied.

    Raises
    ------
    ValueError
        If lengths differ, a share leaves [0, 1], or a difference is NaN.

    Examples
    --------
    Three pairs of two queries; one is tied in the votes.

    >>> found = agreements([0.3, -0.2, 0.4], [5 / 6, 2 / 6, 3 / 6], ["q1", "q1", "q2"])
    >>> {ties: round(agreement.value, 3) for ties, agreement in found.items()}
    {'against': 0.667, 'half': 0.833, 'drop': 1.0, 'weighted': 0.667}
    """
    return MappingProxyType({ties: agreement(difference, share, query, ties=ties) for ties in TIES})


def pair_credit(difference: ArrayLike, share: ArrayLike, *, ties: Ties) -> Floats:
    """Return the credit of each pair for the agreement, and whether it counts.

    Returns
    -------
    (pairs,) ndarray of float
        1 where both prefer the same system, 0 where they prefer different ones. A tie: 0 under ``against``, 0.5
        under ``half``, NaN (not counted) under ``drop``. Under ``weighted`` the share of votes for the system that
        the metric prefers, 0.5 where it prefers none.

    Raises
    ------
    ValueError
        As in `agreement`.
    """
    difference, share = _validated(difference, share)
    choice = np.sign(difference)
    if ties == "weighted":
        return np.asarray(0.5 + choice * (share - 0.5), dtype=np.float64)
    worth = {"against": 0.0, "half": 0.5, "drop": np.nan}
    if ties not in worth:
        raise ValueError(f"ties must be one of {', '.join(TIES)}, got {ties!r}")
    together = choice * np.sign(share - 0.5)
    return np.where(together == 0, worth[ties], together > 0)


def score_difference(first: ArrayLike, second: ArrayLike) -> Floats:
    """Return ``first - second``, exactly 0 where both are equal but for rounding.

    Equal are scores that differ by less than 1 part in 10^12 of the larger one and in 10^9 of the largest difference of all, so that
    what all scores have in common makes no ties; and scores that differ by no more than `precision`.

    Parameters
    ----------
    first, second : (pairs,) or (pairs, k) array_like of float
        Scores of the two systems of every pair, under one measure or k.
    """
    first, second = (np.asarray(side, dtype=np.float64) for side in align_rows(first, second))
    difference = first - second
    apart, size = np.abs(difference), np.maximum(np.abs(first), np.abs(second))
    largest = apart.max(axis=0, initial=0.0)
    equal = (apart <= precision(size)) | ((apart <= RELATIVE_TIE * size) & (apart <= OF_LARGEST * largest))
    return np.where(equal, 0.0, difference)


def precision(size: ArrayLike) -> Floats:
    """Return the largest difference of two scores that rounding alone can make.

    It is 18 times the spacing of numbers of this size.
    """
    return np.asarray(ROUNDING * np.asarray(size, dtype=np.float64))


def _validated(difference: ArrayLike, share: ArrayLike) -> tuple[Floats, Floats]:
    """Return both as vectors of one length, without NaN and with shares in [0, 1]."""
    difference, share = (np.asarray(side, dtype=np.float64) for side in align_rows(difference, share))
    if difference.ndim != 1 or difference.shape != share.shape:
        raise ValueError(
            f"difference and share must be vectors of one length, got {difference.shape}, {share.shape}"
        )
    if np.isnan(difference).any():
        raise ValueError("a difference is NaN: every pair needs a score on both sides")
    if not ((share >= 0) & (share <= 1)).all():
        raise ValueError("shares must lie in [0, 1]")
    return difference, share
