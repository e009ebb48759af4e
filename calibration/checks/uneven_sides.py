"""Were the sides of pairs drawn by lot?"""

import numpy as np
import pandas as pd
from scipy.special import bdtr

from calibration.checks.finding import Finding, warn_if
from calibration.raters.measure import RaterMeasure
from calibration.raters.position_bias import NAME
from calibration.tables.preferences import resolved_sides
from metrics.errors import percent

UNEVEN = 0.01
"""Two-sided p-value below which sides were hardly drawn by lot."""


def check_position_bias(fit: RaterMeasure, preferences: pd.DataFrame) -> Finding | None:
    """Note that a lean to a side may be a liking for what stood there."""
    if NAME not in fit.parameters:
        return None
    first = preferences[preferences["validation_of"].isna()]
    return check_sides(first[["task", "topic"]].assign(**dict(resolved_sides(first).items())))


def check_sides(judged: pd.DataFrame) -> Finding | None:
    """Warn if the sides were not drawn by lot.

    Parameters
    ----------
    judged : DataFrame
        One row per judgment with task, topic, system_a, system_b, is_swapped, as `calibration.tables.preferences.judged_pairs` gives it.
    """
    a_left = ~judged["is_swapped"].to_numpy(dtype=np.bool_)
    couple = [judged[name] for name in ("task", "topic", "system_a", "system_b")]
    swaps = judged["is_swapped"].groupby(couple, observed=True).agg(["mean", "size"])
    several = swaps[swaps["size"] > 1]
    return warn_if(
        len(several) and several["mean"].isin([0, 1]).all(),
        "sides_not_drawn",
        f"Each of {len(several):,} pairs kept its sides every time: a lean to a side cannot be told from "
        "a liking for what stood there.",
    ) or warn_if(
        2 * bdtr(min(a_left.sum(), (1 - a_left).sum()), len(a_left), 0.5) < UNEVEN,
        "uneven_sides",
        f"The alphabetically first of two was on the left in {percent(a_left.mean())} of {len(a_left):,} "
        "judgments: sides were uneven, so a side bias favours one of the two.",
    )
