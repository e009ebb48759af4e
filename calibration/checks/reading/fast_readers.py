"""Are many workers faster than people can read?

Who scrolls along a little faster than people read, in times that follow length, looks like a fast reader: nothing in the times tells.
What people can read is known from elsewhere, and the workers are held against it, but those whose times do not follow length (`alike_times`). mu and sigma of the others are those of a normal law of
medians that is cut off there.
"""

import math

import numpy as np
from scipy.optimize import minimize
from scipy.special import bdtrc, log_ndtr, ndtri

from calibration.checks.finding import Finding
from calibration.checks.reading.alike_times import clear_class
from calibration.inference.results import LEVEL
from calibration.models.reading.fit import MU, SIGMA, ReadingSpeedFit
from calibration.models.reading.mixture import reading_sample
from calibration.models.reading.rows import TimedReads
from calibration.user_model.model import OtherLaw
from metrics.arrays import Floats

FASTEST = 10.0
"""Fastest plausible reading in words a second, 600 a minute.

Beyond 400 a minute people understand less of a text (Rayner and others 2016).
"""
MANY_FAST = 0.1
"""Share of faster workers from which it matters."""
USUALLY_FAST, BY_CHANCE = 0.04, 0.05
"""Share of fast people by the paper's speeds, and level of the test.

The level bounds the probability of as many fast people by chance.
"""
MIN_OTHERS = 5


def check_fast_readers(fit: ReadingSpeedFit, data: TimedReads) -> Finding | None:
    """Report workers who are faster than people read.

    It checks words only, because no such bound is known for characters.
    """
    medians, alike = reading_sample(data).medians, clear_class(data)
    known = np.isfinite(medians.variances)
    if alike is not None:
        known &= ~alike.kind.is_careless
    speeds, variances, cut = medians.medians[known], medians.variances[known], math.log(FASTEST)
    fast = speeds > cut
    if data.unit != "words" or not are_many(speeds) or (~fast).sum() < MIN_OTHERS:
        return None
    mu, sigma, error = normal_below(speeds[~fast], variances[~fast], cut)
    reach = float(ndtri((1 + LEVEL) / 2)) * error
    law = f"{60 * FASTEST:.0f} words a minute at most"
    return Finding(
        name="fast_workers",
        severity="warning",
        sentence=f"{fast.sum()} of {len(speeds)} workers read {60 * FASTEST:.0f} words a minute or more, faster than people read: scrolling looks alike. "
        f"By the speeds of the others mu is {mu:.3g} and sigma {sigma:.3g}, with all {fit.estimates[0]:.3g} and {fit.estimates[1]:.3g}.",
        sensitivity={
            MU: (OtherLaw(law=law, estimate=mu, low=mu - reach, high=mu + reach, explains="as well"),),
            SIGMA: (OtherLaw(law=law, estimate=sigma, explains="as well"),),
        },
    )


def are_many(speeds: Floats) -> bool:
    """Return whether too many log speeds are of people who do not read.

    Too many is a tenth or more, and more than by chance.
    """
    count = int((speeds > math.log(FASTEST)).sum())
    return bool(
        count >= MANY_FAST * len(speeds) > 0 and bdtrc(count - 1, len(speeds), USUALLY_FAST) <= BY_CHANCE
    )


def normal_below(y: Floats, variances: Floats, cut: float) -> tuple[float, float, float]:
    """Fit a normal law cut off above ``cut``; return mu, sigma and mu's error.

    It maximises the likelihood of y ~ N(mu, sigma^2 + variance).
    """

    def loss(point: Floats) -> float:
        spread = np.sqrt(math.exp(2 * point[1]) + variances)
        z = (y - point[0]) / spread
        return float((0.5 * z**2 + np.log(spread) + log_ndtr((cut - point[0]) / spread)).sum())

    start = np.array([y.mean(), math.log(max(float(y.std()), 0.05))])
    top = minimize(loss, start, method="BFGS")
    return float(top.x[0]), math.exp(top.x[1]), math.sqrt(float(np.asarray(top.hess_inv)[0, 0]))
