"""Correlations of many pairs of measures, with intervals.

With scores by topic, topics are what was sampled: percentiles over topics drawn anew (`metrics.agreement.resampled`). With one score a
system, systems are: Fisher's transformation, whose variance is 1 / (n - 3) for Pearson's coefficient, and .437 / (n - 4) for tau-b
(Fieller, Hartley and Pearson 1957), from n = 10 systems on. For fewer, from 4 on, Pearson's coefficient has the exact interval for two
normal variables, from its own distribution (Hotelling 1953); that of tau-b depends on more than tau, so there is none. Of the AP
correlations nothing such is known, and they have none.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import hyp2f1, ndtri

from metrics.agreement.correlation import correlate, percentile_interval
from metrics.agreement.resampled import CELLS, RankedRows, draws, resampled_sums, row_coefficients
from metrics.arrays import Floats

MIN_SYSTEMS = 10
MIN_EXACT = 4
NEARLY_ONE = 1 - 1e-9
WIDEST, STEPS = 20.0, 801
"""Half width of an interval's search on Fisher's scale, and its integration steps.

The steps cover twice the half width.
"""
RESAMPLES, MIN_RESAMPLES = 2_000, 200
MAX_COMPARED_PAIRS = 40_000_000
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
        resamples = max(MIN_RESAMPLES, min(RESAMPLES, MAX_COMPARED_PAIRS // systems**2))
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

    Resamples in which a coefficient is undefined are left out.
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
    return {key: percentile_interval(np.concatenate(values), level) for key, values in drawn.items()}


def _over_systems(metric: str, value: float, systems: int, level: float) -> tuple[float, float]:
    is_exact = metric == "pearson" and MIN_EXACT <= systems < MIN_SYSTEMS
    if metric not in VARIANCES or (systems < MIN_SYSTEMS and not is_exact) or math.isnan(value):
        return math.nan, math.nan
    if abs(value) >= NEARLY_ONE:
        return value, value
    if is_exact:
        return exact_interval(value, systems, level)
    reach = float(ndtri((1 + level) / 2)) * math.sqrt(VARIANCES[metric](systems))
    return math.tanh(math.atanh(value) - reach), math.tanh(math.atanh(value) + reach)


def exact_interval(r: float, n: int, level: float) -> tuple[float, float]:
    """Return the exact interval of Pearson's correlation of two normal variables.

    It holds the correlations under which Pearson's ``r`` of ``n`` pairs is not unusual.

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
    """Return P(artanh R < z) of n normal pairs with correlation tanh zeta.

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
