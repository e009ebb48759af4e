"""Patience L from preferences, the paper's grid and stops, side by side.

The three answer different questions (which L makes M agree with people; how far do people read) and are never
pooled. `patience_chars` is the one from preferences where there is one, else the one from stops, unless these are all of
visits to streams. Each language is fitted by itself.
"""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from calibration.checks.patience.estimates_apart import check_estimates_apart
from calibration.inference.attempts import FamilyResult, FitFailure, catch_unidentified, try_fit
from calibration.inference.results import CalibrationResult, NotIdentifiedError, SkippedParameters
from calibration.models.patience import grid as patience_grid
from calibration.models.patience import preferences as patience_preferences
from calibration.models.patience import stops as patience_stops
from calibration.models.patience.pairs import JudgedSummaries, given_probabilities, summary_pairs
from calibration.models.patience.preferences import PreferencesFit
from calibration.models.patience.spread import NAME as SPREAD
from calibration.models.patience.spread import PatienceSpread, spread_from_preferences, spread_from_stops
from calibration.models.patience.stops import Stops, StopsFit
from calibration.tables.preferences import WORKERS_UNKNOWN, judged_pairs, knows_workers, votes_by_pair
from metrics.summaries.trailtext import Probabilities

NAME = "patience_chars"
FROM_PAIRS = (patience_preferences.NAME, patience_grid.NAME)
OF_STREAMS = ("follows", "visits")
"""Tables that only a study of streams has."""
NOT_OF_TEXTS = (
    f"all stops are of visits to streams, where people's time ends the reading too: {patience_stops.NAME} is no "
    "patience with texts"
)
_BY_LANGUAGE = ("preferences", "stops")
FEATURES = " (prefcal features makes it of a collection and runs; see prefcal features --help)"


def fit_patience(
    tables: Mapping[str, pd.DataFrame],
    *,
    seed: int,
    voted: Probabilities | None = None,
    resamples: int | None = None,
) -> FamilyResult:
    """Fit every patience that the tables identify.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        Of preferences, positions, intents and stops those that there are, with only the rows that count
        (`calibration.tables.preferences.counted_tables`).
    seed : int
        Of every bootstrap; the draws of one fit do not depend on which others are made.
    voted : mapping of topic to mapping of intent to float, optional
        P(i|q) from votes, for topics without a probability in table intents. Topics with neither have equal ones.
    resamples : int, optional
        Samples of every bootstrap, instead of each fit's own number.

    Returns
    -------
    Fitted
        Language by language, `patience_chars` first in each.
    """
    result = FamilyResult()
    tables = _of_texts(_about_summaries(tables))
    languages = _languages(tables)
    for language in languages:
        one_of = language if len(languages) > 1 else None
        sampling = _Sampling(language=language, seed=seed, resamples=resamples)
        made = _fits(_of_language(tables, one_of), sampling, voted or {})
        result += made.for_language(one_of) if one_of else made
    return result + _without_language(tables) if len(languages) > 1 else result


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sampling:
    """Bootstrap settings of one language."""

    language: str | None
    seed: int
    resamples: int | None

    def rng(self, name: str) -> np.random.Generator:
        return np.random.default_rng([self.seed, zlib.crc32(f"{name}[{self.language}]".encode())])

    def samples(self, usual: int) -> int:
        return usual if self.resamples is None else self.resamples


def _about_summaries(tables: Mapping[str, pd.DataFrame]) -> Mapping[str, pd.DataFrame]:
    """Return the tables without preferences of tasks that have no positions.

    Such preferences do not compare summaries.
    """
    if "preferences" not in tables or "positions" not in tables:
        return tables
    preferences, tasks = tables["preferences"], tables["positions"]["task"]
    if tasks.isna().any() or not preferences["task"].isin(tasks).any():
        return tables
    return {**tables, "preferences": preferences[preferences["task"].isin(tasks)]}


def _of_texts(tables: Mapping[str, pd.DataFrame]) -> Mapping[str, pd.DataFrame]:
    """Return the tables without the stops in ranked lists.

    Table stops goes where it has no others.
    """
    if "stops" not in tables:
        return tables
    stops = patience_stops.text_stops(tables["stops"])
    if stops.empty and not tables["stops"].empty:
        return {name: table for name, table in tables.items() if name != "stops"}
    return {**tables, "stops": stops}


def _languages(tables: Mapping[str, pd.DataFrame]) -> list[str | None]:
    """Return the languages of preferences and stops; [None] if no row has one."""
    named = [tables[name]["language"].dropna() for name in _BY_LANGUAGE if name in tables]
    return [*sorted({str(language) for column in named for language in column})] or [None]


def _without_language(tables: Mapping[str, pd.DataFrame]) -> FamilyResult:
    """Return a note on rows without a language beside several languages."""
    lost = {name: int(tables[name]["language"].isna().sum()) for name in _BY_LANGUAGE if name in tables}
    rows = [f"{count} rows of {name}" for name, count in lost.items() if count]
    reason = f"{' and '.join(rows)} do not say their language and are left out"
    return FamilyResult(skipped=(SkippedParameters(names=(NAME,), reason=reason),) if rows else ())


def _of_language(tables: Mapping[str, pd.DataFrame], language: str | None) -> dict[str, pd.DataFrame]:
    """Select the rows of one language, or all rows for None."""
    return {
        name: frame[frame["language"] == language] if language is not None and name in _BY_LANGUAGE else frame
        for name, frame in tables.items()
    }


def _fits(tables: Mapping[str, pd.DataFrame], sampling: _Sampling, voted: Probabilities) -> FamilyResult:
    """Fit one language, with `patience_chars` first and the spread of people last."""
    stops = catch_unidentified(lambda: _stops(tables, sampling))
    from_stops = (
        FamilyResult(skipped=(stops.skipped((patience_stops.NAME,)),))
        if isinstance(stops, FitFailure)
        else try_fit((patience_stops.NAME,), lambda: _from_stops(stops, sampling), stops)
    )
    judged = catch_unidentified(lambda: _judged_summaries(tables, voted))
    from_pairs = (
        FamilyResult(skipped=(judged.skipped(FROM_PAIRS),))
        if isinstance(judged, FitFailure)
        else _from_pairs(*judged, sampling)
    )
    from_preferences, on_grid = (
        _named(from_pairs, patience_preferences.NAME),
        _named(from_pairs, patience_grid.NAME),
    )
    skipped = FamilyResult(skipped=from_stops.skipped + from_pairs.skipped)
    fits = from_preferences + replace(from_stops, skipped=()) + on_grid + skipped
    if (
        not from_preferences.results
        and isinstance(stops, Stops)
        and stops.of_visits
        and _is_of_streams(tables)
    ):
        return fits + FamilyResult(skipped=(SkippedParameters(names=(NAME,), reason=NOT_OF_TEXTS),))
    source = from_preferences if from_preferences.results else from_stops
    return _default(source, fits) + fits + _spread(source) if source.results else fits


def _named(fitted: FamilyResult, name: str) -> FamilyResult:
    """Return the fit of one parameter among several fits."""
    kept = [index for index, fit in enumerate(fitted.results) if name in fit.parameters]
    return FamilyResult(
        results=tuple(fitted.results[index] for index in kept),
        data=tuple(fitted.data[index] for index in kept),
    )


def _from_pairs(pairs: JudgedSummaries, workers: int, sampling: _Sampling) -> FamilyResult:
    """Fit judged pairs; skip both fits where nothing shows that M matters."""
    likely = try_fit(
        (patience_preferences.NAME,),
        lambda: patience_preferences.fit_patience_from_preferences(pairs, n_workers=workers),
        pairs,
    )
    for parameters in likely.skipped:
        if parameters.reason.startswith(patience_preferences.NOTHING_SHOWS):
            return FamilyResult(skipped=(replace(parameters, names=FROM_PAIRS),))
    return likely + try_fit((patience_grid.NAME,), lambda: _on_grid(pairs, workers, sampling), pairs)


def _is_of_streams(tables: Mapping[str, pd.DataFrame]) -> bool:
    return any(name in tables and not tables[name].empty for name in OF_STREAMS)


def _stops(tables: Mapping[str, pd.DataFrame], sampling: _Sampling) -> Stops:
    if "stops" not in tables:
        raise NotIdentifiedError("there is no table stops")
    return patience_stops.stops_of_texts(tables["stops"], sampling.language)


def _from_stops(stops: Stops, sampling: _Sampling) -> CalibrationResult:
    name = patience_stops.NAME
    resamples = sampling.samples(patience_stops.RESAMPLES)
    return patience_stops.fit_patience_from_stops(stops, rng=sampling.rng(name), resamples=resamples)


def _on_grid(pairs: JudgedSummaries, workers: int, sampling: _Sampling) -> CalibrationResult:
    name = patience_grid.NAME
    return patience_grid.fit_patience_on_grid(
        pairs,
        n_workers=workers,
        rng=sampling.rng(name),
        language=sampling.language,
        resamples=sampling.samples(patience_grid.RESAMPLES),
    )


def _judged_summaries(
    tables: Mapping[str, pd.DataFrame], voted: Probabilities
) -> tuple[JudgedSummaries, int]:
    """Return the pairs of summaries, and the number of their judges."""
    missing = [name for name in ("preferences", "positions") if name not in tables]
    if missing:
        cure = "" if "preferences" in missing else FEATURES
        raise NotIdentifiedError(f"there is no table {' and no table '.join(missing)}{cure}")
    preferences, positions, intents = tables["preferences"], tables["positions"], tables.get("intents")
    if not knows_workers(preferences):
        raise NotIdentifiedError(WORKERS_UNKNOWN)
    judged = judged_pairs(preferences)
    if judged.empty:
        raise NotIdentifiedError("no judgment counts")
    probabilities = given_probabilities(intents, voted, positions)
    pairs = summary_pairs(votes_by_pair(judged), positions, probabilities, judged=judged)
    people = judged.loc[judged["topic"].isin(pairs.topics), "worker"].nunique()
    given = set() if intents is None else set(intents.loc[intents["probability"].notna(), "topic"])
    unknown = [topic for topic in pairs.topics if topic not in given]
    from_votes = sum(topic in voted for topic in unknown)
    return replace(pairs, voted=from_votes, uniform=len(unknown) - from_votes), people


def _default(source: FamilyResult, fits: FamilyResult) -> FamilyResult:
    """Return `patience_chars`: the fit from preferences, else the one from stops."""
    (fit,), (data,) = source.results, source.data
    ((name, estimate),) = fit.parameters.items()
    default = replace(fit, parameters={NAME: estimate}, method=f"from {_word(name)}: {fit.method}")
    apart = check_estimates_apart([one for one in fits.results if patience_grid.NAME not in one.parameters])
    return FamilyResult(results=(default.with_diagnostics(*(one.diagnostic for one in apart)),), data=(data,))


def _spread(source: FamilyResult) -> FamilyResult:
    """Fit the spread of patience between people, by the source of `patience_chars`."""
    (fit,), (data,) = source.results, source.data
    made = catch_unidentified(lambda: _spread_of(fit, data))
    if isinstance(made, FitFailure):
        return FamilyResult(skipped=(made.skipped((SPREAD,)),))
    word = _word(next(iter(fit.parameters)))
    return FamilyResult() if made is None else try_fit((SPREAD,), lambda: made.result(word))


def _spread_of(fit: CalibrationResult, data: object) -> PatienceSpread | None:
    if isinstance(fit, PreferencesFit) and isinstance(data, JudgedSummaries):
        return spread_from_preferences(data, fit.place)
    if isinstance(fit, StopsFit) and isinstance(data, Stops):
        return spread_from_stops(data, float(fit.estimates[0]))
    return None


def _word(name: str) -> str:
    return name.rpartition("_")[2]
