"""Do people prefer a side, whatever it displays?

Sides are assigned at random, so the weights hardly move; the reader should still know.
"""

from dataclasses import replace

import numpy as np
from scipy.special import stdtr, stdtrit

from calibration.checks.finding import Finding, other_laws
from calibration.inference.choice import changes_without_each, with_side
from calibration.inference.clusters import jackknife_covariance
from calibration.inference.formatting import format_p
from calibration.inference.results import LEVEL, NotIdentifiedError
from calibration.models.push.judgments import WEIGHTS, PushJudgments
from calibration.models.push.weights import (
    FiellerRatios,
    PushFit,
    WeightFit,
    fit_data,
    fit_identified_weights,
)
from calibration.user_model.model import OtherLaw

SIDE = "side"


def check_side_bias(fit: PushFit, judgments: PushJudgments) -> Finding | None:
    """Test the log odds of the left side, clustered by worker.

    The bias may differ between workers.
    """
    judged = fit_data(judgments, judgments.difference[:, fit.search.kept], fit.ties)
    judged = replace(judged, design=with_side(judged.design))
    names = (*(WEIGHTS[index] for index in fit.search.kept), SIDE)
    try:
        search = fit_identified_weights(judged, names, fit.ties)
    except NotIdentifiedError:
        return None
    if search.raw is None or search.unclear:
        return None
    index, df = len(names) - 1, judged.workers - 1
    side = float(search.weights[index])
    without = changes_without_each(judged.model(fit.ties), search.maximum.point, judged.worker)
    error = float(np.sqrt(jackknife_covariance(without)[index, index]))
    p_value = float(2 * stdtr(df, -abs(side) / error))
    reach = float(stdtrit(df, (1 + LEVEL) / 2)) * error
    named = "left" if side > 0 else "right"
    preferred = f"People prefer the stream on the {named}, whatever it is"
    is_shown = p_value < 1 - LEVEL
    return Finding(
        name="side_bias",
        p_value=p_value,
        sentence=f"{preferred if is_shown else 'That people prefer one side is not shown beyond chance'} (log odds {side:+.2f} for the left "
        f"side, 95 % CI from {side - reach:.2f} to {side + reach:.2f}; {format_p(p_value)}).",
        sensitivity=_with_side(fit, search) if is_shown else {},
    )


def _with_side(fit: PushFit, search: WeightFit) -> dict[str, tuple[OtherLaw, ...]]:
    """Return the weights of a fit with a weight for the side."""
    raw = search.raw
    if raw is None:
        return {}
    ratios = {f"push_{name}": ratio for name, ratio in zip(raw.names[1:], raw.ratios.tolist(), strict=True)}
    laws = other_laws("with a side", "better", ratios, FiellerRatios(raw=raw).intervals(LEVEL))
    return {name: law for name, law in laws.items() if name in fit.parameters}
