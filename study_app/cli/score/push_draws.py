"""Draws of alpha and of the contingency weights from what a user model says about their uncertainty."""

import math
from collections.abc import Iterable, Sequence
from statistics import NormalDist

import numpy as np

from calibration.user_model.model import ParameterEntry, UserModel
from study_app.cli.score.joint_draws import FloatArray, joint_draws


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

    By their joint covariance (`study_app.cli.score.joint_draws`), when the model has one for all of them; otherwise each by
    itself, normal with the width of its interval.

    Raises
    ------
    ValueError
        If an interval is needed and open at both ends, or the covariance is no square of numbers.
    """
    together = joint_draws(model, names, count, rng)
    if set(together) == set(names):
        return np.stack([together[name] for name in names], axis=1)
    entries = {name: model.parameters[name] for name in names}
    mean = np.array([entry.estimate or 0.0 for entry in entries.values()])
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


def _quantile(entry: ParameterEntry) -> float:
    """Return how many standard deviations a normal's interval of this level reaches to either side."""
    return float(NormalDist().inv_cdf(0.5 + entry.level / 2))


def _logit(share: float) -> float:
    return math.log(share / (1 - share))
