"""Modeled Stream Utility under a user model: population, decay, uncertainty."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from calibration.user_model.draws import Draws, Part
from calibration.user_model.family import FamilyModel, Spread
from calibration.user_model.measures import clipped_population, joint_parameters, lateness_floor
from calibration.user_model.model import LATENESS, SPEED, UserModel, load_model
from metrics.errors import FaultLog, input_fault
from metrics.events import EventCollection, UpdateRun
from metrics.msu.measures import MSU, MSUPerSecond, MSUStandardError, StreamMeasure
from metrics.msu.score import msu_scores
from metrics.msu.simulation import Lengths
from metrics.msu.trails import RANGES, Population, SimulatedUsers, Users
from metrics.results import Score, Topics

NOTHING: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StreamModel(FamilyModel[UpdateRun, StreamMeasure]):
    """MSU under a user model; see `FamilyModel`.

    The users of all draws have the same random numbers, so that only the population differs.

    Attributes
    ----------
    collection : EventCollection
        Judgments.
    users : Users
        Simulated from the model's population, or given.
    lateness : float or None
        None when it is not taken, or the model has none.
    floor : float
        Of the lateness decay; 0 when it is not taken, or the model has none.
    lengths : mapping of topic to mapping of update to float, or None
        Words of updates.
    """

    parts: ClassVar[tuple[Part, ...]] = ("population", "lateness")

    collection: EventCollection
    users: Users
    lateness: float | None
    floor: float
    lengths: Lengths | None

    @property
    def measures(self) -> list[StreamMeasure]:
        """MSU, its standard error and MSU per second at the fitted decay."""
        lateness = MSU().lateness if self.lateness is None else self.lateness
        return [kind(lateness=lateness, floor=self.floor) for kind in (MSU, MSUStandardError, MSUPerSecond)]

    def _scores(
        self, runs: Sequence[UpdateRun], labels: Mapping[str, StreamMeasure], topics: Topics
    ) -> list[Score]:
        return msu_scores(self.collection, runs, labels, self.users, lengths=self.lengths, topics=topics)

    def _spreads(
        self, draws: Draws, runs: Sequence[UpdateRun], labels: Mapping[str, StreamMeasure], topics: Topics
    ) -> Iterator[Spread]:
        draw_scores = [
            msu_scores(
                self.collection,
                runs,
                {label: self._moved(measure, draws, number) for label, measure in labels.items()},
                self._users(draws, number),
                lengths=self.lengths,
                topics=topics,
            )
            for number in range(draws.count)
        ]
        values = np.array([[score.value for score in scores] for scores in draw_scores])
        yield [score[:3] for score in draw_scores[0]], values

    def _moved(self, measure: StreamMeasure, draws: Draws, number: int) -> StreamMeasure:
        """Return a measure with the fitted lateness decay replaced by a drawn one."""
        if LATENESS not in draws.parameters or measure.lateness != self.lateness:
            return measure
        return replace(measure, lateness=float(draws.parameters[LATENESS][number]))

    def _users(self, draws: Draws, number: int) -> Users:
        """Return users of a drawn population; given users stay."""
        if not isinstance(self.users, SimulatedUsers):
            return self.users
        people = {name: float(values[number]) for name, values in draws.parameters.items() if name in RANGES}
        return replace(self.users, population=clipped_population(asdict(self.users.population) | people))


def stream_model(
    model: UserModel | str | Path,
    collection: EventCollection,
    *,
    explicit: Mapping[str, float] = NOTHING,
    users: Users | None = None,
    count: int = 1000,
    seed: int = 1,
    lateness: bool = True,
    lengths: Lengths | None = None,
) -> StreamModel:
    """Build the model of streams of updates from a user model.

    A reading speed that it lacks, or has in characters, is replaced by the default one, and a lateness decay that it
    lacks by the default too; its ``notes`` say so.

    Parameters
    ----------
    model : UserModel, str or Path
        As `prefcal fit` makes it, or its file.
    collection : EventCollection
        Judgments.
    explicit : mapping of str to float
        Parameters of the population in place of the model's.
    users : Users, optional
        Given users; by default they are simulated from the model's population.
    count, seed : int
        How many are simulated, and their seed.
    lateness : bool
        Whether the lateness decay is taken.
    lengths : mapping of topic to mapping of update to float, optional
        Words of updates; of others the words in their texts are counted.

    Returns
    -------
    StreamModel
        ``score(runs, measures, draws=, seed=)``, ``measures`` and ``notes``.

    Raises
    ------
    InputError
        If the file is no user model, lacks what has no default, or has a value that is infinite or out of range.

    Examples
    --------
    >>> import prefcal
    >>> folder = "examples/two_layered/streams"
    >>> events = prefcal.read_events(
    ...     topics=f"{folder}/topics.xml",
    ...     nuggets=f"{folder}/nuggets.tsv",
    ...     matches=f"{folder}/matches.tsv",
    ...     updates=f"{folder}/updates.tsv",
    ... )
    >>> run = prefcal.read_update_run(f"{folder}/runs/prompt.txt")
    >>> people = {"away_mean_seconds": 28_800, "away_sd_seconds": 14_400}
    >>> people |= {"session_mean_seconds": 90, "session_sd_seconds": 45}
    >>> model = prefcal.UserModel.model_validate(
    ...     {"parameters": {k: {"estimate": v} for k, v in people.items()}}
    ... )
    >>> scores = stream_model(model, events, count=50).score([run])
    >>> scores["metric"].unique().tolist()
    ['MSU@0.5', 'MSU-se@0.5', 'MSU/s@0.5']
    """
    user_model, path = load_model(model)
    log = FaultLog(path)
    notes: list[str] = []
    decay = _estimate(user_model, LATENESS, log) if lateness and LATENESS in user_model.parameters else None
    if decay is not None and not 0 <= decay <= 1:
        log.add(f"{LATENESS} is {decay}", cure="it must be from 0 to 1")
    fitted: dict[str, float] = {}
    if users is None:
        fitted = _fitted(user_model, explicit, notes, log)
        log.raise_if_any()
        together = joint_parameters(user_model, explicit)
        users = SimulatedUsers(population=_checked(explicit, fitted, together, path), count=count, seed=seed)
    log.raise_if_any()
    if lateness and decay is None:
        notes.append(f"no {LATENESS}; the default is used")
    return StreamModel(
        path=path,
        model=user_model.part([*fitted, *([] if decay is None else [LATENESS])]),
        collection=collection,
        users=users,
        lateness=decay,
        floor=0.0 if decay is None else lateness_floor(user_model),
        lengths=lengths,
        notes=tuple(notes),
    )


def _fitted(
    model: UserModel, explicit: Mapping[str, float], notes: list[str], log: FaultLog
) -> dict[str, float]:
    """Return the fitted parameters of the population that the caller does not set."""
    fitted: dict[str, float] = {}
    for name in RANGES:
        if name in explicit or name in SPEED:
            continue
        if name in model.parameters:
            fitted[name] = _estimate(model, name, log)
        else:
            option = name.partition("_")[0]
            log.add(f"the model has no {name}", cure=f"say which with --{option} M,S")
    if all(name in model.parameters and "character" not in model.parameters[name].unit for name in SPEED):
        fitted |= {name: _estimate(model, name, log) for name in SPEED}
    else:
        default = ", ".join(
            f"{field.name} {field.default:g}" for field in fields(Population) if field.name in SPEED
        )
        notes.append(f"no reading speed in words per second; the default is used: {default}")
    return fitted


def _estimate(model: UserModel, name: str, log: FaultLog) -> float:
    """Return an estimate; note when it is infinite."""
    estimate = model.parameters[name].estimate
    if estimate is None:
        log.add(f"{name} is infinite", cure="give it a number")
        return np.nan
    return estimate


def _checked(
    explicit: Mapping[str, float], fitted: Mapping[str, float], together: Mapping[str, Any], path: str
) -> Population:
    """Make the population, or raise with the value that is out of range."""
    try:
        people: dict[str, Any] = {**explicit, **fitted, **together}
        return Population(**people)
    except ValueError as error:
        raise input_fault(str(error), path=path, cure="mend it in the model or in the options") from None
