"""How alike measures rank the same systems, with intervals: over topics where there are any, else over systems.

With scores by topic, topics are what was sampled: percentiles over topics drawn anew (`correlation.bootstrap_interval`). With one score
a system, systems are: Fisher's transformation, whose variance is 1 / (n - 3) for Pearson's coefficient, and .437 / (n - 4) for tau-b (Fieller,
Hartley and Pearson 1957), from n = 10 systems on. For fewer, from 4 on, Pearson's coefficient has the exact interval for two normal
variables, from its own distribution (Hotelling 1953); that of tau-b depends on more than tau, so there is none. Of the AP correlations
nothing such is known, and they have none.
"""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from scipy.integrate import simpson
from scipy.optimize import brentq
from scipy.special import hyp2f1, ndtri

from metrics.agreement.correlation import COEFFICIENTS, bootstrap_interval
from metrics.arrays import Floats

FEWEST_SYSTEMS = 10
FEWEST_EXACT = 4
NEARLY_ONE = 1 - 1e-9
WIDEST, STEPS = 20.0, 801
"""How far from an estimate its interval is looked for, on Fisher's scale, and the steps of integrals over twice that."""
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
    """Return the correlations of two normal variables under which Pearson's ``r`` of ``n`` pairs is not unusual.

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
    steps = np.linspace(0, 2 * WIDEST, STEPS)
    areas = []
    for x in (z - steps, z + steps):
        curve = hyp2f1(0.5, 0.5, n - 0.5, (1 + math.tanh(zeta) * np.tanh(x)) / 2)
        log_density = (_log_cosh(x) - abs(zeta)) / 2 - (n - 1.5) * _log_cosh(x - zeta)
        areas.append(float(simpson(np.exp(log_density) * curve, x=steps)))
    return areas[0] / sum(areas)


def _log_cosh(x: Floats) -> Floats:
    return np.asarray(np.logaddexp(x, -x) - math.log(2))
