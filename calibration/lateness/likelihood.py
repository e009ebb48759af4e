"""The likelihood of lateness: counts by worker and level, the maximum, scores and information, and a generator.

An update that reaches a reader lambda visits late is still of use with probability

    p(lambda) = p0 L^lambda,    0^0 = 1    (the gain of a late nugget in Baruah, Smucker, Clarke, SIGIR 2015, section 2)

With log p = log p0 + lambda log L the log-likelihood is concave in (log L, log p0) wherever p <= 1, so it has one
maximum on [0, 1] x [0, 1]: inside, found by Newton's method, or on an edge, told by the sign of the gradient there.
"""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit, logit, xlog1py, xlogy

from calibration.inference.maximise import Height, StoppingRule, climb
from calibration.tables.files import checked
from calibration.tables.tables import TABLES
from metrics.arrays import Floats, Places

TOLERANCE = 1e-12
_RULE = StoppingRule(least_promise=TOLERANCE, most_halvings=100)
SMALLEST_LOG = -700.0
"""The logarithm of the smallest decay above 0 that is looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatenessCounts:
    """Answers by worker and level; the workers have no names.

    Attributes
    ----------
    level : (k,) ndarray of float
        lambda, ascending, each once.
    asked, useful : (w, k) ndarray of float
        Questions, and those answered with yes.
    """

    level: Floats
    asked: Floats
    useful: Floats

    @property
    def workers(self) -> int:
        """How many answered."""
        return len(self.asked)

    @property
    def total_asked(self) -> Floats:
        """(k,) questions of all workers."""
        return np.asarray(self.asked.sum(axis=0))

    @property
    def total_useful(self) -> Floats:
        """(k,) yeses of all workers."""
        return np.asarray(self.useful.sum(axis=0))


def lateness_counts(lateness: pd.DataFrame) -> LatenessCounts:
    """Count the rows of table lateness by worker and visits_late."""
    return counted(
        pd.factorize(lateness["worker"])[0],
        lateness["visits_late"].to_numpy(np.float64),
        lateness["useful"].to_numpy(np.float64),
    )


def counted(worker: Places, late: Floats, useful: Floats) -> LatenessCounts:
    """Count answers by worker, a number from 0, and level; (n,) each."""
    level, place = np.unique(late, return_inverse=True)
    asked = np.zeros((worker.max() + 1, len(level)))
    yes = np.zeros_like(asked)
    np.add.at(asked, (worker, place), 1.0)
    np.add.at(yes, (worker, place), useful)
    return LatenessCounts(level=level, asked=asked, useful=yes)


def chances(decay: float, p0: float, level: Floats) -> Floats:
    """Return p0 L^lambda with 0^0 = 1: (k,) -> (k,)."""
    return np.asarray(p0 * np.power(decay, level))


def log_likelihood(decay: float, p0: float, level: Floats, asked: Floats, useful: Floats) -> float:
    """Return sum_lambda s log p + (n - s) log(1 - p); -inf where an answer has chance 0.

    Parameters
    ----------
    decay, p0 : float in [0, 1]
        L and p0.
    level, asked, useful : (k,) ndarray of float
        lambda, questions n and yeses s.
    """
    p = chances(decay, p0, level)
    return float((xlogy(useful, p) + xlog1py(asked - useful, -p)).sum())


def maximum(level: Floats, asked: Floats, useful: Floats) -> tuple[float, float]:
    """Return (L, p0) of highest likelihood on [0, 1] x [0, 1].

    Parameters
    ----------
    level, asked, useful : (k,) ndarray of float
        lambda with 0 first, questions and yeses; some question of level 0 and a later one, some yes.
    """
    late = level > 0
    if not useful[late].any():
        return 0.0, float(useful[0] / asked[0])
    pooled = float(useful.sum() / asked.sum())
    if pooled == 1:
        return 1.0, 1.0
    if _gradient(0.0, math.log(pooled), level, asked, useful)[0] >= 0:
        return 1.0, pooled
    if useful[0] == asked[0]:
        decay = certain_decay(level[late], asked[late], useful[late])
        if useful[0] + _gradient(math.log(decay), 0.0, level[late], asked[late], useful[late])[1] >= 0:
            return decay, 1.0
    return _inside(level, asked, useful, math.log(pooled))


def certain_decay(level: Floats, asked: Floats, useful: Floats) -> float:
    """Return the L of highest likelihood if p0 = 1, from (k,) late levels."""
    if not useful.any():
        return 0.0
    if (useful == asked).all():
        return 1.0
    steepest = SMALLEST_LOG / float(level.max())
    return math.exp(
        brentq(lambda log_decay: _gradient(log_decay, 0.0, level, asked, useful)[0], steepest, -TOLERANCE)
    )


def _gradient(log_decay: float, log_p0: float, level: Floats, asked: Floats, useful: Floats) -> Floats:
    """Return d l / d (log L, log p0) for p < 1."""
    p = np.exp(log_p0 + log_decay * level)
    residual = useful - (asked - useful) * p / (1 - p)
    return np.array([level @ residual, residual.sum()])


def _inside(level: Floats, asked: Floats, useful: Floats, log_pooled: float) -> tuple[float, float]:
    """Climb in (log L, log p0) from the pooled share, staying inside."""
    design = np.stack([level, np.ones_like(level)])

    def look(point: Floats) -> Height:
        if not (point < 0).all():
            return Height(-math.inf)
        return Height(log_likelihood(math.exp(point[0]), math.exp(point[1]), level, asked, useful))

    def step(point: Floats, _: Height) -> tuple[Floats, float]:
        p = np.exp(point @ design)
        gradient = design @ (useful - (asked - useful) * p / (1 - p))
        curvature = (design * ((asked - useful) * p / (1 - p) ** 2)) @ design.T + TOLERANCE * np.eye(2)
        whole = np.linalg.solve(curvature, gradient)
        return whole, float(gradient @ whole)

    log_decay, log_p0 = climb(look, np.array([-0.05, log_pooled]), step, _RULE).point
    return math.exp(log_decay), math.exp(log_p0)


def scores_and_information(decay: float, p0: float, counts: LatenessCounts) -> tuple[Floats, Floats]:
    """Return each worker's score and expected information in (log L, log p0), for L > 0 and p0 < 1.

    Returns
    -------
    (w, 2) ndarray of float
        Gradient of each worker's log-likelihood.
    (w, 2, 2) ndarray of float
        Minus the expected second derivatives, sum_lambda n p / (1 - p) x x' with x = (lambda, 1).
    """
    design = np.stack([counts.level, np.ones_like(counts.level)])
    p = chances(decay, p0, counts.level)
    odds = p / (1 - p)
    scores = (counts.useful - (counts.asked - counts.useful) * odds) @ design.T
    information = np.einsum("wk,ik,jk->wij", counts.asked * odds, design, design)
    return scores, information


@dataclass(frozen=True, slots=True, kw_only=True)
class LatenessRaters:
    """People who say whether updates are of use: useful ~ Bernoulli(p0_w L_w^lambda), 0^0 = 1.

    Attributes
    ----------
    decay : float in [0, 1]
        L; the mean over workers where it varies.
    p0 : float in (0, 1]
        Chance that an update in time is of use to a typical worker; at 1 it is 1 for everybody.
    workers, ratings_per_worker : int
        How much is asked.
    latest : int
        lambda is uniform on 0 .. ``latest``.
    worker_sd : float
        Standard deviation of logit p0_w over workers.
    decay_concentration : float or None
        a + b of a Beta distribution of L_w over workers; None: all share L.
    """

    decay: float
    p0: float = 0.8
    workers: int = 50
    ratings_per_worker: int = 20
    latest: int = 4
    worker_sd: float = 0.7
    decay_concentration: float | None = None


def simulate_lateness(raters: LatenessRaters, rng: np.random.Generator) -> pd.DataFrame:
    """Draw table lateness."""
    worker, late, useful = _answers(raters, rng)
    rows = pd.DataFrame(
        {
            "worker": np.char.add("W", worker.astype(str)),
            "topic": "E000",
            "nugget": np.char.add("N", np.arange(len(worker)).astype(str)),
            "visits_late": late.astype(np.int64),
            "useful": useful.astype(bool),
        }
    )
    return checked(rows, TABLES["lateness"])


def simulate_lateness_counts(raters: LatenessRaters, rng: np.random.Generator) -> LatenessCounts:
    """Draw the same answers, counted: for many data sets in a short time."""
    return counted(*_answers(raters, rng))


def _answers(raters: LatenessRaters, rng: np.random.Generator) -> tuple[Places, Floats, Floats]:
    """Return worker, lambda and the answer of each rating."""
    own_p0 = np.ones(raters.workers)
    if raters.p0 < 1:
        own_p0 = expit(logit(raters.p0) + raters.worker_sd * rng.standard_normal(raters.workers))
    own_decay = np.full(raters.workers, float(raters.decay))
    if raters.decay_concentration is not None:
        a = raters.decay * raters.decay_concentration
        own_decay = rng.beta(a, raters.decay_concentration - a, raters.workers)
    worker = np.repeat(np.arange(raters.workers), raters.ratings_per_worker)
    late = rng.integers(0, raters.latest + 1, len(worker)).astype(np.float64)
    useful = rng.random(len(worker)) < own_p0[worker] * own_decay[worker] ** late
    return worker, late, useful.astype(np.float64)
