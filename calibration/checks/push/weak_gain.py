"""Does gain matter, and do non-relevant pushes hurt?

Weights are relative to gain, and the framework counts such pushes as pain.
"""

from scipy.special import stdtr, stdtrit

from calibration.checks.finding import Finding, warn_if
from calibration.inference.formatting import format_p
from calibration.models.push.alpha import AlphaFit
from calibration.models.push.judgments import PushJudgments
from calibration.models.push.weights import PushFit

GAIN_LEVEL = 0.95
"""One-sided level at which G_E > 0 must be shown."""


def check_weak_gain(fit: PushFit, judgments: PushJudgments) -> Finding | None:
    """Warn if nothing shows that gain matters.

    Intervals allow for it and may be open.
    """
    raw = fit.search.raw
    if raw is None:
        return None
    return warn_if(
        raw.in_errors[0] < float(stdtrit(raw.df, GAIN_LEVEL)),
        "weak_gain",
        f"The weight of gain is only {raw.in_errors[0]:.1f} standard errors from 0, so it may be 0: weights relative to it are uncertain, "
        "and one with an open interval is not identified. Ask more people, and about more topics.",
    )


def check_pushes_liked(fit: PushFit | AlphaFit, judgments: PushJudgments) -> Finding | None:
    """Test whether people like non-relevant pushes, one-sided.

    The tested parameter is P_E of the weights, or P of alpha.
    """
    raw = fit.search.raw
    index = 1  # P_E, or all non-relevant pushes
    if raw is None or raw.names[index] not in {"P_E", "non-relevant pushes"} or raw.weights[index] >= 0:
        return None
    p_value = float(stdtr(raw.df, raw.in_errors[index]))
    return Finding(
        name="pushes_liked",
        p_value=p_value,
        sentence=f"People prefer streams with more non-relevant pushes ({format_p(p_value)}): check the signs of the cells, and whether pain "
        "grows with the number of pushes at all.",
    )
