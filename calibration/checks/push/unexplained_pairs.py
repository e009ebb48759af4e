"""Do people prefer streams for more than their cells?

With enough votes they always do, and the clusters of the interval allow for it: so this is a fact of how much the framework explains, and
never a warning.
"""

import numpy as np

from calibration.checks.finding import Finding
from calibration.inference.choice import ChoiceModel
from calibration.inference.clusters import chance_of_common
from calibration.inference.wording import shown_p
from calibration.models.push.judgments import PushJudgments
from calibration.models.push.weights import PushFit, judged_by

UNEXPLAINED = 0.05
"""A p-value below it says that votes of one pair have more in common than its cells."""


def check_unexplained_pairs(fit: PushFit, judgments: PushJudgments) -> Finding | None:
    """Say whether the residuals of one pair's votes go together: the score of a random effect of the pair."""
    judged = judged_by(judgments, judgments.difference[:, fit.search.kept], fit.ties)
    used = judgments.vote != 0 if fit.ties == "drop" else np.ones(len(judgments.vote), dtype=bool)
    pair = np.unique(judgments.pair[used], return_inverse=True)[1]
    model = ChoiceModel(design=judged.design, vote=judged.vote, ties=fit.ties, times=np.ones(len(pair)))
    residual = model.terms(fit.search.maximum.point).by_u
    towards_first = np.where(judgments.first_is_left[used], residual, -residual)
    p_value = chance_of_common(towards_first, pair)
    verdict = (
        "People prefer streams for more than their cells"
        if p_value < UNEXPLAINED
        else "The cells explain the preferences as far as these votes can tell"
    )
    return Finding(
        name="unexplained_pairs",
        sentence=f"{verdict} ({pair.max() + 1} pairs, {shown_p(p_value)}); the interval allows for what is unexplained.",
    )
