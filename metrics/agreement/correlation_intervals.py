"""How alike measures rank the same systems, with intervals: over topics where there are any, else over systems.

With scores by topic, topics are what was sampled: percentiles over topics drawn anew (`correlation.bootstrap_interval`). With one score
a system, systems are: Fisher's transformation, whose variance is 1 / (n - 3) for Pearson's coefficient, and .437 / (n - 4) for tau-b (Fieller,
Hartley and Pearson 1957), from n = 10 systems on. Of the AP correlations nothing such is known, and they have none.
"""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from metrics.agreement.correlation import COEFFICIENTS, bootstrap_interval
from metrics.arrays import Floats

FEWEST_SYSTEMS = 10
MOST_SYSTEMS = 5_000
"""Beyond it the coefficients take too much memory: they compare every two systems."""
RESAMPLES, LEAST_RESAMPLES = 2_000, 200
COMPARED_AT_MOST = 40_000_000
"""Pairs of systems in all resamples."""
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
    x: tuple[str, Floats], y: tuple[str, Floats], *, level: float = 0.95, rng: np.random.Generator
) -> list[Correlation]:
    """Return every coefficient of two measures with its interval.

    Parameters
    ----------
    x, y : (str, (systems, topics) ndarray of float)
        Name and scores of either; one topic where there is one score a system. ``x`` is the reference of tau-AP.
    level : float
        Of the intervals.
    rng : Generator
        Source of the resamples.
    """
    (name_x, of_x), (name_y, of_y) = x, y
    systems, topics = of_x.shape
    resamples = max(LEAST_RESAMPLES, min(RESAMPLES, COMPARED_AT_MOST // systems**2))
    found = []
    for metric, coefficient in COEFFICIENTS.items():
        value = coefficient(of_x.mean(axis=1), of_y.mean(axis=1))
        if topics > 1:
            ends = bootstrap_interval(of_x, of_y, coefficient, level=level, resamples=resamples, rng=rng)
        else:
            ends = _over_systems(metric, value, systems, level)
        found.append(Correlation(name_x, name_y, metric, value, *ends))
    return found


def _over_systems(metric: str, value: float, systems: int, level: float) -> tuple[float, float]:
    if metric not in VARIANCES or systems < FEWEST_SYSTEMS or math.isnan(value):
        return math.nan, math.nan
    if abs(value) == 1:
        return value, value
    reach = float(ndtri((1 + level) / 2)) * math.sqrt(VARIANCES[metric](systems))
    return math.tanh(math.atanh(value) - reach), math.tanh(math.atanh(value) + reach)
