"""What naive code makes of stops: baselines to be shown beside the fit, never to be used."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd

from calibration.inference.results import CalibrationResult, NotIdentifiedError
from calibration.patience.stops import NAME


def naive_twice_median(stops: pd.DataFrame) -> CalibrationResult:
    """Take twice the median of the stops before a text's end, as if nobody had read on: too short."""
    stopped = stops.loc[~stops["reached_end"].astype(bool), "chars_read"].to_numpy(np.float64)
    if not len(stopped):
        raise NotIdentifiedError("nobody stopped before the end of a text")
    return _naive(
        2 * float(np.median(stopped)), "twice the median stop, texts read to the end dropped", stops
    )


def naive_largest_stop(stops: pd.DataFrame) -> CalibrationResult:
    """Take the largest stop, the maximum of the likelihood if stops were exact: a single wrong one moves it."""
    return _naive(float(stops["chars_read"].max()), "the largest stop", stops)


def _naive(patience: float, method: str, stops: pd.DataFrame) -> CalibrationResult:
    return CalibrationResult(
        parameters=MappingProxyType({NAME: patience}),
        unit="counted characters",
        method=method,
        uncertainty=MappingProxyType({}),
        n_workers=stops["worker"].nunique(),
        n_rows=len(stops),
    )


NAIVE: Mapping[str, Callable[[pd.DataFrame], CalibrationResult]] = MappingProxyType(
    {"twice_median": naive_twice_median, "largest_stop": naive_largest_stop}
)
"""Name of a baseline -> its function of table stops."""
