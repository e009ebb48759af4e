"""Do people prefer streams for more than their cells?

With enough votes they always do, and the clusters of the interval allow for it: so this is a fact of how much the framework explains, and
never a warning.
"""

import numpy as np

from calibration.checks.finding import Finding
from calibration.inference.clusters import p_shared_effect
from calibration.inference.formatting import format_p
from calibration.models.push.judgments import PushJudgments
from calibration.models.push.weights import PushFit, fit_data

UNEXPLAINED = 0.05
"""Largest p-value at which votes of a pair share more than its cells explain."""


def check_unexplained_pairs(fit: PushFit, judgments: PushJudgments) -> Finding | None:
    """Test whether residuals of one pair's votes go together.

    It is the score test of a random effect of the pair.
    """
    judged = fit_data(judgments, judgments.difference[:, fit.search.kept], fit.ties)
    used = judgments.vote != 0 if fit.ties == "drop" else np.ones(len(judgments.vote), dtype=bool)
    pair = np.unique(judgments.pair[used], return_inverse=True)[1]
    residual = judged.model(fit.ties).terms(fit.search.maximum.point).by_u
    towards_first = np.where(judgments.first_is_left[used], residual, -residual)
    p_value = p_shared_effect(towards_first, pair)
    verdict = (
        "People prefer streams for more than their cells"
        if p_value < UNEXPLAINED
        else "The cells explain the preferences as far as these votes show"
    )
    return Finding(
        name="unexplained_pairs",
        sentence=f"{verdict} ({pair.max() + 1} pairs, {format_p(p_value)}); the interval allows for what is unexplained.",
    )
