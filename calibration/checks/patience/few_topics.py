"""Do a few topics have most of the judgments?

Topics with the shares s of the judgments tell as much as 1 / sum s^2 equal ones.
"""

import numpy as np

from calibration.checks.finding import Finding
from calibration.inference.goodness import FEW_TOPICS
from calibration.inference.results import CalibrationResult
from calibration.models.patience.pairs import JudgedSummaries

NEARLY_EQUAL = 0.9
"""Effective over real topics, above which the plain number says enough (`calibration.inference.goodness.notes_on_few`)."""


def check_heavy_topics(fit: CalibrationResult, pairs: JudgedSummaries) -> Finding | None:
    """Say that unequal topics are worth few equal ones; the interval allows for it."""
    count = np.bincount(pairs.topic, pairs.votes.total)
    share = count / count.sum()
    effective = 1 / float((share**2).sum())
    if effective >= FEW_TOPICS or effective >= NEARLY_EQUAL * len(share) or len(share) < 2:
        return None
    return Finding(
        name="few_topics",
        severity="warning",
        sentence=f"{len(share)} topics tell as much as {effective:.1f} equal ones, since one has {share.max():.0%} of the judgments: how much topics differ "
        "is hardly known. The interval allows for it; judge the topics alike.",
    )
