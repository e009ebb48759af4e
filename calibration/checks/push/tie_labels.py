"""Are ties called good where both streams are good?

The label of a tie (good or bad) is fitted by a logit on the summed utility of both streams. Differences of utility cannot show where
utility is 0; if the label follows the sum, it does. Labels that run against the sum were probably exchanged.
"""

import numpy as np
from scipy.special import stdtr

from calibration.checks.finding import Finding
from calibration.inference.choice import ChoiceModel, crossed_covariance, maximise, separated_columns
from calibration.inference.formatting import format_p
from calibration.models.push.judgments import PushJudgments
from calibration.models.push.weights import PushFit

MIN_TIES = 20
FOLLOWS = 0.05
"""Two-sided p-value below which labels follow utility."""


def check_tie_labels(fit: PushFit, judgments: PushJudgments) -> Finding | None:
    """Test whether labels of ties run against utility, one-sided.

    Where labels follow utility, the finding says where utility is 0.
    """
    tied = judgments.vote == 0
    weights = fit.search.maximum.weights
    total = (judgments.left + judgments.right)[tied][:, fit.search.kept] @ weights
    label = np.where(judgments.good[tied], 1.0, -1.0)
    if tied.sum() < MIN_TIES or len(set(label.tolist())) < 2 or np.ptp(total) == 0:
        return None
    worker, topic = (
        np.unique(code[tied], return_inverse=True)[1] for code in (judgments.worker, judgments.topic)
    )
    if min(worker.max(), topic.max()) < 1:
        return None
    design = np.column_stack([total, np.ones_like(total)])
    top = maximise(design, label, "drop")
    slope, intercept = top.weights.tolist()
    model = ChoiceModel(design=design, vote=label, ties="drop", times=np.ones_like(total))
    error = np.sqrt(crossed_covariance(model, top.point, worker, topic)[0, 0])
    without_exception = bool(separated_columns(top, design))  # then the slope has no end
    t = np.sign(slope) * np.inf if without_exception else slope / error
    if np.isnan(t):
        return None
    df = min(worker.max(), topic.max())
    against, two_sided = float(stdtr(df, t)), float(2 * stdtr(df, -abs(t)))
    return Finding(
        name="tie_labels",
        p_value=against,
        sentence=_sentence(slope, two_sided, -intercept / slope / 2 / weights[0]),
    )


def _sentence(slope: float, p_value: float, zero: float) -> str:
    if p_value >= FOLLOWS:
        return (
            f"Ties are called good or bad regardless of the streams' utility ({format_p(p_value)}): these judgments do not "
            "show where utility is 0."
        )
    if slope < 0:
        return f"Ties are called good where the utility is low ({format_p(p_value)}): check the labels."
    return (
        f"Ties are called good where the streams' utility is high ({format_p(p_value)}); roughly, a stream is neither good nor bad at a "
        f"utility of {zero:.2f} G_E."
    )
