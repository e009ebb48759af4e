"""What pushes that are not relevant cost: how pain, and gain, grow with their number, and T11U's alpha.

The framework counts pushes. Whether people do is tested by Box and Tidwell (1962): the utility gets one column more, the fitted pain with c log c in place
of each count c, which is the slope of c^theta at theta = 1; its weight is 0 where pain grows with the count. The error of the weight is that
of the other weights, by worker and topic. Where it is not 0, the form of highest likelihood is named. The same is done for gain.

Often the test cannot tell. A weight is what one push costs in any of these forms (1^theta = 1), so the interval is then the hull of those of all
forms that the judgments leave open: whose log-likelihood is at most 1.35 below that of the count (half the chi-squared that chance exceeds in
one of ten), times the design effect of the weights. The square, the root and the bare presence of pushes can be named; the power of 3/4 is only allowed for.

One more form is that of days: a day with any push is one pain, however many come. Cells are sums over days. A silent day has a push or is silent, so
P_0 and S_0 are then counted by the same days, and only their sum can be told (`PainByDays`); of the eventful days with a push the root of the count is the nearest.

T11U's alpha from preferences: gain against all non-relevant pushes, whatever the day.

T11U = alpha gain - (1 - alpha) nonrelevant (Tan et al., SIGIR 2016, eq. 3) does not tell the days apart, so P_E = P_0 = P here;
S_E and S_0 are free, because what people make of silence would otherwise be charged to the pushes. Then
alpha = w_G / (w_G + w_P).
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
from scipy.special import stdtr, xlogy

from calibration.inference.attempts import Unmade, guarded
from calibration.inference.results import LEVEL, CalibrationResult, info, warning
from calibration.inference.uncertainty import AnyForm, Scale, StudentT, Uncertainty
from calibration.inference.wording import shown, shown_interval, shown_p
from calibration.push.errors import (
    STRONG_GAIN,
    FiellerAlpha,
    FiellerRatios,
    RawWeights,
    two_way_covariance,
)
from calibration.push.likelihood import ChoiceModel, Ties, maximise
from calibration.push.notes import notes_on_clusters
from calibration.push.pairs import PAIN, WEIGHTS, PushJudgments, notes_on_judgments, push_judgments
from calibration.push.search import WeightSearch, judged_by, search_weights
from calibration.user_model.model import PARAMETERS, Diagnostic
from metrics.arrays import Floats

PainForm: TypeAlias = Literal["count", "square", "power", "root", "any", "day"]
FORMS: MappingProxyType[PainForm, Callable[[Floats], Floats]] = MappingProxyType(
    {
        "count": lambda count: count,
        "square": np.square,
        "power": lambda count: np.maximum(count, 0) ** 0.75,
        "root": lambda count: np.sqrt(np.maximum(count, 0)),
        "any": lambda count: (count > 0).astype(np.float64),
        "day": lambda count: np.sqrt(np.maximum(count, 0)),
    }
)
"""Form -> what a count of pushes is felt as."""
BETWEEN: PainForm = "power"
"""A form so near the count that it is never named; the intervals allow for it."""
Part: TypeAlias = Literal["pain", "gain"]
PLACES: MappingProxyType[Part, list[int]] = MappingProxyType({"pain": PAIN, "gain": [0]})
"""What has a form -> its places in `WEIGHTS`."""
Forms: TypeAlias = Mapping[tuple[Part, PainForm], WeightSearch]
"""What has another form than the count, and which -> the fit in it."""
Worth: TypeAlias = Callable[[WeightSearch], bool]
"""Whether the errors of a fit are wanted."""
BY_DAYS: tuple[Part, PainForm] = ("pain", "day")
_IN_WORDS: MappingProxyType[tuple[Part, PainForm], str] = MappingProxyType(
    {
        ("pain", "square"): "like the square of the number of non-relevant pushes",
        ("pain", "power"): "like the number of non-relevant pushes to the power of 3/4",
        ("pain", "root"): "like the square root of the number of non-relevant pushes",
        ("pain", "any"): "with whether there is any non-relevant push, however many more follow",
        ("pain", "day"): "with the days that have any non-relevant push",
        ("gain", "square"): "like the square of what is relevant",
        ("gain", "power"): "like what is relevant to the power of 3/4",
        ("gain", "root"): "like the square root of what is relevant",
        ("gain", "any"): "with whether there is anything relevant, however much more follows",
    }
)
_BY_COUNT: MappingProxyType[Part, str] = MappingProxyType(
    {"pain": "with the number of non-relevant pushes", "gain": "with each relevant push"}
)
_NAMED: MappingProxyType[Part, str] = MappingProxyType(
    {
        "pain": "not with each of them ({p}): what a push costs depends on how many there are, so push_P_E, push_P_0 and push_alpha hold",
        "gain": "not with each relevant push ({p}): what one is worth depends on how many there are, so all push weights and push_alpha hold",
    }
)
PAINS = ("P_E", "P_0", "non-relevant pushes")
_NEARLY = 1.35
BENT = 0.01
"""A p-value below it is taken as a sign of another form than the count."""


def felt(x: Floats, form: PainForm, part: Part = "pain") -> Floats:
    """Return cells of streams, signed, with the counts of non-relevant pushes, or the gain, as they are felt: (..., 5) -> (..., 5)."""
    changed = x.copy()
    counted = x[..., PLACES[part]]
    changed[..., PLACES[part]] = np.sign(counted) * FORMS[form](np.abs(counted))
    if form == "day":
        changed[..., PAIN[1]] = 0.0
    return changed


def notes_on_forms(
    judgments: PushJudgments, ties: Ties, weights: Mapping[int, float], found: WeightSearch, forms: Forms
) -> Iterator[Diagnostic]:
    """Warn where pain or gain does not grow with the count, and say where that cannot be told.

    Parameters
    ----------
    judgments : PushJudgments
        All of them.
    ties : str
        How ties enter.
    weights : mapping of int to float
        Places of `WEIGHTS` that were fitted -> their raw weights.
    found : WeightSearch
        The fit by the count.
    forms : mapping
        The fit in each other form, see `forms_of`.
    """
    tested = {part: bent_test(judgments, ties, weights, part) for part in PLACES}
    bent = {part: p_value for part, p_value in tested.items() if p_value is not None and p_value < BENT}
    better = {
        (part, form): fit
        for (part, form), fit in forms.items()
        if part in bent and form != BETWEEN and fit.maximum.loglik > found.maximum.loglik
    }
    if better:
        part, form = max(better, key=lambda key: better[key].maximum.loglik)
        yield warning(f"{part}_form", _sentence(part, form, better[part, form], bent[part]))
        return
    open_forms = left_open(found, forms)
    for part in PLACES:
        others = [f"{_IN_WORDS[key]} ({_weights(fit)})" for key, fit in open_forms.items() if key[0] == part]
        if others:
            yield info(
                f"{part}_form_open",
                f"Whether {part} grows {_BY_COUNT[part]} or otherwise cannot be told: the intervals also allow for {part} that grows "
                f"{'; or '.join(others)}.",
            )


def forms_of(found: WeightSearch, search: Callable[[PainForm, Part, Worth], WeightSearch]) -> Forms:
    """Return the fit in each form that explains the judgments nearly as well as the count, or better; none where that has no errors.

    ``search`` fits in a form, and takes which fits are worth their errors.
    """
    if found.raw is None:
        return {}
    least = found.maximum.loglik - _NEARLY * _design_effect(found)

    def near(fit: WeightSearch) -> bool:
        return fit.maximum.loglik >= least

    fits = {(part, form): guarded(partial(search, form, part, near)) for part, form in _IN_WORDS}
    return {key: fit for key, fit in fits.items() if not isinstance(fit, Unmade) and fit.raw is not None}


def allowing_for(
    others: Mapping[tuple[Part, PainForm], WeightSearch],
    methods: Mapping[str, Uncertainty],
    uncertainty: Callable[[WeightSearch], Mapping[str, Uncertainty]],
) -> dict[str, Uncertainty]:
    """Return each interval method with what ``uncertainty`` says of the forms ``others``, that are left open, in it."""
    made = [uncertainty(fit) for fit in others.values()]
    allowed = dict(methods)
    for name, count in methods.items():
        more = tuple(one[name] for one in made if name in one)
        if more:
            allowed[name] = AnyForm(plain=count, others=more)
    return allowed


def left_open(found: WeightSearch, forms: Forms) -> Forms:
    """Return those of `forms_of` that tell the same weights as the count."""
    return {key: fit for key, fit in forms.items() if _is_comparable(key, fit, found)}


def _is_comparable(key: tuple[Part, PainForm], fit: WeightSearch, found: WeightSearch) -> bool:
    """Whether a form tells the same weights as the count; that of days all but P_0, where every weight can be told."""
    if key != BY_DAYS or "P_0" not in found.names:
        return fit.told == found.told
    return not found.unclear and fit.names == tuple(name for name in found.names if name != "P_0")


def _design_effect(found: WeightSearch) -> float:
    """Return how many times larger the variances of the weights are because workers and topics differ, at least 1."""
    if found.raw is None:
        return 1.0
    places = [found.kept.index(place) for place in found.told]
    model = np.diag(np.linalg.inv(found.maximum.information))[places]
    return float(max(1.0, (np.diag(found.raw.cov) / model).mean()))


def bent_test(
    judgments: PushJudgments, ties: Ties, weights: Mapping[int, float], part: Part = "pain"
) -> float | None:
    """Return how often chance alone bends pain, or gain, as much; None where nothing can be told."""
    bent = np.zeros(len(judgments.vote))
    for place in PLACES[part]:
        sides = (x[:, place] for x in (judgments.left, judgments.right))
        bent += max(weights.get(place, 0.0), 0.0) * np.subtract(*(xlogy(x, np.abs(x)) for x in sides))
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


def fitted_in(
    judgments: PushJudgments, ties: Ties, form: PainForm, part: Part, worth_errors: Worth | None = None
) -> WeightSearch:
    """Fit the weights with pain, or gain, in a form."""
    design = felt(judgments.left, form, part) - felt(judgments.right, form, part)
    return search_weights(judged_by(judgments, design, ties), WEIGHTS, ties, worth_errors=worth_errors)


def _sentence(part: Part, form: PainForm, fit: WeightSearch, p_value: float) -> str:
    return (
        f"{part.capitalize()} grows {_IN_WORDS[part, form]}, {_NAMED[part].format(p=shown_p(p_value))} for streams with as many as "
        f"these. In that form {_weights(fit)}."
    )


def _weights(found: WeightSearch) -> str:
    """Say what pain weighs, relative to gain: `P_E = 0.5 [0.3, 0.7], P_0 = 0.4 [0.1, 0.8]`; where it is counted by days, P_0 + S_0."""
    raw = found.raw
    if raw is None:
        return "no interval can be told"
    by_days = "P_E" in raw.names and "P_0" not in raw.names
    shown_as = {name: name for name in PAINS} | ({"S_0": "P_0 + S_0"} if by_days else {})
    ends = FiellerRatios(raw=raw).intervals(LEVEL)
    return ", ".join(
        f"{shown_as[name]} = {shown(ratio)} {shown_interval(interval)}"
        for name, ratio, interval in zip(raw.names[1:], raw.ratios.tolist(), ends, strict=True)
        if name in shown_as
    )


NAME = "push_alpha"
NAMES = ("gain", "non-relevant pushes", "S_E", "S_0")


def fit_push_alpha(
    preferences: pd.DataFrame,
    push_cells: pd.DataFrame,
    *,
    convention: str | None = None,
    ties: Ties = "davidson",
) -> CalibrationResult:
    """Fit T11U's alpha to preferences.

    Parameters
    ----------
    preferences, push_cells, convention, ties
        As in `calibration.push.fit.fit_push_weights`.

    Returns
    -------
    CalibrationResult
        With parameter ``push_alpha`` in (0, 1]. Interval methods: ``delta`` on the logit (the default where both
        weights are at least 3 standard errors from 0) and ``fieller``; none with a single topic or worker.

    Raises
    ------
    NotIdentifiedError
        If there are no pairs with cells, everybody is undecided, the two weights cannot be told apart, or that of gain
        is not positive.
    ValueError
        If there is no such treatment of ties.
    """
    return fit_alpha_to(push_judgments(preferences, push_cells, convention=convention), ties=ties)


def fit_alpha_to(judgments: PushJudgments, *, ties: Ties = "davidson") -> CalibrationResult:
    """Fit alpha to judgments that have their cells already; otherwise as `fit_push_alpha`."""
    judged = judged_by(judgments, _design(judgments), ties)
    found = search_weights(judged, NAMES, ties, needed=2)
    forms = forms_of(
        found,
        lambda form, part, worth_errors: search_weights(
            judged_by(judgments, _design(judgments, form, part), ties),
            NAMES,
            ties,
            needed=2,
            worth_errors=worth_errors,
        ),
    )
    w_g, w_p = found.weights[:2].tolist()
    return CalibrationResult(
        parameters=MappingProxyType({NAME: w_g / (w_g + max(w_p, 0.0))}),
        unit=PARAMETERS[NAME],
        method=f"gain against all non-relevant pushes, ties: {ties}",
        uncertainty=MappingProxyType(
            allowing_for(left_open(found, forms) if w_p > 0 else {}, _uncertainty(found), _uncertainty)
        ),
        loglik=found.maximum.loglik,
        n_free=len(found.maximum.point),
        n_workers=judged.workers,
        n_rows=len(judged.vote),
        details=MappingProxyType(
            {"gain_log_odds": w_g, "nonrelevant_log_odds": w_p, "topics": judged.topics}
        ),
        diagnostics=(
            *notes_on_judgments(judgments),
            *notes_on_clusters(judged.workers, judged.topics),
            *_notes(found),
            *notes_on_forms(judgments, ties, _weights_by_place(found), found, forms),
        ),
    )


def _design(judgments: PushJudgments, form: PainForm = "count", part: Part = "pain") -> Floats:
    """Return the (n, 4) columns of `NAMES`."""
    left, right = (felt(x, form, part) for x in (judgments.left, judgments.right))
    gain, eventful, silence, silent_pushes, reward = (left - right).T
    return np.stack([gain, eventful + silent_pushes, silence, reward], axis=1)


def _weights_by_place(found: WeightSearch) -> dict[int, float]:
    """Return the weights that were fitted by their place in the framework; that of non-relevant pushes stands twice."""
    places = ((0,), PAIN, (2,), (4,))
    fitted = zip(found.kept, found.maximum.weights.tolist(), strict=True)
    return {place: weight for column, weight in fitted for place in places[column]}


def _uncertainty(found: WeightSearch) -> dict[str, Uncertainty]:
    if found.raw is None:
        return {}
    pair = RawWeights(
        names=found.raw.names[:2], weights=found.weights[:2], cov=found.raw.cov[:2, :2], df=found.raw.df
    )
    fieller = FiellerAlpha(raw=pair)
    if pair.weights[1] <= 0:
        return {"fieller": fieller}
    by_log = np.array([1.0, -1.0]) / pair.weights  # d logit alpha = d log w_G - d log w_P
    delta = StudentT(
        centre=np.array([np.log(pair.weights[0] / pair.weights[1])]),
        cov=np.array([[by_log @ pair.cov @ by_log]]),
        df=pair.df,
        scale=Scale.LOGIT,
    )
    if (pair.weights >= STRONG_GAIN * np.sqrt(np.diag(pair.cov))).all():
        return {"delta": delta, "fieller": fieller}
    return {"fieller": fieller, "delta": delta}


def _notes(found: WeightSearch) -> Iterator[Diagnostic]:
    if found.weights[1] <= 0:
        yield warning("no_pain", _no_pain(found))
    elif found.raw is not None and found.raw.gain_in_errors < STRONG_GAIN:
        note = warning if found.raw.gain_may_be_nothing else info
        yield note(
            "weak_gain",
            f"The weight of gain is only {found.raw.gain_in_errors:.1f} standard errors from 0: alpha is uncertain.",
        )


def _no_pain(found: WeightSearch) -> str:
    cure = "check the signs of the cells"
    if found.raw is not None and found.raw.weights[1] < -found.raw.t(LEVEL) * np.sqrt(found.raw.cov[1, 1]):
        return (
            "People prefer streams with more non-relevant pushes, more than chance explains: alpha is put at 1, but the "
            f"model does not hold; {cure}."
        )
    return f"People do not mind non-relevant pushes here: alpha is 1 and its interval is a bound from below; {cure}."
