"""Patience L from everything that tables say about it: preferences, the paper's grid, stops; side by side.

The three answer different questions (which L makes M agree with people; how far do people read) and are never
pooled. `patience_chars` is the one from preferences where there is one, else the one from stops, unless these are all of
visits to streams. Each language is fitted by itself.
"""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd

from calibration.inference.attempts import Fitted, Unmade, attempt, guarded
from calibration.inference.results import (
    CalibrationResult,
    NotIdentifiedError,
    Skipped,
    info,
    warning,
)
from calibration.inference.uncertainty import Interval
from calibration.inference.wording import shown_interval
from calibration.patience import grid as patience_grid
from calibration.patience import preferences as patience_preferences
from calibration.patience import stops as patience_stops
from calibration.patience.judges import NAME as SPREAD
from calibration.patience.pairs import JudgedSummaries, given_probabilities, summary_pairs
from calibration.patience.preferences import PreferencesFit
from calibration.patience.stops_result import CAUSES, StopsFit
from calibration.tables.preferences import WORKERS_UNKNOWN, judged_pairs, knows_workers, votes_by_pair
from calibration.user_model.model import Diagnostic
from metrics.agreement.agreement import QueryMean
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

Fits = dict[str, CalibrationResult]


def fit_patience(
    tables: Mapping[str, pd.DataFrame],
    *,
    seed: int,
    voted: Probabilities | None = None,
    resamples: int | None = None,
) -> Fitted:
    """Fit every patience that the tables can tell.

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
    results: list[CalibrationResult] = []
    skipped: list[Skipped] = []
    tables = _of_texts(_about_summaries(tables))
    languages = _languages(tables)
    for language in languages:
        suffix = f"[{language}]" if len(languages) > 1 else ""
        sampling = _Sampling(language=language, seed=seed, resamples=resamples)
        fits, unfit = _fits(_of_language(tables, language if suffix else None), sampling, voted or {})
        results += [_renamed(fit, f"{name}{suffix}") for name, fit in fits.items()]
        skipped += [replace(one, names=tuple(f"{name}{suffix}" for name in one.names)) for one in unfit]
    if len(languages) > 1:
        skipped += _without_language(tables)
    return Fitted(results=tuple(results), data=(None,) * len(results), skipped=tuple(skipped))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sampling:
    """How one language's bootstraps are drawn."""

    language: str | None
    seed: int
    resamples: int | None

    def rng(self, name: str) -> np.random.Generator:
        return np.random.default_rng([self.seed, zlib.crc32(f"{name}[{self.language}]".encode())])

    def samples(self, usual: int) -> int:
        return usual if self.resamples is None else self.resamples


def _about_summaries(tables: Mapping[str, pd.DataFrame]) -> Mapping[str, pd.DataFrame]:
    """Return the tables without the preferences of tasks that have no positions: those compare other things."""
    if "preferences" not in tables or "positions" not in tables:
        return tables
    preferences, tasks = tables["preferences"], tables["positions"]["task"]
    if tasks.isna().any() or not preferences["task"].isin(tasks).any():
        return tables
    return {**tables, "preferences": preferences[preferences["task"].isin(tasks)]}


def _of_texts(tables: Mapping[str, pd.DataFrame]) -> Mapping[str, pd.DataFrame]:
    """Return the tables without the stops in ranked lists, and without table stops where it has no others."""
    if "stops" not in tables:
        return tables
    stops = patience_stops.text_stops(tables["stops"])
    if stops.empty and not tables["stops"].empty:
        return {name: table for name, table in tables.items() if name != "stops"}
    return {**tables, "stops": stops}


def _languages(tables: Mapping[str, pd.DataFrame]) -> list[str | None]:
    """Return the languages of preferences and stops; [None] when no row says its language."""
    named = [tables[name]["language"].dropna() for name in _BY_LANGUAGE if name in tables]
    return [*sorted({str(language) for column in named for language in column})] or [None]


def _without_language(tables: Mapping[str, pd.DataFrame]) -> list[Skipped]:
    """Say how many rows belong to no language, where there are several."""
    lost = {name: int(tables[name]["language"].isna().sum()) for name in _BY_LANGUAGE if name in tables}
    rows = [f"{count} rows of {name}" for name, count in lost.items() if count]
    reason = f"{' and '.join(rows)} do not say their language and are left out"
    return [Skipped(names=(NAME,), reason=reason)] if rows else []


def _of_language(tables: Mapping[str, pd.DataFrame], language: str | None) -> dict[str, pd.DataFrame]:
    """Return the tables with the rows of one language, or all rows for None."""
    return {
        name: frame[frame["language"] == language] if language is not None and name in _BY_LANGUAGE else frame
        for name, frame in tables.items()
    }


def _fits(
    tables: Mapping[str, pd.DataFrame], sampling: _Sampling, voted: Probabilities
) -> tuple[Fits, list[Skipped]]:
    """Make the three fits of one language and choose the default."""
    found = attempt((patience_stops.NAME,), lambda: _from_stops(tables, sampling))
    judged = guarded(lambda: _judged_summaries(tables, voted))
    if isinstance(judged, Unmade):
        found += Fitted(skipped=(judged.skipped(FROM_PAIRS),))
    else:
        pairs, workers, notes = judged
        likely = attempt((patience_preferences.NAME,), lambda: _from_preferences(pairs, workers, notes))
        unrelated = [
            one for one in likely.skipped if one.reason.startswith(patience_preferences.NOTHING_SHOWS)
        ]
        if unrelated:
            found += Fitted(skipped=(replace(unrelated[0], names=FROM_PAIRS),))
        else:
            causes = [note for fit in likely.results for note in fit.diagnostics if note.name in CAUSES]
            on_grid = attempt(
                (patience_grid.NAME,), lambda: _on_grid(pairs, workers, (*notes, *causes), sampling)
            )
            found += likely + on_grid
        found = replace(found, results=tuple(_with_agreement(fit, pairs) for fit in found.results))
    fits, skipped = {next(iter(fit.parameters)): fit for fit in found.results}, list(found.skipped)
    if _of_streams(tables, fits):
        return fits, [*skipped, Skipped(names=(NAME,), reason=NOT_OF_TEXTS)]
    return _with_default(fits), skipped


def _of_streams(tables: Mapping[str, pd.DataFrame], fits: Fits) -> bool:
    """Say whether stops are all there is, and they are of visits to streams."""
    if patience_preferences.NAME in fits or patience_stops.NAME not in fits:
        return False
    names = {note.name for note in fits[patience_stops.NAME].diagnostics}
    return "from_visits" in names and any(name in tables and not tables[name].empty for name in OF_STREAMS)


def _from_stops(tables: Mapping[str, pd.DataFrame], sampling: _Sampling) -> CalibrationResult:
    if "stops" not in tables:
        raise NotIdentifiedError("there is no table stops")
    return patience_stops.fit_patience_from_stops(
        tables["stops"],
        rng=sampling.rng(patience_stops.NAME),
        language=sampling.language,
        resamples=sampling.samples(patience_stops.RESAMPLES),
    )


def _from_preferences(
    pairs: JudgedSummaries, workers: int, notes: tuple[Diagnostic, ...]
) -> CalibrationResult:
    fit = patience_preferences.fit_patience_from_preferences(pairs, n_workers=workers)
    return fit.noted(*notes)


def _on_grid(
    pairs: JudgedSummaries, workers: int, notes: tuple[Diagnostic, ...], sampling: _Sampling
) -> CalibrationResult:
    name = patience_grid.NAME
    fit = patience_grid.fit_patience_on_grid(
        pairs,
        n_workers=workers,
        rng=sampling.rng(name),
        language=sampling.language,
        resamples=sampling.samples(patience_grid.RESAMPLES),
    )
    return fit.noted(*notes)


def _judged_summaries(
    tables: Mapping[str, pd.DataFrame], voted: Probabilities
) -> tuple[JudgedSummaries, int, tuple[Diagnostic, ...]]:
    """Return the pairs of summaries, how many people judged them, and what to know about their P(i|q)."""
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
    return pairs, people, _notes_on_intents(pairs.topics, intents, voted)


def _notes_on_intents(
    topics: tuple[str, ...], intents: pd.DataFrame | None, voted: Probabilities
) -> tuple[Diagnostic, ...]:
    given = set() if intents is None else set(intents.loc[intents["probability"].notna(), "topic"])
    from_votes = [topic for topic in topics if topic not in given and topic in voted]
    uniform = [topic for topic in topics if topic not in given and topic not in voted]
    notes = []
    if from_votes:
        notes.append(
            info(
                "voted_intents", f"P(i|q) of {len(from_votes)} of {len(topics)} topics is the one from votes."
            )
        )
    if uniform:
        notes.append(
            warning(
                "uniform_intents",
                f"{len(uniform)} of {len(topics)} topics have no P(i|q): all their intents count the same.",
            )
        )
    return tuple(notes)


def _with_agreement(fit: CalibrationResult, pairs: JudgedSummaries) -> CalibrationResult:
    """Say how well M agrees with the preferences at the fitted patience."""
    (patience,) = fit.parameters.values()
    credit = patience_grid.credit_by_topic(pairs, np.array([patience]))[:, 0]
    counts = np.bincount(pairs.topic, minlength=len(pairs.topics)).astype(np.float64)
    mean = QueryMean(queries=pairs.topics, sums=credit, counts=counts)
    low, high = mean.confidence_interval()
    interval = "" if np.isnan(low) else f" [{low:.1%}, {high:.1%}]"
    return fit.noted(
        info(
            "agreement",
            f"At this patience M agrees with the majority in {mean.value:.1%}{interval} of the pairs of these tables.",
        ),
    )


def _with_default(fits: Fits) -> Fits:
    """Put `patience_chars` first: the fit from preferences if there is one, else the one from stops; and its spread last."""
    source = next((name for name in (patience_preferences.NAME, patience_stops.NAME) if name in fits), None)
    if source is None:
        return fits
    word = source.rpartition("_")[2]
    default = replace(fits[source], method=f"from {word}: {fits[source].method}")
    listed = {NAME: default.noted(*_disjoint(fits)), **dict(sorted(fits.items(), key=_as_listed))}
    if isinstance(default, PreferencesFit | StopsFit) and default.spread is not None:
        listed[SPREAD] = default.spread.result(word)
    return listed


def _as_listed(item: tuple[str, CalibrationResult]) -> int:
    return (patience_preferences.NAME, patience_stops.NAME, patience_grid.NAME).index(item[0])


def _disjoint(fits: Fits) -> list[Diagnostic]:
    """Return a warning where the 95 % intervals of preferences and stops have nothing in common; the grid's is no match for them."""
    intervals = {name: fit.conf_int()[name] for name, fit in fits.items() if name != patience_grid.NAME}
    return [
        warning(
            "disjoint_intervals",
            f"The intervals of {one} {shown_interval(intervals[one])} and {other} "
            f"{shown_interval(intervals[other])} have nothing in common: they measure different things here.",
        )
        for one, other in combinations(sorted(intervals), 2)
        if _apart(intervals[one], intervals[other]) or _apart(intervals[other], intervals[one])
    ]


def _apart(below: Interval, above: Interval) -> bool:
    return below[1] is not None and above[0] is not None and below[1] < above[0]


def _renamed(fit: CalibrationResult, name: str) -> CalibrationResult:
    return replace(fit, parameters={name: next(iter(fit.parameters.values()))})
