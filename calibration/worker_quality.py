"""How careful the workers were: repeats answered alike, and a lean to one side of the screen. Workers are the unit."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

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
    again = rows[rows["validation_of"].notna()]
    before = preferences.set_index("judgment").loc[again["validation_of"].tolist()]
    one, other = _chosen(before).to_numpy(), _chosen(again).to_numpy()
    equal = np.isin(one, ["equally_good", "equally_bad"]) & np.isin(other, ["equally_good", "equally_bad"])
    return WorkerQuality(
        left=mean_by_query((first["choice"] == "left").to_numpy(np.float64), first["worker"]),
        consistent=mean_by_query(((one == other) | equal).astype(np.float64), again["worker"]),
        identical=mean_by_query((one == other).astype(np.float64), again["worker"]),
    )


def _chosen(rows: pd.DataFrame) -> "pd.Series[str]":
    """Return the system chosen, or the equal option."""
    choice = rows["choice"]
    return choice.mask(choice == "left", "system " + rows["system_left"]).mask(
        choice == "right", "system " + rows["system_right"]
    )
