"""Law of lateness, its likelihood and its maximum.

An update that reaches a reader lambda visits late is still of use with probability

    p(lambda) = p0 L^lambda,    0^0 = 1    (the gain of a late nugget in Baruah, Smucker, Clarke, SIGIR 2015, section 2)

p0 is fitted: not every update is of use even in time, and to fix it at 1 would make L too small. With log p = log p0 + lambda log L the
log-likelihood is concave in (log L, log p0) wherever p <= 1, so it has one maximum on [0, 1] x [0, 1]: inside, found by Newton's method, or
on an edge, told by the sign of the gradient there. With a floor f, p(lambda) = p0 (f + (1 - f) L^lambda): some updates keep their use
however late they come. The model has f = 0.
"""

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import xlog1py, xlogy

from calibration.inference.maximise import LogLikelihood, StoppingRule, maximise_newton
from calibration.models.lateness.answers import LatenessCounts
from metrics.arrays import Floats

TOLERANCE = 1e-12
_RULE = StoppingRule(least_promise=TOLERANCE, most_halvings=100)
MIN_LOG = -700.0
"""Logarithm of the smallest decay above 0 in the search."""


def useful_probabilities(decay: float, p0: float, level: Floats, floor: float = 0.0) -> Floats:
    """Return p0 (f + (1 - f) L^lambda) with 0^0 = 1: (k,) -> (k,)."""
    return np.asarray(p0 * (floor + (1 - floor) * np.power(decay, level)))


def log_likelihood(
    decay: float, p0: float, level: Floats, question_counts: Floats, useful: Floats, floor: float = 0.0
) -> float:
    """Return sum_lambda s log p + (n - s) log(1 - p), -inf if impossible.

    It is impossible where an observed answer has probability 0.

    Parameters
    ----------
    decay, p0, floor : float in [0, 1]
        L, p0 and f.
    level, question_counts, useful : (k,) ndarray of float
        lambda, questions n and yeses s.
    """
    p = useful_probabilities(decay, p0, level, floor)
    return float((xlogy(useful, p) + xlog1py(question_counts - useful, -p)).sum())


def maximum(level: Floats, question_counts: Floats, useful: Floats) -> tuple[float, float]:
    """Return (L, p0) of highest likelihood on [0, 1] x [0, 1].

    Parameters
    ----------
    level, question_counts, useful : (k,) ndarray of float
        lambda with 0 first, questions and yeses; some question of level 0 and a later one, some yes.
    """
    late = level > 0
    if not useful[late].any():
        return 0.0, float(useful[0] / question_counts[0])
    pooled = float(useful.sum() / question_counts.sum())
    if pooled == 1:
        return 1.0, 1.0
    if _gradient(0.0, math.log(pooled), level, question_counts, useful)[0] >= 0:
        return 1.0, pooled
    if useful[0] == question_counts[0]:
        decay = certain_decay(level[late], question_counts[late], useful[late])
        if (
            useful[0] + _gradient(math.log(decay), 0.0, level[late], question_counts[late], useful[late])[1]
            >= 0
        ):
            return decay, 1.0
    return _inside(level, question_counts, useful, math.log(pooled))


def certain_decay(level: Floats, question_counts: Floats, useful: Floats) -> float:
    """Return the L of highest likelihood if p0 = 1, from (k,) late levels."""
    if not useful.any():
        return 0.0
    if (useful == question_counts).all():
        return 1.0
    steepest = MIN_LOG / float(level.max())
    return math.exp(
        brentq(
            lambda log_decay: _gradient(log_decay, 0.0, level, question_counts, useful)[0],
            steepest,
            -TOLERANCE,
        )
    )


def _gradient(
    log_decay: float, log_p0: float, level: Floats, question_counts: Floats, useful: Floats
) -> Floats:
    """Return d l / d (log L, log p0) for p < 1."""
    p = np.exp(log_p0 + log_decay * level)
    residual = useful - (question_counts - useful) * p / (1 - p)
    return np.array([level @ residual, residual.sum()])


def _inside(level: Floats, question_counts: Floats, useful: Floats, log_pooled: float) -> tuple[float, float]:
    """Climb in (log L, log p0) from the pooled share, staying inside."""
    design = np.stack([level, np.ones_like(level)])

    def look(point: Floats) -> LogLikelihood:
        if not (point < 0).all():
            return LogLikelihood(-math.inf)
        return LogLikelihood(
            log_likelihood(math.exp(point[0]), math.exp(point[1]), level, question_counts, useful)
        )

    def step(point: Floats, _: LogLikelihood) -> tuple[Floats, float]:
        p = np.exp(point @ design)
        gradient = design @ (useful - (question_counts - useful) * p / (1 - p))
        curvature = (
            design * ((question_counts - useful) * p / (1 - p) ** 2)
        ) @ design.T + TOLERANCE * np.eye(2)
        whole = np.linalg.solve(curvature, gradient)
        return whole, float(gradient @ whole)

    log_decay, log_p0 = maximise_newton(look, np.array([-0.05, log_pooled]), step, _RULE).point
    return math.exp(log_decay), math.exp(log_p0)


def slopes(decay: float, level: Floats, floor: float = 0.0) -> Floats:
    """Return the slopes of log p in log L, log p0 and f at each level: (k,) -> (3, k)."""
    left = np.power(decay, level)
    share = floor + (1 - floor) * left
    return np.stack([level * (1 - floor) * left / share, np.ones_like(level), (1 - left) / share])


def scores_and_information(
    decay: float, p0: float, counts: LatenessCounts, floor: float = 0.0
) -> tuple[Floats, Floats]:
    """Return each worker's score and expected information in (log L, log p0, f).

    It needs L > 0 and p0 < 1.

    Returns
    -------
    (w, 3) ndarray of float
        Gradient of each worker's log-likelihood.
    (w, 3, 3) ndarray of float
        Minus the expected second derivatives, sum_lambda n p / (1 - p) x x' with the `slopes` x.
    """
    design = slopes(decay, counts.level, floor)
    p = useful_probabilities(decay, p0, counts.level, floor)
    odds = p / (1 - p)
    scores = (counts.useful - (counts.asked - counts.useful) * odds) @ design.T
    information = np.einsum("wk,ik,jk->wij", counts.asked * odds, design, design, optimize=True)
    return scores, information
