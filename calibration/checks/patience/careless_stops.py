"""Do some readers always go to the end, or never beyond the first screen?

Two classes of such people beside people with a log-normal patience (McLachlan and Peel 2000). Both shares are on the edge of their range
where there are none: the likelihood ratio has a quarter of 0, a half of chi-squared with 1 and a quarter with 2 degrees of freedom
(Self and Liang 1987).
"""

import math
from functools import lru_cache

import numpy as np
from scipy.special import chdtrc

from calibration.checks.finding import Finding
from calibration.checks.patience.without import PeopleApart
from calibration.inference.heterogeneity import fit_crowds
from calibration.models.patience.stops import (
    LAPSES,
    PATIENCES,
    Stops,
    StopsFit,
    fit_patience_from_stops,
    logliks_of_people,
)
from metrics.arrays import Floats

NOT_A_LINE = "stops not along a line"
"""Fact that alike stops, patience that differs and other forms explain."""
FIRST_LINES = 0.15
"""Share of a screen that counts as its first lines."""
RESAMPLES = 400


@lru_cache(maxsize=1)
def alike_stops(stops: Stops, patience: float) -> PeopleApart | None:
    """Find readers who always stop alike, or return None.

    The gain is that of the classes and of a patience that differs beyond one patience, p that of the classes alone.

    The result is None with one person or without a patience.
    """
    if math.isinf(patience) or len(stops.people) < 2:
        return None
    grid = math.log(patience) + PATIENCES
    alone, beside = fit_crowds(logliks_of_people(stops, np.exp(grid)), grid, _classes(stops))
    ratio = 2 * max(beside.loglik - alone.loglik, 0.0)
    return PeopleApart(
        people=beside.posterior.sum(axis=1) > 0.5,
        gain=beside.loglik - float(alone.profile[0]),
        p_value=float(chdtrc(1, ratio) / 2 + chdtrc(2, ratio) / 4),
    )


def stops_in_earnest(stops: Stops, patience: float) -> Stops:
    """Return the stops without those of readers who always stop alike."""
    alike = alike_stops(stops, patience)
    if alike is None or not alike.is_clear or alike.people.all():
        return stops
    return stops.of(~alike.people[stops.worker])


def check_alike_stops(fit: StopsFit, stops: Stops) -> Finding | None:
    """Compare classes of readers who stop alike with a patience that differs."""
    patience = float(fit.estimates[0])
    alike = alike_stops(stops, patience)
    rest = stops_in_earnest(stops, patience)
    if alike is None or rest is stops:
        return None
    return alike.finding(
        "alike_stops",
        f"always go to the end, or never beyond the first screen ({{}}): they are in this patience of {patience:.0f}",
        fit,
        lambda: fit_patience_from_stops(rest, rng=np.random.default_rng(1), resamples=RESAMPLES),
        NOT_A_LINE,
    )


def _classes(stops: Stops) -> Floats:
    """Return the log-likelihood of each person in either class, (people, 2).

    The first always finishes, the second never leaves the first screen. Stops of the second are even over the
    screen or over its first lines, each with probability one half.
    """
    rare, screen_chars = LAPSES / stops.length, stops.screen_chars
    rows = [np.where(stops.stopped, rare, 1 - LAPSES)]
    for reach in (screen_chars, FIRST_LINES * screen_chars):
        inside = stops.stopped & (stops.low < reach) & (stops.high <= screen_chars)
        rows.append(
            np.where(
                inside,
                (1 - LAPSES) / np.maximum(reach, stops.high - stops.low),
                np.where(stops.stopped, rare, LAPSES),
            )
        )
    finishes, screen, lines = stops.summed(np.log(np.stack(rows, axis=1))).T
    return np.stack([finishes, np.logaddexp(screen, lines) - math.log(2)], axis=1)
