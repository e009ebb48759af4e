"""Drawn table reads of people who are not as the model says."""

import numpy as np
import pandas as pd

from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES

MU, SIGMA = 1.290, 0.558


def crowd(
    seed: int,
    *,
    workers: int = 40,
    items: int = 15,
    item_sd: float = 0.0,
    careless: int = 0,
    overhead: float = 0.0,
    own_items: bool = False,
) -> pd.DataFrame:
    """Draw table reads of workers who all read the same items; the first ``careless`` take a second for each."""
    rng = np.random.default_rng([seed, 3])
    words = rng.permutation(np.linspace(8, 40, items).astype(int))
    speed = (
        rng.normal(MU, SIGMA, (workers, 1))
        + rng.normal(0, item_sd, items)
        + rng.normal(0, 0.5, (workers, items))
    )
    seconds = words * np.exp(-speed) + overhead
    seconds[:careless] = np.exp(rng.normal(0, 0.6, (careless, items)))
    worker, item = (axis.ravel() for axis in np.indices(seconds.shape))
    rows = {
        "worker": [f"W{number:03d}" for number in worker],
        "topic": "Q0",
        "page": [f"P{number}" for number in worker],
        "item": [f"{u if own_items else ''}U{i}" for u, i in zip(worker, item, strict=True)],
        "kind": "update",
        "words": words[item],
        "dwell_seconds": seconds.ravel(),
    }
    return check_frame(pd.DataFrame(rows), TABLES["reads"])
