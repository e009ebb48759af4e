"""Comparison of the agreement of two measures with the same votes.

Agreements are compared by paired tests over queries, with Holm's correction and power. Never by McNemar's test over pairs: pairs of one
query are not independent, and it rejects a true null hypothesis far too often.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from metrics.agreement.agreement import QueryMean, standard_error
from metrics.agreement.crossed_errors import UNKNOWN, StandardError
from metrics.arrays import Floats

EXACT_QUERIES = 14
"""Largest number of queries for which all 2^Q sign flips are enumerated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The difference of two means over the same queries.

    Attributes
    ----------
    difference : float
        First minus second.
    error : StandardError
        Query-clustered, or over queries and people; NaN where it is unknown.
    queries : int
        The units.
    p_sign_flip : float
        Two-sided p when the two metrics' names are exchanged at random within queries; 1 at no difference, NaN where
        queries share their people.
    """

    difference: float
    error: StandardError
    queries: int
    p_sign_flip: float

    @property
    def p_t(self) -> float:
        """Two-sided p of the t test; NaN without variation between queries."""
        return self._known.p_value(self.difference)

    def confidence_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Student's t interval of the difference, cut at -1 and 1; NaN without variation."""
        reach = self._known.half_width(level)
        low, high = np.clip([self.difference - reach, self.difference + reach], -1, 1).tolist()
        return low, high

    def minimum_detectable(self, power: float = 0.8, level: float = 0.95) -> float:
        """Return the smallest true difference that this study detects with this power.

        Returns
        -------
        float
            On the scale of the difference; NaN without variation between queries.
        """
        return self._known.minimum_detectable(power, level)

    @property
    def _known(self) -> StandardError:
        return self.error if self.error.standard_error > 0 else UNKNOWN


def compare(
    first: QueryMean,
    second: QueryMean,
    *,
    error: StandardError | None = None,
    exchange: bool = True,
    flips: int = 10_000,
    rng: np.random.Generator,
) -> Comparison:
    """Compare the agreement of two metrics with the same votes, query by query.

    Parameters
    ----------
    first, second : QueryMean
        Agreements of two metrics under one convention, over the same queries.
    error : StandardError, optional
        How far the difference may be off over queries and people (`metrics.agreement.crossed_errors`); over queries by default.
    exchange : bool
        Whether names may be exchanged within queries: not where queries share their people.
    flips : int
        Random sign flips when there are more than `EXACT_QUERIES` queries.
    rng : Generator
        Source of the flips.

    Returns
    -------
    Comparison
        The difference, its interval, and a test by exchange of the two names.

    Raises
    ------
    ValueError
        If the two are not over the same queries.

    Examples
    --------
    Does the first measure agree more often with the votes on three queries?

    >>> import numpy as np
    >>> import prefcal
    >>> shares, queries = [0.9, 0.8, 0.3, 0.6], ["q1", "q1", "q2", "q3"]
    >>> first = prefcal.agreements([1, 2, -1, 1], shares, queries)["against"]
    >>> second = prefcal.agreements([1, -2, -1, 1], shares, queries)["against"]
    >>> found = compare(first.mean, second.mean, rng=np.random.default_rng(1))
    >>> round(found.difference, 3)
    0.25
    """
    if first.queries != second.queries:
        raise ValueError("both metrics must be judged on the same queries")
    units = int(((first.counts > 0) | (second.counts > 0)).sum())
    if error is None:
        error = StandardError(standard_error(first.influence - second.influence, units), units - 1)
    return Comparison(
        difference=first.value - second.value,
        error=error,
        queries=units,
        p_sign_flip=_sign_flip_p(first, second, flips, rng) if exchange else math.nan,
    )


def holm(p_values: ArrayLike) -> Floats:
    """Adjust a family of p values by Holm's step-down method (1979).

    adjusted p_(i) = max_{j <= i} min(1, (m - j + 1) p_(j)),  p_(1) <= ... <= p_(m)

    Parameters
    ----------
    p_values : (m,) array_like of float in [0, 1]
        One p a comparison. NaN stays NaN and is no member of the family.

    Returns
    -------
    (m,) ndarray of float
        Reject where it is at most the wanted family-wise error.
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")[: int((~np.isnan(p)).sum())]  # NaN sorts last
    adjusted = np.full(p.shape, np.nan)
    steps = np.arange(order.size, 0, -1) * p[order]
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted


def _sign_flip_p(first: QueryMean, second: QueryMean, flips: int, rng: np.random.Generator) -> float:
    """Return the two-sided p of the difference under sign flips within queries."""
    units = len(first.queries)
    exact = units <= EXACT_QUERIES
    signs = _all_signs(units) if exact else rng.choice([-1.0, 1.0], size=(flips, units))
    flipped = np.abs(_flipped_differences(first, second, signs))
    observed = abs(_flipped_differences(first, second, np.ones((1, units)))[0])
    as_far = int((flipped >= observed - 1e-12).sum())
    return as_far / len(signs) if exact else (1 + as_far) / (1 + len(signs))


def _flipped_differences(first: QueryMean, second: QueryMean, signs: Floats) -> Floats:
    """Return the difference of the two means with some queries exchanged.

    Queries of sign -1 are exchanged; 0 where one side has nothing left.
    """
    sums = _exchanged(first.sums, second.sums, signs)
    counts = _exchanged(first.counts, second.counts, signs)
    means = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    return np.asarray(np.nan_to_num(means[0] - means[1]), dtype=np.float64)


def _exchanged(first: Floats, second: Floats, signs: Floats) -> Floats:
    """Return both sides' totals, (2, flips), with queries of sign -1 exchanged."""
    middle, apart = (first + second).sum() / 2, signs @ (first - second) / 2
    return np.stack([middle + apart, middle - apart])


def _all_signs(units: int) -> Floats:
    return np.array(list(itertools.product([-1.0, 1.0], repeat=units))).reshape(-1, units)
