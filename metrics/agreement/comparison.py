"""Comparison of two measures: differences of agreement, correlations of rankings.

Agreements are compared by paired tests over queries, with Holm's correction and power. Never by McNemar's test over pairs: pairs of
one query are not independent, and it rejects a true null hypothesis far too often.

Intervals of correlations are over topics where there are any, else over systems.

With scores by topic, topics are what was sampled: percentiles over topics drawn anew (`metrics.agreement.resampled`). With one score
a system, systems are: Fisher's transformation, whose variance is 1 / (n - 3) for Pearson's coefficient, and .437 / (n - 4) for tau-b (Fieller,
Hartley and Pearson 1957), from n = 10 systems on. For fewer, from 4 on, Pearson's coefficient has the exact interval for two normal
variables, from its own distribution (Hotelling 1953); that of tau-b depends on more than tau, so there is none. Of the AP correlations
nothing such is known, and they have none.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import hyp2f1, ndtri

from metrics.agreement.agreement import QueryMean, standard_error
from metrics.agreement.correlation import correlate, percentile_interval
from metrics.agreement.crossed_errors import StandardError
from metrics.agreement.resampled import CELLS, RankedRows, draws, resampled_sums, row_coefficients
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
    standard_error : float
        Query-clustered, or over queries and people; NaN where it is unknown.
    queries : int
        The units.
    p_t : float
        Two-sided p of the t test; NaN without variation between queries.
    p_sign_flip : float
        Two-sided p when the two metrics' names are exchanged at random within queries; 1 at no difference, NaN where
        queries share their people.
    df : float or None
        Degrees of freedom of Student's t; None for queries - 1.
    """

    difference: float
    standard_error: float
    queries: int
    p_t: float
    p_sign_flip: float
    df: float | None = None

    def confidence_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Student's t interval of the difference, cut at -1 and 1; NaN without variation."""
        if not self.standard_error > 0:
            return math.nan, math.nan
        reach = self._error.half_width(level)
        return max(-1.0, self.difference - reach), min(1.0, self.difference + reach)

    def minimum_detectable(self, power: float = 0.8, level: float = 0.95) -> float:
        """Return the smallest true difference that this study detects with this power.

        Returns
        -------
        float
            On the scale of the difference; NaN without variation between queries.
        """
        return self._error.minimum_detectable(power, level) if self.standard_error > 0 else math.nan

    @property
    def _error(self) -> StandardError:
        return StandardError(self.standard_error, self.queries - 1 if self.df is None else self.df)


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
    difference = first.value - second.value
    if error is None:
        error = StandardError(standard_error(first.influence - second.influence, units), units - 1)
    return Comparison(
        difference=difference,
        standard_error=error.standard_error,
        queries=units,
        p_t=error.p_value(difference) if error.standard_error > 0 else math.nan,
        p_sign_flip=_sign_flip_p(first, second, flips, rng) if exchange else math.nan,
        df=error.df,
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


FEWEST_SYSTEMS = 10
FEWEST_EXACT = 4
NEARLY_ONE = 1 - 1e-9
WIDEST, STEPS = 20.0, 801
"""Half width of an interval's search on Fisher's scale, and its integration steps.

The steps are those over twice that width.
"""
RESAMPLES, LEAST_RESAMPLES = 2_000, 200
COMPARED_AT_MOST = 40_000_000
"""Largest number of system pairs compared in all resamples."""
VARIANCES: Mapping[str, Callable[[int], float]] = MappingProxyType(
    {"tau-b": lambda n: 0.437 / (n - 4), "pearson": lambda n: 1 / (n - 3)}
)


class Correlation(NamedTuple):
    """One coefficient of two measures; NaN where it, or its interval, is undefined."""

    x: str
    y: str
    metric: str
    value: float
    low: float
    high: float


def correlations(
    scores: Mapping[str, Floats],
    couples: Iterable[tuple[str, str]],
    *,
    level: float = 0.95,
    rng: np.random.Generator,
) -> list[Correlation]:
    """Return every coefficient of pairs of measures with its interval.

    Parameters
    ----------
    scores : mapping of str to (systems, topics) ndarray of float
        By measure; one topic where there is one score a system.
    couples : iterable of (str, str)
        Two measures each; the first one is the reference of tau-AP.
    level : float
        Of the intervals.
    rng : Generator
        Source of the resamples, which all couples share.
    """
    couples = list(couples)
    systems, topics = next(iter(scores.values())).shape
    means = {
        name: np.array([math.fsum(row) / topics for row in scores[name]])
        for name in {*itertools.chain(*couples)}
    }
    values = {(x, y): correlate(means[x], means[y]) for x, y in couples}
    if topics > 1:
        resamples = max(LEAST_RESAMPLES, min(RESAMPLES, COMPARED_AT_MOST // systems**2))
        ends = _over_topics({name: scores[name] for name in means}, couples, resamples, level, rng)
    else:
        ends = {
            (*couple, metric): _over_systems(metric, value, systems, level)
            for couple, of in values.items()
            for metric, value in of.items()
        }
    return [
        Correlation(x, y, metric, value, *ends[x, y, metric])
        for (x, y), of in values.items()
        for metric, value in of.items()
    ]


def _over_topics(
    scores: Mapping[str, Floats],
    couples: Sequence[tuple[str, str]],
    resamples: int,
    level: float,
    rng: np.random.Generator,
) -> dict[tuple[str, str, str], tuple[float, float]]:
    """Return the percentiles of each coefficient over resampled topics.

    Those resamples where it is undefined are left out.
    """
    systems, topics = next(iter(scores.values())).shape
    parts: dict[str, list[Floats]] = {name: [] for name in scores}
    for counts in draws(topics, resamples, rng):
        for name, of in scores.items():
            parts[name].append(resampled_sums(of, counts))
    sums = {name: np.concatenate(of) for name, of in parts.items()}
    drawn: dict[tuple[str, str, str], list[Floats]] = {}
    at_once = max(1, CELLS // (8 * systems))
    for start in range(0, resamples, at_once):
        rows = {name: RankedRows.of(of[start : start + at_once]) for name, of in sums.items()}
        for x, y in couples:
            for metric, values in row_coefficients(rows[x], rows[y]).items():
                drawn.setdefault((x, y, metric), []).append(values)
    return {place: percentile_interval(np.concatenate(values), level) for place, values in drawn.items()}


def _over_systems(metric: str, value: float, systems: int, level: float) -> tuple[float, float]:
    is_exact = metric == "pearson" and FEWEST_EXACT <= systems < FEWEST_SYSTEMS
    if metric not in VARIANCES or (systems < FEWEST_SYSTEMS and not is_exact) or math.isnan(value):
        return math.nan, math.nan
    if abs(value) >= NEARLY_ONE:
        return value, value
    if is_exact:
        return exact_interval(value, systems, level)
    reach = float(ndtri((1 + level) / 2)) * math.sqrt(VARIANCES[metric](systems))
    return math.tanh(math.atanh(value) - reach), math.tanh(math.atanh(value) + reach)


def exact_interval(r: float, n: int, level: float) -> tuple[float, float]:
    """Return the exact interval of Pearson's correlation of two normal variables.

    The correlations under which Pearson's ``r`` of ``n`` pairs is not unusual.

    At the ends a coefficient as large, or as small, has a chance of (1 - level) / 2.

    Parameters
    ----------
    r : float
        Between -1 and 1, which it may not be.
    n : int
        At least 4.
    """
    z, tail = math.atanh(r), (1 - level) / 2

    def solved(chance: float) -> float:
        return math.tanh(brentq(lambda zeta: _chance_below(z, zeta, n) - chance, z - WIDEST, z + WIDEST))

    return solved(1 - tail), solved(tail)


def _chance_below(z: float, zeta: float, n: int) -> float:
    """Return P(artanh R < z) for n pairs of two normal variables with correlation rho = tanh zeta.

    Hotelling's (1953) density of R over x = artanh R, up to a constant: sqrt(cosh x) cosh(x - zeta)^(3/2 - n)
    2F1(1/2, 1/2; n - 1/2; (1 + rho tanh x) / 2).
    """
    from scipy.integrate import simpson  # noqa: PLC0415 - takes as long as all else here, and is seldom needed

    steps = np.linspace(0, 2 * WIDEST, STEPS)
    areas = []
    for x in (z - steps, z + steps):
        curve = hyp2f1(0.5, 0.5, n - 0.5, (1 + math.tanh(zeta) * np.tanh(x)) / 2)
        log_density = (_log_cosh(x) - abs(zeta)) / 2 - (n - 1.5) * _log_cosh(x - zeta)
        areas.append(float(simpson(np.exp(log_density) * curve, x=steps)))
    return areas[0] / sum(areas)


def _log_cosh(x: Floats) -> Floats:
    return np.asarray(np.logaddexp(x, -x) - math.log(2))
