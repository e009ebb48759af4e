"""Draws of alpha and of the contingency weights from what a user model says about their uncertainty."""

import math
from collections.abc import Iterable, Sequence
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from calibration.user_model import ParameterEntry, UserModel

FloatArray: TypeAlias = NDArray[np.float64]


def draw_alpha(model: UserModel, name: str, count: int, rng: np.random.Generator) -> FloatArray:
    """Draw alphas, (count,), each in [0, 1].

    Normal on the logit scale with the width of the interval. Where estimate or interval touch 0 or 1, or an end is
    open: normal around the estimate, with the spread that the other end tells, and cut at 0 and 1.

    Raises
    ------
    ValueError
        If no end of the interval lies between 0 and 1.
    """
    entry = model.parameters[name]
    estimate, ends = entry.estimate or 0.0, [end for end in entry.interval if end is not None and 0 < end < 1]
    normal = rng.standard_normal(count)
    if len(ends) == 2 and 0 < estimate < 1:
        sd = abs(_logit(ends[1]) - _logit(ends[0])) / (2 * _quantile(entry))
        return np.asarray(1 / (1 + np.exp(-(_logit(estimate) + sd * normal))))
    return np.clip(estimate + standard_deviation(name, entry, ends) * normal, 0.0, 1.0)


def draw_weights(model: UserModel, names: Sequence[str], count: int, rng: np.random.Generator) -> FloatArray:
    """Draw parameters that were fitted together, (count, names).

    Normal on the log scale with their joint covariance, when the model has one and every estimate is above 0; otherwise
    each by itself, normal with the width of its interval.

    Raises
    ------
    ValueError
        If an interval is needed and open at both ends, or the covariance is no square of numbers.
    """
    entries = {name: model.parameters[name] for name in names}
    mean = np.array([entry.estimate or 0.0 for entry in entries.values()])
    covariance = _joint_covariance(model, names)
    if covariance is not None and (mean > 0).all():
        zero = np.zeros(len(names))
        logarithms = rng.multivariate_normal(zero, covariance, count, check_valid="ignore")
        return np.asarray(mean * np.exp(logarithms))
    sd = np.array([standard_deviation(name, entry, entry.interval) for name, entry in entries.items()])
    return np.asarray(mean + sd * rng.standard_normal((count, len(names))))


def standard_deviation(name: str, entry: ParameterEntry, ends: Iterable[float | None]) -> float:
    """Return that of a normal around the estimate whose interval has these ends; None stands for an open one.

    Raises
    ------
    ValueError
        If both are open.
    """
    estimate = entry.estimate or 0.0
    halves = [abs(end - estimate) for end in ends if end is not None]
    if not halves:
        raise ValueError(f"{name} has no interval to draw from")
    return sum(halves) / len(halves) / _quantile(entry)


def _joint_covariance(model: UserModel, names: Sequence[str]) -> FloatArray | None:
    """Return the covariance of the logarithms of these parameters; None when they were not fitted together."""
    for joint in model.joint:
        if set(names) <= set(joint.names):
            if {len(joint.covariance), *map(len, joint.covariance)} != {len(joint.names)}:
                raise ValueError("the joint covariance of the push weights is not square")
            places = [joint.names.index(name) for name in names]
            return np.array(joint.covariance, dtype=np.float64)[np.ix_(places, places)]
    return None


def _quantile(entry: ParameterEntry) -> float:
    """Return how many standard deviations a normal's interval of this level reaches to either side."""
    return float(NormalDist().inv_cdf(0.5 + entry.level / 2))


def _logit(share: float) -> float:
    return math.log(share / (1 - share))
