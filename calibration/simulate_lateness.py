"""Generator for lateness: people say whether a late update was still of use to them."""

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from calibration.table_files import checked
from calibration.tables import TABLES


def simulate_lateness(
    decay: float,
    rng: np.random.Generator,
    *,
    p0: float = 0.8,
    workers: int = 50,
    ratings_per_worker: int = 20,
    latest: int = 4,
    worker_sd: float = 0.7,
    decay_concentration: float | None = None,
) -> pd.DataFrame:
    """Draw table lateness: useful ~ Bernoulli(p0_w L_w^lambda), lambda uniform on 0 .. ``latest``, 0^0 = 1.

    Parameters
    ----------
    decay : float in [0, 1]
        L; the mean over workers where it varies.
    rng : Generator
        Source of the draws.
    p0 : float in (0, 1]
        Chance that an update in time is of use; at 1 it is 1 for every worker.
    workers, ratings_per_worker : int
        How much is asked.
    latest : int
        The most visits that an update is late.
    worker_sd : float
        Standard deviation of logit p0_w over workers.
    decay_concentration : float, optional
        a + b of a Beta distribution of L_w over workers; by default all share L.
    """
    own_p0 = np.ones(workers) if p0 == 1 else expit(logit(p0) + worker_sd * rng.standard_normal(workers))
    own_decay = np.full(workers, float(decay))
    if decay_concentration is not None:
        own_decay = rng.beta(decay * decay_concentration, (1 - decay) * decay_concentration, workers)
    worker = np.repeat(np.arange(workers), ratings_per_worker)
    late = rng.integers(0, latest + 1, len(worker))
    useful = rng.random(len(worker)) < own_p0[worker] * own_decay[worker] ** late
    rows = pd.DataFrame(
        {
            "worker": np.char.add("W", worker.astype(str)),
            "topic": "E000",
            "nugget": [f"N{number}" for number in range(len(worker))],
            "visits_late": late,
            "useful": useful,
        }
    )
    return checked(rows, TABLES["lateness"])
