"""What the same tables would have given otherwise: with visits cut another way, and by naive code.

Which visits a user model is fitted to, and how much the way in which they were cut matters.

What naive code would have found: each family's named baselines beside the estimates.

None of them is to be used. They are shown so that one sees what careless fitting makes of the same tables.
"""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, TypeAlias

import pandas as pd

from calibration.durations.fit import AWAY, SESSION
from calibration.durations.result import DurationFit, NaiveDurations, naive_away, naive_session
from calibration.fit.families import FitMaterial, away_options, by_language, gap_seconds, visit_estimates
from calibration.inference.attempts import Unmade, guarded
from calibration.inference.results import CalibrationResult, info, warning
from calibration.lateness.fit import NAIVE as LATENESS
from calibration.patience.persistence import NAIVE as IN_LISTS
from calibration.patience.stops import NAIVE as PATIENCE
from calibration.push.notes import NAIVE as PUSH
from calibration.reading.medians import NAIVE as READING
from calibration.tables.tables import TABLES
from calibration.user_model.model import CORRELATION, PERSISTENCE, QUANTILES, Diagnostic
from calibration.visits.cut import visits_from_activity
from calibration.visits.threshold import (
    IDLE_SECONDS,
    idle_threshold,
    sensitivity_notes,
    threshold_sensitivity,
)


def with_visits(material: FitMaterial) -> tuple[FitMaterial, tuple[Diagnostic, ...]]:
    """Cut visits from table activity, where that is asked for or where there are none.

    Returns
    -------
    FitMaterial
        With those visits, and the threshold among its options; as it was where it has visits and no threshold.
    tuple of Diagnostic
        How they were cut, for the fits that rest on visits.

    Raises
    ------
    NotIdentifiedError
        If a threshold is given and there is no table activity.
    """
    seconds, why = material.options.idle_threshold_seconds, "as asked for"
    if seconds is None:
        if not _is_empty(material, "visits") or _is_empty(material, "activity"):
            return material, ()
        chosen = idle_threshold(material.tables["activity"], follows=material.tables.get("follows"))
        seconds, why = chosen.seconds, chosen.sentence
    visits = _cut(material, seconds)
    options = replace(material.options, idle_threshold_seconds=seconds)
    note = info(
        "visits_cut_anew",
        f"Visits are cut from table activity at silences longer than {seconds:g} s ({why}).",
    )
    return replace(material.with_tables(visits=visits), options=options), (note,)


def _is_empty(material: FitMaterial, name: str) -> bool:
    return name not in material.tables or material.tables[name].empty


def _cut(material: FitMaterial, seconds: float) -> pd.DataFrame:
    return visits_from_activity(
        material.table("activity"),
        idle_seconds=seconds,
        follows=material.tables.get("follows"),
        visits=material.tables.get("visits"),
    )


def noted_on_visits(
    material: FitMaterial, results: Iterable[CalibrationResult], notes: tuple[Diagnostic, ...]
) -> list[CalibrationResult]:
    """Say in the fits of times away and sessions how visits were cut, and how far they move at other silences.

    Parameters
    ----------
    material : FitMaterial
        The second is not said where it has no table activity.
    results : iterable of CalibrationResult
        Of all families; the others stay as they are.
    notes : tuple of Diagnostic
        How visits were cut.
    """
    results = [fit.noted(*notes) if _of_visits(fit) else fit for fit in results]
    if not any(map(_of_visits, results)) or _is_empty(material, "activity"):
        return results
    moved = guarded(lambda: sensitivity_notes(_sensitivity(material, results)))
    if isinstance(moved, Unmade):
        return [fit.noted(_not_compared(moved)) if _of_visits(fit) else fit for fit in results]
    told = moved.keys() - QUANTILES - {CORRELATION}  # which move with M and S, or lie near 0
    return [fit.noted(*(moved[name] for name in fit.parameters if name in told)) for fit in results]


def _of_visits(fit: CalibrationResult) -> bool:
    return bool({*AWAY, *SESSION} & {*fit.parameters})


def _sensitivity(material: FitMaterial, results: Sequence[CalibrationResult]) -> pd.DataFrame:
    return threshold_sensitivity(
        material.tables,
        lambda tables, seconds: _fitted_at(material, results, tables, seconds),
        idle_seconds=gap_seconds(material) or _usual(material),
    )


def _not_compared(why: Unmade) -> Diagnostic:
    return warning(
        "threshold_sensitivity", f"Visits cut at other silences could not be fitted: {why.reason}."
    )


def _usual(material: FitMaterial) -> float:
    return (material.record.idle_seconds if material.record else None) or IDLE_SECONDS


def _fitted_at(
    material: FitMaterial,
    results: Sequence[CalibrationResult],
    tables: Mapping[str, pd.DataFrame],
    seconds: float,
) -> Mapping[str, float]:
    """Fit times away and sessions to visits that were cut at a threshold; at the one in use they are fitted already."""
    fits = [fit for fit in results if isinstance(fit, DurationFit)]
    if seconds == gap_seconds(material) and _same_rows(tables["visits"], material.tables["visits"]):
        return dict(chain.from_iterable(fit.parameters.items() for fit in fits))
    options = replace(material.options, idle_threshold_seconds=seconds)
    return visit_estimates(replace(material, tables=tables, options=options), fits)


def _same_rows(one: pd.DataFrame, other: pd.DataFrame) -> bool:
    """Say whether two tables have the same rows, in whatever order."""
    columns = list(one.columns)
    first, second = (
        table.reindex(columns=columns).sort_values(columns, ignore_index=True) for table in (one, other)
    )
    return bool(first.equals(second))


Baseline: TypeAlias = Callable[[], CalibrationResult | Mapping[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NaiveEstimate:
    """One parameter by one baseline.

    Attributes
    ----------
    name : str
        The parameter, with its language where the fit's has one.
    estimate : float
        What the baseline says.
    baseline : str
        What it is called.
    about : str
        What it does, or what is wrong with it.
    """

    name: str
    estimate: float
    baseline: str
    about: str


def naive_estimates(material: FitMaterial, fitted: Collection[str]) -> tuple[NaiveEstimate, ...]:
    """Return what the baselines say of the parameters that were fitted.

    Parameters
    ----------
    material : FitMaterial
        What the fits were made from.
    fitted : collection of str
        Their parameters, in order; nothing is said of others. A baseline that comes to nothing is left out.
    """
    order = list(fitted)
    found = [*_durations(material, order), *_others(material, order)]
    kept = [one for one in found if one.name in order and not math.isnan(one.estimate)]
    return tuple(sorted(kept, key=lambda one: order.index(one.name)))


def _durations(material: FitMaterial, fitted: list[str]) -> Iterator[NaiveEstimate]:
    makers: list[tuple[tuple[str, ...], Callable[[], tuple[NaiveDurations, ...]]]] = [
        (AWAY, lambda: naive_away(material.tables, **away_options(material))),
        (SESSION, lambda: naive_session(material.tables, unit=material.options.unit)),
    ]
    for names, make in makers:
        made = guarded(make) if names[0] in fitted else ()
        for one in () if isinstance(made, Unmade) else made:
            for name, value in zip(names[:2], (one.mean, one.sd), strict=True):
                yield NaiveEstimate(name=name, estimate=value, baseline=one.name, about=one.fault)


def _others(material: FitMaterial, fitted: list[str]) -> Iterator[NaiveEstimate]:
    for suffix, called, about, baseline in _baselines(material, fitted):
        made = guarded(baseline)
        if isinstance(made, Unmade):
            continue
        params = made.parameters if isinstance(made, CalibrationResult) else made
        for name, value in params.items():
            yield NaiveEstimate(name=f"{name}{suffix}", estimate=float(value), baseline=called, about=about)


def _baselines(material: FitMaterial, fitted: list[str]) -> Iterator[tuple[str, str, str, Baseline]]:
    """Yield what a baseline's names end in, what it is called, what it does, and the baseline: of families fitted."""
    by_row: tuple[tuple[str, str, Mapping[str, Callable[..., Any]]], ...] = (
        ("reading_speed_mu", "reads", READING),
        ("patience_chars_stops", "stops", PATIENCE),
        (PERSISTENCE, "stops", IN_LISTS),
    )
    for parameter, table, baselines in by_row:
        for language, suffix, rows in by_language(material.tables.get(table, TABLES[table].empty())):
            more = {"language": language} if table == "reads" else {}
            for name, function in baselines.items() if f"{parameter}{suffix}" in fitted else ():
                yield suffix, *_said(name, function), partial(function, rows, **more)
    whole: tuple[tuple[str, tuple[str, ...], Mapping[str, Callable[..., Any]]], ...] = (
        ("lateness_", ("lateness",), LATENESS),
        ("push_", ("preferences", "push_cells"), PUSH),
    )
    for family, tables, baselines in whole:
        if any(name.startswith(family) for name in fitted):
            rows_of = [material.tables[table] for table in tables]
            for name, function in baselines.items():
                yield "", *_said(name, function), partial(function, *rows_of)


def _said(name: str, function: Callable[..., Any]) -> tuple[str, str]:
    """Return the name of a baseline for people, and the first sentence of its documentation."""
    first = (function.__doc__ or "").strip().partition("\n")[0]
    return name.removeprefix("naive_").replace("_", " "), first.rstrip(".")
