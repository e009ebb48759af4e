"""Do people prefer a side, whatever stands there? Sides are drawn, so the weights hardly move; a reader should know."""

import numpy as np
from scipy.special import stdtr, stdtrit

from calibration.checks.finding import Finding
from calibration.inference.choice import ChoiceModel, changes_without_each, maximise, with_side
from calibration.inference.clusters import jackknife_covariance
from calibration.inference.results import LEVEL
from calibration.inference.wording import shown_p
from calibration.models.push.judgments import PushJudgments
from calibration.models.push.weights import PushFit, judged_by
from calibration.user_model.model import OtherLaw


def check_side_bias(fit: PushFit, judgments: PushJudgments) -> Finding | None:
    """Test the log odds of the left side, clustered by worker, who is the one that has it."""
    judged = judged_by(judgments, judgments.difference[:, fit.search.kept], fit.ties)
    design = with_side(judged.design)
    if judged.workers < 2 or np.linalg.matrix_rank(design) < design.shape[1]:
        return None
    top = maximise(design, judged.vote, fit.ties)
    model = ChoiceModel(design=design, vote=judged.vote, ties=fit.ties, times=np.ones(len(judged.vote)))
    place, df = judged.design.shape[1], judged.workers - 1
    side = float(top.weights[place])
    variance = jackknife_covariance(changes_without_each(model, top.point, judged.worker))[place, place]
    if not variance > 0:
        return None
    error = float(np.sqrt(variance))
    p_value = float(2 * stdtr(df, -abs(side) / error))
    reach = float(stdtrit(df, (1 + LEVEL) / 2)) * error
    sensitivity = {}
    if p_value < 1 - LEVEL and top.weights[0] > 0:
        weights = dict(zip(fit.search.kept, (top.weights / top.weights[0]).tolist(), strict=False))
        named_weights = zip(fit.parameters, fit.search.told[1:], strict=True)
        sensitivity = {
            name: (OtherLaw(law="with a side", estimate=weights[column], explains="better"),)
            for name, column in named_weights
        }
    log_odds = f"log odds {side:+.2f} for the left side, 95% CI from {side - reach:.2f} to {side + reach:.2f}"
    named = "left" if side > 0 else "right"
    preferred = f"People prefer the stream on the {named}, whatever it is"
    verdict = preferred if p_value < 1 - LEVEL else "That people prefer one side is not shown beyond chance"
    return Finding(
        name="side_bias",
        p_value=p_value,
        sentence=f"{verdict} ({log_odds}; {shown_p(p_value)}).",
        sensitivity=sensitivity,
    )
