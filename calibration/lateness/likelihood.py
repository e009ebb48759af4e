"""The likelihood of lateness, and the generator of answers that follow it.

The likelihood of lateness: counts by worker and level, the maximum, scores and information.

An update that reaches a reader lambda visits late is still of use with probability

    p(lambda) = p0 L^lambda,    0^0 = 1    (the gain of a late nugget in Baruah, Smucker, Clarke, SIGIR 2015, section 2)

With log p = log p0 + lambda log L the log-likelihood is concave in (log L, log p0) wherever p <= 1, so it has one
maximum on [0, 1] x [0, 1]: inside, found by Newton's method, or on an edge, told by the sign of the gradient there.

With a floor f (`calibration.lateness.floor`) p(lambda) = p0 (f + (1 - f) L^lambda): some updates keep their use however late
they come.

Generator of answers about lateness: people and nuggets that differ, a floor, and people who do not look.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit, logit, xlog1py, xlogy

from calibration.inference.maximise import Height, StoppingRule, climb
from calibration.tables.files import checked
from calibration.tables.tables import TABLES
from metrics.arrays import Floats, Ints, Places

TOLERANCE = 1e-12
_RULE = StoppingRule(least_promise=TOLERANCE, most_halvings=100)
SMALLEST_LOG = -700.0
"""The logarithm of the smallest decay above 0 that is looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NuggetCrossing:
    """Answers by worker and nugget at once, where several workers were asked about one nugget; neither has a name.

    Attributes
    ----------
    worker, nugget : (c,) ndarray of int
        Of each couple that there are answers of, from 0 without holes.
    asked, useful : (c, k) ndarray of float
        Questions, and those answered with yes.
    """

    worker: Ints
    nugget: Ints
    asked: Floats
    useful: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class LatenessCounts:
    """Answers by worker and level; the workers have no names.

    Attributes
    ----------
    level : (k,) ndarray of float
        lambda, ascending, each once.
    asked, useful : (w, k) ndarray of float
        Questions, and those answered with yes.
    crossing : NuggetCrossing or None
        The same answers by worker and nugget; None where no nugget was asked of two workers.
    """

    level: Floats
    asked: Floats
    useful: Floats
    crossing: NuggetCrossing | None = None

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

    @property
    def by_nugget(self) -> "LatenessCounts | None":
        """The same answers with a nugget in place of each worker; None without a crossing."""
        if self.crossing is None:
            return None
        nugget = self.crossing.nugget
        asked, useful = (np.zeros((nugget.max() + 1, len(self.level))) for _ in range(2))
        np.add.at(asked, nugget, self.crossing.asked)
        np.add.at(useful, nugget, self.crossing.useful)
        return LatenessCounts(level=self.level, asked=asked, useful=useful)

    @property
    def by_couple(self) -> "LatenessCounts | None":
        """The same answers with a couple of worker and nugget in place of each worker; None without a crossing."""
        if self.crossing is None:
            return None
        return LatenessCounts(level=self.level, asked=self.crossing.asked, useful=self.crossing.useful)

    @property
    def clusters(self) -> int:
        """How many workers, or nuggets where these are crossed with them and fewer."""
        nuggets = self.by_nugget
        return self.workers if nuggets is None or nuggets.workers < 2 else min(self.workers, nuggets.workers)

    def weighted(self, weight: Floats) -> "LatenessCounts":
        """Return the answers, each worker's counted (w,) ``weight`` times."""
        crossing = self.crossing
        if crossing is not None:
            own = weight[crossing.worker][:, None]
            crossing = replace(crossing, asked=crossing.asked * own, useful=crossing.useful * own)
        own = weight[:, None]
        return replace(self, asked=self.asked * own, useful=self.useful * own, crossing=crossing)

    def of(self, workers: Ints) -> "LatenessCounts":
        """Return the answers of some workers, at the levels that they were asked about."""
        asked_at = self.asked[workers].any(axis=0)
        crossing = self.crossing
        if crossing is not None:
            place = np.full(self.workers, -1)
            place[workers] = np.arange(len(workers))
            kept = place[crossing.worker] >= 0
            nugget = np.unique(crossing.nugget[kept], return_inverse=True)[1]
            asked, useful = crossing.asked[kept][:, asked_at], crossing.useful[kept][:, asked_at]
            crossing = NuggetCrossing(
                worker=place[crossing.worker[kept]], nugget=nugget, asked=asked, useful=useful
            )
        asked, useful = self.asked[workers][:, asked_at], self.useful[workers][:, asked_at]
        return LatenessCounts(level=self.level[asked_at], asked=asked, useful=useful, crossing=crossing)

    def at(self, levels: slice) -> "LatenessCounts":
        """Return the answers at some of the levels."""
        crossing = self.crossing
        if crossing is not None:
            asked, useful = crossing.asked[:, levels], crossing.useful[:, levels]
            crossing = replace(crossing, asked=asked, useful=useful)
        level, asked, useful = self.level[levels], self.asked[:, levels], self.useful[:, levels]
        return LatenessCounts(level=level, asked=asked, useful=useful, crossing=crossing)


def lateness_counts(lateness: pd.DataFrame) -> LatenessCounts:
    """Count the rows of table lateness by worker, nugget and visits_late."""
    return counted(
        pd.factorize(lateness["worker"])[0],
        lateness["visits_late"].to_numpy(np.float64),
        lateness["useful"].to_numpy(np.float64),
        lateness.groupby(["topic", "nugget"], sort=False).ngroup().to_numpy(),
    )


def counted(worker: Places, late: Floats, useful: Floats, nugget: Places | None = None) -> LatenessCounts:
    """Count answers by worker and nugget, numbers from 0, and level; (n,) each.

    Without ``nugget`` each answer is on a nugget of its own.
    """
    level, place = np.unique(late, return_inverse=True)
    asked, yes = _tally(worker, place, useful, len(level))
    crossing = None if nugget is None else _crossing(worker, nugget, place, useful, len(level))
    return LatenessCounts(level=level, asked=asked, useful=yes, crossing=crossing)


def _crossing(
    worker: Places, nugget: Places, place: Places, useful: Floats, levels: int
) -> NuggetCrossing | None:
    of_worker = nugget.max() + 1
    couples, couple = np.unique(worker * of_worker + nugget, return_inverse=True)
    by_worker, by_nugget = np.divmod(couples, of_worker)
    by_nugget = np.unique(by_nugget, return_inverse=True)[1]
    if by_nugget.max() + 1 == len(couples):
        return None
    asked, yes = _tally(couple, place, useful, levels)
    return NuggetCrossing(worker=by_worker, nugget=by_nugget, asked=asked, useful=yes)


def _tally(cluster: Places, place: Places, useful: Floats, levels: int) -> tuple[Floats, Floats]:
    """Return the questions and the yeses of each cluster at each level."""
    asked = np.zeros((cluster.max() + 1, levels))
    yes = np.zeros_like(asked)
    np.add.at(asked, (cluster, place), 1.0)
    np.add.at(yes, (cluster, place), useful)
    return asked, yes


def chances(decay: float, p0: float, level: Floats, floor: float = 0.0) -> Floats:
    """Return p0 (f + (1 - f) L^lambda) with 0^0 = 1: (k,) -> (k,)."""
    return np.asarray(p0 * (floor + (1 - floor) * np.power(decay, level)))


def log_likelihood(
    decay: float, p0: float, level: Floats, asked: Floats, useful: Floats, floor: float = 0.0
) -> float:
    """Return sum_lambda s log p + (n - s) log(1 - p); -inf where an answer has chance 0.

    Parameters
    ----------
    decay, p0, floor : float in [0, 1]
        L, p0 and f.
    level, asked, useful : (k,) ndarray of float
        lambda, questions n and yeses s.
    """
    p = chances(decay, p0, level, floor)
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


def slopes(decay: float, level: Floats, floor: float = 0.0) -> Floats:
    """Return the slopes of log p in log L, log p0 and f at each level: (k,) -> (3, k)."""
    left = np.power(decay, level)
    share = floor + (1 - floor) * left
    return np.stack([level * (1 - floor) * left / share, np.ones_like(level), (1 - left) / share])


def scores_and_information(
    decay: float, p0: float, counts: LatenessCounts, floor: float = 0.0
) -> tuple[Floats, Floats]:
    """Return each worker's score and expected information in (log L, log p0, f), for L > 0 and p0 < 1.

    Returns
    -------
    (w, 3) ndarray of float
        Gradient of each worker's log-likelihood.
    (w, 3, 3) ndarray of float
        Minus the expected second derivatives, sum_lambda n p / (1 - p) x x' with the `slopes` x.
    """
    design = slopes(decay, counts.level, floor)
    p = chances(decay, p0, counts.level, floor)
    odds = p / (1 - p)
    scores = (counts.useful - (counts.asked - counts.useful) * odds) @ design.T
    information = np.einsum("wk,ik,jk->wij", counts.asked * odds, design, design, optimize=True)
    return scores, information


@dataclass(frozen=True, slots=True, kw_only=True)
class LatenessRaters:
    """People who say whether updates are of use: useful ~ Bernoulli(p0_wn (f + (1 - f) L_w^lambda)), 0^0 = 1.

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
        Standard deviation of logit p0_wn over workers.
    decay_concentration : float or None
        a + b of a Beta distribution of L_w over workers; None: all share L.
    floor : float in [0, 1)
        f, the share of use that no lateness takes away.
    nuggets : int or None
        How many there are, drawn at random for each answer; None: each answer is on a nugget of its own.
    nugget_sd : float
        Standard deviation of logit p0_wn over nuggets.
    careless : float in [0, 1]
        Share of the workers, rounded, whose answers do not depend on what is asked.
    careless_yes : float
        Chance of their yes.
    """

    decay: float
    p0: float = 0.8
    workers: int = 50
    ratings_per_worker: int = 20
    latest: int = 4
    worker_sd: float = 0.7
    decay_concentration: float | None = None
    floor: float = 0.0
    nuggets: int | None = None
    nugget_sd: float = 0.0
    careless: float = 0.0
    careless_yes: float = 0.5


def simulate_lateness(raters: LatenessRaters, rng: np.random.Generator) -> pd.DataFrame:
    """Draw table lateness."""
    worker, late, useful, nugget = _answers(raters, rng)
    number = np.arange(len(worker)) if nugget is None else nugget
    rows = pd.DataFrame(
        {
            "worker": np.char.add("W", worker.astype(str)),
            "topic": "E000",
            "nugget": np.char.add("N", number.astype(str)),
            "visits_late": late.astype(np.int64),
            "useful": useful.astype(bool),
        }
    )
    return checked(rows, TABLES["lateness"])


def simulate_lateness_counts(raters: LatenessRaters, rng: np.random.Generator) -> LatenessCounts:
    """Draw the same answers, counted: for many data sets in a short time."""
    return counted(*_answers(raters, rng))


def _answers(
    raters: LatenessRaters, rng: np.random.Generator
) -> tuple[Places, Floats, Floats, Places | None]:
    """Return worker, lambda, answer and nugget of each rating."""
    own_p0 = np.zeros(raters.workers)
    if raters.p0 < 1:
        own_p0 = raters.worker_sd * rng.standard_normal(raters.workers)
    own_decay = np.full(raters.workers, float(raters.decay))
    if raters.decay_concentration is not None:
        a = raters.decay * raters.decay_concentration
        own_decay = rng.beta(a, raters.decay_concentration - a, raters.workers)
    worker = np.repeat(np.arange(raters.workers), raters.ratings_per_worker)
    late = rng.integers(0, raters.latest + 1, len(worker)).astype(np.float64)
    luck = rng.random(len(worker))
    log_odds, nugget = own_p0[worker], None
    if raters.nuggets is not None:
        nugget = rng.integers(0, raters.nuggets, len(worker))
        log_odds = log_odds + raters.nugget_sd * rng.standard_normal(raters.nuggets)[nugget]
    p0 = expit(logit(raters.p0) + log_odds) if raters.p0 < 1 else 1.0
    chance = p0 * (raters.floor + (1 - raters.floor) * own_decay[worker] ** late)
    careless = worker < round(raters.careless * raters.workers)
    useful = luck < np.where(careless, raters.careless_yes, chance)
    return worker, late, useful.astype(np.float64), nugget
