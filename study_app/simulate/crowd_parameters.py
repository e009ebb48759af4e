"""Parameters of a simulated crowd, from a user-model file, and their recovery."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from calibration.user_model.measures import intent_shares, joint_parameters, persistence
from calibration.user_model.model import LATENESS, PATIENCE, UserModel, read_user_model
from metrics.errors import closest_name, input_fault, join_names
from metrics.msu.trails import RANGES, Population
from study_app.estimate.content import StudyContent, read_whole_study
from study_app.study.entries import FollowedTask
from study_app.tasks.kinds import kind_of

DEFAULT_PATIENCE_CHARS = 1500.0
DEFAULT_LATENESS_DECAY = 0.5
DEFAULT_PEOPLE = Population(
    away_mean_seconds=8 * 3600.0,
    away_sd_seconds=8 * 3600.0,
    session_mean_seconds=90.0,
    session_sd_seconds=90.0,
)
"""Crowd where the truth does not describe one."""

DEFAULT_PUSH_WEIGHTS: Mapping[str, float] = MappingProxyType({"P_E": 0.5, "S_E": 0.3, "P_0": 0.5, "S_0": 0.4})

DEMO_PATIENCE_CHARS = 1000
DEMO_FOLLOWERS = {
    "away_mean_seconds": 8 * 3600,
    "away_sd_seconds": 8 * 3600,
    "session_mean_seconds": 90,
    "session_sd_seconds": 90,
    "reading_speed_mu": 1.29,
    "reading_speed_sigma": 0.558,
    "lateness_decay": 0.6,
    "lateness_p0": 0.9,
}
DEMO_BEHAVIOUR = {
    "quit": 0.03,
    "careless": 0.05,
    "reload": 0.02,
    "double_click": 0.02,
    "offline": 0.02,
    "retry": 0.05,
    "two_tabs": 0.01,
    "clock_jump": 0.01,
    "no_script": 0.02,
}
"""The crowd of `prefcal demo`."""


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
    retry : float
        The events of a page are sent twice, the first time in the wrong order.
    two_tabs : float
        A stream is opened in a second tab, which is put aside.
    clock_jump : float
        The device's clock is set on or back by an hour while a stream's page is open.
    no_script : float
        A worker follows streams with a browser that runs no script.
    """

    quit: float = 0.0
    reload: float = 0.0
    offline: float = 0.0
    double_click: float = 0.0
    careless: float = 0.0
    left_bias: float = 0.0
    retry: float = 0.0
    two_tabs: float = 0.0
    clock_jump: float = 0.0
    no_script: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Lateness:
    """Decay of an update's use with lateness.

    P(useful) = p0 (floor + (1 - floor) decay^visits_late), with 0^0 = 1.
    """

    decay: float = DEFAULT_LATENESS_DECAY
    p0: float = 1.0
    floor: float = 0.0

    def chance(self, visits_late: int) -> float:
        """Return the chance that an update is still of use."""
        return float(self.p0 * (self.floor + (1 - self.floor) * self.decay**visits_late))


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdParameters:
    """The people of a simulated crowd.

    Attributes
    ----------
    patience_preferences, patience_stops : float
        Counted characters; how deep M looks in their preferences, and how deep they read.
    rbp_p : float or None
        The chance that they go on from one entry of a ranked list to the next; None: they read lists to their end.
    people : Population
        How long they stay away and stay, and how fast they read.
    lateness : Lateness
        How an update loses its use for them.
    push_weights : mapping
        P_E, S_E, P_0, S_0 of the contingency utility, for one unit of gain.
    intents : mapping
        topic -> intent -> P(i|q); the collection's own where a topic is missing.
    """

    patience_preferences: float = DEFAULT_PATIENCE_CHARS
    patience_stops: float = DEFAULT_PATIENCE_CHARS
    rbp_p: float | None = None
    people: Population = DEFAULT_PEOPLE
    lateness: Lateness = field(default_factory=Lateness)
    push_weights: Mapping[str, float] = field(default_factory=lambda: DEFAULT_PUSH_WEIGHTS)
    intents: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    behaviour: Behaviour = field(default_factory=Behaviour)

    def sentence(self, content: StudyContent) -> str:
        """Describe the crowd in one sentence, as far as the tasks of a study depend on it."""
        entries = [task.entry for task in content.tasks]
        people, weights = self.people, self.push_weights
        by = {kind_of(entry).preferred_by(entry) for entry in entries}
        used = []
        if "patience" in by:
            used.append(f"has a patience of {self.patience_preferences:g} characters")
        if any(isinstance(entry, FollowedTask) for entry in entries):
            used.append(
                f"stays away {people.away_mean_seconds / 3600:g} hours and stays {people.session_mean_seconds:g} seconds on average, "
                f"with a lateness decay of {self.lateness.decay:g}"
            )
        if "push weights" in by:
            used.append(
                "has push weights " + ", ".join(f"{name} {weight:g}" for name, weight in weights.items())
            )
        used.append(f"reads {math.exp(people.reading_speed_mu):.2g} words a second")
        if "lot" in by:
            used.append("prefers by lot, the same each time, what has no judgments")
        return f"the crowd {'; '.join(used)}"


def read_truth(path: str | Path) -> CrowdParameters:
    """Read a user-model file as the true parameters of a crowd.

    It raises `InputError` when the file is none.
    """
    model = read_user_model(path)
    true_values = {
        name: entry.estimate for name, entry in model.parameters.items() if entry.estimate is not None
    }
    patience = true_values.get(PATIENCE, DEFAULT_PATIENCE_CHARS)
    return CrowdParameters(
        patience_preferences=true_values.get("patience_chars_preferences", patience),
        patience_stops=true_values.get("patience_chars_stops", patience),
        rbp_p=persistence(model),
        people=_people(model, true_values, path),
        lateness=Lateness(
            decay=true_values.get(LATENESS, DEFAULT_LATENESS_DECAY),
            p0=true_values.get("lateness_p0", 1.0),
            floor=true_values.get("lateness_floor", 0.0),
        ),
        push_weights={
            name: true_values.get(f"push_{name}", weight) for name, weight in DEFAULT_PUSH_WEIGHTS.items()
        },
        intents=intent_shares(model),
        behaviour=_behaviour(path),
    )


def _people(model: UserModel, true_values: Mapping[str, float], path: str | Path) -> Population:
    """Return the people of a user model.

    Half a law of speed, written by hand, is accepted.
    """
    try:
        people: dict[str, Any] = {name: true_values[name] for name in RANGES if name in true_values}
        return replace(DEFAULT_PEOPLE, **people, **joint_parameters(model))
    except ValueError as error:
        raise input_fault(str(error), path=path, cure="correct the estimate") from error


def _behaviour(path: str | Path) -> Behaviour:
    block: Any = json.loads(Path(path).read_text(encoding="utf-8")).get("behaviour", {})
    true_values = [entry.name for entry in fields(Behaviour)]
    for name, value in block.items():
        if name not in true_values:
            near = closest_name(name, true_values)
            cure = f"did you mean {near!r}?" if near else f"known habits: {join_names(true_values)}"
            raise input_fault(f"behaviour: {name!r} is not known", path=path, cure=cure)
        if not (isinstance(value, int | float) and 0 <= value <= 1):
            raise input_fault(
                f"behaviour.{name} is {value!r}", path=path, cure="write a probability from 0 to 1"
            )
    return Behaviour(**block)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """One parameter, true and fitted.

    Attributes
    ----------
    topic : str or None
        For an intent's probability, its topic; ``name`` is the intent then.
    estimate : float or None
        None: infinite.
    low, high : float or None
        The 95 % interval; None: that end is open.
    """

    name: str
    topic: str | None = None
    truth: float
    estimate: float | None
    low: float | None
    high: float | None

    @property
    def holds(self) -> bool:
        """True if the interval contains the true value."""
        above = self.low is None or self.low <= self.truth
        return above and (self.high is None or self.truth <= self.high)


def recovery_rows(fitted: UserModel, truth: UserModel) -> list[Recovery]:
    """Return every parameter that both have, the probabilities of intents last."""
    rows = [
        Recovery(
            name=name,
            truth=true.estimate,
            estimate=entry.estimate,
            low=entry.interval[0],
            high=entry.interval[1],
        )
        for name, entry in fitted.parameters.items()
        if (true := truth.parameters.get(name)) is not None and true.estimate is not None
    ]
    for topic, intents in fitted.intents.items():
        for intent, fitted_share in intents.items():
            true_values = truth.intents.get(topic, {}).get(intent)
            if true_values is not None:
                rows.append(
                    Recovery(
                        name=intent,
                        topic=topic,
                        truth=true_values.estimate,
                        estimate=fitted_share.estimate,
                        low=fitted_share.interval[0],
                        high=fitted_share.interval[1],
                    )
                )
    return rows


def recovery_sentence(rows: Sequence[Recovery]) -> str:
    """Return the share of intent intervals that contain the truth, and the error."""
    intents = [row for row in rows if row.topic is not None]
    if not intents:
        return "No intent probabilities were fitted."
    covered = sum(row.holds for row in intents)
    off = sum(abs((row.estimate or 0.0) - row.truth) for row in intents) / len(intents)
    return f"P(intent | query): {covered} of {len(intents)} intervals hold the truth; mean absolute error {off:.3f}."


def write_demo_truth(path: Path, study: Path, *, seed: int) -> None:
    """Write the demo's true parameters.

    They are a patience, the collection's P(i|q), a rhythm of visits, and a few bad habits.
    """
    content = read_whole_study(study)
    truth = {
        "format": "prefcal-user-model/1",
        "study": content.file.entry.study,
        "seed": seed,
        "parameters": {
            name: {"estimate": DEMO_PATIENCE_CHARS, "unit": "counted characters", "method": "truth"}
            for name in (
                "patience_chars",
                "patience_chars_preferences",
                "patience_chars_stops",
                "patience_chars_grid",
            )
        }
        | {name: {"estimate": value, "method": "truth"} for name, value in DEMO_FOLLOWERS.items()},
        "intents": {
            topic.id: {intent: {"estimate": p} for intent, p in (topic.query.probability or {}).items()}
            for task in content.tasks
            for topic in task.topics
            if topic.query is not None
        },
        "behaviour": DEMO_BEHAVIOUR,
    }
    path.write_text(json.dumps(truth, indent=2) + "\n", encoding="utf-8")
