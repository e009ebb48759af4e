"""Draws of alpha and of the contingency weights from what a user model says about their uncertainty."""

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from calibration.user_model import ParameterEntry, UserModel

FloatArray: TypeAlias = NDArray[np.float64]


def draw_alpha(model: UserModel, name: str, count: int, rng: np.random.Generator) -> FloatArray:
    """Draw alphas, (count,), each in [0, 1].

    Normal on the logit scale with the width of the interval; where estimate or interval touches 0 or 1, or an end is
    open, normal around the estimate and cut at 0 and 1.

    Raises
    ------
    ValueError
        If the interval is open at both ends.
    """
    entry = model.parameters[name]
    estimate, (low, high) = entry.estimate or 0.0, entry.interval
    normal = rng.standard_normal(count)
    if low is not None and high is not None and 0 < low < high < 1 and 0 < estimate < 1:
        sd = (_logit(high) - _logit(low)) / (2 * _quantile(entry))
        return np.asarray(1 / (1 + np.exp(-(_logit(estimate) + sd * normal))))
    return np.clip(estimate + standard_deviation(name, entry) * normal, 0.0, 1.0)


def draw_weights(model: UserModel, names: Sequence[str], count: int, rng: np.random.Generator) -> FloatArray:
    """Draw parameters that were fitted together, (count, names).

    Normal on the log scale with their joint covariance, when the model has one and every estimate is above 0; otherwise
    each by itself, normal with the width of its interval.

    Raises
    ------
    ValueError
        If an interval is needed and open at both ends, or the covariance is no square of numbers.
    """
    mean = np.array([model.parameters[name].estimate or 0.0 for name in names])
    covariance = _joint_covariance(model, names)
    if covariance is not None and (mean > 0).all():
        zero = np.zeros(len(names))
        logarithms = rng.multivariate_normal(zero, covariance, count, check_valid="ignore")
        return np.asarray(mean * np.exp(logarithms))
    sd = np.array([standard_deviation(name, model.parameters[name]) for name in names])
    return np.asarray(mean + sd * rng.standard_normal((count, len(names))))


def standard_deviation(name: str, entry: ParameterEntry) -> float:
    """Return that of a normal with the width of the interval, or of its one half when the other end is open.

    Raises
    ------
    ValueError
        If both ends are open.
    """
    estimate = entry.estimate or 0.0
    halves = [abs(end - estimate) for end in entry.interval if end is not None]
    if not halves:
        raise ValueError(f"{name} has no interval to draw from")
    return sum(halves) / len(halves) / _quantile(entry)


def _joint_covariance(model: UserModel, names: Sequence[str]) -> FloatArray | None:
    """Return the covariance of the logarithms of these parameters; None when they were not fitted together."""
    for joint in model.joint:
        if set(names) <= set(joint.names):
            covariance = np.array(joint.covariance, dtype=np.float64)
            if covariance.shape != (len(joint.names), len(joint.names)):
                raise ValueError("the joint covariance of the push weights is not square")
            places = [joint.names.index(name) for name in names]
            return covariance[np.ix_(places, places)]
    return None


def _quantile(entry: ParameterEntry) -> float:
    """Return how many standard deviations a normal's interval of this level reaches to either side."""
    return float(NormalDist().inv_cdf(0.5 + entry.level / 2))


def _logit(share: float) -> float:
    return math.log(share / (1 - share))
