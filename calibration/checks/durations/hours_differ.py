"""Do people come more at some hours of the day than at others?

The alternative is a wave of one day, corrected as in `days_differ`.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import fdtrc

from calibration.checks.durations.beside import UNEVEN, is_small
from calibration.checks.durations.days_differ import MIN_DAYS
from calibration.checks.finding import REJECTED, Finding
from calibration.inference.formatting import format_p
from calibration.models.durations.exposure import CensoredDurations, total
from calibration.models.durations.fit import DurationFit
from metrics.arrays import Floats


class Hours(NamedTuple):
    """Comparison of hours of the day.

    It has p, the busiest hour's rate over the average rate, and half of the corrected statistic less its
    mean.
    """

    p_value: float
    height: float
    gain: float


def check_hours(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Test whether hours of the day (UTC) differ."""
    hours = compare_hours(exposure) if is_small(exposure) else None
    if hours is None or hours.p_value >= REJECTED:
        return None
    return Finding(
        name="hours_differ",
        p_value=hours.p_value,
        explains=UNEVEN,
        gain=hours.gain,
        sentence=f"People come more at some hours of the day than at others, up to {hours.height:.2g} times as often as on average "
        f"({format_p(hours.p_value)}). MSU draws times away without day and night; the mean is one over whole days.",
    )


def compare_hours(exposure: CensoredDurations) -> Hours | None:
    """Test whether people come more at some hours of the day, by a wave of a day.

    Returns
    -------
    Hours or None
        None where nobody was watched for three days.
    """
    if exposure.follow_begun is None or exposure.design == "count":
        return None
    if exposure.follow_seconds.max() < MIN_DAYS * exposure.day_seconds:
        return None
    begun = exposure.follow_begun[exposure.follow]
    turn = 2 * math.pi / exposure.day_seconds
    start, stop = (turn * (begun + at) for at in (exposure.start, exposure.stop))
    waves = np.stack([_came(exposure, wave(stop)) for wave in (np.cos, np.sin)])
    n, t = _came(exposure, np.ones(len(stop))), turn * total(exposure.unit, exposure.seconds, exposure.units)
    mean = np.stack(
        [_over(exposure, np.sin(stop) - np.sin(start)), _over(exposure, np.cos(start) - np.cos(stop))]
    )
    mean /= np.maximum(t, 1e-12)
    double = _over(exposure, (np.sin(2 * stop) - np.sin(2 * start)) / 2) / np.maximum(t, 1e-12)
    mixed = _over(exposure, (np.cos(2 * start) - np.cos(2 * stop)) / 2) / np.maximum(t, 1e-12)
    second = np.array([[(1 + double) / 2, mixed / 2], [mixed / 2, (1 - double) / 2]])
    model = np.einsum("u,abu->ab", n, second - mean[:, None] * mean[None])
    each = (waves - n * mean).T
    score = each.sum(axis=0)
    inverse = np.linalg.pinv(model, hermitian=True)
    centred = each - score / len(each)
    spread = max(float(np.einsum("ua,ab,ub->", centred, inverse, centred)) / 2, 0.1)
    height = 1 + float(np.hypot(*(inverse @ score)))
    statistic = float(score @ inverse @ score) / spread
    return Hours(float(fdtrc(2, len(each) - 1, statistic / 2)), height, max(statistic - 2, 0.0) / 2)


def _came(exposure: CensoredDurations, values: Floats) -> Floats:
    return total(exposure.unit[exposure.event], values[exposure.event], exposure.units)


def _over(exposure: CensoredDurations, values: Floats) -> Floats:
    return total(exposure.unit, values, exposure.units)
