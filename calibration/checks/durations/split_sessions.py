"""Were sessions split, such as by a phone call?

After a session nobody is more likely to come back within minutes than later, if times away have no memory. With n_1 of a worker's n
returns within 2 to 15 minutes, and a share q of the time in which they could have come back there, n_1 is binomial (n, q), whatever
the worker's mean. The sum of n_1 - n q over workers against its own scatter is Student's t. Splits that a session is joined over
make it as long as it would have been without the break.
"""

import math
from dataclasses import replace

import numpy as np
from scipy.special import stdtr

from calibration.checks.finding import REJECTED, Finding, other_laws
from calibration.inference.formatting import format_p, shown_time
from calibration.inference.results import NotIdentifiedError
from calibration.models.durations.exposure import CensoredDurations, total
from calibration.models.durations.fit import DurationFit, fit_durations
from calibration.models.durations.intervals import DurationProfile
from metrics.arrays import Bools, Floats

SHORTEST, LONGEST = 120.0, 900.0
"""Bounds of a break in seconds, between a visit's silence and a time away.

A shorter silence lies within a visit; a longer one is a time away.
"""
MIN_SHARE = 0.05
"""Smallest share of sessions followed by a break that moves the numbers."""


def check_split_sessions(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Test whether too many sessions follow another within minutes, and join them.

    Too many means more than by chance.
    """
    if exposure.design == "window":
        return None
    gap, follows_on = _gaps(exposure)
    is_break = follows_on & (gap <= LONGEST)
    excess, p_value = _excess(exposure, gap, follows_on)
    if not is_break.any() or p_value >= REJECTED or excess < MIN_SHARE * len(gap):
        return None
    joined_sessions = join(exposure, is_break)
    try:
        top = fit_durations(joined_sessions.totals())
    except NotIdentifiedError:
        return None
    intervals = DurationProfile(
        totals=joined_sessions.totals(), top=top, df=joined_sessions.units - 1
    ).intervals(0.95)
    numbers = dict(zip(fit.parameters, (top.mean, top.sd), strict=False))
    return Finding(
        name="split_sessions",
        p_value=p_value,
        sentence=f"{is_break.sum()} of {len(gap)} sessions were followed by another within {LONGEST / 60:.0f} minutes, about {excess:.0f} more "
        f"than by chance ({format_p(p_value)}): something may have come between, such as a phone call. Joined, the mean session is "
        f"{shown_time(top.mean)}, not {shown_time(float(fit.estimates[0]))}: prefcal fit --idle-threshold {LONGEST:.0f}.",
        sensitivity=other_laws("joined", "better", numbers, intervals[:2]),
    )


def join(exposure: CensoredDurations, is_break: Bools) -> CensoredDurations:
    """Join sessions across breaks.

    The breaks count neither as session nor as time away.

    Parameters
    ----------
    exposure : CensoredDurations
        Sessions.
    is_break : (p,) ndarray of bool
        After which ones there is a break.
    """
    opens = np.flatnonzero(~np.concatenate([[False], is_break[:-1]]))
    closes = np.append(opens[1:], len(exposure.unit)) - 1
    length = np.add.reduceat(exposure.seconds, opens)
    return replace(
        exposure,
        unit=exposure.unit[opens],
        follow=exposure.follow[opens],
        start=exposure.start[opens],
        stop=exposure.start[opens] + length,
        event=exposure.event[closes],
    )


def _gaps(exposure: CensoredDurations) -> tuple[Floats, Bools]:
    """Return the time from each session to the next, and whether there is one.

    The next session is of the same follow; without one the follow's end counts.
    """
    follow, last = exposure.follow, np.diff(exposure.follow, append=-1) != 0
    until = np.where(last, exposure.follow_seconds[follow], np.append(exposure.start[1:], 0.0))
    return np.maximum(until - exposure.stop, 0.0), ~last & exposure.event


def _excess(exposure: CensoredDurations, gap: Floats, follows_on: Bools) -> tuple[float, float]:
    """Return the number of breaks beyond chance, and its p."""
    unit, size = exposure.unit, exposure.units
    within = np.clip(gap - SHORTEST, 0, LONGEST - SHORTEST)
    beyond = np.maximum(gap - LONGEST, 0)
    counted = exposure.event & (gap > SHORTEST)
    came = counted & follows_on
    near = total(unit, came & (gap <= LONGEST), size)
    n = total(unit, came, size)
    short, long = (total(unit, np.where(counted, time, 0.0), size) for time in (within, beyond))
    share = np.divide(short, short + long, out=np.zeros(size), where=short + long > 0)
    score = (near - n * share)[n > 0]
    by_chance = math.sqrt(float((n * share * (1 - share)).sum()))
    scatter = max(math.sqrt(float((score**2).sum())), by_chance)
    if len(score) < 2 or not scatter:
        return 0.0, 1.0
    return float(score.sum()), float(stdtr(len(score) - 1, -score.sum() / scatter))
