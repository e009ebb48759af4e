"""Does a worker come at random moments, or by habit, or in bursts?

Given n and T, the events of a worker are uniform on (0, T). Of the k spacings that they leave, g = sum (spacing / T)^2 (Greenwood
1946) has mean 2 / (k + 1) and variance 4 (k - 1) / ((k + 1)^2 (k + 2) (k + 3)). k is n + 1 where time was fixed, n where the count
was. z = (sum g - sum E) / sqrt(sum Var) over workers; below 0 intervals are more regular than exponential ones, above 0 more uneven.
Where many sessions were cut, spacings say nothing, and the likelihood ratio against Weibull intervals stands in.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import chdtrc, gammaln, ndtr

from calibration.checks.durations.beside import (
    UNEVEN,
    is_small,
    listed,
    numbers_of,
    numbers_under,
)
from calibration.checks.finding import REJECTED, Finding
from calibration.inference.formatting import format_p
from calibration.inference.results import NotIdentifiedError
from calibration.models.durations.exposure import MIN_SECONDS, CensoredDurations, WorkerTotals, total
from calibration.models.durations.fit import DurationFit, many_cut
from calibration.models.durations.laws import TINY, ExtendedModel
from calibration.models.durations.likelihood import log_likelihoods
from calibration.models.durations.maximum import DurationMaximum, log_normal_values, maximum
from metrics.arrays import Bools, Floats, Indices

WEIBULL = "Weibull intervals"
_MIN_SPREAD = 0.05
_SHAPES = (math.log(0.15), math.log(6.0))


def check_regular_visits(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Test whether a worker's intervals are exponential, against Weibull ones."""
    z = greenwood_z(exposure)
    weibull = weibull_law(exposure, fit.top) if is_small(exposure) else None
    gain = 0.0 if weibull is None else max(weibull.loglik - fit.top.top.loglik, 0.0)
    if z is not None:
        p_value, is_regular = float(2 * ndtr(-abs(z))), z < 0
    elif weibull is not None:
        p_value, is_regular = float(chdtrc(1, 2 * gain)), weibull.point[2] > 0
    else:
        return None
    if p_value >= REJECTED:
        return None
    beside = (
        f"with Weibull intervals {numbers_under(weibull)}, not {numbers_of(fit)}"
        if weibull
        else numbers_of(fit)
    )
    return Finding(
        name="regular_visits" if is_regular else "uneven_visits",
        p_value=p_value,
        explains=UNEVEN,
        gain=gain,
        sentence=f"{_sentence(exposure, is_regular=is_regular)} ({format_p(p_value)}): {beside}.",
        sensitivity={} if weibull is None else listed(weibull, fit, explains="better"),
    )


def _sentence(exposure: CensoredDurations, *, is_regular: bool) -> str:
    how = "more regular" if is_regular else "more uneven"
    if exposure.design == "count":
        return f"The lengths of a worker's sessions are {how} than exponential ones, which MSU draws"
    when = "such as once a day at an hour of their own" if is_regular else "such as in bursts"
    return f"A worker's times away are {how} than exponential ones, which MSU draws, {when}"


def greenwood_z(exposure: CensoredDurations) -> float | None:
    """Return Greenwood's z over workers, or None without enough spacings.

    It is None where many of a given number of intervals were cut, or no worker has two spacings.
    """
    if many_cut(exposure):
        return None
    greenwood, k = _greenwood(exposure)
    used = k >= 2
    if not used.any():
        return None
    k, greenwood = k[used], greenwood[used]
    variance = 4 * (k - 1) / ((k + 1) ** 2 * (k + 2) * (k + 3))
    return float((greenwood - 2 / (k + 1)).sum() / math.sqrt(variance.sum()))


def _greenwood(exposure: CensoredDurations) -> tuple[Floats, Floats]:
    """Return each unit's sum of squared shares and number of spacings, (u,) each."""
    size, unit = exposure.units, exposure.unit
    seconds = exposure.seconds
    all_time = total(unit, seconds, size)
    before = np.concatenate([[0.0], np.cumsum(all_time)[:-1]])
    position = np.cumsum(seconds) - before[unit]
    at, whose = position[exposure.event], unit[exposure.event]
    first = np.diff(whose, prepend=-1) > 0
    spacing = np.where(first, at, np.diff(at, prepend=0.0))
    reached = np.zeros(size)
    reached[whose] = at
    n = total(whose, np.ones(len(whose)), size)
    rest = all_time - reached if exposure.design == "window" else np.zeros(size)
    whole = all_time if exposure.design == "window" else reached
    squares = total(whose, np.maximum(spacing, 0) ** 2, size) + rest**2
    k = np.where(n > 0, n + (exposure.design == "window"), 0)
    return np.divide(squares, whole**2, out=np.zeros(size), where=whole > 0), np.where(whole > 0, k, 0)


class _Pieces(NamedTuple):
    """Durations (p,) in units of ``scale``, with completeness and worker."""

    x: Floats
    event: Bools
    unit: Indices
    units: int
    scale: float

    def totals(self, shape: float) -> WorkerTotals:
        """Return each worker's n and sum of x^shape."""
        return WorkerTotals(
            events=np.bincount(self.unit, self.event, minlength=self.units).astype(np.float64),
            seconds=np.maximum(np.bincount(self.unit, self.x**shape, minlength=self.units), TINY),
        )


def weibull_law(exposure: CensoredDurations, top: DurationMaximum) -> ExtendedModel | None:
    """Fit Weibull intervals with log-normal scales, or return None.

    It returns None where they have no maximum.

    P(X > x | B) = exp(-x^k / B), log B normal: the compound likelihood of (n, sum x^k), with a Jacobian,

        l(k) = l_compound(n, sum x^k) + N log k + (k - 1) sum log x

    Its own parameters are mu and log sigma of log B, and log k.
    """
    scale = float(np.exp(np.log(exposure.totals().seconds).mean()))
    x = np.maximum(exposure.seconds, MIN_SECONDS) / scale
    pieces = _Pieces(x, exposure.event, exposure.unit, exposure.units, scale)
    events, logs = pieces.totals(1.0).events, np.log(x)
    of_events = np.bincount(pieces.unit, np.where(pieces.event, logs, 0.0), minlength=pieces.units)
    start = (top.mu - math.log(scale), max(top.log_sigma, math.log(0.1)))

    def beyond(log_shape: float) -> Floats:
        return events * (log_shape - math.log(scale)) + math.expm1(log_shape) * of_events

    def at_shape(log_shape: float) -> DurationMaximum:
        k = math.exp(log_shape)
        return maximum(pieces.totals(k), start=(k * start[0], start[1] + log_shape))

    def loss(log_shape: float) -> float:
        return -at_shape(log_shape).top.loglik - float(beyond(log_shape).sum())

    def each(point: Floats) -> Floats:
        own = log_likelihoods(pieces.totals(math.exp(point[2])), point[0], math.exp(point[1]))
        return np.asarray(own + beyond(float(point[2])))

    def values(point: Floats) -> Floats:
        k = math.exp(point[2])
        return log_normal_values(
            point[0] / k + math.log(scale) + float(gammaln(1 + 1 / k)), math.exp(point[1]) / k
        )

    try:
        best = minimize_scalar(loss, bounds=_SHAPES, method="bounded", options={"xatol": 1e-4})
        law = at_shape(float(best.x))
    except NotIdentifiedError:
        return None
    point = np.array([law.mu, max(law.log_sigma, math.log(_MIN_SPREAD)), float(best.x)])
    return ExtendedModel(name=WEIBULL, point=point, loglik=-float(best.fun), each=each, values=values)
