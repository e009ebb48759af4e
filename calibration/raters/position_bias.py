"""Position bias: how far people lean to one side of the screen when they choose one.

An intercept-only logit of left against right among the answers for one side, with the covariance clustered by worker.
Validation repeats do not count. Where sides are drawn by lot for every judgment a lean is noise; where a pair was always
shown the same way round it cannot be told from a liking for the systems that stood there, and a warning says so.
"""

import math
from collections.abc import Iterator
from types import MappingProxyType

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from calibration.inference.few import notes_on_few
from calibration.inference.results import LEVEL, CalibrationResult, NotIdentifiedError, warning
from calibration.inference.uncertainty import Scale, StudentT
from calibration.raters.consistency import clopper_pearson
from calibration.tables.preferences import resolved_sides
from calibration.user_model.model import Diagnostic
from metrics.agreement.query_mean import QueryMean, mean_by_query

NAME = "left_share"
UNEVEN = 0.01
"""Two-sided p-value below which the sides were hardly drawn by lot."""


def fit_position_bias(preferences: pd.DataFrame, *, level: float = LEVEL) -> CalibrationResult:
    """Measure how often people who choose a side choose the left one.

    logit P(left) = b;  Var(b) = W / (W - 1) sum_w (sum_j (y_wj - p))^2 / (n p (1 - p))^2

    Parameters
    ----------
    preferences : DataFrame
        Table preferences.
    level : float
        Of the intervals that diagnostics speak of.

    Returns
    -------
    CalibrationResult
        With parameter ``left_share``, kept on the logit scale. Its details: log_odds and log_odds_se, sided (answers for
        a side), equal_share, and a_left_share: how often the system that comes first in the alphabet stood on
        the left, which should be one half.

    Raises
    ------
    NotIdentifiedError
        If nobody chose a side.
    """
    first = preferences[preferences["validation_of"].isna()]
    sided = first[first["choice"].isin(["left", "right"])]
    if sided.empty:
        raise NotIdentifiedError("nobody chose a side")
    left = mean_by_query((sided["choice"] == "left").to_numpy(np.float64), sided["worker"])
    share = left.value
    is_open = 0 < share < 1 and left.standard_error > 0
    log_odds = math.log(share / (1 - share)) if 0 < share < 1 else math.copysign(math.inf, share - 0.5)
    error = left.standard_error / (share * (1 - share)) if is_open else math.nan
    sides = resolved_sides(first)
    return CalibrationResult(
        parameters=MappingProxyType({NAME: share}),
        unit="share",
        method="intercept-only logit, clustered by worker",
        uncertainty=MappingProxyType(
            {
                "worker_sandwich": StudentT(
                    centre=np.array([log_odds]),
                    cov=np.array([[error**2]]),
                    df=left.units - 1,
                    scale=Scale.LOGIT,
                )
            }
            if is_open
            else {}
        ),
        n_workers=left.units,
        n_rows=len(sided),
        details=MappingProxyType(
            {
                "log_odds": log_odds,
                "log_odds_se": error,
                "sided": float(len(sided)),
                "equal_share": 1 - len(sided) / len(first),
                "a_left_share": float((~sides["is_swapped"]).mean()),
            }
        ),
        diagnostics=(*_on_lean(left, level), *_on_design(first, sides)),
    )


def left_share_by_worker(preferences: pd.DataFrame, *, level: float = LEVEL) -> pd.DataFrame:
    """Count how often each worker who chose a side chose the left one; validation repeats do not count.

    Returns
    -------
    DataFrame
        One row per worker who chose a side: worker, answers, share, low and high (Clopper and Pearson).
    """
    sided = preferences[preferences["validation_of"].isna() & preferences["choice"].isin(["left", "right"])]
    counts = (sided["choice"] == "left").groupby(sided["worker"]).agg(["sum", "size"])
    low, high = clopper_pearson(counts["sum"], counts["size"], level)
    return pd.DataFrame(
        {
            "worker": counts.index,
            "answers": counts["size"].to_numpy(),
            "share": (counts["sum"] / counts["size"]).to_numpy(),
            "low": low,
            "high": high,
        }
    )


def _on_lean(left: QueryMean, level: float) -> Iterator[Diagnostic]:
    low, high = left.confidence_interval(level)
    if left.value in (0, 1):
        side = "left" if left.value else "right"
        yield warning(
            "one_side_only", f"All {int(left.counts.sum())} answers for a side are for the {side} one."
        )
    elif left.units < 2:
        yield warning(
            "one_worker", "With a single worker nothing is known about others: there is no interval."
        )
    elif low > 1 / 2 or high < 1 / 2:
        yield warning(
            "position_bias",
            f"People lean to the {'left' if low > 1 / 2 else 'right'}: {left.value:.0%} of the answers for a side are for "
            f"the left one, {level:.0%} interval {low:.0%} to {high:.0%}.",
        )
    if left.units > 1:
        yield from notes_on_few(workers=left.units)


def _on_design(first: pd.DataFrame, sides: pd.DataFrame) -> Iterator[Diagnostic]:
    """Say whether the sides were drawn by lot."""
    a_left = ~sides["is_swapped"].to_numpy(dtype=np.bool_)
    couple = [first["task"], first["topic"], sides["system_a"], sides["system_b"]]
    swaps = sides["is_swapped"].groupby(couple).agg(["mean", "size"])
    several = swaps[swaps["size"] > 1]
    if len(several) and several["mean"].isin([0, 1]).all():
        yield warning(
            "sides_not_drawn",
            f"Each of {len(several)} pairs was shown the same way round every time: a lean to a side cannot be told from "
            "a liking for the systems that stood there.",
        )
    elif binomtest(int(a_left.sum()), len(a_left)).pvalue < UNEVEN:
        yield warning(
            "uneven_sides",
            f"The system that comes first in the alphabet stood on the left in {a_left.mean():.0%} of {len(a_left)} "
            "judgments: the sides were not drawn evenly, so a lean to a side favours one system.",
        )
