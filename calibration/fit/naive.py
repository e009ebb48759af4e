"""What naive code would have found: each family's named baselines beside the estimates.

None of them is to be used. They are shown so that one sees what careless fitting makes of the same tables.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from calibration.durations.fit import AWAY, SESSION
from calibration.durations.naive import NaiveDurations, naive_away, naive_session
from calibration.fit.families import away_options
from calibration.fit.material import FitMaterial, by_language
from calibration.inference.attempts import Unmade, guarded
from calibration.inference.results import CalibrationResult
from calibration.lateness.naive import NAIVE as LATENESS
from calibration.patience.persistence import NAIVE as IN_LISTS
from calibration.patience.stops import NAIVE as PATIENCE
from calibration.push.naive import NAIVE as PUSH
from calibration.reading.naive import NAIVE as READING
from calibration.tables.tables import TABLES
from calibration.user_model.model import PERSISTENCE

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
