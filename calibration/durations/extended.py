"""A model of durations with more parameters than the plain one: its estimates, their errors, and its population.

Errors are those of the sandwich over workers, so they hold also where the law within workers is another. Derivatives are
by differences: there are three or four parameters.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.optimize import Bounds, minimize

from calibration.durations.maximum import QUANTILES
from calibration.inference.clusters import sandwich
from calibration.inference.uncertainty import Scale, StudentT
from metrics.arrays import Floats

_QUARTILES = (0.5, 0.25, 0.75)
_STEP = 1e-4
POPULATION_NODES = 201

ANYWHERE = (-1e3, 1e3)
"""Bounds of the logarithm of a time."""
Population: TypeAlias = tuple[Floats, Floats]
"""Logs of means (g,), the share of people there (g,)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Extended:
    """One model at its maximum.

    Attributes
    ----------
    name : str
        Law between workers, law within.
    point : (p,) ndarray of float
        The estimates of its own parameters.
    loglik : float
        Log-likelihood there, on the data of the plain model.
    each : callable
        (p,) -> (u,) log-likelihood of each worker.
    values : callable
        (p,) -> (5,) logarithms of M, S, the median, the lower and the upper quartile of the workers' means.
    population : callable
        (p,) -> the law of the workers' means.
    """

    name: str
    point: Floats
    loglik: float
    each: Callable[[Floats], Floats]
    values: Callable[[Floats], Floats]
    population: Callable[[Floats], Population]

    @property
    def n_free(self) -> int:
        """How many numbers were fitted."""
        return len(self.point)

    @property
    def aic(self) -> float:
        """2 n_free - 2 loglik."""
        return 2 * self.n_free - 2 * self.loglik

    def error(self) -> StudentT | None:
        """Return the errors of the logarithms of its values; None where they cannot be told."""
        centre = self.values(self.point)
        scores, information = self.curvature()
        if not np.isfinite(information).all() or np.linalg.eigvalsh(information)[0] <= 0:
            return None
        slopes = _by_difference(self.values, self.point)
        cov = slopes @ sandwich(scores, information) @ slopes.T
        if not (np.isfinite(centre).all() and np.isfinite(cov).all()):
            return None
        return StudentT(centre=centre, cov=cov, df=len(scores) - 1, scale=Scale.LOG)

    def curvature(self) -> tuple[Floats, Floats]:
        """Return the scores (u, p) of each worker and the information (p, p), at the maximum."""
        second = -_by_difference(lambda at: self._scores(at).sum(axis=0), self.point)
        return self._scores(self.point), (second + second.T) / 2

    def _scores(self, point: Floats) -> Floats:
        """(u, p) derivatives of the log-likelihood of each worker."""
        return _by_difference(self.each, point)


def highest(
    each: Callable[[Floats], Floats], start: Sequence[float], bounds: Sequence[tuple[float, float]]
) -> tuple[Floats, float]:
    """Return where the sum of log-likelihoods is highest, and how high.

    Parameters
    ----------
    each : callable
        (p,) -> (u,) log-likelihood of each worker.
    start : (p,) sequence of float
        Where the search begins.
    bounds : (p,) sequence of (float, float)
        Where it stays.
    """
    begin: Floats = np.array(start, dtype=np.float64)

    def loss(point: Floats) -> float:
        return -float(each(point).sum())

    best = minimize(
        loss, begin, method="L-BFGS-B", bounds=Bounds(*np.array(bounds).T), options={"ftol": 1e-7}
    )
    return np.asarray(best.x, dtype=np.float64), -float(best.fun)


def _by_difference(of: Callable[[Floats], Floats], point: Floats) -> Floats:
    """(k, p) derivatives of k values, by central differences."""
    steps = _STEP * np.eye(len(point))
    return np.stack([(of(point + step) - of(point - step)) / (2 * _STEP) for step in steps], axis=1)


def log_normal_values(mu: float, sigma: float) -> Floats:
    """(5,) logarithms of M, S, median and quartiles of a log-normal law; that of S is -inf without spread."""
    variance = min(sigma * sigma, 700.0)
    log_mean = mu + variance / 2
    log_sd = log_mean + math.log(math.expm1(variance)) / 2 if variance else -math.inf
    return np.array([log_mean, log_sd, *(mu + place * sigma for place in QUANTILES)])


def log_normal_population(mu: float, sigma: float) -> Population:
    """Return a log-normal law on a grid that holds all but a ten-millionth of it."""
    z = np.linspace(-6.0, 6.0, POPULATION_NODES)
    share = np.exp(-z * z / 2)
    return mu + sigma * z, share / share.sum()


def law_values(log_mean: Floats, share: Floats) -> Floats:
    """(5,) logarithms of M, S, median and quartiles of a law on a grid."""
    mean = np.exp(log_mean)
    first = float(share @ mean)
    second = float(share @ (mean / first - 1) ** 2)
    middle = np.cumsum(share) - share / 2
    return np.array(
        [
            math.log(first),
            math.log(first) + math.log(max(second, 1e-12)) / 2,
            *np.interp(_QUARTILES, middle, log_mean),
        ]
    )
