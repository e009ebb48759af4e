"""Parameters of measures, as a user model gives them.

A missing parameter is None or left out; the caller replaces it and says so.
"""

import math
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from calibration.user_model.model import (
    CORRELATION,
    FLOOR,
    LATENESS,
    PATIENCE,
    PERSISTENCE,
    SPEED,
    UserModel,
)
from metrics.errors import Fault, input_fault
from metrics.msu.trails import RANGES, Population

SUM_TOLERANCE = 0.01
MAX_PERSISTENCE = 1 - 1e-9
"""Largest persistence drawn, since rank-biased precision is undefined at 1."""


def patience_chars(model: UserModel, source: str = "", language: str | None = None) -> float | None:
    """Return the patience L in counted characters, inf without decay, or None.

    The result is None where it was not fitted.

    Parameters
    ----------
    model : UserModel
        As fitted, or drawn.
    source : {'', 'preferences', 'stops', 'grid'}
        What it was fitted to; empty: the one that prefcal fit recommends.
    language : str, optional
        Of the texts, where there are several.
    """
    entry = model.entry(f"{PATIENCE}_{source}" if source else PATIENCE, language)
    if entry is None:
        return None
    return math.inf if entry.estimate is None else entry.estimate


def intent_shares(model: UserModel, topics: Collection[str] | None = None) -> dict[str, dict[str, float]]:
    """Return P(i|q) by topic and intent, of all topics or of some."""
    return {
        topic: {intent: entry.estimate for intent, entry in entries.items()}
        for topic, entries in model.intents.items()
        if topics is None or topic in topics
    }


def sum_fault(topic: str, shares: Mapping[str, float]) -> Fault | None:
    """Return the fault of a topic's shares that do not add up to 1, or None."""
    total = math.fsum(shares.values())
    if abs(total - 1) <= SUM_TOLERANCE:
        return None
    problem = f"the intents of {topic!r} add up to {total:.6g}, not 1"
    return Fault(problem=problem, cure="divide each estimate by their sum")


def stream_people(model: UserModel, language: str | None = None) -> dict[str, float]:
    """Return the parameters of a `Population` that a model has.

    Half a law of speed, or one in characters, is left out.
    """
    entries = {name: model.entry(name, language) for name in RANGES}
    parameters = {
        name: entry.estimate
        for name, entry in entries.items()
        if entry is not None and entry.estimate is not None and "character" not in entry.unit
    }
    has_speed = set(SPEED) <= set(parameters)
    return {name: value for name, value in parameters.items() if has_speed or name not in SPEED}


def joint_parameters(model: UserModel, explicit: Collection[str] = ()) -> dict[str, Any]:
    """Return a model's correlation of A and D, and its laws other than log-normal.

    A `Population` takes them beside M and S.

    Parameters
    ----------
    model : UserModel
        As fitted, or drawn.
    explicit : collection of str
        Parameters that are not the model's: what belongs to them is not taken either.
    """
    given = {name.partition("_")[0] for name in explicit}
    parameters: dict[str, Any] = {f"{what}_law": law for what, law in model.laws.items() if what not in given}
    entry = model.entry(CORRELATION)
    if entry is not None and entry.estimate is not None and not given & {"away", "session"}:
        parameters[CORRELATION] = entry.estimate
    return parameters


def clipped_population(parameters: Mapping[str, Any]) -> Population:
    """Make a population from fitted or drawn parameters, clipped to their ranges."""
    clipped = {
        name: float(np.clip(value, *RANGES[name])) for name, value in parameters.items() if name in RANGES
    }
    return Population(**{**parameters, **clipped})


def lateness_decay(model: UserModel, language: str | None = None) -> float | None:
    """Return the fitted lateness decay L, if any."""
    entry = model.entry(LATENESS, language)
    return None if entry is None else entry.estimate


def lateness_floor(model: UserModel, language: str | None = None) -> float:
    """Return the fitted lateness floor, 0 if none was fitted.

    A nugget keeps this worth however late it comes.
    """
    entry = model.entry(FLOOR, language)
    return 0.0 if entry is None else entry.estimate or 0.0


def persistence(model: UserModel, language: str | None = None) -> float | None:
    """Return the persistence p in ranked lists, below 1, or None.

    p is the probability to go on from one entry to the next.

    Raises
    ------
    InputError
        If it is no probability, as a file that was written by hand may have it.
    """
    entry = model.entry(PERSISTENCE, language)
    if entry is None or entry.estimate is None:
        return None
    if not 0 <= entry.estimate <= 1:
        raise input_fault(
            f"{PERSISTENCE} is {entry.estimate:g}", cure="write a probability from 0 to 1 into the user model"
        )
    return min(entry.estimate, MAX_PERSISTENCE)
