"""Naive estimators of reading speed; each docstring names its error.

Each takes table reads and returns the two parameters of `calibration.models.reading.fit.fit_reading_speed`, with the bias measured at a
true mu of 1.290 and sigma of 0.558 (100 workers, 20 items). nan where there are fewer than two workers.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import pandas as pd

from calibration.models.reading.medians import fit_medians
from calibration.models.reading.rows import TimedReads, readings
from metrics.arrays import Floats

SPEED_WINDOW = (0.8, 15.0)
"""Words per second that are taken for reading by convention."""
ReadingSpeed: TypeAlias = dict[str, float]


def naive_pooled(reads: pd.DataFrame, *, language: str | None = None) -> ReadingSpeed:
    """Mean and standard deviation of all log speeds: the spread of reads within workers goes into sigma (twice too wide)."""
    data = readings(reads, language=language)
    return _moments(data.log_speed if data.n_workers > 1 else data.log_speed[:0])


def naive_totals(reads: pd.DataFrame, *, language: str | None = None) -> ReadingSpeed:
    """Each worker's words divided by all their seconds: a single idle read outweighs all others (mu -0.6 with 15 % idle reads)."""
    data = readings(reads, language=language)
    length = np.bincount(data.worker, weights=np.exp(data.log_length))
    seconds = np.bincount(data.worker, weights=np.exp(data.log_length - data.log_speed))
    return _moments(np.log(length / seconds))


def naive_speed_window(reads: pd.DataFrame, *, language: str | None = None) -> ReadingSpeed:
    """Worker means of the speeds inside a window: slow and fast readers lose reads too (sigma 30 % too small)."""
    data = readings(reads, language=language)
    low, high = np.log(SPEED_WINDOW)
    return _moments(_worker_means(data.of((low <= data.log_speed) & (data.log_speed <= high))))


def naive_medians(reads: pd.DataFrame, *, language: str | None = None) -> ReadingSpeed:
    """Worker medians with random effects: reads that idle count as slow ones (mu -0.17 with 30 % idle reads)."""
    return _by_medians(readings(reads, language=language))


def naive_cut_is_complete(reads: pd.DataFrame, *, language: str | None = None) -> ReadingSpeed:
    """Interrupted reads taken for complete ones: everybody reads faster (mu +0.4 with visits of ten seconds)."""
    data = readings(reads, language=language)
    return _by_medians(replace(data, cut=np.zeros_like(data.cut)))


def naive_cut_is_dropped(reads: pd.DataFrame, *, language: str | None = None) -> ReadingSpeed:
    """Interrupted reads left out: long reads are interrupted more often, and the slowest readers vanish."""
    data = readings(reads, language=language)
    return _by_medians(data.of(~data.cut))


NAIVE: MappingProxyType[str, Callable[..., ReadingSpeed]] = MappingProxyType(
    {
        "pooled": naive_pooled,
        "totals": naive_totals,
        "speed_window": naive_speed_window,
        "medians": naive_medians,
        "cut_is_complete": naive_cut_is_complete,
        "cut_is_dropped": naive_cut_is_dropped,
    }
)
"""All of them by name."""


def _worker_means(data: TimedReads) -> Floats:
    return np.asarray(np.bincount(data.worker, weights=data.log_speed) / np.bincount(data.worker))


def _moments(logs: Floats) -> ReadingSpeed:
    return (
        _named(float(logs.mean()), float(logs.std(ddof=1))) if len(logs) > 1 else _named(math.nan, math.nan)
    )


def _by_medians(data: TimedReads) -> ReadingSpeed:
    if data.n_workers < 2:
        return _named(math.nan, math.nan)
    fit = fit_medians(data)
    return _named(fit.mu, fit.sigma)


def _named(mu: float, sigma: float) -> ReadingSpeed:
    return {"reading_speed_mu": mu, "reading_speed_sigma": sigma}
