"""Parameters that measures take from a user model, and scores with intervals.

What a model lacks is None, or left out; who asks puts something in its place and says so.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar

import numpy as np

from calibration.user_model.draws import Draws, Part, draw_model
from calibration.user_model.model import (
    CORRELATION,
    FLOOR,
    LATENESS,
    PATIENCE,
    PERSISTENCE,
    SPEED,
    UserModel,
)
from metrics.arrays import Floats
from metrics.errors import Fault, input_fault
from metrics.msu.trails import RANGES, Population
from metrics.registry import Measure
from metrics.results import Interval, Score, ScoreKey, Topics, label_measures, score_frame

if TYPE_CHECKING:
    import pandas as pd

SUM_TOLERANCE = 0.01
MOST_PERSISTENT = 1 - 1e-9
"""Largest persistence drawn, since rank-biased precision is undefined at 1."""


def patience_chars(model: UserModel, source: str = "", language: str | None = None) -> float | None:
    """Return the patience L in counted characters, inf without decay, or None.

    None where none was fitted.

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

    Half a law of speed, or one in characters, is of no use.
    """
    entries = {name: model.entry(name, language) for name in RANGES}
    found = {
        name: entry.estimate
        for name, entry in entries.items()
        if entry is not None and entry.estimate is not None and "character" not in entry.unit
    }
    has_speed = set(SPEED) <= set(found)
    return {name: value for name, value in found.items() if has_speed or name not in SPEED}


def joint_parameters(model: UserModel, explicit: Collection[str] = ()) -> dict[str, Any]:
    """Return a model's correlation of A and D, and its laws other than log-normal.

    Of a `Population`, beside M and S.

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

    It is what a nugget is still worth however late it comes.
    """
    entry = model.entry(FLOOR, language)
    return 0.0 if entry is None else entry.estimate or 0.0


def persistence(model: UserModel, language: str | None = None) -> float | None:
    """Return the persistence p in ranked lists, below 1, or None.

    The probability to go on from one entry to the next.

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


LEVEL_ENDS = (0.025, 0.975)
"""Quantiles of a 95 % interval over the draws."""
R = TypeVar("R")
M = TypeVar("M", bound=Measure)
Spread: TypeAlias = tuple[Sequence[ScoreKey], Floats]
"""Score keys, and their scores under each draw, (draws, keys)."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FamilyModel(ABC, Generic[R, M]):
    """Part of a user model that scores one family of measures.

    Attributes
    ----------
    path : str
        What messages call the model.
    model : UserModel
        Nothing but what enters the scores: this is what is drawn.
    notes : tuple of str
        What the model lacks and what stands in for it, one clause each.
    """

    parts: ClassVar[tuple[Part, ...]]
    """Parts of the model that are drawn, in this order."""

    path: str
    model: UserModel
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Format as ``SummaryModel('user-model.json', [MMeasure(patience=991.6)])``."""
        return f"{type(self).__name__}({self.path!r}, {self.measures})"

    @property
    @abstractmethod
    def measures(self) -> list[M]:
        """Measures that the model parametrises, at its estimates."""

    @abstractmethod
    def _scores(self, runs: Sequence[R], labels: Mapping[str, M], topics: Topics) -> list[Score]:
        """Score runs under the model's estimates, by measures with their labels."""

    @abstractmethod
    def _spreads(
        self, draws: Draws, runs: Sequence[R], labels: Mapping[str, M], topics: Topics
    ) -> Iterator[Spread]:
        """Yield the scores under each draw, for measures that the draws move.

        Runs and measures all meet the same draws.
        """

    def scores(
        self, runs: Sequence[R], measures: Iterable[M] | Mapping[str, M], *, topics: Topics = "judged"
    ) -> list[Score]:
        """Score runs at the model's estimates; `score` returns a frame."""
        return self._scores(runs, label_measures(measures), topics)

    def scored(
        self,
        runs: Sequence[R],
        measures: Iterable[M] | Mapping[str, M],
        *,
        draws: int | None,
        seed: int = 1,
        topics: Topics = "judged",
    ) -> tuple[list[Score], dict[ScoreKey, Interval] | None]:
        """Score runs, with the 95 % interval of each score that the model moves.

        `all` included; None without draws.

        Low and high are quantiles over draws of the model, and reach to the score at its estimates where all draws lie
        to one side of it: an interval without its own score would contradict itself.

        Raises
        ------
        InputError
            If draws are wanted and the model has no interval to draw from.
        """
        scores = self.scores(runs, measures, topics=topics)
        if draws is None:
            return scores, None
        models = draw_model(self.model, draws, seed, parts=self.parts)
        if models.kept:
            raise input_fault(next(iter(models.kept.values())), path=self.path, cure="leave out --draws")
        values = {score[:3]: score.value for score in scores}
        intervals: dict[ScoreKey, Interval] = {}
        for places, drawn in self._spreads(models, runs, label_measures(measures), topics):
            ends = np.quantile(drawn, LEVEL_ENDS, axis=0).T.tolist()
            for place, (low, high) in zip(places, ends, strict=True):
                value = values.get(place, low)
                intervals[place] = min(low, value), max(high, value)
        return scores, intervals

    def score(
        self,
        runs: Iterable[R],
        measures: Iterable[M] | Mapping[str, M] | None = None,
        *,
        draws: int | None = None,
        seed: int = 1,
        topics: Topics = "judged",
    ) -> "pd.DataFrame":
        """Score runs under the model, with intervals for its uncertainty.

        Parameters
        ----------
        runs : iterable of runs
            Of the family.
        measures : iterable of measures, or mapping of label to measure, optional
            By default `measures`. A measure with parameters of its own, other than the model's estimates, stays as it
            is and has an interval without width.
        draws : int, optional
            How often the model is drawn; without it there are no intervals.
        seed : int
            Of the draws.
        topics : {'judged', 'run'}
            What `all` is taken over.

        Returns
        -------
        DataFrame
            run, topic, metric, value; with draws also low and high, a 95 % interval.

        Raises
        ------
        InputError
            If draws are wanted and the model has no interval to draw from.
        """
        runs = list(runs)
        measures = self.measures if measures is None else measures
        scores, moved = self.scored(runs, measures, draws=draws, seed=seed, topics=topics)
        frame = score_frame(scores)
        if moved is None:
            return frame
        low, high = zip(*(moved.get(one[:3], (one.value, one.value)) for one in scores), strict=True)
        return frame.assign(low=low, high=high)
