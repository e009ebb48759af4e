"""How careful the workers were, in plain shares with workers as the unit: what the report prints.

What is beyond chance stands in `calibration.consistency` and `calibration.position_bias`.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration.consistency import repeats
from calibration.exclusion import left_out
from metrics.query_mean import QueryMean, mean_by_query

SIDED = ("left", "right")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerQuality:
    """What the validation pairs and the sides say.

    The means are shares with workers as the unit: their intervals are Student's t over workers.

    Attributes
    ----------
    left : QueryMean
        Share of left among the answers left and right, repeats not counted.
    consistent : QueryMean
        Share of repeats with the same system chosen, or an equal option, both times.
    identical : QueryMean
        Share of repeats with the same of the four options, the sides taken back.
    """

    left: QueryMean
    consistent: QueryMean
    identical: QueryMean


def worker_quality(
    preferences: pd.DataFrame, *, workers: pd.DataFrame | None = None, exclude: bool = True
) -> WorkerQuality:
    """Measure side bias and consistency.

    Parameters
    ----------
    preferences : DataFrame
        Table preferences, validation repeats included.
    workers : DataFrame or None
        Table workers, to leave out those excluded or withdrawn.
    exclude : bool
        Leave out excluded workers (withdrawn ones always are).
    """
    out = left_out(workers, exclude=exclude).index
    rows = preferences[~preferences["worker"].isin(out)]
    first = rows[rows["validation_of"].isna() & rows["choice"].isin(SIDED)]
    again = repeats(rows)
    return WorkerQuality(
        left=mean_by_query((first["choice"] == "left").to_numpy(np.float64), first["worker"]),
        consistent=mean_by_query(again["consistent"].to_numpy(np.float64), again["worker"]),
        identical=mean_by_query(again["identical"].to_numpy(np.float64), again["worker"]),
    )
