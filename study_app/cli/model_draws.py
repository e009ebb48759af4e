"""Draws of fitted parameters, to carry their uncertainty into scores.

A user model holds estimates and intervals, not the data, so the draws are normal approximations, each on the scale
on which its parameter is least skewed.
"""

import math
from collections.abc import Iterator
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from metrics.errors import input_fault
from study_app.cli.model_file import PATIENCE, Parameter, Shares, UserModel

FloatArray: TypeAlias = NDArray[np.float64]

SMALLEST_SD = 1e-12
"""Keeps the formulas finite for a share whose interval has no width."""


def draw_patience(
    model: UserModel, patience: Parameter, count: int, rng: np.random.Generator, *, path: str
) -> FloatArray:
    """Draw patiences L, (count,), in counted characters; inf among them where the model cannot exclude it.

    Normal on the log scale around the estimate, with the standard deviation of the joint fit when the model has one,
    otherwise that of a normal with the width of the interval. Where estimate or upper end is infinite there is no log
    scale: then normal in 1 / L, with the width of the interval's lower half, cut at 1 / L = 0.

    Raises
    ------
    InputError
        If the interval has no lower end.
    """
    low, high = patience.interval
    z = NormalDist().inv_cdf(0.5 + patience.level / 2)
    normal = rng.standard_normal(count)
    sd = _joint_sd(model)
    if sd is None and low and high:
        sd = math.log(high / low) / (2 * z)
    if sd is not None and patience.estimate is not None:
        return np.asarray(patience.estimate * np.exp(sd * normal))
    if not low:
        raise input_fault(
            f"the interval of {PATIENCE} has no lower end",
            path=path,
            cure="leave out --draws, or give --patience",
        )
    decay = 0.0 if patience.estimate is None else 1 / patience.estimate
    drawn = np.maximum(0.0, decay + (1 / low - decay) / z * normal)
    return np.asarray(np.divide(1.0, drawn, out=np.full(count, np.inf), where=drawn > 0))


def draw_shares(model: UserModel, count: int, rng: np.random.Generator) -> Iterator[Shares]:
    """Yield ``count`` draws of every topic's P(i|q).

    Each share is drawn from a normal around its estimate with the width of its 95 % interval, truncated at 0; then
    the shares of a topic are divided by their sum.
    """
    topics = [topic for topic, shares in model.intents.items() if shares]
    cells = [share for topic in topics for share in model.intents[topic].values()]
    mean = np.array([share.estimate for share in cells])
    width = np.array([share.interval[1] - share.interval[0] for share in cells])
    sd = np.maximum(width / (2 * NormalDist().inv_cdf(0.975)), SMALLEST_SD)
    below = ndtr(-mean / sd)
    drawn = np.maximum(0.0, mean + sd * ndtri(below + (1 - below) * rng.random((count, mean.size))))
    sizes = [len(model.intents[topic]) for topic in topics]
    starts = np.cumsum([0, *sizes[:-1]])
    drawn /= np.repeat(np.add.reduceat(drawn, starts, axis=1), sizes, axis=1)
    for row in drawn.tolist():
        values = iter(row)
        yield {topic: {intent: next(values) for intent in model.intents[topic]} for topic in topics}


def _joint_sd(model: UserModel) -> float | None:
    """Return the standard deviation of log patience from the fit it shared with other parameters, if there is one."""
    for joint in model.joint:
        if PATIENCE in joint.names:
            place = joint.names.index(PATIENCE)
            return math.sqrt(joint.covariance[place][place])
    return None
