"""Do pain and gain grow with each push, or like another power of their number?

The framework counts pushes. Whether people do is tested by Box and Tidwell (1962): the utility gets one column more, the fitted pain with
c log c in place of each count c, which is the slope of c^theta at theta = 1; its weight is 0 where pain grows with the count. The error of
the weight is that of the other weights, by worker and topic. The same is done for gain, and p is that of both tests (Bonferroni).

Beside the test stand the weights in each form that the judgments do not reject against the best: a log-likelihood at most 1.92 below
(half the chi-squared with one degree of freedom that chance exceeds in one of twenty), times the design effect of the weights. A weight is
what one push costs in any form (1^theta = 1).

If pain is that of a day with any push, only P_0 + S_0 = b is identified, since a silent day has a push or is silent: with neither negative
each lies between 0 and b. Most eventful days with a push have one that is not relevant, so that the weight a of silent eventful days lacks
up to b, and S_E lies between a and a + b.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.special import stdtr, xlogy

from calibration.checks.finding import NEARLY, Finding, merged, other_laws
from calibration.inference.choice import crossed_covariance, maximise
from calibration.inference.formatting import format_interval, format_number, format_p
from calibration.inference.results import LEVEL, NotIdentifiedError
from calibration.inference.uncertainty import Interval
from calibration.models.push.alpha import NAMES, AlphaFit, alpha_design, fit_push_alpha
from calibration.models.push.judgments import PAIN, PLACES, WEIGHTS, PainForm, Part, PushJudgments
from calibration.models.push.weights import (
    PushFit,
    WeightFit,
    fit_data,
    fit_identified_weights,
    fit_push_weights,
)
from calibration.user_model.model import OtherLaw
from metrics.arrays import Floats

FORMS: dict[tuple[Part, PainForm], tuple[str, str]] = {
    ("pain", "square"): ("pain: square", "like the square of the number of non-relevant pushes"),
    ("pain", "three_halves"): (
        "pain: power 3/2",
        "like the number of non-relevant pushes to the power of 3/2",
    ),
    ("pain", "three_quarters"): (
        "pain: power 3/4",
        "like the number of non-relevant pushes to the power of 3/4",
    ),
    ("pain", "root"): ("pain: root", "like the square root of the number of non-relevant pushes"),
    ("pain", "any"): (
        "pain: any push",
        "with whether there is any non-relevant push, however many more follow",
    ),
    ("pain", "day"): ("pain: days with a push", "with the days that have any non-relevant push"),
    ("gain", "square"): ("gain: square", "like the square of what is relevant"),
    ("gain", "three_halves"): ("gain: power 3/2", "like what is relevant to the power of 3/2"),
    ("gain", "three_quarters"): ("gain: power 3/4", "like what is relevant to the power of 3/4"),
    ("gain", "root"): ("gain: root", "like the square root of what is relevant"),
    ("gain", "any"): (
        "gain: anything",
        "with whether there is anything relevant, however much more follows",
    ),
}
"""Name and description of each form."""
NOT_BY_COUNT = "utility not in proportion to the counts"
"""Fact that another form, and people with own weights, both explain."""


Values: TypeAlias = dict[str, tuple[float, Interval]]
"""Estimate and interval by parameter."""


class _InForm(NamedTuple):
    """Judgments in another form, with their fit."""

    part: Part
    form: PainForm
    loglik: float

    @property
    def name(self) -> str:
        """Name of the form."""
        return FORMS[self.part, self.form][0]


def check_form(fit: PushFit | AlphaFit, judgments: PushJudgments) -> Finding | None:
    """Test whether pain and gain grow with the count, against other forms."""
    chances = {part: p for part in PLACES if (p := bent_test(fit, judgments, part)) is not None}
    if not chances or fit.search.raw is None:
        return None
    p_value = min(1.0, len(PLACES) * min(chances.values()))
    forms = list(_in_forms(fit, judgments))
    best = max([fit.search.maximum.loglik, *(form.loglik for form in forms)])
    near = [form for form in forms if form.loglik >= best - NEARLY * design_effect(fit.search)]
    values = {form: of for form in near if (of := _values(fit, judgments, form))}
    part = min(chances, key=lambda tested: chances[tested])
    if p_value >= 1 - LEVEL:
        return _left_open(p_value, values) if values else None
    better = [form for form in values if form.part == part and form.loglik > fit.search.maximum.loglik]
    named = max(better, key=lambda form: form.loglik, default=None)
    return Finding(
        name=f"{part}_form",
        p_value=p_value,
        explains=NOT_BY_COUNT,
        gain=0.0 if named is None else named.loglik - fit.search.maximum.loglik,
        sentence=_sentence(part, p_value, named, values.get(named, {}) if named else {}),
        sensitivity=_laws(values, better),
    )


def _left_open(p_value: float, values: dict[_InForm, Values]) -> Finding:
    names = "; ".join(form.name for form in values)
    return Finding(
        name="forms_open",
        p_value=p_value,
        sentence=f"The judgments do not show how pain and gain grow with the number of pushes ({format_p(p_value)}): they leave "
        f"open {names}. The parameters under these forms are listed as other laws.",
        sensitivity=_laws(values, []),
    )


def _laws(values: dict[_InForm, Values], better: list[_InForm]) -> dict[str, tuple[OtherLaw, ...]]:
    """Return the parameters under other laws."""
    return merged(
        other_laws(
            form.name,
            "better" if form in better else "as well",
            {name: estimate for name, (estimate, _) in of.items()},
            (ends for _, ends in of.values()),
        )
        for form, of in values.items()
    )


def bent_test(fit: PushFit | AlphaFit, judgments: PushJudgments, part: Part) -> float | None:
    """Return p of pain, or gain, that bends as much by chance, or None.

    The result is None where the bend is not identified.
    """
    weights = _weights_by_place(fit)
    bent = np.zeros(len(judgments.vote))
    for index in PLACES[part]:
        sides = (x[:, index] for x in (judgments.left, judgments.right))
        bent += max(weights.get(index, 0.0), 0.0) * np.subtract(*(xlogy(x, np.abs(x)) for x in sides))
    whole = alpha_design(judgments) if isinstance(fit, AlphaFit) else judgments.difference
    design = np.column_stack([whole[:, fit.search.kept], bent])
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return None
    judged = fit_data(judgments, design, fit.ties)
    if not judged.has_clusters:
        return None
    top = maximise(judged.design, judged.vote, fit.ties)
    last = design.shape[1] - 1
    cov = crossed_covariance(judged.model(fit.ties), top.point, judged.worker, judged.topic)
    error = np.sqrt(cov[last, last])
    df = min(judged.workers, judged.topics) - 1
    return float(2 * stdtr(df, -abs(top.weights[last]) / error)) if error > 0 else None


def design_effect(search: WeightFit) -> float:
    """Return the design effect of the weights over workers and topics, at least 1.

    It is the ratio of the weights' variances with these differences to those without.
    """
    if search.raw is None:
        return 1.0
    places = [search.kept.index(index) for index in search.told]
    model = np.diag(np.linalg.inv(search.maximum.information))[places]
    return float(max(1.0, (np.diag(search.raw.cov) / model).mean()))


def _weights_by_place(fit: PushFit | AlphaFit) -> dict[int, float]:
    """Return the weights by their index in the framework.

    Alpha's weight of non-relevant pushes occurs twice.
    """
    places = ((0,), PAIN, (2,), (4,)) if isinstance(fit, AlphaFit) else tuple((index,) for index in range(5))
    fitted = zip(fit.search.kept, fit.search.maximum.weights.tolist(), strict=True)
    return {index: weight for column, weight in fitted for index in places[column]}


def _in_forms(fit: PushFit | AlphaFit, judgments: PushJudgments) -> Iterator[_InForm]:
    """Yield every form in which the weights are identified."""
    for part, form in FORMS:
        with suppress(NotIdentifiedError):
            search = searched(fit, judgments.in_form(form, part))
            yield _InForm(part, form, search.maximum.loglik)


def searched(
    fit: PushFit | AlphaFit, judgments: PushJudgments, *, shrunk: Floats | None = None, errors: bool = False
) -> WeightFit:
    """Fit the weights again to other judgments, with scaled log odds.

    ``shrunk``, (n,), multiplies the log odds.
    """
    of_alpha = isinstance(fit, AlphaFit)
    design = alpha_design(judgments) if of_alpha else judgments.difference
    names, needed = (NAMES, 2) if of_alpha else (WEIGHTS, 1)
    judged = fit_data(judgments, design if shrunk is None else design * shrunk[:, None], fit.ties)
    return fit_identified_weights(judged, names, fit.ties, needed=needed, errors=errors)


def _values(fit: PushFit | AlphaFit, judgments: PushJudgments, form: _InForm) -> Values | None:
    """Return the parameters in a form, or None if it identifies others."""
    again = fit_push_alpha if isinstance(fit, AlphaFit) else fit_push_weights
    with suppress(NotIdentifiedError):
        other = again(judgments.in_form(form.form, form.part), ties=fit.ties)
        ends = other.conf_int()
        values = {name: (value, ends[name]) for name, value in other.parameters.items()}
        if form.form == "day" and isinstance(fit, PushFit):
            values = _shared_by_days(fit, values)
        if values.keys() == fit.parameters.keys():
            return values
    return None


def _shared_by_days(fit: PushFit, values: Values) -> Values:
    """Return middle and ends of S_E, P_0 and S_0 for days with a push.

    Only P_0 + S_0 is identified, and S_E may lack up to this sum.
    """
    if fit.search.unclear or not {"push_S_E", "push_S_0"} <= values.keys():
        return values
    (a, (a_low, a_high)), (b, (b_low, b_high)) = values["push_S_E"], values["push_S_0"]
    part = (None if b_low is None else min(b_low, 0.0), None if b_high is None else max(b_high, 0.0))
    most = None if a_high is None or part[1] is None else a_high + part[1]
    return values | {
        "push_S_E": (a + b / 2, (a_low, most)),
        "push_P_0": (b / 2, part),
        "push_S_0": (b / 2, part),
    }


_BY_COUNT: dict[Part, str] = {
    "pain": "with the number of non-relevant pushes",
    "gain": "with each relevant push",
}
_NAMED: dict[Part, str] = {
    "pain": "the cost of a push depends on the number of pushes",
    "gain": "the worth of a relevant push depends on the number of relevant pushes",
}


def _sentence(part: Part, p_value: float, named: _InForm | None, values: Values) -> str:
    form = (
        f"{FORMS[named.part, named.form][1]}, not {_BY_COUNT[part]}"
        if named
        else f"otherwise than {_BY_COUNT[part]}"
    )
    sentence = f"{part.capitalize()} grows {form} ({format_p(p_value)}): {_NAMED[part]}, and the weights hold for streams with as many as these."
    shown_values = ", ".join(
        f"{name.removeprefix('push_')} = {format_number(value)} {format_interval(ends)}"
        for name, (value, ends) in values.items()
        if name in {"push_P_E", "push_P_0", "push_alpha"}
    )
    return f"{sentence} In that form {shown_values}." if shown_values else sentence
