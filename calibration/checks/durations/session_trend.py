"""Do a worker's sessions shrink, or grow, in the course of the study?

With x_j the length of a worker's session j, d_j whether it is complete, t_j when it began, n = sum d_j and T = sum x_j, a trend is a
score of the worker: s = sum_j t_j (n x_j / T - d_j), which has mean 0 where sessions keep their mean, whatever that is. The sum over
workers against its own scatter is Student's t, and needs no law of one worker's sessions.
"""

import math

import numpy as np
from scipy.special import stdtr

from calibration.checks.finding import Finding
from calibration.inference.formatting import format_p, shown_time
from calibration.models.durations.exposure import CensoredDurations, total
from calibration.models.durations.fit import DurationFit
from metrics.arrays import Floats

MIN_WORKERS = 5
"""Smallest number of workers with two sessions to test a trend."""


def check_session_trend(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Test whether sessions keep their length over the follow."""
    if exposure.design == "window":
        return None
    trend = session_trend(exposure)
    if trend is None or trend[1] >= 0.05:
        return None
    slope, p_value = trend
    last = float(exposure.start.max()) / exposure.day_seconds
    middle = float(_weighted(exposure.start, exposure) / exposure.day_seconds)
    mean = float(fit.estimates[0])
    first, end = mean * math.exp(-slope * middle), mean * math.exp(slope * (last - middle))
    return Finding(
        name="sessions_shrink" if slope < 0 else "sessions_grow",
        p_value=p_value,
        sentence=f"Sessions became {'shorter' if slope < 0 else 'longer'} ({format_p(p_value)}): about {shown_time(first)} on the first day and "
        f"{shown_time(end)} after {last:.3g} days, on average {shown_time(mean)}. Say which time the number is about.",
    )


def session_trend(exposure: CensoredDurations) -> tuple[float, float] | None:
    """Return the trend of log mean sessions per day and its p, or None.

    The trend is of first order; it is None with too few workers.
    """
    unit, size, seconds = exposure.unit, exposure.units, exposure.seconds
    day = exposure.start / exposure.day_seconds
    n, t = total(unit, exposure.event, size), total(unit, seconds, size)
    rate = np.divide(n, t, out=np.zeros(size), where=t > 0)
    expected = seconds * rate[unit]
    score = total(unit, day * (expected - exposure.event), size)
    used = total(unit, np.ones(len(unit)), size) > 1
    centre = np.divide(total(unit, day * expected, size), n, out=np.zeros(size), where=n > 0)
    information = float((expected * (day - centre[unit]) ** 2).sum())
    score = score[used]
    scatter = math.sqrt(float((score**2).sum()))
    if used.sum() < MIN_WORKERS or not scatter or not information:
        return None
    z = float(score.sum()) / scatter
    return float(score.sum()) / information, 2 * float(stdtr(used.sum() - 1, -abs(z)))


def _weighted(values: Floats, exposure: CensoredDurations) -> float:
    return float((values * exposure.seconds).sum() / exposure.seconds.sum())
