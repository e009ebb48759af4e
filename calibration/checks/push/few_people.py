"""Are there few people or topics, or few that count?

Where the judgments lie unevenly, c clusters with shares s_j are worth 1 / sum_j s_j^2 equal ones.
"""

import numpy as np

from calibration.checks.finding import Finding
from calibration.inference.goodness import FEW_TOPICS, FEW_WORKERS
from calibration.inference.results import CalibrationResult
from calibration.models.push.judgments import PushJudgments
from metrics.arrays import Ints


def check_few_workers(fit: CalibrationResult, judgments: PushJudgments) -> Finding | None:
    """Say that few people hardly tell how much people differ."""
    return _few(judgments.worker, "worker", FEW_WORKERS)


def check_few_topics(fit: CalibrationResult, judgments: PushJudgments) -> Finding | None:
    """Say that few topics hardly tell how much topics differ."""
    return _few(judgments.topic, "topic", FEW_TOPICS)


def _few(cluster: Ints, what: str, fewest: int) -> Finding | None:
    share = np.bincount(cluster) / len(cluster)
    number, effective, largest = len(share), 1 / (share**2).sum(), share.max()
    if number < 2 or round(effective) >= fewest:
        return None
    uneven = f", of which one has {largest:.0%} of the judgments," if effective < 0.75 * number else ""
    return Finding(
        name=f"few_{what}s",
        severity="warning",
        sentence=f"{number} {what}s{uneven} are few: how much {what}s differ is hardly known, and intervals may be too short.",
    )
