"""Likelihood of durations whose mean differs between people.

The law is exponential within a person and log-normal between people:

    theta_u = log A_u ~ N(mu, sigma^2);  X_uj | A_u ~ Exp(mean A_u)

Given A_u, a person with n complete intervals and T seconds in all, cut intervals included, contributes A^-n exp(-T / A):
(n, T) is all that the data say, whatever their number of rows, and a person with n = 0 says something too. Up to a
constant it is the likelihood of a Poisson count n with mean T / A. The integral over theta is taken by Gauss-Hermite
quadrature whose nodes lie around each person's own posterior mode; nodes on the prior would miss it.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial.hermite import hermgauss
from scipy.special import wrightomega

from calibration.models.durations.exposure import WorkerTotals
from metrics.arrays import Floats

NODES = ((1.0, 15), (1.5, 25), (2.0, 41), (np.inf, 101))
"""Number of nodes up to each sigma.

The error of a person's log-likelihood is then below 1e-6 up to a sigma of 3.
"""
BLOCK = 1024
"""Number of people computed at once, whose nodes fit a processor's cache."""
MIN_SEEN_PROBABILITY = 1e-12
"""Floor of the probability that a person is seen, which keeps the search finite.

The search may pass through populations that are hardly ever seen.
"""
_LOG_ROOT_TWO_PI = 0.5 * np.log(2 * np.pi)


class LogLikelihoodExpansion(NamedTuple):
    """Log-likelihood with gradient (2,) and Hessian (2, 2) in (mu, log sigma)."""

    loglik: float
    gradient: Floats
    hessian: Floats


class Posterior(NamedTuple):
    """Log-likelihoods (u,), with nodes and weights of each person's posterior (k, u).

    Nodes are z = (theta - mu) / sigma.
    """

    loglik: Floats
    z: Floats
    weights: Floats


def posterior(events: Floats, seconds: Floats, mu: float, sigma: float) -> Posterior:
    """Return each person's log-likelihood and posterior.

    `posterior_moments` has the formulas.
    """
    rule, there = _rule(sigma), _integrand(events, seconds, mu, sigma)
    weights = there.values * rule.powers[0][:, None]
    total = weights.sum(axis=0)
    weights /= total
    z = rule.quadratic[:, 1:2] * there.scale
    z += there.z
    return Posterior(there.top + np.log(total), z, weights)


class Moments(NamedTuple):
    """Log-likelihoods (u,), posterior modes z (u,) and moments around them (m, u).

    z = (theta - mu) / sigma; moments are means of the powers of the distance from the mode.
    """

    loglik: Floats
    mode: Floats
    beside: Floats

    @property
    def mean(self) -> Floats:
        """Posterior mean of z, (u,)."""
        return np.asarray(self.mode + self.beside[0])

    @property
    def square(self) -> Floats:
        """Posterior mean of z^2, (u,)."""
        return np.asarray(self.mode * (self.mode + 2 * self.beside[0]) + self.beside[1])


def posterior_moments(events: Floats, seconds: Floats, mu: float, sigma: float, highest: int) -> Moments:
    """Return each person's log-likelihood and first ``highest`` posterior moments.

    log L = log INT exp(-n theta - T e^-theta) N(theta; mu, sigma^2) d theta

    The mode solves n = T e^-theta - (theta - mu) / sigma^2, in closed form by Wright's omega; the nodes are spread by the
    curvature there.
    """
    there = _integrand(events, seconds, mu, sigma)
    sums = _rule(sigma).powers[: highest + 1] @ there.values
    beside = sums[1:] * there.scale ** np.arange(1, highest + 1)[:, None] / sums[0]
    return Moments(there.top + np.log(sums[0]), there.z, beside)


class _Integrand(NamedTuple):
    """Integrand of each person's likelihood at nodes around its mode.

    Fields are z at the mode (u,), the distance of node 1 from there (u,), the integrand up to a factor (k, u), and the logarithm of
    that factor (u,).
    """

    z: Floats
    scale: Floats
    values: Floats
    top: Floats


def _integrand(events: Floats, seconds: Floats, mu: float, sigma: float) -> _Integrand:
    """Return the integrand at nodes d = theta - mode.

    As its slope is 0 at the mode, the exponent at a node is less by a (e^-d - 1 + d) + d^2 / (2 sigma^2), a = T e^-mode.
    Of that, what is quadratic in the node is a product of two small matrices.
    """
    rule = _rule(sigma)
    variance = sigma * sigma
    with np.errstate(divide="ignore"):
        pull = wrightomega(np.log(seconds) + np.log(variance) - mu + events * variance)
    mode = mu - events * variance + pull
    scale = np.sqrt(2 / (pull + 1))
    width, a = sigma * scale, pull / variance
    values = rule.quadratic[:, 1:2] @ -width[None]
    np.exp(values, out=values)
    values *= -a
    values += rule.quadratic @ np.stack([a, -a * width, pull / (pull + 1)])
    np.exp(values, out=values)
    z = (mode - mu) / sigma
    optimum = -events * mode - a - z * z / 2 + np.log(scale) - _LOG_ROOT_TWO_PI
    return _Integrand(z, scale, values, optimum)


class _Rule(NamedTuple):
    """Gauss-Hermite nodes as 1, x, x^2 (k, 3), and weights as w ... w x^4 (5, k)."""

    quadratic: Floats
    powers: Floats


def _rule(sigma: float) -> _Rule:
    return _gauss_hermite(next(count for up_to, count in NODES if sigma <= up_to))


@lru_cache
def _gauss_hermite(count: int) -> _Rule:
    nodes, weights = hermgauss(count)
    return _Rule(np.vander(nodes, 3, increasing=True), weights * np.vander(nodes, 5, increasing=True).T)


def log_likelihoods(totals: WorkerTotals, mu: float, sigma: float) -> Floats:
    """Return each person's log-likelihood without zero truncation, (u,)."""
    pieces = [
        posterior_moments(
            totals.events[at : at + BLOCK], totals.seconds[at : at + BLOCK], mu, sigma, 0
        ).loglik
        for at in range(0, len(totals), BLOCK)
    ]
    return np.concatenate(pieces) if pieces else np.zeros(0)


def expansion(
    totals: WorkerTotals,
    mu: float,
    log_sigma: float,
    weights: Floats | None = None,
    known: "Sequence[PersonExpansion] | None" = None,
) -> LogLikelihoodExpansion:
    """Return the log-likelihood with its exact first and second derivatives.

    The gradient is the posterior mean of the complete-data score (Fisher's identity), the Hessian that of the
    complete-data Hessian plus the posterior variance of the score (Louis 1982).

    Parameters
    ----------
    totals : WorkerTotals
        The data.
    mu, log_sigma : float
        Where.
    weights : (u,) ndarray of float, optional
        How often each person counts; once by default.
    known : sequence of Each, optional
        What `expansion_per_person` says there, where it was asked before.
    """
    counted = np.ones(len(totals)) if weights is None else weights
    plain = _weighted_sum(expansion_per_person(totals, mu, log_sigma) if known is None else known, counted)
    if totals.seen_by_seconds is None:
        return plain
    return _truncated(plain, totals.seen_by_seconds, counted, mu, log_sigma)


class PersonExpansion(NamedTuple):
    """Expansion of each person's log-likelihood, with a last axis of people.

    `LogLikelihoodExpansion` has the attributes.
    """

    loglik: Floats
    gradient: Floats
    hessian: Floats


def expansion_per_person(totals: WorkerTotals, mu: float, log_sigma: float) -> Sequence[PersonExpansion]:
    """Return each person's expansion without zero truncation.

    It computes `BLOCK` people at a time.
    """
    return tuple(
        _each(totals.events[at : at + BLOCK], totals.seconds[at : at + BLOCK], mu, log_sigma)
        for at in range(0, len(totals), BLOCK)
    )


def _weighted_sum(blocks: Sequence[PersonExpansion], weights: Floats) -> LogLikelihoodExpansion:
    loglik, gradient, hessian = 0.0, np.zeros(2), np.zeros((2, 2))
    for number, each in enumerate(blocks):
        counted = weights[number * BLOCK : (number + 1) * BLOCK]
        loglik += float(counted @ each.loglik)
        gradient += each.gradient @ counted
        hessian += each.hessian @ counted
    return LogLikelihoodExpansion(loglik, gradient, hessian)


def _each(events: Floats, seconds: Floats, mu: float, log_sigma: float) -> PersonExpansion:
    sigma = float(np.exp(log_sigma))
    there = posterior_moments(events, seconds, mu, sigma, 4)
    mean, square = there.mean, there.square
    one, two, three, four = there.beside
    variance, third = two - one * one, three - one * two
    gradient = np.stack([mean / sigma, square - 1])
    crossed = (2 * there.mode * variance + third - 2 * mean) / sigma
    of_square = 4 * there.mode * (there.mode * variance + third) + four - two * two
    hessian = np.stack([(variance - 1) / sigma**2, crossed, crossed, of_square - 2 * square])
    return PersonExpansion(there.loglik, gradient, hessian.reshape(2, 2, -1))


def _truncated(
    plain: LogLikelihoodExpansion, tau: Floats, weights: Floats, mu: float, log_sigma: float
) -> LogLikelihoodExpansion:
    """Subtract sum_u log(1 - P0(tau_u)), P0 = E exp(-tau / A), with its derivatives."""
    finite = np.isfinite(tau)
    if not finite.any():
        return plain
    times, which = np.unique(tau[finite], return_inverse=True)
    counted = np.bincount(which, weights[finite])
    none = _each(np.zeros(len(times)), times, mu, log_sigma)
    seen = np.maximum(-np.expm1(none.loglik), MIN_SEEN_PROBABILITY)
    odds = np.exp(none.loglik) / seen
    outer = none.gradient[:, None] * none.gradient
    hessian = odds * (none.hessian + outer * (1 + odds))
    return LogLikelihoodExpansion(
        plain.loglik - float(counted @ np.log(seen)),
        plain.gradient + (odds * none.gradient) @ counted,
        plain.hessian + hessian @ counted,
    )
