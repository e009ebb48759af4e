"""Maximisation of log-likelihoods by Newton's steps, halved until they climb.

One loop for one likelihood with p parameters and for k of them at once, each with its own: then every number below has a
leading axis of k. What a likelihood knows of itself at a point, with slopes where it has them, is a `Place`; how far the
next step goes, and how much is still to be gained, the caller's ``step`` says.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from metrics.arrays import Floats


class LikelihoodPoint(Protocol):
    """Interface of a likelihood at a point."""

    @property
    def loglik(self) -> float | Floats:
        """Log-likelihood; -inf where the point is not allowed."""


class LogLikelihood(NamedTuple):
    """Value of a log-likelihood at a point, without slopes."""

    loglik: float | Floats


P = TypeVar("P", bound=LikelihoodPoint)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppingRule:
    """Tolerances and the largest number of steps of a climb.

    Attributes
    ----------
    least_promise : float
        Arrived, without a further step, where less than this is still promised.
    least_gain : float
        Arrived after a step that gained no more than this.
    most_steps, most_halvings : int
        Of the climb, and of each step; a step of which nothing climbs is not made.
    slack : float
        Share of the log-likelihood that rounding may take from a step that climbs.
    """

    least_promise: float
    least_gain: float = 0.0
    most_steps: int = 100
    most_halvings: int = 40
    slack: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Maximum(Generic[P]):
    """Last point of a climb, and whether it converged.

    Attributes
    ----------
    point : (p,) or (k, p) ndarray of float
        The parameters.
    place : Place
        What is known there.
    arrived : bool
        Not where the steps ran out.
    """

    point: Floats
    place: P
    arrived: bool


def maximise_newton(
    look: Callable[[Floats], P],
    start: Floats,
    step: Callable[[Floats, P], tuple[Floats, float | Floats]],
    rule: StoppingRule,
    bounds: tuple[Floats, Floats] | None = None,
) -> Maximum[P]:
    """Climb from ``start`` until ``rule`` stops.

    Parameters
    ----------
    look : callable
        (p,) or (k, p) point -> what is known there.
    start : (p,) or (k, p) ndarray of float
        Where to begin.
    step : callable
        Point and place -> the whole step, of the shape of the point, and what it promises (Newton's decrement): a number,
        or (k,) of them.
    rule : StoppingRule
        When to stop.
    bounds : ((p,), (p,)) ndarrays of float, optional
        Least and largest values; a step ends there.
    """
    point, likelihood = start, look(start)
    for _ in range(rule.most_steps):
        whole, promise = step(point, likelihood)
        if np.all(promise < rule.least_promise):
            return Maximum(point=point, place=likelihood, arrived=True)
        before = likelihood.loglik
        point, likelihood = _halved(look, (point, likelihood), whole, rule, bounds)
        if np.all(likelihood.loglik - before <= rule.least_gain):
            return Maximum(point=point, place=likelihood, arrived=True)
    return Maximum(point=point, place=likelihood, arrived=False)


def _halved(
    look: Callable[[Floats], P],
    here: tuple[Floats, P],
    whole: Floats,
    rule: StoppingRule,
    bounds: tuple[Floats, Floats] | None,
) -> tuple[Floats, P]:
    """Return the longest part of a step that climbs, or None.

    It tries the whole step, a half, a quarter, and so on.
    """
    point, likelihood = here
    least = likelihood.loglik - rule.slack * np.abs(likelihood.loglik)
    share = np.ones(np.shape(least))
    for _ in range(rule.most_halvings):
        candidate = point + share[..., None] * whole
        if bounds is not None:
            candidate = np.clip(candidate, *bounds)
        there = look(candidate)
        falls = ~(there.loglik >= least)
        if not falls.any():
            return candidate, there
        share = np.where(falls, share / 2, share)
    if falls.all():
        return here
    kept = np.where(falls[..., None], point, candidate)
    return kept, look(kept)
