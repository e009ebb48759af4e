"""Draws of fitted parameters, to carry their uncertainty into scores.

A user model holds estimates and intervals, not the data, so the draws are normal approximations, each on the scale
on which its parameter is least skewed.
"""

import math
from collections.abc import Iterator, Mapping
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from calibration.user_model.model import IntentEntry, ParameterEntry, UserModel

FloatArray: TypeAlias = NDArray[np.float64]
Shares: TypeAlias = dict[str, dict[str, float]]
"""Topic -> intent -> P(i|q)."""

SMALLEST_SD = 1e-12
"""Keeps the formulas finite for a share whose interval has no width."""


def joint_log_sd(model: UserModel, name: str) -> float | None:
    """Return the standard deviation of a parameter's logarithm from a joint fit; None when it was fitted alone."""
    for joint in model.joint:
        if joint.scale == "log" and name in joint.names:
            place = joint.names.index(name)
            return math.sqrt(joint.covariance[place][place])
    return None


def draw_patience(
    patience: ParameterEntry, log_sd: float | None, count: int, rng: np.random.Generator
) -> FloatArray:
    """Draw patiences L, (count,), in counted characters; inf among them where an endless one is not excluded.

    Normal on the log scale around the estimate, with ``log_sd`` when it is known, otherwise with the width of the
    interval. Where the estimate or the upper end is infinite there is no log scale: then normal in 1 / L around the
    estimate, with the width of the interval's lower half, cut at 1 / L = 0.

    Raises
    ------
    ValueError
        If there is neither ``log_sd`` nor a lower end of the interval.
    """
    low, high = patience.interval
    z = NormalDist().inv_cdf(0.5 + patience.level / 2)
    normal = rng.standard_normal(count)
    if log_sd is None and low and high:
        log_sd = math.log(high / low) / (2 * z)
    if log_sd is not None and patience.estimate is not None:
        return np.asarray(patience.estimate * np.exp(log_sd * normal))
    if not low:
        raise ValueError("the interval has no lower end")
    decay = 0.0 if patience.estimate is None else 1 / patience.estimate
    drawn = np.maximum(0.0, decay + (1 / low - decay) / z * normal)
    return np.asarray(np.divide(1.0, drawn, out=np.full(count, np.inf), where=drawn > 0))


def draw_shares(
    intents: Mapping[str, Mapping[str, IntentEntry]], count: int, rng: np.random.Generator
) -> Iterator[Shares]:
    """Yield ``count`` draws of every topic's P(i|q).

    Each share is drawn from a normal around its estimate with the width of its 95 % interval, truncated at 0; then
    the shares of a topic are divided by their sum.

    Raises
    ------
    ValueError
        If a share has no interval.
    """
    cells = [share for shares in intents.values() for share in shares.values()]
    mean = np.array([share.estimate for share in cells])
    sd = np.array([_sd(share) for share in cells])
    below = ndtr(-mean / sd)
    drawn = np.maximum(0.0, mean + sd * ndtri(below + (1 - below) * rng.random((count, mean.size))))
    for row in drawn.tolist():
        values = iter(row)
        topics = {topic: {intent: next(values) for intent in shares} for topic, shares in intents.items()}
        yield {topic: _normalised(shares) for topic, shares in topics.items()}


def _sd(share: IntentEntry) -> float:
    """Return the standard deviation of a normal whose 95 % interval is as wide as the share's."""
    low, high = share.interval
    if low is None or high is None:
        raise ValueError("an intent has no interval")
    return max((high - low) / (2 * NormalDist().inv_cdf(0.975)), SMALLEST_SD)


def _normalised(shares: dict[str, float]) -> dict[str, float]:
    """Divide by the sum."""
    total = math.fsum(shares.values())
    return {intent: share / total for intent, share in shares.items()}
