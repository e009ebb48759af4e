"""What a simulated crowd is like: true parameters from a user-model file, and its bad habits."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from calibration.user_model import read_user_model
from metrics.errors import input_fault
from metrics.wording import listed, nearest

READING_SPEED_MU, READING_SPEED_SIGMA = 1.29, 0.558
DEFAULT_PATIENCE_CHARS = 1500.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """Habits of the crowd, each a probability.

    Attributes
    ----------
    quit : float
        A worker leaves for good somewhere in the middle.
    careless : float
        A worker answers every pair at random without reading.
    reload, offline, double_click : float
        On a page: it is loaded twice; its events are sent late, twice and in the wrong order; its form is sent twice.
    left_bias : float
        A judgment says left whatever stands there.
    """

    quit: float = 0.0
    reload: float = 0.0
    offline: float = 0.0
    double_click: float = 0.0
    careless: float = 0.0
    left_bias: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """The people of a simulated crowd.

    Attributes
    ----------
    patience_preferences, patience_stops : float
        Counted characters; how deep M looks in their preferences, and how deep they read.
    reading_speed_mu, reading_speed_sigma : float
        Of log words per second over people.
    intents : mapping
        topic -> intent -> P(i|q); the collection's own where a topic is missing.
    """

    patience_preferences: float = DEFAULT_PATIENCE_CHARS
    patience_stops: float = DEFAULT_PATIENCE_CHARS
    reading_speed_mu: float = READING_SPEED_MU
    reading_speed_sigma: float = READING_SPEED_SIGMA
    intents: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    behaviour: Behaviour = field(default_factory=Behaviour)


def read_truth(path: str | Path) -> Truth:
    """Read a user-model file as the truth of a crowd; raises `InputError` when it is none."""
    model = read_user_model(path)
    known = {name: entry.estimate for name, entry in model.parameters.items() if entry.estimate is not None}
    patience = known.get("patience_chars", DEFAULT_PATIENCE_CHARS)
    return Truth(
        patience_preferences=known.get("patience_chars_preferences", patience),
        patience_stops=known.get("patience_chars_stops", patience),
        reading_speed_mu=known.get("reading_speed_mu", READING_SPEED_MU),
        reading_speed_sigma=known.get("reading_speed_sigma", READING_SPEED_SIGMA),
        intents={
            topic: {intent: entry.estimate for intent, entry in entries.items()}
            for topic, entries in model.intents.items()
        },
        behaviour=_behaviour(path),
    )


def _behaviour(path: str | Path) -> Behaviour:
    block: Any = json.loads(Path(path).read_text(encoding="utf-8")).get("behaviour", {})
    known = [entry.name for entry in fields(Behaviour)]
    for name, value in block.items():
        if name not in known:
            near = nearest(name, known)
            cure = f"did you mean {near!r}" if near else f"known habits: {listed(known)}"
            raise input_fault(f"behaviour: {name!r} is not known", path=path, cure=cure)
        if not (isinstance(value, int | float) and 0 <= value <= 1):
            raise input_fault(
                f"behaviour.{name} is {value!r}", path=path, cure="write a probability from 0 to 1"
            )
    return Behaviour(**block)
