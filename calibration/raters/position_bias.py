"""Position bias: the lean of workers to one side of the screen.

An intercept-only logit of left against right among the answers for one side, with the covariance clustered by worker, or by topic
where the judges are unknown.
Validation repeats do not count. Where sides are random for every judgment, a lean adds noise. Where they are uneven
(`calibration.inference.uneven_sides`), the share also shows which system stood there; the lean between equals of the vote model
(`calibration.inference.sides`) does not.
"""

import math
from collections.abc import Iterator
from types import MappingProxyType
from typing import Literal

import numpy as np
import pandas as pd
from scipy.special import expit

from calibration.inference.results import LEVEL, NotIdentifiedError, warning
from calibration.inference.sides import without_side
from calibration.inference.uncertainty import Scale, StudentT
from calibration.inference.uneven_sides import UnevenSides, uneven_sides
from calibration.raters.consistency import clopper_pearson
from calibration.raters.measure import RaterMeasure
from calibration.tables.preferences import knows_workers, resolved_sides, systems_shown
from calibration.user_model.model import Diagnostic
from metrics.agreement.agreement import QueryMean, mean_by_query
from metrics.arrays import Ints
from metrics.errors import percent

NAME = "left_share"


def fit_position_bias(preferences: pd.DataFrame, *, level: float = LEVEL) -> RaterMeasure:
    """Estimate how often people who choose a side choose the left one.

    logit P(left) = b;  Var(b) = W / (W - 1) sum_w (sum_j (y_wj - p))^2 / (n p (1 - p))^2

    over workers w, or over topics where the judges are unknown.

    Parameters
    ----------
    preferences : DataFrame
        Table preferences.
    level : float
        Confidence level of the intervals in diagnostics.

    Returns
    -------
    RaterMeasure
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
    cluster: Literal["worker", "topic"] = "worker" if knows_workers(first) else "topic"
    left = mean_by_query((sided["choice"] == "left").to_numpy(np.float64), sided[cluster])
    share = left.value
    is_open = 0 < share < 1 and left.standard_error > 0
    log_odds = math.log(share / (1 - share)) if 0 < share < 1 else math.copysign(math.inf, share - 0.5)
    error = left.standard_error / (share * (1 - share)) if is_open else math.nan
    sides = resolved_sides(first)
    return RaterMeasure(
        parameters=MappingProxyType({NAME: share}),
        unit="share",
        method=f"intercept-only logit, clustered by {cluster}",
        uncertainty=MappingProxyType(
            {
                f"{cluster}_sandwich": StudentT(
                    centre=np.array([log_odds]),
                    cov=np.array([[error**2]]),
                    df=left.units - 1,
                    scale=Scale.LOGIT,
                )
            }
            if is_open
            else {}
        ),
        n_workers=left.units if cluster == "worker" else None,
        n_rows=len(sided),
        sampled=cluster,
        clusters=left.units,
        details=MappingProxyType(
            {
                "log_odds": log_odds,
                "log_odds_se": error,
                "sided": float(len(sided)),
                "equal_share": 1 - len(sided) / len(first),
                "a_left_share": float((~sides["is_swapped"]).mean()),
            }
        ),
        diagnostics=tuple(_on_lean(first, left, level, cluster)),
    )


def left_share_by_worker(preferences: pd.DataFrame, *, level: float = LEVEL) -> pd.DataFrame:
    """Count each worker's choices of the left side, among choices of a side.

    Validation repeats do not count.

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


def uneven_sides_of(rows: pd.DataFrame) -> UnevenSides | None:
    """Return what shows that the sides of judgments were not drawn by lot, or None.

    Parameters
    ----------
    rows : DataFrame
        Rows of table preferences. A system in two tasks counts as two.
    """
    left, right, names = _sides(rows)
    topic = pd.factorize(pd.MultiIndex.from_frame(rows[["task", "topic"]].astype("str")))[0]
    return uneven_sides(left, right, topic, names)


def _sides(rows: pd.DataFrame) -> tuple[Ints, Ints, list[str]]:
    """Return codes of the systems on the left and on the right, and their names."""
    task = rows["task"].astype("str") + ": " if len(rows["task"].unique()) > 1 else ""
    shown = [task + side.astype("str") for side in systems_shown(rows)]
    codes, names = pd.factorize(pd.concat(shown), sort=True)
    return codes[: len(rows)], codes[len(rows) :], list(names)


def _lean_between_equals(rows: pd.DataFrame) -> str:
    """Return the lean of the vote model, which knows which system stood where, as a clause."""
    left, right, _ = _sides(rows)
    votes = rows["choice"].map({"left": 1.0, "right": 0.0}).astype("float64").fillna(0.5)
    side = without_side(left, right, votes.to_numpy())
    if not side.is_separable:
        return "and the vote model cannot tell the two apart"
    return f"and between equals it is {percent(expit(side.side), 1)} by the vote model"


def _on_lean(rows: pd.DataFrame, left: QueryMean, level: float, cluster: str) -> Iterator[Diagnostic]:
    low, high = left.confidence_interval(level)
    share = f"{percent(left.value)} of the answers for a side are for the left one"
    if left.value in (0, 1):
        side = "left" if left.value else "right"
        yield warning(
            "one_side_only", f"All {int(left.counts.sum())} answers for a side are for the {side} one."
        )
    elif left.units < 2:
        yield warning(
            f"one_{cluster}", f"With a single {cluster} nothing is known about others: there is no interval."
        )
    elif low > 1 / 2 or high < 1 / 2:
        interval = f"{percent(level)} interval {percent(low)} to {percent(high)}"
        yield warning(
            "position_bias",
            f"People lean to the {'left' if low > 1 / 2 else 'right'}: {share}, {interval}."
            if uneven_sides_of(rows) is None
            else f"{share} ({interval}), but sides were uneven: that share also shows which system stood there,"
            f" {_lean_between_equals(rows)}.",
        )
