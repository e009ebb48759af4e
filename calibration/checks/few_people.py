"""Are there few workers or topics, or few that count? Then intervals are less reliable than they say, whatever their method.

Where judgments lie unevenly, clusters with the shares s of them tell as much as 1 / sum s^2 equal ones.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from calibration.checks.finding import Finding
from calibration.inference.results import CalibrationResult
from calibration.models.patience.pairs import JudgedSummaries
from calibration.models.push.judgments import PushJudgments
from calibration.raters.measure import RaterMeasure
from metrics.errors import pluralise

FEW = {"worker": 20, "topic": 10}
"""Fewer are few."""
NEARLY_EQUAL = 0.9
"""Effective over real number, above which the plain number says enough."""


def check_few_workers(fit: CalibrationResult, data: object) -> Finding | None:
    """Say that few workers hardly tell how much workers differ."""
    return few(fit, "worker", np.ones(fit.n_workers or 0))


def check_few_topics(fit: CalibrationResult, data: object) -> Finding | None:
    """Say that few topics hardly tell how much topics differ."""
    return few(fit, "topic", np.ones(int(fit.details.get("topics", 0))))


def check_few_clusters(fit: RaterMeasure, data: object) -> Finding | None:
    """Say that few of what was sampled hardly tell how much they differ."""
    return few(fit, fit.sampled, np.ones(fit.clusters))


def check_topics_of_pairs(fit: CalibrationResult, pairs: JudgedSummaries) -> Finding | None:
    """Say that few topics, or a heavy one, hardly tell how much topics differ."""
    return few(fit, "topic", np.bincount(pairs.topic, pairs.votes.total))


def check_workers_of_pushes(fit: CalibrationResult, judgments: PushJudgments) -> Finding | None:
    """Say that few workers, or a busy one, hardly tell how much workers differ."""
    return few(fit, "worker", np.bincount(judgments.worker))


def check_topics_of_pushes(fit: CalibrationResult, judgments: PushJudgments) -> Finding | None:
    """Say that few topics, or a heavy one, hardly tell how much topics differ."""
    return few(fit, "topic", np.bincount(judgments.topic))


def few(fit: CalibrationResult, what: Literal["worker", "topic"], loads: ArrayLike) -> Finding | None:
    """Say that clusters with these loads are few; None where they are not, are not known, or the fit says that it is one."""
    share = np.asarray(loads, dtype=np.float64) / np.sum(loads)
    number, effective = len(share), 1 / float((share**2).sum() or 1)
    is_one = f"one_{what}" in {note.name for note in fit.diagnostics}
    if not number or round(effective) >= FEW[what] or is_one:
        return None
    are = "is few" if number == 1 else "are few"
    if effective < NEARLY_EQUAL * number:
        are = f", of which one has {share.max():.0%} of the judgments, tell as much as {effective:.1f} equal ones"
    return Finding(
        name=f"few_{what}s",
        severity="warning",
        sentence=f"{pluralise(number, what)}{' ' * (are[0] != ',')}{are}: how much {what}s differ is hardly known, and intervals may be too short.",
    )
