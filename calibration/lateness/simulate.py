"""Generator for lateness: people say whether a late update was still of use to them."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit, logit

from calibration.inference.uncertainty import Floats
from calibration.lateness.likelihood import LatenessCounts, counted
from calibration.tables.files import checked
from calibration.tables.tables import TABLES


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


def _answers(raters: LatenessRaters, rng: np.random.Generator) -> tuple[NDArray[np.intp], Floats, Floats]:
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
