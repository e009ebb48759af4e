"""Draws of a whole user model: the same model again and again, its estimates drawn from what it says of their errors."""

import math
from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from calibration.user_model.model import IntentEntry, ParameterEntry, UserModel, plain_name
from metrics.msu.trails import RANGES
from study_app.cli.score.joint_draws import FloatArray
from study_app.cli.score.model_draws import draw_patience, draw_shares, joint_log_sd
from study_app.cli.score.push_draws import draw_alpha, draw_weights
from study_app.cli.score.stream_draws import draw_decay, draw_population

ALPHA, LATENESS = "push_alpha", "lateness_decay"

Names: TypeAlias = tuple[str, ...]
Drawn: TypeAlias = dict[str, FloatArray]
"""Parameter -> its draws, (count,)."""
Draw: TypeAlias = Callable[[UserModel, Names, int, np.random.Generator], Drawn]


def drawn_models(model: UserModel, count: int, seed: int) -> tuple[list[UserModel], list[str]]:
    """Draw a user model, its estimates together where they were fitted together.

    Parameters
    ----------
    model : UserModel
        As fitted.
    count, seed : int
        How many draws, and their seed.

    Returns
    -------
    list of UserModel
        With drawn estimates; nothing else differs.
    list of str
        Which parameters keep their estimates and why, one sentence each.
    """
    rng = np.random.default_rng(seed)
    drawn: Drawn = {}
    notes: list[str] = []
    for names, draw in _groups(model):
        try:
            drawn |= draw(model, names, count, rng)
        except ValueError as error:
            notes.append(f"--draws keeps the estimate of {', '.join(names)}, since {error}")
    intents = [model.intents] * count
    try:
        intents = [_with_shares(model, shares) for shares in draw_shares(model.intents, count, rng)]
    except ValueError as error:
        notes.append(f"--draws keeps the estimates of P(i|q), since {error}")
    return [_drawn(model, drawn, intents[number], number) for number in range(count)], notes


def _groups(model: UserModel) -> Iterator[tuple[Names, Draw]]:
    """Yield the parameters that are drawn together, and how."""
    names = tuple(model.parameters)
    for name in names:
        if plain_name(name).startswith("patience_chars"):
            yield (name,), _draw_patience
    if ALPHA in names:
        yield (ALPHA,), _draw_alpha
    if LATENESS in names:
        yield (LATENESS,), _draw_decay
    weights = tuple(name for name in names if name.startswith("push_") and name != ALPHA)
    if weights:
        yield weights, _draw_weights
    people = tuple(name for name in names if plain_name(name) in RANGES)
    if people:
        yield people, _draw_population


def _draw_patience(model: UserModel, names: Names, count: int, rng: np.random.Generator) -> Drawn:
    (name,) = names
    return {name: draw_patience(model.parameters[name], joint_log_sd(model, name), count, rng)}


def _draw_alpha(model: UserModel, names: Names, count: int, rng: np.random.Generator) -> Drawn:
    return {ALPHA: draw_alpha(model, names[0], count, rng)}


def _draw_decay(model: UserModel, names: Names, count: int, rng: np.random.Generator) -> Drawn:
    return {LATENESS: draw_decay(model, names[0], count, rng)}


def _draw_weights(model: UserModel, names: Names, count: int, rng: np.random.Generator) -> Drawn:
    return dict(zip(names, draw_weights(model, names, count, rng).T, strict=True))


def _draw_population(model: UserModel, names: Names, count: int, rng: np.random.Generator) -> Drawn:
    people = draw_population(model, names, count, rng)
    return {name: np.array([one[name] for one in people]) for name in names}


def _drawn(
    model: UserModel, drawn: Drawn, intents: dict[str, dict[str, IntentEntry]], number: int
) -> UserModel:
    parameters = {
        name: _with(entry, float(drawn[name][number])) if name in drawn else entry
        for name, entry in model.parameters.items()
    }
    return model.model_copy(update={"parameters": parameters, "intents": intents})


def _with(entry: ParameterEntry, estimate: float) -> ParameterEntry:
    return entry.model_copy(update={"estimate": estimate if math.isfinite(estimate) else None})


def _with_shares(model: UserModel, shares: dict[str, dict[str, float]]) -> dict[str, dict[str, IntentEntry]]:
    return {
        topic: {
            intent: entry.model_copy(update={"estimate": shares[topic][intent]})
            for intent, entry in entries.items()
        }
        for topic, entries in model.intents.items()
    }
