"""Scores of a family of measures under a user model, with intervals.

A family defines the parameters that it takes from a model, the measures that they make, and those measures
under each draw.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Generic, TypeAlias, TypeVar

import numpy as np

from calibration.user_model.draws import Draws, Part, draw_model
from calibration.user_model.model import (
    UserModel,
)
from metrics.arrays import Floats
from metrics.errors import input_fault
from metrics.registry import Measure
from metrics.results import Interval, Score, ScoreKey, Topics, label_measures, score_frame

if TYPE_CHECKING:
    import pandas as pd

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

        All runs and measures use the same draws.
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

        Topic `all` is included; the interval is None without draws.

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
            for key, (low, high) in zip(places, ends, strict=True):
                value = values.get(key, low)
                intervals[key] = min(low, value), max(high, value)
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
        low, high = zip(*(moved.get(score[:3], (score.value, score.value)) for score in scores), strict=True)
        return frame.assign(low=low, high=high)
