"""Draws of a population of stream readers, and of the lateness decay, from what a user model says of their errors."""

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from calibration.user_model.model import ParameterEntry, UserModel
from study_app.cli.score.joint_draws import LOGARITHM, FloatArray, joint_draws


def draw_population(
    model: UserModel, names: Sequence[str], count: int, rng: np.random.Generator
) -> list[dict[str, float]]:
    """Return ``count`` draws of the population's parameters.

    Those that were fitted together come from their joint covariance (`study_app.cli.score.joint_draws`); others from a normal
    on the log scale with the width of their interval, or of its one half when the other end is open or 0. `LOGARITHM`
    is normal itself. An estimate of 0 stays 0.

    Raises
    ------
    ValueError
        If a parameter has neither a joint covariance nor an end of an interval.
    """
    drawn = joint_draws(model, names, count, rng)
    for name in names:
        if name not in drawn:
            entry = model.parameters[name]
            estimate = entry.estimate or 0.0
            steps = _log_sd(name, entry) * rng.standard_normal(count)
            drawn[name] = estimate + steps if name == LOGARITHM else estimate * np.exp(steps)
    return [{name: float(values[number]) for name, values in drawn.items()} for number in range(count)]


def draw_decay(model: UserModel, name: str, count: int, rng: np.random.Generator) -> FloatArray:
    """Draw lateness decays, (count,): normal around the estimate with the width of the interval, cut at 0 and 1.

    Raises
    ------
    ValueError
        If both ends of the interval are open.
    """
    entry = model.parameters[name]
    estimate = entry.estimate or 0.0
    sd = _sd(name, entry, [abs(end - estimate) for end in entry.interval if end is not None])
    return np.clip(estimate + sd * rng.standard_normal(count), 0.0, 1.0)


def _log_sd(name: str, entry: ParameterEntry) -> float:
    """Return the standard deviation of a parameter's error, on the log scale."""
    ends = [end for end in entry.interval if end is not None]
    estimate = entry.estimate or 0.0
    if name == LOGARITHM:
        return _sd(name, entry, [abs(end - estimate) for end in ends])
    if not estimate:
        return 0.0
    return _sd(name, entry, [abs(math.log(end / estimate)) for end in ends if end > 0])


def _sd(name: str, entry: ParameterEntry, halves: Sequence[float]) -> float:
    """Return that of a normal whose interval reaches as far as these halves do on average."""
    if not halves:
        raise ValueError(f"{name} has no interval to draw from")
    return sum(halves) / len(halves) / NormalDist().inv_cdf(0.5 + entry.level / 2)
