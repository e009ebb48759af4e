"""What a user model gives to Modeled Stream Utility: the population, the lateness decay, and the uncertainty of both."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace

import numpy as np

from calibration.user_model.model import UserModel, read_user_model
from metrics.errors import FaultLog, input_fault
from metrics.msu.score import Population, SimulatedUsers, StreamMeasure, Users
from metrics.msu.trails import RANGES
from metrics.results import Score
from study_app.cli.output import Interval
from study_app.cli.score.stream_draws import draw_decay, draw_population

LATENESS = "lateness_decay"
SPEED = ("reading_speed_mu", "reading_speed_sigma")


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamModel:
    """What a command takes from its user model.

    Attributes
    ----------
    path : str
        The model's file, for messages.
    model : UserModel
        All of it.
    population : Population or None
        None when the users are given. What the command says itself is in it too.
    fitted : tuple of str
        Those of the population's parameters that come from the model.
    lateness : float or None
        None when the command names its own decays, or the model has none.
    """

    path: str
    model: UserModel
    population: Population | None
    fitted: tuple[str, ...]
    lateness: float | None

    def draws(
        self, measures: Sequence[StreamMeasure], users: Users, *, count: int, seed: int
    ) -> Iterator[tuple[dict[str, StreamMeasure], Users]]:
        """Yield measures, by their own labels, and users, with what comes from the model drawn anew.

        The users of all draws have the same random numbers, so that they differ by the population alone.

        Raises
        ------
        InputError
            If the model has no interval to draw from.
        """
        rng = np.random.default_rng(seed)
        try:
            populations = draw_population(self.model, self.fitted, count, rng)
            decays = None if self.lateness is None else draw_decay(self.model, LATENESS, count, rng).tolist()
        except ValueError as error:
            raise input_fault(str(error), path=self.path, cure="leave out --draws") from None
        for number, drawn in enumerate(populations):
            labels = {
                one.column: one if decays is None else replace(one, lateness=decays[number])
                for one in measures
            }
            if isinstance(users, SimulatedUsers):
                people = replace(users, population=_within(asdict(users.population) | drawn))
                yield labels, people
            else:
                yield labels, users


def quantiles(scores: Sequence[Score], draws: Sequence[Sequence[Score]]) -> dict[Score, Interval]:
    """Return the 95 % interval of each score over the draws, which hold the same rows."""
    values = np.array([[score.value for score in one] for one in draws])
    low, high = np.quantile(values, [0.025, 0.975], axis=0).tolist()
    return dict(zip(scores, zip(low, high, strict=True), strict=True))


def read_stream_model(
    path: str, explicit: Mapping[str, float], *, population: bool, lateness: bool
) -> StreamModel:
    """Read a user model and take from it what is asked for.

    A reading speed that it lacks, or has in characters, is replaced by the default one, and a lateness decay that it
    lacks is left to the command; both are said on stderr.

    Parameters
    ----------
    path : str
        The file.
    explicit : mapping of str to float
        Parameters of the population that the command names itself.
    population, lateness : bool
        What to take.

    Raises
    ------
    InputError
        If the file is no user model, lacks what has no default, or has a value that is infinite or out of range.
    """
    model = read_user_model(path)
    log = FaultLog(path)
    decay = _estimate(model, LATENESS, log) if lateness and LATENESS in model.parameters else None
    if decay is not None and not 0 <= decay <= 1:
        log.add(f"{LATENESS} is {decay}", cure="it must be from 0 to 1")
    people, fitted = None, {}
    if population:
        fitted = _fitted(model, explicit, path, log)
        log.raise_if_any()
        people = _checked(explicit, fitted, path)
    log.raise_if_any()
    if lateness and decay is None:
        sys.stderr.write(f"{path}: no {LATENESS}; the default is used\n")
    return StreamModel(path=path, model=model, population=people, fitted=tuple(fitted), lateness=decay)


def _fitted(model: UserModel, explicit: Mapping[str, float], path: str, log: FaultLog) -> dict[str, float]:
    """Return the parameters of the population that the model has and the command does not name."""
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
        default = ", ".join(f"{one.name} {one.default:g}" for one in fields(Population) if one.name in SPEED)
        sys.stderr.write(f"{path}: no reading speed in words per second; the default is used: {default}\n")
    return fitted


def _estimate(model: UserModel, name: str, log: FaultLog) -> float:
    """Return an estimate; note when it is infinite."""
    estimate = model.parameters[name].estimate
    if estimate is None:
        log.add(f"{name} is infinite", cure="give it a number")
        return np.nan
    return estimate


def _checked(explicit: Mapping[str, float], fitted: Mapping[str, float], path: str) -> Population:
    """Make the population, or say which value is out of range."""
    try:
        return Population(**explicit, **fitted)
    except ValueError as error:
        raise input_fault(str(error), path=path, cure="mend it in the model or in the options") from None


def _within(parameters: Mapping[str, float]) -> Population:
    """Make a population of drawn parameters, those beyond their range at its end."""
    return Population(**{name: float(np.clip(value, *RANGES[name])) for name, value in parameters.items()})
