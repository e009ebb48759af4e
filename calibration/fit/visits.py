"""Visits that a user model is fitted to, and sensitivity to how they were cut."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import pandas as pd

from calibration.fit.families import FitInputs, gap_seconds, visit_estimates
from calibration.inference.attempts import FitFailure, catch_unidentified
from calibration.inference.results import CalibrationResult, info, warning
from calibration.models.durations.fit import AWAY, SESSION, DurationFit
from calibration.user_model.model import CORRELATION, QUANTILES, Diagnostic
from calibration.visits.cut import visits_from_activity
from calibration.visits.threshold import (
    IDLE_SECONDS,
    idle_threshold,
    sensitivity_notes,
    threshold_sensitivity,
)


def with_visits(material: FitInputs) -> tuple[FitInputs, tuple[Diagnostic, ...]]:
    """Cut visits from table activity, if asked for or if there are none.

    Returns
    -------
    FitInputs
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


def _is_empty(material: FitInputs, name: str) -> bool:
    return name not in material.tables or material.tables[name].empty


def _cut(material: FitInputs, seconds: float) -> pd.DataFrame:
    return visits_from_activity(
        material.table("activity"),
        idle_seconds=seconds,
        follows=material.tables.get("follows"),
        visits=material.tables.get("visits"),
    )


def noted_on_visits(
    material: FitInputs, results: Iterable[CalibrationResult], notes: tuple[Diagnostic, ...]
) -> list[CalibrationResult]:
    """Add notes on how visits were cut, and on other silences, to the duration fits.

    Parameters
    ----------
    material : FitInputs
        The second is not said where it has no table activity.
    results : iterable of CalibrationResult
        Of all families; the others stay as they are.
    notes : tuple of Diagnostic
        How visits were cut.
    """
    results = [fit.with_diagnostics(*notes) if _of_visits(fit) else fit for fit in results]
    if not any(map(_of_visits, results)) or _is_empty(material, "activity"):
        return results
    moved = catch_unidentified(lambda: sensitivity_notes(_sensitivity(material, results)))
    if isinstance(moved, FitFailure):
        return [fit.with_diagnostics(_not_compared(moved)) if _of_visits(fit) else fit for fit in results]
    names = moved.keys() - QUANTILES - {CORRELATION}  # which move with M and S, or lie near 0
    return [
        fit.with_diagnostics(*(moved[name] for name in fit.parameters if name in names)) for fit in results
    ]


def _of_visits(fit: CalibrationResult) -> bool:
    return bool({*AWAY, *SESSION} & {*fit.parameters})


def _sensitivity(material: FitInputs, results: Sequence[CalibrationResult]) -> pd.DataFrame:
    return threshold_sensitivity(
        material.tables,
        lambda tables, seconds: _fitted_at(material, results, tables, seconds),
        idle_seconds=gap_seconds(material) or _usual(material),
    )


def _not_compared(why: FitFailure) -> Diagnostic:
    return warning(
        "threshold_sensitivity", f"Visits cut at other silences could not be fitted: {why.reason}."
    )


def _usual(material: FitInputs) -> float:
    return (material.record.idle_seconds if material.record else None) or IDLE_SECONDS


def _fitted_at(
    material: FitInputs,
    results: Sequence[CalibrationResult],
    tables: Mapping[str, pd.DataFrame],
    seconds: float,
) -> Mapping[str, float]:
    """Return the estimates of times away and sessions at a threshold.

    The threshold in use needs no new fit.
    """
    fits = [fit for fit in results if isinstance(fit, DurationFit)]
    if seconds == gap_seconds(material) and _same_rows(tables["visits"], material.tables["visits"]):
        return dict(chain.from_iterable(fit.parameters.items() for fit in fits))
    options = replace(material.options, idle_threshold_seconds=seconds)
    return visit_estimates(replace(material, tables=tables, options=options), fits)


def _same_rows(one: pd.DataFrame, other: pd.DataFrame) -> bool:
    """Return whether two tables have the same rows, in whatever order."""
    columns = list(one.columns)
    first, second = (
        table.reindex(columns=columns).sort_values(columns, ignore_index=True) for table in (one, other)
    )
    return bool(first.equals(second))
