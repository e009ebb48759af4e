"""Maximisation of log-likelihoods by Newton's steps, halved until they climb.

One loop serves one likelihood with p parameters, or k likelihoods at once: then every array below has a leading axis of k.
A `LikelihoodPoint` holds the likelihood at a point, with slopes where it has them; the caller's ``step`` returns the next step
and the gain that it promises.
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
        Smallest promised gain for which another step is made.
    least_gain : float
        Gain of a step at or below which the climb ends.
    most_steps, most_halvings : int
        Largest numbers of steps, and of halvings of a step; a step that never climbs is dropped.
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
    place : LikelihoodPoint
        The likelihood there.
    arrived : bool
        False where the steps ran out.
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
        Returns the likelihood at a (p,) or (k, p) point.
    start : (p,) or (k, p) ndarray of float
        Where to begin.
    step : callable
        Returns the full step from a point, of its shape, and the gain that it promises (Newton's decrement): a number,
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
    """Return the point after the longest part of a step that climbs.

    It tries the whole step, a half, a quarter, and so on; where none climbs the point stays.
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


def information_at(
    gradient: Callable[[Floats], Floats], point: Floats, step: float, here: Floats | None = None
) -> Floats:
    """Return minus the second derivatives, (p, p), by forward differences of the gradient.

    ``here`` is the gradient at ``point``, where it is known.
    """
    here = gradient(point) if here is None else here
    hessian = np.stack([(gradient(point + each) - here) / step for each in step * np.eye(len(point))])
    return np.asarray(-(hessian + hessian.T) / 2)
