"""Families of parameters of a user model, one fit function each."""

import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import pandas as pd

from calibration.checks.same_answers import SameAnswersOption
from calibration.fit.patience import fit_patience
from calibration.inference.attempts import FamilyResult, FitFailure, catch_unidentified, try_fit
from calibration.inference.results import LEVEL, CalibrationResult, NotIdentifiedError, SkippedParameters
from calibration.models.durations.correlation import fit_correlation
from calibration.models.durations.exposure import CensoredDurations
from calibration.models.durations.fit import (
    AWAY,
    SESSION,
    DurationFit,
    fit_exposure,
    plain_estimates,
)
from calibration.models.durations.fit import RESAMPLES as DURATION_RESAMPLES
from calibration.models.durations.from_tables import away_exposure, session_exposure
from calibration.models.intents import IntentFit
from calibration.models.lateness.answers import LatenessCounts, lateness_counts
from calibration.models.lateness.fit import fit_lateness
from calibration.models.persistence import fit_persistence, list_steps, list_stops
from calibration.models.push.alpha import fit_push_alpha
from calibration.models.push.judgments import PushJudgments, push_judgments
from calibration.models.push.weights import PushFit, fit_push_weights
from calibration.models.reading.fit import fit_reading_speed
from calibration.models.reading.rows import readings
from calibration.tables.preferences import WORKERS_UNKNOWN, knows_workers
from calibration.tables.study_json import StudyRecord
from calibration.tables.tables import TABLES
from calibration.user_model.model import CORRELATION, PERSISTENCE
from calibration.visits.followed_visits import FollowedVisits, join_follows


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOptions:
    """Choices of a fit; the defaults are those of `prefcal fit`.

    Attributes
    ----------
    level : float
        Confidence level of the intervals in the model.
    exclude : bool
        Leave excluded workers out of every table.
    complete_only : bool
        Leave out workers who did not complete the study, too.
    inclusion : {'all_enrolled', 'at_least_one_visit'}
        Whom the log of visits holds: everyone who enrolled, or only those who came at least once.
    dropout : {'study_end', 'last_seen'}
        Where the wait for the next visit is cut: at the end of the follow, or at its last sign of life.
    unit : {'worker', 'follow'}
        Who has a mean away time and a mean session of their own.
    idle_threshold_seconds : float or None
        Cut visits anew from table activity, at silences longer than that.
    resamples : int or None
        Samples of every bootstrap; None for each family's own number. Given, away times and sessions get
        intervals from a bootstrap over workers.
    checks : bool
        Hold each model against its checks, most of the time that a fit takes.
    laws : mapping of {'away', 'session'} to {'lognormal', 'gamma'}
        The law of people's means that is published, where it is not the paper's log-normal.
    same_answers : {'apart', 'one-cluster'}
        Workers who give the same answers count apart, or each group of them as one person.

    Examples
    --------
    Fast, without checks of the models:

    >>> FitOptions(checks=False).level
    0.95
    """

    level: float = LEVEL
    exclude: bool = True
    complete_only: bool = False
    inclusion: Literal["all_enrolled", "at_least_one_visit"] = "all_enrolled"
    dropout: Literal["study_end", "last_seen"] = "study_end"
    unit: Literal["worker", "follow"] = "worker"
    idle_threshold_seconds: float | None = None
    resamples: int | None = None
    checks: bool = True
    laws: Mapping[str, Literal["lognormal", "gamma"]] = field(default_factory=dict)
    same_answers: SameAnswersOption = "apart"


@dataclass(frozen=True, kw_only=True)
class FitInputs:
    """Tables, clock and options that every family is fitted to.

    Attributes
    ----------
    tables : mapping of str to DataFrame
        Only rows that count.
    record : StudyRecord or None
        What study.json says.
    options : FitOptions
        What the researcher chose.
    seed : int
        Of every resampling.
    """

    tables: Mapping[str, pd.DataFrame]
    record: StudyRecord | None
    options: FitOptions
    seed: int

    def rng(self, name: str) -> np.random.Generator:
        """Return the random generator of one fit, independent of other fits.

        Its numbers do not depend on which other fits are made.
        """
        return np.random.default_rng([self.seed, zlib.crc32(name.encode())])

    def table(self, name: str) -> pd.DataFrame:
        """Return a table, or raise if it is missing.

        Raises
        ------
        NotIdentifiedError
            If there is none.
        """
        if name not in self.tables:
            raise NotIdentifiedError(f"there is no table {name}")
        return self.tables[name]

    @cached_property
    def times_away(self) -> CensoredDurations:
        """Return the times away; raises `NotIdentifiedError` without.

        The tables may not identify them.
        """
        return away_exposure(self.tables, **away_options(self), joined=self._joined)

    @cached_property
    def sessions(self) -> CensoredDurations:
        """Return the sessions, beside the times away of every worker.

        It raises `NotIdentifiedError` where the tables do not identify them.
        """
        sessions = session_exposure(self.tables, unit=self.options.unit, joined=self._joined)
        if self.options.inclusion != "all_enrolled":
            return sessions
        away = catch_unidentified(lambda: self.times_away)
        return sessions if isinstance(away, FitFailure) else replace(sessions, away=away)

    @cached_property
    def lateness(self) -> LatenessCounts:
        """Return the counted answers about lateness.

        It raises `NotIdentifiedError` where there are none.
        """
        return lateness_counts(self.table("lateness"))

    @cached_property
    def push_judgments(self) -> PushJudgments:
        """Return the judgments of pushes with their cells.

        It raises `NotIdentifiedError` where the tables have none, or do not name the judges.
        """
        preferences = self.table("preferences")
        if not knows_workers(preferences):
            raise NotIdentifiedError(WORKERS_UNKNOWN)
        return push_judgments(preferences, self.table("push_cells"))

    @cached_property
    def _joined(self) -> FollowedVisits | None:
        """Return visits joined with follows, or None if a table is missing.

        Each family then names the table that it needs.
        """
        return join_follows(self.tables) if {"visits", "follows"} <= self.tables.keys() else None

    def with_tables(self, **tables: pd.DataFrame) -> "FitInputs":
        """Return the inputs with some tables replaced."""
        return replace(self, tables={**self.tables, **tables})


def by_language(frame: pd.DataFrame, fit: Callable[[str | None, pd.DataFrame], FamilyResult]) -> FamilyResult:
    """Fit each language of a table; of several, names have their language behind them.

    Rows without a language are left out where there are several.
    """
    languages = sorted(map(str, frame["language"].dropna().unique()))
    if len(languages) < 2:
        return fit(next(iter(languages), None), frame)
    fits = (fit(name, frame[frame["language"] == name]).for_language(name) for name in languages)
    return sum(fits, FamilyResult())


READING = ("reading_speed_mu", "reading_speed_sigma")
LATENESS = ("lateness_decay", "lateness_p0")
WEIGHTS = ("push_P_E", "push_S_E", "push_P_0", "push_S_0")
ALPHA = ("push_alpha",)
PATIENCE = ("patience_chars",)
IN_LISTS = (PERSISTENCE,)
TOGETHER = (CORRELATION,)
"""Names of the parameters of each family."""
FAMILY_NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "away": AWAY,
        "session": (*SESSION, *TOGETHER),
        "reading": READING,
        "lateness": LATENESS,
        "push": (*WEIGHTS, *ALPHA),
        "patience": PATIENCE,
        "persistence": IN_LISTS,
    }
)
"""Parameters of each family, in the order of fitting."""


def away(material: FitInputs) -> FamilyResult:
    """Fit the times away."""
    return try_fit(
        AWAY, lambda: _durations(material, "away", material.times_away), lambda: material.times_away
    )


def session(material: FitInputs) -> FamilyResult:
    """Fit the session lengths, and their correlation with times away.

    A correlation means that frequent visitors stay longer, or less.
    """
    result = try_fit(
        SESSION, lambda: _durations(material, "session", material.sessions), lambda: material.sessions
    )
    return result + try_fit(TOGETHER, lambda: fit_correlation(material.sessions))


def visit_estimates(material: FitInputs, fits: Iterable[DurationFit]) -> dict[str, float]:
    """Return the estimates of fits to given visits; failed ones are absent.

    Parameters
    ----------
    material : FitInputs
        With other visits.
    fits : iterable of DurationFit
        Of times away and sessions, from the visits in use; each is fitted anew by its own law.
    """
    estimates: dict[str, float] = {}
    for fit in fits:
        made = catch_unidentified(lambda: _estimates_like(fit, material))  # noqa: B023 - called at once
        estimates |= {} if isinstance(made, FitFailure) else made
    return estimates


def _estimates_like(fit: DurationFit, material: FitInputs) -> Mapping[str, float]:
    exposure = material.times_away if AWAY[0] in fit.parameters else material.sessions
    return plain_estimates(exposure, tuple(fit.parameters), fit.law)


def away_options(material: FitInputs) -> dict[str, Any]:
    """Return the options of `away_exposure` from study.json and the researcher."""
    record, options = material.record, material.options
    window = (record.started_at, record.ended_at) if record else (None, None)
    return {
        "factor": record.clock.factor if record else 1.0,
        "gap_seconds": gap_seconds(material),
        "unit": options.unit,
        "inclusion": options.inclusion,
        "dropout": options.dropout,
        "window": None if None in window else window,
    }


def _durations(
    material: FitInputs, name: Literal["away", "session"], exposure: CensoredDurations
) -> CalibrationResult:
    """Fit times away or sessions, with the bootstrap as default if asked for."""
    fit = fit_exposure(
        exposure,
        law=material.options.laws.get(name, "lognormal"),
        rng=material.rng(name),
        resamples=material.options.resamples or DURATION_RESAMPLES,
    )
    return fit.preferring("worker_bootstrap") if material.options.resamples else fit


def gap_seconds(material: FitInputs) -> float:
    """Return the wall seconds that every away time exceeds, from how visits were cut."""
    if material.options.idle_threshold_seconds is not None:
        return material.options.idle_threshold_seconds
    return material.record.visit_gap_seconds if material.record else 0.0


def reading(material: FitInputs) -> FamilyResult:
    """Fit the reading speed, language by language."""
    if "reads" not in material.tables:
        return FamilyResult(skipped=(SkippedParameters(names=READING, reason="there is no table reads"),))

    def fit(language: str | None, reads: pd.DataFrame) -> FamilyResult:
        data = cache(partial(readings, reads, language=language))
        return try_fit(READING, lambda: fit_reading_speed(data()), data)

    return by_language(material.tables["reads"], fit)


def lateness(material: FitInputs) -> FamilyResult:
    """Fit the decay of lateness."""
    return try_fit(LATENESS, lambda: fit_lateness(material.lateness), lambda: material.lateness)


def push(material: FitInputs) -> FamilyResult:
    """Fit the weights of pushes and silence, and alpha."""
    weights = try_fit(
        WEIGHTS, lambda: fit_push_weights(material.push_judgments), lambda: material.push_judgments
    )
    partly = tuple(
        parameters for fit in weights.results if isinstance(fit, PushFit) for parameters in fit.skipped
    )
    alpha = try_fit(ALPHA, lambda: fit_push_alpha(material.push_judgments), lambda: material.push_judgments)
    return weights + FamilyResult(skipped=partly) + alpha


def patience(material: FitInputs, intents: IntentFit | None) -> FamilyResult:
    """Fit patience, language by language."""
    return fit_patience(
        material.tables,
        seed=material.seed,
        voted=intents.probabilities if intents else None,
        resamples=material.options.resamples,
    )


def persistence(material: FitInputs) -> FamilyResult:
    """Fit the persistence in ranked lists, language by language."""
    stops = list_stops(material.tables.get("stops", TABLES["stops"].empty()))
    if stops.empty:
        return FamilyResult(
            skipped=(SkippedParameters(names=IN_LISTS, reason="table stops has no ranked list"),)
        )

    def fit(language: str | None, lists: pd.DataFrame) -> FamilyResult:
        data = cache(partial(list_steps, lists, language=language))
        return try_fit(IN_LISTS, lambda: fit_persistence(data()), data)

    return by_language(stops, fit)


FAMILIES: Mapping[str, Callable[[FitInputs], FamilyResult]] = MappingProxyType(
    {
        "away": away,
        "session": session,
        "reading": reading,
        "lateness": lateness,
        "push": push,
        "persistence": persistence,
    }
)
