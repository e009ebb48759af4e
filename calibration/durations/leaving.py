"""People who lose interest: all of them by and by, or some of them for good at once.

Fading: everybody's rate of coming back falls by exp(-b t) in t days of their follow. Drop-outs: a follow ends for good, without a
sign, at a constant hazard d (Schmittlein, Morrison and Colombo 1987, with log-normal means). Either has one parameter more
than the plain model, and both make times away look longer.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from calibration.durations.extended import (
    ANYWHERE,
    Extended,
    highest,
    log_normal_population,
    log_normal_values,
)
from calibration.durations.laws import grid_points, masses
from calibration.durations.likelihood import LEAST_SECONDS, Exposure, Totals, total
from calibration.durations.maximum import DurationMaximum, maximum
from calibration.inference.results import NotIdentifiedError
from metrics.arrays import Floats, Places

DROP_OUTS = "log-normal means, exponential, drop-outs"
MOST_FOLLOWS = 5000
"""Follows up to which the law of drop-outs is fitted: a matrix of follows and means is needed."""
_STEEPEST = 3.0
"""Most that the logarithm of a rate may change over the longest follow."""
_TINY = 1e-300
_LEAST_SPREAD = 0.2
_SIGMA = (math.log(0.1), math.log(4.0))


class Fade(NamedTuple):
    """How fast interest fades: exp(-slope) a day; M on the first day and on the last; the log-likelihood."""

    slope: float
    first: float
    last: float
    loglik: float


def fade(exposure: Exposure, top: DurationMaximum) -> Fade | None:
    """Fit a rate that falls, or rises, exponentially in the time since the follow began; None where it cannot be fitted.

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
        seconds = np.maximum(total(exposure.unit, watched, exposure.units), LEAST_SECONDS)
        scale = math.exp(float(np.log(seconds).mean()))
        found = maximum(Totals(events=events, seconds=seconds).in_units_of(scale), start=_start(top, scale))
        moved = found.top.loglik - float(events.sum()) * math.log(scale) - slope * of_events
        return DurationMaximum(
            mu=found.mu + math.log(scale), log_sigma=found.log_sigma, top=found.top._replace(loglik=moved)
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


class _Tails(NamedTuple):
    """n (u,) and T (u,) up to the last events; of each follow its unit, when its last event was, what was watched after it."""

    events: Floats
    seconds: Floats
    unit: Places
    alive: Floats
    after: Floats


def _tails(exposure: Exposure) -> _Tails:
    size = len(exposure.follow_unit)
    alive = np.zeros(size)
    np.maximum.at(alive, exposure.follow[exposure.event], exposure.stop[exposure.event])
    silent = exposure.start >= alive[exposure.follow]
    after = total(exposure.follow, np.where(silent & ~exposure.event, exposure.seconds, 0.0), size)
    before = np.where(silent & ~exposure.event, 0.0, exposure.seconds)
    used = exposure.follow_unit >= 0
    order = np.flatnonzero(used)[np.argsort(exposure.follow_unit[used], kind="stable")]
    return _Tails(
        total(exposure.unit, exposure.event, exposure.units),
        total(exposure.unit, before, exposure.units),
        exposure.follow_unit[order],
        alive[order],
        after[order],
    )


def drop_outs(exposure: Exposure, top: DurationMaximum) -> tuple[Extended, float] | None:
    """Fit log-normal means with people who leave for good; with it comes the share of follows that did so by their end.

    A follow that was last seen after t and then watched for r adds
    exp(-d t) (exp(-(a + d) r) + d / (a + d) (1 - exp(-(a + d) r))) to a person's likelihood, a = 1 / A.

    Returns
    -------
    (Extended, float) or None
        None where nobody seems to have left, or follows are too many.
    """
    if int((exposure.follow_unit >= 0).sum()) > MOST_FOLLOWS:
        return None
    tails = _tails(exposure)
    day = exposure.day_seconds
    log_mean = grid_points(exposure.totals())
    rate = np.exp(-log_mean)
    plain = -tails.events[:, None] * log_mean - tails.seconds[:, None] * rate
    firsts = np.flatnonzero(np.diff(tails.unit, prepend=-1) > 0)

    def each(point: Floats) -> Floats:
        hazard = math.exp(point[2]) / day
        ends = rate + hazard
        survived = np.exp(-tails.after[:, None] * ends)
        tail = (
            np.log(np.maximum(survived + hazard / ends * (1 - survived), _TINY))
            - hazard * tails.alive[:, None]
        )
        exponent = plain + np.add.reduceat(tail, firsts, axis=0)
        most = exponent.max(axis=1)
        share = masses(log_mean, _normal, point)
        return np.asarray(np.log(np.maximum(np.exp(exponent - most[:, None]) @ share, _TINY)) + most)

    sigma = max(top.sigma, _LEAST_SPREAD)
    watched = float(exposure.follow_seconds.max()) / day
    point, loglik = highest(
        each,
        (top.mu, math.log(sigma), math.log(0.1 / watched)),
        (ANYWHERE, _SIGMA, (math.log(1e-4 / watched), math.log(10 / watched))),
    )
    law = Extended(
        name=DROP_OUTS,
        point=point,
        loglik=loglik,
        each=each,
        values=lambda point: log_normal_values(point[0], math.exp(point[1])),
        population=lambda point: log_normal_population(point[0], math.exp(point[1])),
    )
    hazard = math.exp(float(point[2])) / day
    return law, float(-np.expm1(-hazard * exposure.follow_seconds[exposure.follow_unit >= 0]).mean())


def _normal(log_mean: Floats, point: Floats) -> Floats:
    return np.asarray(-(((log_mean - point[0]) / math.exp(point[1])) ** 2) / 2)
