"""What a user model says in the words of the measures: patience, P(i|q), the people who read streams, weights.

What a model lacks is None, or left out; who asks puts something in its place and says so.
"""

import math
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from calibration.user_model.model import (
    ALPHA,
    CORRELATION,
    FLOOR,
    LATENESS,
    PATIENCE,
    PERSISTENCE,
    PUSH_WEIGHTS,
    SPEED,
    UserModel,
)
from metrics.errors import Fault, input_fault
from metrics.msu.trails import RANGES, Population
from metrics.push.contingency import Contingency

SUM_TOLERANCE = 0.01
MOST_PERSISTENT = 1 - 1e-9
"""Rank-biased precision is not defined at 1, which a draw may come to."""


def patience_chars(model: UserModel, source: str = "", language: str | None = None) -> float | None:
    """Return a patience L in counted characters, inf where there is no decay; None where none was fitted.

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
    """Return topic -> intent -> P(i|q), of all topics or of some."""
    return {
        topic: {intent: entry.estimate for intent, entry in entries.items()}
        for topic, entries in model.intents.items()
        if topics is None or topic in topics
    }


def sum_fault(topic: str, shares: Mapping[str, float]) -> Fault | None:
    """Return what is wrong with the shares of a topic that do not add up to 1; None where they do."""
    total = math.fsum(shares.values())
    if abs(total - 1) <= SUM_TOLERANCE:
        return None
    problem = f"the intents of {topic!r} add up to {total:.6g}, not 1"
    return Fault(problem=problem, cure="divide each estimate by their sum")


def stream_people(model: UserModel, language: str | None = None) -> dict[str, float]:
    """Return those parameters of a `Population` that a model has; half a law of speed, or one in characters, is of no use."""
    entries = {name: model.entry(name, language) for name in RANGES}
    found = {
        name: entry.estimate
        for name, entry in entries.items()
        if entry is not None and entry.estimate is not None and "character" not in entry.unit
    }
    has_speed = set(SPEED) <= set(found)
    return {name: value for name, value in found.items() if has_speed or name not in SPEED}


def people_together(model: UserModel, explicit: Collection[str] = ()) -> dict[str, Any]:
    """Return what a model says of a `Population` beside M and S: the correlation of A and D, and laws that are not log-normal.

    Parameters
    ----------
    model : UserModel
        As fitted, or drawn.
    explicit : collection of str
        Parameters that are not the model's: what belongs to them is not taken either.
    """
    given = {name.partition("_")[0] for name in explicit}
    found: dict[str, Any] = {f"{what}_law": law for what, law in model.laws.items() if what not in given}
    entry = model.entry(CORRELATION)
    if entry is not None and entry.estimate is not None and not given & {"away", "session"}:
        found[CORRELATION] = entry.estimate
    return found


def clipped_population(parameters: Mapping[str, Any]) -> Population:
    """Make a population of parameters as they were fitted or drawn, those beyond their range at its end."""
    clipped = {
        name: float(np.clip(value, *RANGES[name])) for name, value in parameters.items() if name in RANGES
    }
    return Population(**{**parameters, **clipped})


def lateness_decay(model: UserModel, language: str | None = None) -> float | None:
    """Return what a nugget that comes a visit late is still worth; None where it was not fitted."""
    entry = model.entry(LATENESS, language)
    return None if entry is None else entry.estimate


def lateness_floor(model: UserModel, language: str | None = None) -> float:
    """Return what a nugget is still worth however late it comes; 0 where none was fitted."""
    entry = model.entry(FLOOR, language)
    return 0.0 if entry is None else entry.estimate or 0.0


def persistence(model: UserModel, language: str | None = None) -> float | None:
    """Return the probability to go on from one entry of a ranked list to the next, below 1; None where it was not fitted.

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
    return min(entry.estimate, MOST_PERSISTENT)


def push_alpha(model: UserModel) -> float | None:
    """Return T11U's weight of gain against pain, 1 where the pain is infinitely small; None where it was not fitted."""
    entry = model.entry(ALPHA)
    if entry is None:
        return None
    return 1.0 if entry.estimate is None else entry.estimate


def contingency(model: UserModel) -> Contingency | None:
    """Return the contingency utility with a model's weights, one that it lacks counting as 0; None without any."""
    entries = [model.entry(name) for name in PUSH_WEIGHTS]
    if not any(entries):
        return None
    p_e, s_e, p_0, s_0 = (0.0 if entry is None else entry.estimate or 0.0 for entry in entries)
    return Contingency(P_E=p_e, S_E=s_e, P_0=p_0, S_0=s_0)
