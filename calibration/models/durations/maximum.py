"""Maximum of the likelihood of durations, overall or along a curve.

The search runs over mu and log sigma. Results are M and S of the log-normal law of the personal means:

    M = exp(mu + sigma^2 / 2),  S = M sqrt(exp(sigma^2) - 1)

A spread that cannot be told from none ends at the lower bound of sigma; S is then 0.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from calibration.inference.maximise import StoppingRule, maximise_newton
from calibration.inference.results import NotIdentifiedError
from calibration.models.durations.exposure import WorkerTotals
from calibration.models.durations.likelihood import LogLikelihoodExpansion, PersonExpansion, expansion
from metrics.arrays import Floats

MIN_LOG_SIGMA = math.log(1e-3)
MAX_LOG_SIGMA = math.log(4.0)
LONGEST_STEP = 2.0
QUARTILE = 0.6744897501960817
QUANTILES = (0.0, -QUARTILE, QUARTILE)
"""Median and quartiles of the standard normal law."""
_LOWER_BOUNDS, _UPPER_BOUNDS = np.array([-np.inf, MIN_LOG_SIGMA]), np.array([np.inf, MAX_LOG_SIGMA])
_RULE = StoppingRule(least_promise=1e-11, most_steps=200)
_RULE_ALONG = StoppingRule(least_promise=1e-9, most_steps=200)
_RULE_IN_MU = StoppingRule(least_promise=1e-7, least_gain=-math.inf, most_steps=50, slack=1e-12)


@dataclass(frozen=True, slots=True, kw_only=True)
class DurationMaximum:
    """Maximum of the likelihood of durations, with its curvature.

    Attributes
    ----------
    mu, log_sigma : float
        Where.
    top : LogLikelihoodExpansion
        Log-likelihood, gradient and Hessian there.
    """

    mu: float
    log_sigma: float
    top: LogLikelihoodExpansion

    @property
    def sigma(self) -> float:
        """Spread sigma, 0 at the lower bound."""
        return 0.0 if self.log_sigma <= MIN_LOG_SIGMA else math.exp(self.log_sigma)

    @property
    def mean(self) -> float:
        """M."""
        return math.exp(self.mu + self.sigma**2 / 2)

    @property
    def sd(self) -> float:
        """S."""
        return self.mean * math.sqrt(math.expm1(self.sigma**2))

    @property
    def log_cov(self) -> Floats:
        """Covariance of log M, S, median and quartiles, (5, 5), by the delta method."""
        quantiles = [[1.0, quantile * self.sigma] for quantile in QUANTILES]
        jacobian = np.vstack([log_jacobian(self.log_sigma), quantiles])
        return np.asarray(jacobian @ np.linalg.inv(-self.top.hessian) @ jacobian.T, dtype=np.float64)


def log_jacobian(log_sigma: float) -> Floats:
    """Return the derivatives of log M (first row) and log S in mu and log sigma."""
    v = math.exp(2 * log_sigma)
    return np.array([[1.0, v], [1.0, v - v / math.expm1(-v)]])


def maximum(
    totals: WorkerTotals,
    weights: Floats | None = None,
    start: tuple[float, float] | None = None,
    known: Sequence[PersonExpansion] | None = None,
) -> DurationMaximum:
    """Maximise the likelihood by Newton steps, shortened until they climb.

    The steps use the absolute curvature.

    Parameters
    ----------
    totals : WorkerTotals
        The data.
    weights : (u,) ndarray of float, optional
        How often each person counts; once by default.
    start : (float, float), optional
        mu and log sigma to begin at; by default from the moments of counts.
    known : sequence of Each, optional
        What `expansion_per_person` says there.

    Raises
    ------
    NotIdentifiedError
        If the likelihood still rises where the personal means differ by a factor of e^4, or the search does not end.
    """
    begin = np.array(moments(totals, weights) if start is None else start)

    def look(at: Floats) -> LogLikelihoodExpansion:
        return expansion(totals, at[0], at[1], weights, known if at is begin else None)

    optimum = maximise_newton(look, begin, _step, _RULE, (_LOWER_BOUNDS, _UPPER_BOUNDS))
    if not optimum.arrived:
        raise NotIdentifiedError(
            "the search for the likeliest distribution does not end; look for impossible durations"
        )
    mu, log_sigma = optimum.point.tolist()
    return _checked(DurationMaximum(mu=mu, log_sigma=log_sigma, top=optimum.place))


def moments(totals: WorkerTotals, weights: Floats | None = None) -> tuple[float, float]:
    """Return mu and log sigma by moments of counts, to start the search.

    r1 = sum n / sum T,  r2 = sum n (n - 1) / sum T^2,  sigma^2 = log(r2 / r1^2),  mu = -log r1 + sigma^2 / 2
    """
    w = np.ones(len(totals)) if weights is None else weights
    n, t = totals.events, totals.seconds
    first = (w @ n) / (w @ t)
    second = (w @ (n * (n - 1))) / (w @ t**2)
    ratio = second / first**2 if second > 0 else 0.0
    variance = min(max(math.log(ratio), 0.02), 4.0) if ratio > 1 else 0.02
    return variance / 2 - math.log(first), math.log(variance) / 2


def _step(point: Floats, here: LogLikelihoodExpansion) -> tuple[Floats, float]:
    """Return the step on the absolute curvature, and the gain that it promises.

    It goes along mu only where sigma would leave its bounds.

    What it promises is taken relative to the log-likelihood, of which rounding leaves that much.
    """
    leaves = (point[1] <= MIN_LOG_SIGMA and here.gradient[1] < 0) or (
        point[1] >= MAX_LOG_SIGMA and here.gradient[1] > 0
    )
    free = 1 if leaves else 2
    gradient, hessian = here.gradient[:free], here.hessian[:free, :free]
    values, vectors = np.linalg.eigh(hessian)
    curvature = np.maximum(np.abs(values), 1e-8)
    free_step = vectors @ ((vectors.T @ gradient) / curvature)
    free_step *= min(1.0, LONGEST_STEP / max(np.abs(free_step).max(), 1e-300))
    promise = float(gradient @ free_step) / (1 + abs(here.loglik) * 1e-3)
    return np.append(free_step, [0.0] * (2 - free)), promise


def _checked(optimum: DurationMaximum) -> DurationMaximum:
    if optimum.log_sigma >= MAX_LOG_SIGMA:
        raise NotIdentifiedError(
            "the workers differ beyond any log-normal distribution (its sigma would exceed 4): "
            "too few durations, or times in different units"
        )
    if not (math.isfinite(optimum.top.loglik) and optimum.top.hessian[0, 0] < 0):
        raise NotIdentifiedError("the likelihood has no top; look for impossible durations")
    return optimum


def log_normal_values(mu: float, sigma: float) -> Floats:
    """Return log M, S, median and quartiles of a log-normal law, (5,).

    Log S is -inf without spread.
    """
    variance = min(sigma * sigma, 700.0)
    log_mean = mu + variance / 2
    log_sd = log_mean + math.log(math.expm1(variance)) / 2 if variance else -math.inf
    return np.array([log_mean, log_sd, *(mu + quantile * sigma for quantile in QUANTILES)])


class ParameterCurve(Protocol):
    """Curve of (mu, log sigma) on which one parameter has one value.

    Its formula is mu = value - shift(log sigma).
    """

    def shift(self, log_sigma: float) -> tuple[float, float, float]:
        """Return the shift with its first and second derivative."""


class MeanCurve:
    """Curve of a given log M: mu = log M - sigma^2 / 2."""

    def shift(self, log_sigma: float) -> tuple[float, float, float]:
        """Return v / 2 and its derivatives in log sigma, v = sigma^2."""
        v = math.exp(2 * log_sigma)
        return v / 2, v, 2 * v


class SdCurve:
    """Curve of a given log S: mu = log S - sigma^2 / 2 - log(exp(sigma^2) - 1) / 2."""

    def shift(self, log_sigma: float) -> tuple[float, float, float]:
        """Return v / 2 + log(e^v - 1) / 2 and its derivatives in log sigma, v = sigma^2."""
        v = math.exp(2 * log_sigma)
        part = -math.expm1(-v)
        log_expm1 = v + math.log(part)
        second = 2 * v * (1 + 1 / part - v * math.exp(-v) / part**2)
        return (v + log_expm1) / 2, v + v / part, second


@dataclass(frozen=True, slots=True)
class QuantileCurve:
    """Curve of a given log quantile: mu = log quantile - z sigma.

    z is the quantile of the standard normal law.
    """

    place: float

    def shift(self, log_sigma: float) -> tuple[float, float, float]:
        """Return z sigma and its derivatives in log sigma, which are the same."""
        value = self.place * math.exp(log_sigma)
        return value, value, value


def along(totals: WorkerTotals, curve: ParameterCurve, value: float, log_sigma: float) -> DurationMaximum:
    """Maximise the likelihood over log sigma on a curve.

    Parameters
    ----------
    totals : WorkerTotals
        The data.
    curve : ParameterCurve
        Of log M or of log S.
    value : float
        That logarithm.
    log_sigma : float
        Where to begin.

    Returns
    -------
    DurationMaximum
        Its log_sigma may be a bound.
    """
    optimum = maximise_newton(
        lambda at: _on(totals, curve, value, float(at[0])),
        np.array([log_sigma]),
        _step_along,
        _RULE_ALONG,
        (_LOWER_BOUNDS[1:], _UPPER_BOUNDS[1:]),
    )
    found = float(optimum.point[0])
    return DurationMaximum(mu=value - curve.shift(found)[0], log_sigma=found, top=optimum.place.expansion)


class _OnCurve(NamedTuple):
    """Expansion of the log-likelihood at a point of a curve, with slope and bend."""

    expansion: LogLikelihoodExpansion
    slope: float
    bend: float

    @property
    def loglik(self) -> float:
        """Log-likelihood at the point."""
        return self.expansion.loglik


def _step_along(point: Floats, here: _OnCurve) -> tuple[Floats, float]:
    whole = np.clip(here.slope / max(abs(here.bend), 1e-8), -LONGEST_STEP, LONGEST_STEP)
    whole = np.clip(point + whole, MIN_LOG_SIGMA, MAX_LOG_SIGMA) - point
    return whole, abs(here.slope * float(whole[0]))


def _on(totals: WorkerTotals, curve: ParameterCurve, value: float, log_sigma: float) -> _OnCurve:
    shift, first, second = curve.shift(log_sigma)
    there = expansion(totals, value - shift, log_sigma)
    (by_mu, by_sigma), h = there.gradient, there.hessian
    slope = by_sigma - by_mu * first
    bend = h[1, 1] - 2 * h[0, 1] * first + h[0, 0] * first**2 - by_mu * second
    return _OnCurve(there, float(slope), float(bend))


def given_sigma(totals: WorkerTotals, log_sigma: float, mu: float) -> tuple[float, float, float]:
    """Return the largest log-likelihood with this sigma, its mu and mu's error there.

    The error is a standard error.

    Parameters
    ----------
    totals : WorkerTotals
        The data.
    log_sigma : float
        The logarithm of sigma.
    mu : float
        Where to begin.
    """

    def step(_: Floats, here: LogLikelihoodExpansion) -> tuple[Floats, float]:
        whole = float(here.gradient[0]) / _curvature(here)
        return np.array([min(max(whole, -1.0), 1.0)]), abs(whole)

    optimum = maximise_newton(
        lambda at: expansion(totals, float(at[0]), log_sigma), np.array([mu]), step, _RULE_IN_MU
    )
    return optimum.place.loglik, float(optimum.point[0]), 1 / math.sqrt(_curvature(optimum.place))


def _curvature(here: LogLikelihoodExpansion) -> float:
    return max(-float(here.hessian[0, 0]), 1e-12)
