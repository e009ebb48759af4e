"""Durations whose mean differs between people: times at risk, what they add up to, and its likelihood.

Exponential within a person, log-normal between:

    theta_u = log A_u ~ N(mu, sigma^2);  X_uj | A_u ~ Exp(mean A_u)

Given A_u, a person with n complete intervals and T seconds in all, cut intervals included, contributes A^-n exp(-T / A):
(n, T) is all that the data say, whatever their number of rows, and a person with n = 0 says something too. Up to a
constant it is the likelihood of a Poisson count n with mean T / A. The integral over theta is taken by Gauss-Hermite
quadrature whose nodes lie around each person's own posterior mode; nodes on the prior would miss it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.polynomial.hermite import hermgauss
from scipy.special import wrightomega

from calibration.user_model.model import Diagnostic
from metrics.arrays import Bools, Floats, Places

NODES = ((1.0, 15), (1.5, 25), (2.0, 41), (np.inf, 101))
"""Up to which sigma how many nodes; the error of a person's log-likelihood is then below 1e-6 up to a sigma of 3."""
BLOCK = 1024
"""People at once: their nodes fit a processor's cache."""
LEAST_SEEN = 1e-12
"""Where the search passes through populations of which hardly anybody would be seen, it stays finite."""
_LOG_ROOT_TWO_PI = 0.5 * np.log(2 * np.pi)
Design: TypeAlias = Literal["window", "count"]
DAY_SECONDS = 86_400.0
LEAST_SECONDS = 1e-3
"""The tables' resolution: who had events in no time had them in this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What the durations of some people add up to.

    Attributes
    ----------
    events : (u,) ndarray of float
        n: complete intervals of each person.
    seconds : (u,) ndarray of float
        T: time of complete and cut intervals together, positive.
    seen_by_seconds : (u,) ndarray of float or None
        Zero truncation: who had no event in so much time would not be in the data; inf where somebody would be in any
        case. None: everybody would.
    """

    events: Floats
    seconds: Floats
    seen_by_seconds: Floats | None = None

    def __len__(self) -> int:
        """Return the number of people."""
        return len(self.events)

    def in_units_of(self, scale: float) -> "Totals":
        """Return the same with seconds divided by ``scale``."""
        tau = self.seen_by_seconds
        return Totals(
            events=self.events,
            seconds=self.seconds / scale,
            seen_by_seconds=None if tau is None else tau / scale,
        )


class Pieces(NamedTuple):
    """Times at risk, those of a follow one after the other: follow (p,), start and stop in seconds since it began (p,), event (p,)."""

    follow: Places
    start: Floats
    stop: Floats
    event: Bools

    def where(self, which: Bools | Places) -> "Pieces":
        """Return some of them."""
        return Pieces(self.follow[which], self.start[which], self.stop[which], self.event[which])


class Split(NamedTuple):
    """n and T of every follow before a moment and after it, (f,) each."""

    events_before: Floats
    seconds_before: Floats
    events_after: Floats
    seconds_after: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """Times at risk.

    Attributes
    ----------
    unit : (p,) ndarray of int
        Whose mean it is, from 0 without holes; pieces are ordered by unit, follow and time.
    follow : (p,) ndarray of int
        Place in ``follow_unit``.
    start, stop : (p,) ndarray of float
        Seconds since the follow began.
    event : (p,) ndarray of bool
        Whether it ended with what was waited for; else it was cut.
    follow_unit : (f,) ndarray of int
        Unit of each follow; -1 where it has no piece.
    follow_seconds : (f,) ndarray of float
        How long each follow was watched.
    seen_by_seconds : (u,) ndarray of float or None
        See `Totals`.
    design : {'window', 'count'}
        Whether time was given and events are random, or the reverse.
    notes : tuple of Diagnostic
        What was noticed in the tables.
    follow_begun : (f,) ndarray of float or None
        When each follow began, in seconds of the same kind since a midnight; None where that is not known.
    day_seconds : float
        Seconds of that kind in a calendar day.
    """

    unit: Places
    follow: Places
    start: Floats
    stop: Floats
    event: Bools
    follow_unit: Places
    follow_seconds: Floats
    seen_by_seconds: Floats | None
    design: Design
    notes: tuple[Diagnostic, ...]
    follow_begun: Floats | None = None
    day_seconds: float = DAY_SECONDS

    @classmethod
    def of(
        cls,
        pieces: Pieces,
        *,
        follow_unit: Places,
        follow_seconds: Floats,
        seen_anyway: Bools | None,
        design: Design,
        notes: tuple[Diagnostic, ...],
        follow_begun: Floats | None = None,
        day_seconds: float = DAY_SECONDS,
    ) -> Self:
        """Order pieces, those of a follow as they come, and number anew the units that have time at risk or an event.

        ``seen_anyway``, (f,) or None: with zero truncation, which follows would be in the tables without an event. Units
        without an event in which no follow is such leave the data.
        """
        size = int(follow_unit.max(initial=-1)) + 1
        pieces = pieces.where(pieces.event | (pieces.stop > pieces.start))
        kept = np.bincount(follow_unit[pieces.follow], minlength=size) > 0
        tau = None
        if seen_anyway is not None:
            anyway = np.bincount(follow_unit[seen_anyway], minlength=size) > 0
            kept &= anyway | (np.bincount(follow_unit[pieces.follow[pieces.event]], minlength=size) > 0)
            tau = np.where(anyway, np.inf, total(follow_unit, follow_seconds, size))[kept]
        number = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.intp)
        pieces = pieces.where(kept[follow_unit[pieces.follow]])
        unit = number[follow_unit[pieces.follow]]
        order = np.argsort(unit * len(follow_unit) + pieces.follow, kind="stable")
        ordered = pieces.where(order)
        return cls(
            unit=unit[order],
            follow=ordered.follow,
            start=ordered.start,
            stop=ordered.stop,
            event=ordered.event,
            follow_unit=number[follow_unit],
            follow_seconds=follow_seconds,
            seen_by_seconds=tau,
            design=design,
            notes=notes,
            follow_begun=follow_begun,
            day_seconds=day_seconds,
        )

    @property
    def units(self) -> int:
        """How many units there are."""
        return int(self.follow_unit.max(initial=-1)) + 1

    @property
    def seconds(self) -> Floats:
        """(p,) length of each piece."""
        return self.stop - self.start

    def totals(self) -> Totals:
        """Return n and T of every unit."""
        return Totals(
            events=self._sum(self.event),
            seconds=np.maximum(self._sum(self.seconds), LEAST_SECONDS),
            seen_by_seconds=self.seen_by_seconds,
        )

    def follow_totals(self) -> tuple[Floats, Floats]:
        """Return n and T of every follow, (f,) each."""
        size = len(self.follow_unit)
        return total(self.follow, self.event, size), total(self.follow, self.seconds, size)

    def split(self, share: float) -> Split:
        """Return n and T of every follow up to a share of its time, and after it."""
        cut = share * self.follow_seconds[self.follow]
        before = np.clip(np.minimum(self.stop, cut) - self.start, 0, None)
        early = self.event & (self.stop <= cut)
        size = len(self.follow_unit)
        return Split(
            total(self.follow, early, size),
            total(self.follow, before, size),
            total(self.follow, self.event & ~early, size),
            total(self.follow, self.seconds - before, size),
        )

    def _sum(self, values: Floats | Bools) -> Floats:
        return total(self.unit, values, self.units)


def total(group: Places, values: Floats | Bools, size: int) -> Floats:
    """Return the sum of values in each of ``size`` groups."""
    return np.bincount(group, values, minlength=size).astype(np.float64)


class Expansion(NamedTuple):
    """A log-likelihood, its gradient (2,) and Hessian (2, 2) in (mu, log sigma)."""

    loglik: float
    gradient: Floats
    hessian: Floats


class Posterior(NamedTuple):
    """log L (u,), and nodes z = (theta - mu) / sigma with weights (k, u) that make up each person's posterior."""

    loglik: Floats
    z: Floats
    weights: Floats

    def moments(self, highest: int) -> Floats:
        """Return the means of z, z^2 ... of each person, (highest, u)."""
        left, found = self.weights.copy(), np.empty((highest, len(self.loglik)))
        for power in range(highest):
            left *= self.z
            left.sum(axis=0, out=found[power])
        return found


def posterior(events: Floats, seconds: Floats, mu: float, sigma: float) -> Posterior:
    """Return each person's log-likelihood and posterior.

    log L = log INT exp(-n theta - T e^-theta) N(theta; mu, sigma^2) d theta

    The mode solves n = T e^-theta - (theta - mu) / sigma^2, in closed form by Wright's omega; the nodes are spread by the
    curvature there.
    """
    loglik, terms, total, z, z_at_mode = _integral(events, seconds, mu, sigma)
    terms /= total
    z /= sigma
    z += z_at_mode
    return Posterior(loglik, z, terms)


class _Integral(NamedTuple):
    """log L (u,), what it adds up (k, u) to its total (u,), theta less its mode at each node (k, u), z at the mode (u,)."""

    loglik: Floats
    terms: Floats
    total: Floats
    beyond: Floats
    z_at_mode: Floats


def _integral(events: Floats, seconds: Floats, mu: float, sigma: float) -> _Integral:
    """Integrate at nodes d = theta - mode, (k, u) in place, for speed.

    As its slope is 0 at the mode, the exponent at a node is less by a (e^-d - 1 + d) + d^2 / (2 sigma^2), a = T e^-mode.
    """
    nodes, weights = (column[:, None] for column in _nodes(sigma))
    variance = sigma * sigma
    with np.errstate(divide="ignore"):
        pull = wrightomega(np.log(seconds) + np.log(variance) - mu + events * variance)
    mode = mu - events * variance + pull
    width = sigma * np.sqrt(2 / (pull + 1))
    beyond = width * nodes
    terms = np.exp(-beyond)
    terms += beyond - 1
    terms *= -pull / variance
    terms += nodes**2 * (pull / (pull + 1))
    np.exp(terms, out=terms)
    terms *= weights
    total = terms.sum(axis=0)
    z = (mode - mu) / sigma
    top = -events * mode - pull / variance - z * z / 2
    return _Integral(top + np.log(total * width / sigma) - _LOG_ROOT_TWO_PI, terms, total, beyond, z)


def _nodes(sigma: float) -> tuple[Floats, Floats]:
    return _gauss_hermite(next(count for up_to, count in NODES if sigma <= up_to))


@lru_cache
def _gauss_hermite(count: int) -> tuple[Floats, Floats]:
    return hermgauss(count)


def log_likelihoods(totals: Totals, mu: float, sigma: float) -> Floats:
    """(u,) log-likelihood of each person, without the term of a zero truncation."""
    pieces = [
        _integral(totals.events[at : at + BLOCK], totals.seconds[at : at + BLOCK], mu, sigma).loglik
        for at in range(0, len(totals), BLOCK)
    ]
    return np.concatenate(pieces) if pieces else np.zeros(0)


def expansion(
    totals: Totals,
    mu: float,
    log_sigma: float,
    weights: Floats | None = None,
    known: "Sequence[Each] | None" = None,
) -> Expansion:
    """Return the log-likelihood with its exact first and second derivatives.

    The gradient is the posterior mean of the complete-data score (Fisher's identity), the Hessian that of the
    complete-data Hessian plus the posterior variance of the score (Louis 1982).

    Parameters
    ----------
    totals : Totals
        The data.
    mu, log_sigma : float
        Where.
    weights : (u,) ndarray of float, optional
        How often each person counts; once by default.
    known : sequence of Each, optional
        What `each_at` says there, where it was asked before.
    """
    counted = np.ones(len(totals)) if weights is None else weights
    plain = _weighted_sum(each_at(totals, mu, log_sigma) if known is None else known, counted)
    if totals.seen_by_seconds is None:
        return plain
    return _truncated(plain, totals.seen_by_seconds, counted, mu, log_sigma)


class Each(NamedTuple):
    """As `Expansion`, with a last axis of people."""

    loglik: Floats
    gradient: Floats
    hessian: Floats


def each_at(totals: Totals, mu: float, log_sigma: float) -> Sequence[Each]:
    """Return what each person adds, `BLOCK` people after the other, without the term of a zero truncation."""
    return tuple(
        _each(totals.events[at : at + BLOCK], totals.seconds[at : at + BLOCK], mu, log_sigma)
        for at in range(0, len(totals), BLOCK)
    )


def _weighted_sum(blocks: Sequence[Each], weights: Floats) -> Expansion:
    loglik, gradient, hessian = 0.0, np.zeros(2), np.zeros((2, 2))
    for number, each in enumerate(blocks):
        counted = weights[number * BLOCK : (number + 1) * BLOCK]
        loglik += float(counted @ each.loglik)
        gradient += each.gradient @ counted
        hessian += each.hessian @ counted
    return Expansion(loglik, gradient, hessian)


def _each(events: Floats, seconds: Floats, mu: float, log_sigma: float) -> Each:
    sigma = float(np.exp(log_sigma))
    there = posterior(events, seconds, mu, sigma)
    one, two, three, four = there.moments(4)
    gradient = np.stack([one / sigma, two - 1])
    crossed = (three - one * two - 2 * one) / sigma
    hessian = np.stack([(two - one * one - 1) / sigma**2, crossed, crossed, four - two * two - 2 * two])
    return Each(there.loglik, gradient, hessian.reshape(2, 2, -1))


def _truncated(plain: Expansion, tau: Floats, weights: Floats, mu: float, log_sigma: float) -> Expansion:
    """Subtract sum_u log(1 - P0(tau_u)), P0 = E exp(-tau / A), with its derivatives."""
    finite = np.isfinite(tau)
    if not finite.any():
        return plain
    times, which = np.unique(tau[finite], return_inverse=True)
    counted = np.bincount(which, weights[finite])
    none = _each(np.zeros(len(times)), times, mu, log_sigma)
    seen = np.maximum(-np.expm1(none.loglik), LEAST_SEEN)
    odds = np.exp(none.loglik) / seen
    outer = none.gradient[:, None] * none.gradient
    hessian = odds * (none.hessian + outer * (1 + odds))
    return Expansion(
        plain.loglik - float(counted @ np.log(seen)),
        plain.gradient + (odds * none.gradient) @ counted,
        plain.hessian + hessian @ counted,
    )
