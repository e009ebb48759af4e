"""Draws of a population of stream readers, and of the lateness decay, from what a user model says of their errors."""

import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from calibration.user_model import ParameterEntry, UserModel

FloatArray: TypeAlias = NDArray[np.float64]

LOGARITHM = "reading_speed_mu"
"""The one parameter that is a logarithm already: on the log scale of a joint fit it stands as it is."""


def draw_population(
    model: UserModel, names: Sequence[str], count: int, rng: np.random.Generator
) -> Iterator[dict[str, float]]:
    """Yield ``count`` draws of the population's parameters.

    Those that were fitted together come from a normal on the log scale with their joint covariance; others from one on
    the log scale with the width of their interval. `LOGARITHM` is normal itself. An estimate of 0 stays 0.

    Raises
    ------
    ValueError
        If a parameter has neither a joint covariance nor both ends of an interval.
    """
    steps = _joint_steps(model, names, count, rng)
    drawn: dict[str, FloatArray] = {}
    for name in names:
        entry = model.parameters[name]
        estimate = entry.estimate or 0.0
        if name not in steps:
            steps[name] = _log_sd(name, entry) * rng.standard_normal(count)
        drawn[name] = estimate + steps[name] if name == LOGARITHM else estimate * np.exp(steps[name])
    for number in range(count):
        yield {name: float(values[number]) for name, values in drawn.items()}


def draw_decay(model: UserModel, name: str, count: int, rng: np.random.Generator) -> FloatArray:
    """Draw lateness decays, (count,): normal around the estimate with the width of the interval, cut at 0 and 1.

    Raises
    ------
    ValueError
        If the interval is open.
    """
    entry = model.parameters[name]
    low, high = _ends(name, entry)
    sd = (high - low) / (2 * _reach(entry))
    return np.clip((entry.estimate or 0.0) + sd * rng.standard_normal(count), 0.0, 1.0)


def _joint_steps(
    model: UserModel, names: Sequence[str], count: int, rng: np.random.Generator
) -> dict[str, FloatArray]:
    """Draw how far each parameter that was fitted with others is off, on the log scale."""
    steps: dict[str, FloatArray] = {}
    for joint in model.joint:
        places = [place for place, name in enumerate(joint.names) if name in names]
        if places:
            covariance = np.array(joint.covariance, dtype=np.float64)
            if covariance.shape != (len(joint.names), len(joint.names)):
                raise ValueError(f"the joint covariance of {', '.join(joint.names)} is not square")
            chosen = covariance[np.ix_(places, places)]
            drawn = rng.multivariate_normal(np.zeros(len(places)), chosen, count, check_valid="ignore")
            steps |= {joint.names[place]: drawn[:, column] for column, place in enumerate(places)}
    return steps


def _log_sd(name: str, entry: ParameterEntry) -> float:
    """Return the standard deviation of a normal, on the log scale, with the width of the interval."""
    low, high = _ends(name, entry)
    if name == LOGARITHM:
        return (high - low) / (2 * _reach(entry))
    if not entry.estimate:
        return 0.0
    if low <= 0:
        raise ValueError(f"the interval of {name} reaches down to 0")
    return math.log(high / low) / (2 * _reach(entry))


def _ends(name: str, entry: ParameterEntry) -> tuple[float, float]:
    """Return both ends of an interval."""
    low, high = entry.interval
    if low is None or high is None:
        raise ValueError(f"the interval of {name} is open")
    return low, high


def _reach(entry: ParameterEntry) -> float:
    """Return how many standard deviations a normal's interval of this level reaches to either side."""
    return float(NormalDist().inv_cdf(0.5 + entry.level / 2))
