"""Does everybody come more on some days than on others?

Given how often a worker came, the moments are spread evenly over the time in which they could have come, whatever the
worker's mean. How far they are not is a score for each worker; what workers have in common does not average out. Workers may
come in bursts or by habit: the variance that the model gives to the scores is corrected by what they show (Rao and Scott 1981).
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import fdtrc

from calibration.checks.durations.beside import UNEVEN, is_small
from calibration.checks.finding import REJECTED, Finding, warn_if
from calibration.inference.formatting import format_p
from calibration.models.durations.exposure import CensoredDurations, total
from calibration.models.durations.fit import DurationFit
from metrics.arrays import Floats
from metrics.errors import pluralise

MIN_DAYS = 3
MAX_DAYS = 400
_MIN_EVENTS = 5.0
"""Smallest mean number of events a day to compare days."""
FEW_DAYS = 7
"""Smallest number of calendar days to compare.

Fewer days are too small a sample of days.
"""


def check_days(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Test whether calendar days (UTC) differ, otherwise than along a straight line."""
    days = compare_days(exposure) if exposure.design == "window" and is_small(exposure) else None
    if days is None or days.p_value >= REJECTED:
        return None
    return Finding(
        name="days_differ",
        p_value=days.p_value,
        explains=UNEVEN,
        gain=days.gain,
        sentence=f"Workers came more on some of the {days.n_days} days than on others ({format_p(days.p_value)}): {days.low:.2g} times as "
        f"often as on average on quiet days, {days.high:.2g} times on busy ones. The estimate is of these days; the interval "
        "does not cover other days.",
    )


def check_few_days(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Warn if calendar days are too few to be compared."""
    count = len(calendar_days(exposure))
    return warn_if(
        0 < count < FEW_DAYS,
        "few_days",
        f"The study ran over {pluralise(count, 'day')}. So few hardly show whether people come more on some days than on others; if "
        "they do, the interval does not cover other days. Run it over a week or more.",
    )


class Days(NamedTuple):
    """Comparison of calendar days.

    Attributes
    ----------
    p_value : float
        Of days that differ otherwise than along a straight line.
    gain : float
        Half the corrected statistic, less its mean where days are alike.
    dispersion : float
        How many times as much days differ from a straight line as by chance, at least 1.
    low, high : float
        Events of the quietest and of the busiest tenth of the days, over what is expected.
    n_days : int
        How many days.
    """

    p_value: float
    gain: float
    dispersion: float
    low: float
    high: float
    n_days: int


def calendar(exposure: CensoredDurations) -> tuple[Floats, Floats]:
    """Return begin and end of each interval, in days since the study's first midnight.

    The arrays are empty where that midnight is unknown.
    """
    if exposure.follow_begun is None or exposure.design == "count":
        return np.array([]), np.array([])
    begun = exposure.follow_begun[exposure.follow]
    return (begun + exposure.start) / exposure.day_seconds, (begun + exposure.stop) / exposure.day_seconds


def calendar_days(exposure: CensoredDurations) -> range:
    """Return the watched calendar days from the first to the last.

    It returns None where they are unknown.
    """
    start, stop = calendar(exposure)
    return range(int(start.min()), math.ceil(stop.max())) if len(start) else range(0)


def compare_days(exposure: CensoredDurations) -> Days | None:
    """Compare the calendar days of a study, or return None.

    The result is None where days are too few or their start is unknown.
    """
    edges = calendar_days(exposure)
    first, count = edges.start, len(edges)
    if not MIN_DAYS < count <= MAX_DAYS or exposure.event.sum() < _MIN_EVENTS * count:
        return None
    start, stop = calendar(exposure)
    watched, came = np.zeros((exposure.units, count)), np.zeros((exposure.units, count))
    for index, edge in enumerate(edges):
        inside = np.clip(np.minimum(stop, edge + 1) - np.maximum(start, edge), 0, None)
        watched[:, index] = total(exposure.unit, inside, exposure.units)
    day = np.clip(np.floor(stop[exposure.event]).astype(int) - first, 0, count - 1)
    np.add.at(came, (exposure.unit[exposure.event], day), 1)
    kept = watched.sum(axis=0) > 0
    return _days(watched[:, kept], came[:, kept])


def _days(watched: Floats, came: Floats) -> Days | None:
    n = came.sum(axis=1)
    share = watched / watched.sum(axis=1, keepdims=True)
    expected = n[:, None] * share
    each = came - expected
    model = np.diag(expected.sum(axis=0)) - (expected.T @ share)
    count = len(model)
    if count <= MIN_DAYS:
        return None
    inverse = np.linalg.pinv(model, hermitian=True)
    score = each.sum(axis=0)
    centred = each - score / len(each)
    spread = float(np.einsum("ud,de,ue->", centred, inverse, centred)) / (count - 1)
    spread = max(spread, 0.1)
    line = np.arange(count, dtype=np.float64)
    along = float((line @ score) ** 2 / (line @ model @ line))
    rest = max(float(score @ inverse @ score) - along, 0.0)
    busy = came.sum(axis=0) / np.maximum(expected.sum(axis=0), 1e-9)
    low, high = np.quantile(busy, (0.1, 0.9))
    return Days(
        p_value=float(fdtrc(count - 2, len(each) - 1, rest / (count - 2) / spread)),
        gain=max(rest / spread - (count - 2), 0.0) / 2,
        dispersion=max(rest / (count - 2) / spread, 1.0),
        low=float(low),
        high=float(high),
        n_days=count,
    )
