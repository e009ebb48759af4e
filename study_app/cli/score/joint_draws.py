"""Draws of parameters that were fitted together, from the covariance blocks of a user model."""

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from calibration.user_model.model import JointEntry, UserModel, plain_name

FloatArray: TypeAlias = NDArray[np.float64]

LOGARITHM = "reading_speed_mu"
"""The one parameter that is a logarithm already: in a block of logarithms it stands as it is."""


def joint_draws(
    model: UserModel, names: Iterable[str], count: int, rng: np.random.Generator
) -> dict[str, FloatArray]:
    """Draw those parameters of ``names`` that the model joins with others, (count,) each.

    Normal on the scale of their block, around the estimates. Where a block of logarithms has an estimate that is not
    positive, that parameter is not drawn: it has no logarithm.

    Raises
    ------
    ValueError
        If a covariance has not a row and a column for each name.
    """
    wanted = set(names)
    drawn: dict[str, FloatArray] = {}
    for block in model.joint:
        covariance = _square(block)
        places = [
            place for place, name in enumerate(block.names) if name in wanted and _has(model, block, name)
        ]
        if places:
            chosen = covariance[np.ix_(places, places)]
            steps = rng.multivariate_normal(np.zeros(len(places)), chosen, count, check_valid="ignore")
            drawn |= {
                block.names[place]: _moved(model, block, block.names[place], steps[:, column])
                for column, place in enumerate(places)
            }
    return drawn


def _has(model: UserModel, block: JointEntry, name: str) -> bool:
    """Tell whether the parameter can be drawn by its block."""
    estimate = model.parameters[name].estimate
    if estimate is None:
        return False
    return estimate > 0 or block.scale == "identity" or plain_name(name) == LOGARITHM


def _moved(model: UserModel, block: JointEntry, name: str, steps: FloatArray) -> FloatArray:
    estimate = model.parameters[name].estimate or 0.0
    is_added = block.scale == "identity" or plain_name(name) == LOGARITHM
    return estimate + steps if is_added else np.asarray(estimate * np.exp(steps))


def _square(block: JointEntry) -> FloatArray:
    if {len(block.covariance), *map(len, block.covariance)} != {len(block.names)}:
        raise ValueError(f"the joint covariance of {', '.join(block.names)} is not square")
    return np.array(block.covariance, dtype=np.float64)
