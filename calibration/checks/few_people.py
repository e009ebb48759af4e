"""Are there too few workers or topics for reliable intervals?

The effective number counts: clusters with shares s of the judgments are worth 1 / sum s^2 equal clusters.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from calibration.checks.finding import Finding, warn_if
from calibration.inference.results import CalibrationResult
from calibration.models.patience.pairs import JudgedSummaries
from calibration.models.push.judgments import PushJudgments
from calibration.raters.measure import RaterMeasure
from metrics.errors import percent, pluralise

FEW = {"worker": 20, "topic": 10}
"""Smallest numbers of workers and topics without a warning."""
NEARLY_EQUAL = 0.9
"""Ratio of effective to actual number above which loads count as equal."""


def check_few_workers(fit: CalibrationResult, data: object) -> Finding | None:
    """Warn if the fit has few workers."""
    return few(fit, "worker", np.ones(fit.n_workers or 0))


def check_few_topics(fit: CalibrationResult, data: object) -> Finding | None:
    """Warn if the fit has few topics."""
    return few(fit, "topic", np.ones(int(fit.details.get("topics", 0))))


def check_few_clusters(fit: RaterMeasure, data: object) -> Finding | None:
    """Warn if a rater measure has few of the clusters it samples, workers or topics."""
    return few(fit, fit.sampled, np.ones(fit.clusters))


def check_topics_of_pairs(fit: CalibrationResult, pairs: JudgedSummaries) -> Finding | None:
    """Warn if pairs have few topics, or one topic has most of the judgments."""
    return few(fit, "topic", np.bincount(pairs.topic, pairs.votes.total))


def check_workers_of_pushes(fit: CalibrationResult, judgments: PushJudgments) -> Finding | None:
    """Warn if pushes have few workers, or one worker has most of the judgments."""
    return few(fit, "worker", np.bincount(judgments.worker))


def check_topics_of_pushes(fit: CalibrationResult, judgments: PushJudgments) -> Finding | None:
    """Warn if pushes have few topics, or one topic has most of the judgments."""
    return few(fit, "topic", np.bincount(judgments.topic))


def few(fit: CalibrationResult, what: Literal["worker", "topic"], loads: ArrayLike) -> Finding | None:
    """Warn if clusters with these loads are few.

    It returns None if they are not few, if there are none, or if a diagnostic of the fit reports only one.
    """
    shares = np.asarray(loads, dtype=np.float64) / np.sum(loads)
    number, effective = len(shares), 1 / float((shares**2).sum() or 1)
    is_one = f"one_{what}" in {note.name for note in fit.diagnostics}
    if not number or is_one:
        return None
    statement = " is few" if number == 1 else " are few"
    if effective < NEARLY_EQUAL * number:
        statement = f", of which one has {percent(shares.max())} of the judgments, count as {effective:.1f} equal ones"
    return warn_if(
        round(effective) < FEW[what],
        f"few_{what}s",
        f"{pluralise(number, what)}{statement}: their differences are poorly estimated, and intervals may be too short.",
    )
