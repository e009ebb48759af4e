"""Likelihood of answers about lateness of workers who differ in p0.

It covers the law of lateness and laws with one parameter more. Workers differ in p0 (logit p0_u normal), and everything here allows for it,
because it does no harm to L. Beside that law stand three, each with one number more: a floor, p0_u (f + (1 - f) L^lambda); careless people,
a share of whom answers whatever is asked, each with a chance of yes of their own, uniform on [0, 1]; own decays, logit L_u normal over
workers.

Each worker's answers are integrated by Gauss-Hermite quadrature. Each number more is on the edge of its range where the plain law holds,
so a likelihood ratio has half a chi-squared with one degree of freedom (Self and Liang 1987, case 5).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.optimize import minimize
from scipy.special import betaln, expit, logit, logsumexp, roots_hermitenorm

from calibration.checks.finding import edge_p
from calibration.inference.heterogeneity import CarelessClass, careless_class
from calibration.models.lateness.answers import LatenessCounts
from calibration.models.lateness.likelihood import maximum
from metrics.arrays import Floats

NOT_GEOMETRIC = "decay not geometric"
"""Fact that a floor, careless people, own decays and other forms explain."""
MAX_WORKERS = 1000
"""Largest number of workers in a test; of more, evenly chosen ones enter."""
Law: TypeAlias = Literal["floor", "own decay"]
_Height: TypeAlias = tuple[float, Floats]
_P0_NODES, _DECAY_NODES = 21, 11
_BOUNDS = [(-6.0, 8.0), (-3.0, 1.5), (-8.0, 8.0)]
"""Bounds of logit p0, the log of its deviation over workers, and logit L."""
_MIN_CHANCE = 1e-12
"""Smallest chance of a yes, and of a no."""
_START: dict[Law, tuple[float, tuple[float, float]]] = {
    "floor": (logit(0.05), (-9.0, 3.0)),
    "own decay": (np.log(0.3), (-4.0, 1.5)),
}
"""Start of the search of one number more, and its bounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdAtTop:
    """Parameters of a crowd at the maximum of its likelihood.

    Attributes
    ----------
    point : (q,) ndarray of float
        logit p0, log of its deviation over workers, logit L, and one number more where the law has it.
    loglik : float
        The log-likelihood there.
    """

    point: Floats
    loglik: float


def is_inside(counts: LatenessCounts) -> bool:
    """Return whether the decay is inside its range, so that laws can be compared."""
    decay, p0 = maximum(counts.level, counts.total_asked, counts.total_useful)
    return counts.workers > 1 and 0 < decay < 1 and p0 < 1


def thinned(counts: LatenessCounts) -> LatenessCounts:
    """Return the answers of at most `MAX_WORKERS` workers."""
    if counts.workers <= MAX_WORKERS:
        return counts
    return counts.of(np.linspace(0, counts.workers - 1, MAX_WORKERS).astype(np.intp))


@lru_cache(maxsize=1)
def plain_crowd(counts: LatenessCounts) -> CrowdAtTop:
    """Maximise the likelihood of workers who differ in p0 alone.

    All checks of a fit share it.
    """
    decay, p0 = maximum(counts.level, counts.total_asked, counts.total_useful)
    some, start = thinned(counts), np.array([logit(p0), np.log(0.5), logit(decay)])
    return _top(lambda point: _height(point, some), start, [])


def crowd_with(law: Law, counts: LatenessCounts) -> CrowdAtTop:
    """Maximise the likelihood of a law with one number more."""
    some, (start, bounds) = thinned(counts), _START[law]
    plain = plain_crowd(counts).point
    return _top(lambda point: _height(point, some, law), np.append(plain, start), [bounds])


def crowd_with_careless(counts: LatenessCounts) -> tuple[CrowdAtTop, CarelessClass]:
    """Maximise the likelihood with a share of careless people, and return them too.

    Careless people answer whatever the question is; the mask covers all workers.
    """
    some = thinned(counts)
    careless = _careless(some)
    top = _top(lambda point: _height(point, some, careless=careless), plain_crowd(counts).point, [])
    return top, careless_class(_by_worker(top.point, counts), _careless(counts))


def edge_ratio(more: CrowdAtTop, counts: LatenessCounts, effect: float = 1.0) -> tuple[float, float]:
    """Return the likelihood ratio of a number on an edge, scaled, and its p.

    It is divided by a design effect.
    """
    ratio = max(0.0, 2 * (more.loglik - plain_crowd(counts).loglik)) / max(1.0, effect)
    return ratio, edge_p(ratio)


def mean_decay(point: Floats) -> float:
    """Return the mean of the workers' own L, under the law of own decays.

    The law is at its maximum.
    """
    x, log_weight = _nodes(_DECAY_NODES)
    return float(np.exp(log_weight) @ expit(point[2] + np.exp(point[3]) * x))


def _top(height: Callable[[Floats], _Height], start: Floats, more: list[tuple[float, float]]) -> CrowdAtTop:

    def loss(point: Floats) -> _Height:
        loglik, slope = height(point)
        return -loglik, -slope

    arguments: Any = {"jac": True, "method": "L-BFGS-B", "bounds": _BOUNDS + more}
    top = minimize(loss, start, options={"ftol": 1e-8, "maxiter": 100}, **arguments)
    return CrowdAtTop(point=np.asarray(top.x), loglik=-float(top.fun))


def _careless(counts: LatenessCounts) -> Floats:
    """Return log-likelihoods of answers with an own chance of yes, (w,).

    That chance is uniform on [0, 1].
    """
    yes, no = counts.useful.sum(axis=1), (counts.asked - counts.useful).sum(axis=1)
    return np.asarray(betaln(yes + 1, no + 1))


def _height(
    point: Floats, counts: LatenessCounts, law: Law | None = None, careless: Floats | None = None
) -> _Height:
    """Return log-likelihood and slope at a point, by Fisher's identity.

    The point is (logit p0, log sd, logit L, one number more).
    """
    p, slopes, log_weight = _people(point, counts.level, law)
    terms = _terms(counts, p, log_weight)
    most = terms.max(axis=1, keepdims=True)
    shares = np.exp(terms - most)
    total = shares.sum(axis=1, keepdims=True)
    by_worker = (most + np.log(total))[:, 0]
    loglik, in_earnest = float(by_worker.sum()), np.ones(counts.workers)
    if careless is not None:
        mixed = careless_class(by_worker, careless)
        loglik, in_earnest = mixed.loglik, 1 - mixed.posterior
    shares *= in_earnest[:, None] / total
    rise = shares.T @ counts.useful - (shares.T @ (counts.asked - counts.useful)) * (p / (1 - p))
    return loglik, (slopes * rise).sum(axis=(1, 2))


def _by_worker(point: Floats, counts: LatenessCounts) -> Floats:
    """Return each worker's log-likelihood under the plain law, (w,)."""
    p, _, log_weight = _people(point, counts.level, None)
    return np.asarray(logsumexp(_terms(counts, p, log_weight), axis=1))


def _terms(counts: LatenessCounts, p: Floats, log_weight: Floats) -> Floats:
    """Return the log terms of each kind of people in each worker's likelihood, (w, m).

    A term is the share of a kind times the likelihood of the worker's answers under it.
    """
    return np.asarray(
        counts.useful @ np.log(p).T + (counts.asked - counts.useful) @ np.log1p(-p).T + log_weight
    )


def _people(point: Floats, level: Floats, law: Law | None) -> tuple[Floats, Floats, Floats]:
    """Return m kinds of people: chances of a yes, their slopes, and log shares.

    Shapes are (m, k), (q, m, k) for slopes of the logs, and (m,) for log shares.
    """
    x, log_share = _nodes(_P0_NODES)
    z, log_share_of_decay = _nodes(_DECAY_NODES if law == "own decay" else 1)
    floor = float(expit(point[3])) if law == "floor" else 0.0
    decay_sd = float(np.exp(point[3])) if law == "own decay" else 0.0
    apart = np.exp(point[1]) * x
    p0, decay = expit(point[0] + apart), expit(point[2] + decay_sd * z)
    left = decay[:, None] ** level
    share = floor + (1 - floor) * left
    p = np.clip(p0[:, None, None] * share, _MIN_CHANCE, 1 - _MIN_CHANCE)
    by_p0, by_decay = 1 - p0[:, None, None], (1 - floor) * level * left * (1 - decay[:, None]) / share
    slopes = [by_p0, by_p0 * apart[:, None, None], by_decay]
    if law == "floor":
        slopes.append((1 - left) / share * floor * (1 - floor))
    if law == "own decay":
        slopes.append(by_decay * decay_sd * z[:, None])
    flat = (len(slopes), p.shape[0] * p.shape[1], len(level))
    stacked = np.stack([np.broadcast_to(slope, p.shape) for slope in slopes]).reshape(flat)
    return p.reshape(flat[1:]), stacked, (log_share[:, None] + log_share_of_decay).ravel()


@lru_cache
def _nodes(count: int) -> tuple[Floats, Floats]:
    """Return nodes of a standard normal law, and the logarithms of their weights."""
    x, weight = roots_hermitenorm(count)
    return x, np.log(weight / weight.sum())
