"""Were the sides of pairs drawn by lot?"""

import pandas as pd

from calibration.checks.finding import Finding
from calibration.raters.measure import RaterMeasure
from calibration.raters.position_bias import NAME, uneven_sides_of


def check_position_bias(fit: RaterMeasure, preferences: pd.DataFrame) -> Finding | None:
    """Note that a lean to a side may be a liking for what stood there."""
    if NAME not in fit.parameters:
        return None
    uneven = uneven_sides_of(preferences[preferences["validation_of"].isna()])
    return uneven and Finding(
        name=uneven.name,
        severity="warning",
        sentence=f"{uneven.sentence}: a lean to a side cannot be told from a liking for what stood there.",
    )
