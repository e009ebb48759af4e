"""Naive estimators of patience and persistence; each docstring names its error."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd

from calibration.inference.results import CalibrationResult, NotIdentifiedError
from calibration.models.patience.stops import NAME, text_stops
from calibration.models.persistence import list_stops
from calibration.user_model.model import PERSISTENCE


def naive_twice_median(stops: pd.DataFrame) -> CalibrationResult:
    """Take twice the median of the stops before a text's end, as if nobody had read on: too short."""
    stops = text_stops(stops)
    stopped = stops.loc[~stops["reached_end"].astype(bool), "chars_read"].to_numpy(np.float64)
    if not len(stopped):
        raise NotIdentifiedError("nobody stopped before the end of a text")
    twice = 2 * float(np.median(stopped))
    return _result({NAME: twice}, "twice the median stop, texts read to the end dropped", stops)


def naive_largest_stop(stops: pd.DataFrame) -> CalibrationResult:
    """Take the largest stop, the maximum of the likelihood if stops were exact: a single wrong one moves it."""
    stops = text_stops(stops)
    return _result({NAME: float(stops["chars_read"].max())}, "the largest stop", stops)


def naive_mean_depth(stops: pd.DataFrame) -> CalibrationResult:
    """Take 1 - 1 / the mean rank read, as if every list were endless and read from its first entry by decision."""
    lists = list_stops(stops)
    if lists.empty:
        raise NotIdentifiedError("no stop in a ranked list")
    share = 1 - 1 / float(lists["rank_read"].clip(lower=1).mean())
    return _result({PERSISTENCE: share}, "1 - 1 / mean rank read", lists)


def _result(params: dict[str, float], method: str, stops: pd.DataFrame) -> CalibrationResult:
    return CalibrationResult(
        parameters=MappingProxyType(params),
        unit="probability" if PERSISTENCE in params else "counted characters",
        method=method,
        uncertainty=MappingProxyType({}),
        n_workers=stops["worker"].nunique(),
        n_rows=len(stops),
    )


NAIVE: Mapping[str, Callable[[pd.DataFrame], CalibrationResult]] = MappingProxyType(
    {"twice_median": naive_twice_median, "largest_stop": naive_largest_stop, "mean_depth": naive_mean_depth}
)
"""Name of a baseline -> its function of table stops."""
