"""Do people differ in what a push costs them?

If a person's own weights of pushes are normal around those of all with standard deviation t, the log odds of a judgment whose streams differ
by x pushes are nearly those of all, divided by

    sqrt(1 + c^2 t^2 x^2),    c = 16 sqrt(3) / (15 pi)

(Zeger, Liang and Albert 1988): where pushes differ much, votes are less clear, and the weights of all come out too near 0. The t of highest
likelihood is looked for on a grid, in units of 1 / the root mean square of x. t = 0 is the edge of its range, so the likelihood ratio, divided
by the design effect of the weights, has half a chi-squared with one degree of freedom (Self and Liang 1987). Where people differ, the form of
pain may be hidden by it: so the weights beside are those of the form (the count, its power of 3/2, its square) that then explains best.
"""

from contextlib import suppress
from typing import NamedTuple

import numpy as np

from calibration.checks.finding import NEARLY, Finding, edge_p, merged, other_laws
from calibration.checks.push.pain_form import NOT_BY_COUNT, design_effect, searched
from calibration.inference.formatting import format_interval, format_number, format_p
from calibration.inference.results import LEVEL, NotIdentifiedError
from calibration.models.push.alpha import AlphaFit, fieller_of_alpha
from calibration.models.push.judgments import PainForm, PushJudgments
from calibration.models.push.weights import FiellerRatios, PushFit, WeightFit
from calibration.user_model.model import OtherLaw
from metrics.arrays import Floats

SPREADS = np.geomspace(0.1, 10, 7)
_C2 = (16 * np.sqrt(3) / (15 * np.pi)) ** 2
FORMS: dict[PainForm, str] = {
    "count": "own weights",
    "three_halves": "own weights, pain: power 3/2",
    "square": "own weights, pain: square",
}


class _OwnWeights(NamedTuple):
    """Fit with own weights of pushes, at the likeliest spread.

    It has the form's judgments, the divisor of each log odds, and the fit.
    """

    form: PainForm
    judgments: PushJudgments
    shrunk: Floats
    search: WeightFit


def check_own_weights(fit: PushFit | AlphaFit, judgments: PushJudgments) -> Finding | None:
    """Compare people with own weights of pushes with people who are alike."""
    crowd = _crowd(fit, judgments, "count")
    if crowd is None or fit.search.raw is None:
        return None
    effect, loglik = design_effect(fit.search), fit.search.maximum.loglik
    p_value = edge_p(2 * (crowd.search.maximum.loglik - loglik) / effect)
    if p_value >= 1 - LEVEL:
        return None
    others = (_crowd(fit, judgments, form) for form in FORMS if form != "count")
    crowds = [crowd, *(other for other in others if other is not None)]
    best = max(crowds, key=lambda one: one.search.maximum.loglik)
    least = best.search.maximum.loglik - NEARLY * effect
    near = [one for one in crowds if one.search.maximum.loglik >= least]
    laws = merged(_laws(fit, one) for one in near)
    name = next(iter(fit.parameters))
    beside = " or ".join(
        f"{format_number(float(law.estimate or 0))} {format_interval((law.low, law.high))} ({law.law})"
        for law in laws.get(name, ())
    )
    return Finding(
        name="own_weights",
        p_value=p_value,
        explains=NOT_BY_COUNT,
        gain=best.search.maximum.loglik - loglik,
        sentence=f"People differ in the cost of a push to them ({format_p(p_value)}), so common weights may be too near 0: "
        f"{name.removeprefix('push_')} is {format_number(fit.parameters[name])}, and {beside} with individual weights.",
        sensitivity=laws,
    )


def _crowd(fit: PushFit | AlphaFit, judgments: PushJudgments, form: PainForm) -> _OwnWeights | None:
    """Return the likeliest crowd in a form, or None.

    The result is None where the weights are not identified.
    """
    felt = judgments.in_form(form, "pain")
    pushes = felt.difference[:, [1, 3]]
    square = pushes.sum(axis=1) ** 2 if isinstance(fit, AlphaFit) else (pushes**2).sum(axis=1)
    if not square.any():
        return None
    crowds = []
    for spread in SPREADS:
        shrunk = 1 / np.sqrt(1 + _C2 * spread**2 * square / square.mean())
        with suppress(NotIdentifiedError):
            crowds.append(_OwnWeights(form, felt, shrunk, searched(fit, felt, shrunk=shrunk)))
    return max(crowds, key=lambda one: one.search.maximum.loglik, default=None)


def _laws(fit: PushFit | AlphaFit, crowd: _OwnWeights) -> dict[str, tuple[OtherLaw, ...]]:
    """Return the parameters under a crowd."""
    raw = searched(fit, crowd.judgments, shrunk=crowd.shrunk, errors=True).raw
    if raw is None:
        return {}
    if isinstance(fit, AlphaFit):
        gain, pain = raw.weights[:2].tolist()
        names, estimates = tuple(fit.parameters), [gain / (gain + max(pain, 0.0))]
        ends = fieller_of_alpha(raw).intervals(LEVEL)
    else:
        names, estimates = tuple(f"push_{name}" for name in raw.names[1:]), raw.ratios.tolist()
        ends = FiellerRatios(raw=raw).intervals(LEVEL)
    laws = other_laws(FORMS[crowd.form], "better", dict(zip(names, estimates, strict=True)), ends)
    return {name: law for name, law in laws.items() if name in fit.parameters}
