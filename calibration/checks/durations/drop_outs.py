"""Did some people leave for good, without a sign?

A follow ends for good at a constant hazard d (Schmittlein, Morrison and Colombo 1987, with log-normal means); d = 0, on the edge of its
range, is the model.
"""

import math
from typing import NamedTuple

import numpy as np

from calibration.checks.durations.beside import UNEVEN, is_small, listed, numbers_of, numbers_under
from calibration.checks.finding import REJECTED, Finding, edge_p, explains_at
from calibration.inference.formatting import format_p
from calibration.models.durations.exposure import CensoredDurations, total
from calibration.models.durations.fit import DurationFit
from calibration.models.durations.laws import (
    ANYWHERE,
    MIN_SPREAD,
    SPREADS,
    TINY,
    ExtendedModel,
    grid_points,
    masses,
    maximise_log_likelihood,
)
from calibration.models.durations.maximum import DurationMaximum, log_normal_values
from metrics.arrays import Floats, Indices
from metrics.errors import percent

DROP_OUTS = "drop-outs"
MAX_FOLLOWS = 5000
"""Largest number of follows for a law with a matrix of follows and means."""
MIN_SHARE = 0.01
"""Smallest share of drop-outs that moves the numbers."""


def check_drop_outs(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Compare a law with people who leave for good with one without."""
    if exposure.design == "count" or not is_small(exposure):
        return None
    found = drop_outs(exposure, fit.top)
    if found is None:
        return None
    law, share = found
    gain = max(law.loglik - fit.top.top.loglik, 0.0)
    p_value = edge_p(2 * gain)
    if share < MIN_SHARE:
        return None
    numbers = f"until then {numbers_under(law)}, not {numbers_of(fit)}"
    return Finding(
        name="drop_outs",
        p_value=p_value,
        explains=UNEVEN,
        gain=gain,
        sentence=(
            f"About {percent(share)} of the follows ended for good before their end ({format_p(p_value)}): no visit followed, although "
            f"the earlier visits made one likely; {numbers}. Ask workers for signs of activity (last_seen_at)."
            if p_value < REJECTED
            else f"Some people may have left for good ({percent(share)}); the visits do not show it; {numbers}."
        ),
        sensitivity=listed(law, fit, explains=explains_at(p_value)),
    )


class _Tails(NamedTuple):
    """Totals up to the last events, and watched time after them.

    Units have n and T, (u,); follows have their unit, the time of the last event, and the watched time after
    it.
    """

    events: Floats
    seconds: Floats
    unit: Indices
    alive: Floats
    after: Floats


def _tails(exposure: CensoredDurations) -> _Tails:
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


def drop_outs(exposure: CensoredDurations, top: DurationMaximum) -> tuple[ExtendedModel, float] | None:
    """Fit log-normal means with people who leave for good, and their share.

    The share is that of follows left by their end.

    A follow that was last seen after t and then watched for r adds
    exp(-d t) (exp(-(a + d) r) + d / (a + d) (1 - exp(-(a + d) r))) to a person's likelihood, a = 1 / A.

    Returns
    -------
    (Extended, float) or None
        None where nobody seems to have left, or follows are too many.
    """
    if int((exposure.follow_unit >= 0).sum()) > MAX_FOLLOWS:
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
            np.log(np.maximum(survived + hazard / ends * (1 - survived), TINY))
            - hazard * tails.alive[:, None]
        )
        exponent = plain + np.add.reduceat(tail, firsts, axis=0)
        most = exponent.max(axis=1)
        share = masses(log_mean, _normal, point)
        return np.asarray(np.log(np.maximum(np.exp(exponent - most[:, None]) @ share, TINY)) + most)

    sigma = max(top.sigma, MIN_SPREAD)
    watched = float(exposure.follow_seconds.max()) / day
    point, loglik = maximise_log_likelihood(
        each,
        (top.mu, math.log(sigma), math.log(0.1 / watched)),
        (ANYWHERE, SPREADS, (math.log(1e-4 / watched), math.log(10 / watched))),
    )
    law = ExtendedModel(
        name=DROP_OUTS,
        point=point,
        loglik=loglik,
        each=each,
        values=lambda point: log_normal_values(point[0], math.exp(point[1])),
    )
    hazard = math.exp(float(point[2])) / day
    return law, float(-np.expm1(-hazard * exposure.follow_seconds[exposure.follow_unit >= 0]).mean())


def _normal(log_mean: Floats, point: Floats) -> Floats:
    return np.asarray(-(((log_mean - point[0]) / math.exp(point[1])) ** 2) / 2)
