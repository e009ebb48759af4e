"""Naive estimators of times away and session lengths, and their errors.

Each takes the same tables as the fit; docs/evidence.md has their measured bias.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from calibration.inference.results import NotIdentifiedError
from calibration.models.durations.exposure import CensoredDurations, WorkerTotals, total
from calibration.models.durations.from_tables import Unit, away_exposure, session_exposure
from calibration.models.durations.maximum import maximum, moments
from metrics.arrays import Floats

NO_EVENT = "no duration is complete"


@dataclass(frozen=True, slots=True, kw_only=True)
class NaiveDurations:
    """Estimates of one naive estimator.

    Attributes
    ----------
    name : str
        The estimator.
    mean, sd : float
        Its M and S in seconds; nan where it gives none.
    fault : str
        What is wrong with it.
    """

    name: str
    mean: float
    sd: float
    fault: str


def naive_pooled(exposure: CensoredDurations) -> tuple[float, float]:
    """Fit a log-normal law to all complete intervals: the rows, not the workers, and only what ended."""
    seconds = exposure.seconds[exposure.event]
    return _log_normal(seconds[seconds > 0])


def naive_worker_means(exposure: CensoredDurations) -> tuple[float, float]:
    """Fit a log-normal law to each worker's mean of complete intervals: short records scatter, who never came is missing."""
    n = total(exposure.unit, exposure.event, exposure.units)
    seconds = total(exposure.unit, np.where(exposure.event, exposure.seconds, 0.0), exposure.units)
    some = (n > 0) & (seconds > 0)
    return _log_normal(seconds[some] / n[some])


def naive_count_moments(exposure: CensoredDurations) -> tuple[float, float]:
    """Match mean and variance of the counts: unbiased for rates, but not for their reciprocals."""
    if not exposure.event.any():
        raise NotIdentifiedError(NO_EVENT)
    return _mean_and_sd(*moments(exposure.totals()))


def naive_without_cut(exposure: CensoredDurations) -> tuple[float, float]:
    """Maximise the right likelihood without cut intervals: long times are the ones that were cut.

    For times away it is the same as ending everybody's record at the last visit.
    """
    n = total(exposure.unit, exposure.event, exposure.units)
    seconds = total(exposure.unit, np.where(exposure.event, exposure.seconds, 0.0), exposure.units)
    some = (n > 0) & (seconds > 0)
    if not some.any():
        raise NotIdentifiedError(NO_EVENT)
    fit = maximum(WorkerTotals(events=n[some], seconds=seconds[some]))
    return fit.mean, fit.sd


def naive_cut_as_complete(exposure: CensoredDurations) -> tuple[float, float]:
    """Maximise the right likelihood with cut intervals taken as complete: they would have been longer."""
    everything = replace(exposure, event=np.ones(len(exposure.event), dtype=bool))
    fit = maximum(everything.totals())
    return fit.mean, fit.sd


def naive_enrolment_counted(tables: Mapping[str, pd.DataFrame], **options: Any) -> tuple[float, float]:
    """Count the visit in which somebody enrols as the end of a time away of no length."""
    earlier = tables["follows"]["started_at"] - pd.Timedelta(milliseconds=1)
    shifted = {**tables, "follows": tables["follows"].assign(started_at=earlier)}
    totals = away_exposure(shifted, **options).totals()
    if not totals.events.any():
        raise NotIdentifiedError(NO_EVENT)
    fit = maximum(totals)
    return fit.mean, fit.sd


_FAULTS: Mapping[str, tuple[Callable[[CensoredDurations], tuple[float, float]], str]] = MappingProxyType(
    {
        "pooled log-normal": (
            naive_pooled,
            "takes rows for people: frequent visitors give most rows, and one person's scatter is read as a difference",
        ),
        "log-normal of workers' means": (
            naive_worker_means,
            "leaves out who never came and what was cut, and takes the scatter of short records for a difference",
        ),
        "moments of counts": (naive_count_moments, "is biased for few workers or wide populations"),
        "likelihood without cut intervals": (
            naive_without_cut,
            "drops the longest intervals: the ones that were cut",
        ),
        "cut intervals as complete": (
            naive_cut_as_complete,
            "takes what was cut for as long as it would have been",
        ),
    }
)
_OF_AWAY = (
    "pooled log-normal",
    "log-normal of workers' means",
    "moments of counts",
    "likelihood without cut intervals",
)
_OF_SESSIONS = (
    "pooled log-normal",
    "log-normal of workers' means",
    "likelihood without cut intervals",
    "cut intervals as complete",
)


def naive_away(tables: Mapping[str, pd.DataFrame], **options: Any) -> tuple[NaiveDurations, ...]:
    """Return the times away by every naive estimator.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        As for `away_exposure`.
    **options
        As of `away_exposure`.

    Raises
    ------
    NotIdentifiedError
        As `away_exposure` does.
    """
    exposure = away_exposure(tables, **options)
    found = [_tried(name, partial(_FAULTS[name][0], exposure), _FAULTS[name][1]) for name in _OF_AWAY]
    if "follows" in tables:
        counted = partial(naive_enrolment_counted, tables, **options)
        fault = "counts the visit in which somebody enrols as coming back"
        found.append(_tried("enrolment visit counted", counted, fault))
    return tuple(found)


def naive_session(tables: Mapping[str, pd.DataFrame], *, unit: Unit = "worker") -> tuple[NaiveDurations, ...]:
    """Return the session lengths by every naive estimator.

    Parameters and errors as of `session_exposure`.
    """
    exposure = session_exposure(tables, unit=unit)
    return tuple(_tried(name, partial(_FAULTS[name][0], exposure), _FAULTS[name][1]) for name in _OF_SESSIONS)


def _tried(name: str, estimator: Callable[[], tuple[float, float]], fault: str) -> NaiveDurations:
    try:
        mean, sd = estimator()
    except NotIdentifiedError:
        mean, sd = math.nan, math.nan
    return NaiveDurations(name=name, mean=mean, sd=sd, fault=fault)


def _log_normal(values: Floats) -> tuple[float, float]:
    if len(values) < 2:
        raise NotIdentifiedError("there are fewer than two durations")
    logs = np.log(values)
    return _mean_and_sd(float(logs.mean()), math.log(max(float(logs.std(ddof=1)), 1e-6)))


def _mean_and_sd(mu: float, log_sigma: float) -> tuple[float, float]:
    variance = math.exp(2 * log_sigma)
    mean = math.exp(mu + variance / 2)
    return mean, mean * math.sqrt(math.expm1(variance))
