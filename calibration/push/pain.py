"""How pain grows with the number of non-relevant pushes: with each of them, like the root of their number, or with any at all.

The framework counts pushes. Whether people do is tested by Box and Tidwell (1962): the utility gets one column more, the fitted pain with c log c in place
of each count c, which is the slope of c^theta at theta = 1; its weight is 0 where pain grows with the count. The error of the weight is that
of the other weights, by worker and topic. Where it is not 0, the form of highest likelihood is named.

Often the test cannot tell. A weight is what one push costs in any of these forms (1^theta = 1), so the interval is then the hull of those of all
forms that the judgments leave open: whose log-likelihood is at most 1.35 below that of the count (half the chi-squared that chance exceeds in
one of ten), times the design effect of the weights.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np
from scipy.special import stdtr, xlogy

from calibration.inference.attempts import Unmade, guarded
from calibration.inference.results import LEVEL, info, warning
from calibration.inference.uncertainty import AnyForm, Uncertainty
from calibration.inference.wording import shown, shown_interval, shown_p
from calibration.push.errors import FiellerRatios, two_way_covariance
from calibration.push.likelihood import ChoiceModel, Ties, maximise
from calibration.push.pairs import PAIN, WEIGHTS, PushJudgments
from calibration.push.search import WeightSearch, judged_by, search_weights
from calibration.user_model.model import Diagnostic
from metrics.arrays import Floats

PainForm: TypeAlias = Literal["count", "root", "any"]
FORMS: MappingProxyType[PainForm, Callable[[Floats], Floats]] = MappingProxyType(
    {
        "count": lambda count: count,
        "root": lambda count: np.sqrt(np.maximum(count, 0)),
        "any": lambda count: (count > 0).astype(np.float64),
    }
)
"""Form -> what a count of pushes is felt as."""
_IN_WORDS: MappingProxyType[PainForm, str] = MappingProxyType(
    {
        "root": "like the square root of the number of non-relevant pushes",
        "any": "with whether there is any non-relevant push, however many more follow",
    }
)
_NEARLY = 1.35
BENT = 0.02
"""A p-value below it is taken as a sign of another form than the count."""


def felt(x: Floats, form: PainForm) -> Floats:
    """Return cells of streams, signed, with the counts of non-relevant pushes as they are felt: (..., 5) -> (..., 5)."""
    changed = x.copy()
    changed[..., PAIN] = -FORMS[form](-x[..., PAIN])
    return changed


def notes_on_pain(
    judgments: PushJudgments,
    ties: Ties,
    weights: Mapping[int, float],
    forms: Mapping[PainForm, WeightSearch],
) -> Iterator[Diagnostic]:
    """Warn where pain does not grow with the count, and say where that cannot be told.

    Parameters
    ----------
    judgments : PushJudgments
        All of them.
    ties : str
        How ties enter.
    weights : mapping of int to float
        Places of `WEIGHTS` that were fitted -> their raw weights.
    forms : mapping of str to WeightSearch
        The fit in each form, see `forms_of`.
    """
    p_value = bent_test(judgments, ties, weights)
    best: PainForm = max(forms, key=lambda form: forms[form].maximum.loglik, default="count")
    if p_value is not None and p_value < BENT and best != "count":
        yield warning("pain_form", _sentence(best, forms[best], p_value))
        return
    for form, found in left_open(forms).items():
        yield info(
            "pain_form_open",
            f"Whether pain grows with the number of non-relevant pushes or {_IN_WORDS[form]} cannot be told: the intervals allow for both. "
            f"Fitted in that form, {_weights(found)}.",
        )


def forms_of(search: Callable[[PainForm], WeightSearch]) -> dict[PainForm, WeightSearch]:
    """Return the fit in each form that can be told."""
    fits = {form: guarded(partial(search, form)) for form in FORMS}
    return {form: fit for form, fit in fits.items() if not isinstance(fit, Unmade) and fit.raw is not None}


def allowing_for(
    forms: Mapping[PainForm, WeightSearch],
    methods: Mapping[str, Uncertainty],
    uncertainty: Callable[[WeightSearch], Mapping[str, Uncertainty]],
) -> dict[str, Uncertainty]:
    """Return each interval method with what ``uncertainty`` says of the forms that are left open in it."""
    others = [uncertainty(found) for found in left_open(forms).values()]
    allowed = dict(methods)
    for name, count in methods.items():
        more = tuple(one[name] for one in others if name in one)
        if more:
            allowed[name] = AnyForm(plain=count, others=more)
    return allowed


def left_open(forms: Mapping[PainForm, WeightSearch]) -> dict[PainForm, WeightSearch]:
    """Return the forms, other than the count, that explain the judgments nearly as well as it or better."""
    if "count" not in forms:
        return {}
    count = forms["count"]
    least = count.maximum.loglik - _NEARLY * _design_effect(count)
    return {
        form: found
        for form, found in forms.items()
        if form != "count" and found.told == count.told and found.maximum.loglik >= least
    }


def _design_effect(found: WeightSearch) -> float:
    """Return how many times larger the variances of the weights are because workers and topics differ, at least 1."""
    if found.raw is None:
        return 1.0
    places = [found.kept.index(place) for place in found.told]
    model = np.diag(np.linalg.inv(found.maximum.information))[places]
    return float(max(1.0, (np.diag(found.raw.cov) / model).mean()))


def bent_test(judgments: PushJudgments, ties: Ties, weights: Mapping[int, float]) -> float | None:
    """Return how often chance alone bends pain as much; None where nothing can be told."""
    bent = np.zeros(len(judgments.vote))
    for place in PAIN:
        counts = (np.maximum(-x[:, place], 0) for x in (judgments.left, judgments.right))
        sides = (xlogy(count, count) for count in counts)
        bent -= max(weights.get(place, 0.0), 0.0) * np.subtract(*sides)
    design = np.column_stack([judgments.difference[:, sorted(weights)], bent])
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return None
    judged = judged_by(judgments, design, ties)
    if not judged.has_clusters:
        return None
    top = maximise(judged.design, judged.vote, ties)
    model = ChoiceModel(design=judged.design, vote=judged.vote, ties=ties, times=np.ones(len(judged.vote)))
    last = design.shape[1] - 1
    error = np.sqrt(two_way_covariance(model, top.point, judged.worker, judged.topic)[last, last])
    df = min(judged.workers, judged.topics) - 1
    return float(2 * stdtr(df, -abs(top.weights[last]) / error)) if error > 0 else None


def fitted_in(judgments: PushJudgments, ties: Ties, form: PainForm) -> WeightSearch:
    """Fit the weights with pain in a form."""
    design = felt(judgments.left, form) - felt(judgments.right, form)
    return search_weights(judged_by(judgments, design, ties), WEIGHTS, ties)


def _sentence(form: PainForm, found: WeightSearch, p_value: float) -> str:
    return (
        f"Pain grows {_IN_WORDS[form]}, not with each of them ({shown_p(p_value)}): what a push costs depends on how many there are, so "
        f"push_P_E, push_P_0 and push_alpha hold for streams with as many as these. Fitted in that form, {_weights(found)}."
    )


def _weights(found: WeightSearch) -> str:
    """Say what the weights are, relative to gain: `P_E = 0.5 [0.3, 0.7], P_0 = 0.4 [0.1, 0.8]`."""
    raw = found.raw
    if raw is None:
        return "no interval can be told"
    ends = FiellerRatios(raw=raw).intervals(LEVEL)
    return ", ".join(
        f"{name} = {shown(ratio)} {shown_interval(interval)}"
        for name, ratio, interval in zip(raw.names[1:], raw.ratios.tolist(), ends, strict=True)
        if name in {"P_E", "P_0", "non-relevant pushes"}
    )
