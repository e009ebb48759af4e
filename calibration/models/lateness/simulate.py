"""Simulator of answers about lateness, by people, nuggets and topics that differ.

It can add a floor, and people who do not look.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from calibration.models.lateness.answers import LatenessCounts, counted
from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES
from metrics.arrays import Floats, Indices


@dataclass(frozen=True, slots=True, kw_only=True)
class LatenessRaters:
    """Simulated people who say whether updates are of use.

    The law is useful ~ Bernoulli(p0_wn (f + (1 - f) L_w^lambda)), with 0^0 = 1.

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
    topics : int
        How many there are; nugget n is of topic n modulo ``topics``.
    topic_sd : float
        Standard deviation of logit p0_wn over topics.
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
    topics: int = 1
    topic_sd: float = 0.0
    careless: float = 0.0
    careless_yes: float = 0.5


def simulate_lateness(raters: LatenessRaters, rng: np.random.Generator) -> pd.DataFrame:
    """Draw table lateness."""
    worker, late, useful, nugget = _answers(raters, rng)
    number = np.arange(len(worker)) if nugget is None else nugget
    topic = number % raters.topics
    rows = pd.DataFrame(
        {
            "worker": np.char.add("W", worker.astype(str)),
            "topic": np.char.add("E", np.char.zfill(topic.astype(str), 3)),
            "nugget": np.char.add("N", number.astype(str)),
            "visits_late": late.astype(np.int64),
            "useful": useful.astype(bool),
        }
    )
    return check_frame(rows, TABLES["lateness"])


def simulate_lateness_counts(raters: LatenessRaters, rng: np.random.Generator) -> LatenessCounts:
    """Draw counted answers: many data sets in a short time.

    Their law is that of `simulate_lateness`.
    """
    worker, late, useful, nugget = _answers(raters, rng)
    return counted(worker, late, useful, nugget, None if nugget is None else nugget % raters.topics)


def _answers(
    raters: LatenessRaters, rng: np.random.Generator
) -> tuple[Indices, Floats, Floats, Indices | None]:
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
        if raters.topic_sd:
            log_odds = log_odds + raters.topic_sd * rng.standard_normal(raters.topics)[nugget % raters.topics]
    p0 = expit(logit(raters.p0) + log_odds) if raters.p0 < 1 else 1.0
    chance = p0 * (raters.floor + (1 - raters.floor) * own_decay[worker] ** late)
    careless = worker < round(raters.careless * raters.workers)
    useful = luck < np.where(careless, raters.careless_yes, chance)
    return worker, late, useful.astype(np.float64), nugget
