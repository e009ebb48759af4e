"""Measures of updates whose agreement is reported: MSU, ELG, LC and HM.

MSU is scored for two populations; the track defines the other measures.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from calibration.agree.measures.variants import (
    ParameterOrigin,
    ParameterSweep,
    ScoredMeasure,
    VariantRole,
    name_of,
    scored_columns,
    scores_by_metric,
    side_by_side,
)
from calibration.user_model.measures import (
    clipped_population,
    joint_parameters,
    lateness_decay,
    lateness_floor,
    stream_people,
)
from calibration.user_model.model import LATENESS, UserModel
from metrics.events import EventCollection, UpdateRun
from metrics.msu.measures import MSU, StreamMeasure
from metrics.msu.score import msu_scores
from metrics.msu.trails import RANGES, Population, SimulatedUsers
from metrics.registry import Measure, short_number
from metrics.updates.measures import (
    ExpectedLatencyGain,
    HarmonicMean,
    LatencyComprehensiveness,
    UpdateMeasure,
)
from metrics.updates.score import update_scores

REASONABLE = Population(
    away_mean_seconds=3 * 3600,
    away_sd_seconds=1.5 * 3600,
    session_mean_seconds=120,
    session_sd_seconds=60,
)
"""Population of the paper's reasonable setting: 2 minutes every 3 hours.

Baruah et al. (SIGIR 2015, section 4) call it reasonable.
"""
REASONABLE_LATENESS = 0.5
DEFAULTS: Mapping[str, Measure] = MappingProxyType(
    {f"MSU@{short_number(REASONABLE_LATENESS)}": MSU(lateness=REASONABLE_LATENESS)}
    | {track.column: track for track in (ExpectedLatencyGain(), LatencyComprehensiveness(), HarmonicMean())}
)
"""Measures of every task: MSU of the paper's people, and those of the Temporal Summarization track."""
TAKEN = (*RANGES, LATENESS)
"""Parameters that MSU takes from a user model."""
LATENESSES = np.linspace(0.0, 1.0, 21)
USERS = 1000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UpdateStreams:
    """Runs, judgments and users from which measures of updates are computed.

    Attributes
    ----------
    events : EventCollection
        Judged events.
    runs : tuple of UpdateRun
        By the names of the systems.
    judged : tuple of str
        Topics as the preferences name them.
    language : str
        Of the texts.
    seed : int
        Of the simulated users, the same for all systems, variants and draws.
    """

    events: EventCollection
    runs: tuple[UpdateRun, ...]
    judged: tuple[str, ...]
    language: str
    seed: int

    @property
    def converted(self) -> bool:
        """True if the judgments were made for push notifications."""
        return self.events.converted_from is not None

    def named(
        self, named: Mapping[str, Measure], role: VariantRole = VariantRole.NAMED
    ) -> Iterator[ScoredMeasure]:
        """Yield measures of the readers of updates, of reasonable people, and of updates.

        Measures of updates need judgments that were made for events.
        """
        people = {name: measure for name, measure in named.items() if isinstance(measure, StreamMeasure)}
        scores = self._of_people(REASONABLE, people)
        for name, measure in people.items():
            yield self._variant(name, scores[name], role, lateness=measure.lateness)
        track = {name: measure for name, measure in named.items() if isinstance(measure, UpdateMeasure)}
        if track and not self.converted:
            values = scores_by_metric(update_scores(self.events, self.runs, track), self.judged)
            yield from scored_columns(values, "updates", role)

    def fitted(self, model: UserModel, drawn: Sequence[UserModel]) -> ScoredMeasure | None:
        """Return MSU of the fitted population, or None without one.

        Parameters that the model lacks take the paper's values; `missing` names them.
        """
        if len(self.missing(model)) == len(TAKEN):
            return None
        lateness, floor = self._lateness(model), lateness_floor(model, self.language)
        draws = [self._msu(self._population(one), [self._lateness(one)], floor).iloc[:, 0] for one in drawn]
        scores = self._msu(self._population(model), [lateness], floor).iloc[:, 0]
        return self._variant(
            "MSU@fitted",
            scores,
            VariantRole.FITTED,
            fit=ParameterOrigin.OTHER_DATA,
            lateness=lateness,
            drawn=side_by_side(draws),
        )

    def missing(self, model: UserModel) -> list[str]:
        """Return the parameters of MSU that the model lacks."""
        people = stream_people(model, self.language)
        has_decay = lateness_decay(model, self.language) is not None
        return [name for name in TAKEN if not (has_decay if name == LATENESS else name in people)]

    def sweep(self, model: UserModel | None) -> ParameterSweep:
        """Return MSU over the lateness decay, of the fitted population if any."""
        scores = self._msu(REASONABLE if model is None else self._population(model), LATENESSES.tolist())
        return ParameterSweep(
            measure=name_of("MSU", converted=self.converted),
            over="lateness",
            scores=scores.set_axis(pd.Index(LATENESSES), axis="columns"),
            converted=self.converted,
        )

    def _msu(self, population: Population, decays: Iterable[float], floor: float = 0.0) -> pd.DataFrame:
        measures = {f"{index}": MSU(lateness=decay, floor=floor) for index, decay in enumerate(decays)}
        return self._of_people(population, measures)

    def _of_people(self, population: Population, measures: Mapping[str, StreamMeasure]) -> pd.DataFrame:
        users = SimulatedUsers(population=population, count=USERS, seed=self.seed)
        return scores_by_metric(msu_scores(self.events, self.runs, measures, users), self.judged)

    def _population(self, model: UserModel) -> Population:
        people = stream_people(model, self.language) | joint_parameters(model)
        return clipped_population(asdict(REASONABLE) | people)

    def _lateness(self, model: UserModel) -> float:
        decay = lateness_decay(model, self.language)
        return REASONABLE_LATENESS if decay is None else decay

    def _variant(
        self, measure: str, scores: "pd.Series[float]", role: VariantRole, **more: Any
    ) -> ScoredMeasure:
        return ScoredMeasure(
            measure=name_of(measure, converted=self.converted),
            family="msu",
            role=role,
            scores=scores,
            converted=self.converted,
            **more,
        )
