"""Do a worker's times away differ between topics?"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from calibration.checks.finding import REJECTED, Finding
from calibration.inference.formatting import format_p
from calibration.models.durations.exposure import CensoredDurations, total
from calibration.models.durations.fit import DurationFit


def check_topics(fit: DurationFit, exposure: CensoredDurations) -> Finding | None:
    """Test whether a worker's events spread over topics by chance."""
    excess = topics_apart(exposure) if exposure.design == "window" else None
    p_value = 1.0 if excess is None else float(ndtr(-excess.z))
    if excess is None or p_value >= REJECTED:
        return None
    return Finding(
        name="topics_differ",
        p_value=p_value,
        sentence=f"One worker's rates differ between topics {excess.observed / excess.expected:.1f} times as much as chance explains "
        f"({format_p(p_value)}); the model has one mean for all topics of a worker.",
    )


class Excess(NamedTuple):
    """Observed and expected events, and their difference in standard errors."""

    observed: float
    expected: float
    z: float


def topics_apart(exposure: CensoredDurations) -> Excess | None:
    """Return Pearson's statistic of events over topics, or None without topics.

    It measures how a worker's events spread over topics, summed over workers.

    Given n, they are multinomial with shares T_f / T: mean F - 1, variance 2 (F - 1) + (sum 1 / p - F^2 - 2 F + 2) / n.
    """
    events, seconds = exposure.follow_totals()
    unit, size = exposure.follow_unit, exposure.units
    used = (unit >= 0) & (seconds > 0)
    unit, events, seconds = unit[used], events[used], seconds[used]
    follows, n = total(unit, np.ones(len(unit)), size), total(unit, events, size)
    share = seconds / total(unit, seconds, size)[unit]
    several = (follows > 1) & (n > 0)
    if not several.any():
        return None
    expected = n[unit] * share
    pearson = total(
        unit, np.divide((events - expected) ** 2, expected, out=np.zeros(len(unit)), where=expected > 0), size
    )
    inverse = total(unit, 1 / share, size)
    f, n = follows[several], n[several]
    variance = 2 * (f - 1) + (inverse[several] - f**2 - 2 * f + 2) / n
    return _excess(float(pearson[several].sum()), float((f - 1).sum()), float(variance.sum()))


def _excess(observed: float, expected: float, variance: float) -> Excess:
    return Excess(observed, expected, (observed - expected) / math.sqrt(variance) if variance > 0 else 0.0)
