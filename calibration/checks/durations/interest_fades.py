"""Do people come less and less often, or more and more?

Everybody's rate falls by exp(-b t) in t days of their follow; b = 0 is the model. Days on which everybody comes more, or less, look like a
slope: the likelihood ratio is divided by how much days differ from a straight line (McCullagh and Nelder 1989, 4.5).
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import chdtrc

from calibration.checks.durations.beside import UNEVEN, is_small
from calibration.checks.durations.days_differ import compare_days
from calibration.checks.finding import REJECTED, Finding
from calibration.inference.formatting import format_p, shown_time
from calibration.inference.results import NotIdentifiedError
from calibration.models.durations.exposure import MIN_SECONDS, CensoredDurations, WorkerTotals, total
from calibration.models.durations.fit import DurationFit
from calibration.models.durations.maximum import DurationMaximum, maximum

_STEEPEST = 3.0
"""Largest change of the log rate over the longest follow."""


def check_interest_fades(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Compare a falling or rising rate of coming back with a constant one."""
    if exposure.design == "count" or not is_small(exposure):
        return None
    fading = fade(exposure, fit.top)
    if fading is None:
        return None
    days = compare_days(exposure)
    gain = max(fading.loglik - fit.top.top.loglik, 0.0) / (days.dispersion if days else 1.0)
    p_value = float(chdtrc(1, 2 * gain))
    if p_value >= REJECTED:
        return None
    last = float(exposure.stop.max()) / exposure.day_seconds
    how = "less and less" if fading.slope > 0 else "more and more"
    return Finding(
        name="interest_fades" if fading.slope > 0 else "interest_grows",
        p_value=p_value,
        explains=UNEVEN,
        gain=gain,
        sentence=f"Workers came {how} often ({format_p(p_value)}): the mean time away is {shown_time(fading.first)} on the first day and "
        f"{shown_time(fading.last)} after {last:.3g} days. One number is an average of both: say which time it is about.",
    )


class Fade(NamedTuple):
    """Fitted fading of interest, with M on the first and the last day.

    The rate falls to exp(-slope) a day; the log-likelihood is the fit's.
    """

    slope: float
    first: float
    last: float
    loglik: float


def fade(exposure: CensoredDurations, top: DurationMaximum) -> Fade | None:
    """Fit a rate that changes exponentially since the follow began, or return None.

    The result is None where the rate cannot be fitted.

    l(b) = l_plain(n, SUM INT exp(-b t) dt) - b SUM t_events, t in days.
    """
    start, stop = exposure.start / exposure.day_seconds, exposure.stop / exposure.day_seconds
    longest = float(stop.max(initial=0.0))
    of_events = float(stop[exposure.event].sum())
    events = total(exposure.unit, exposure.event, exposure.units)
    if not longest:
        return None

    def fitted(slope: float) -> DurationMaximum:
        watched = (np.exp(-slope * start) - np.exp(-slope * stop)) / slope * exposure.day_seconds
        seconds = np.maximum(total(exposure.unit, watched, exposure.units), MIN_SECONDS)
        scale = math.exp(float(np.log(seconds).mean()))
        optimum = maximum(
            WorkerTotals(events=events, seconds=seconds).in_units_of(scale), start=_start(top, scale)
        )
        moved = optimum.top.loglik - float(events.sum()) * math.log(scale) - slope * of_events
        return DurationMaximum(
            mu=optimum.mu + math.log(scale),
            log_sigma=optimum.log_sigma,
            top=optimum.top._replace(loglik=moved),
        )

    try:
        best = minimize_scalar(
            lambda at: -fitted(_off_zero(at)).top.loglik,
            bounds=(-_STEEPEST / longest, _STEEPEST / longest),
            method="bounded",
            options={"xatol": 1e-3 / longest},
        )
        slope = _off_zero(float(best.x))
        found = fitted(slope)
    except NotIdentifiedError:
        return None
    return Fade(slope, found.mean, found.mean * math.exp(slope * longest), found.top.loglik)


def _start(top: DurationMaximum, scale: float) -> tuple[float, float]:
    return top.mu - math.log(scale), max(top.log_sigma, math.log(0.1))


def _off_zero(slope: float) -> float:
    return slope if abs(slope) > 1e-9 else 1e-9
