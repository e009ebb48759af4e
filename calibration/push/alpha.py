"""T11U's alpha from preferences: gain against all non-relevant pushes, whatever the day.

T11U = alpha gain - (1 - alpha) nonrelevant (Tan et al., SIGIR 2016, eq. 3) does not tell the days apart, so P_E = P_0 = P here;
S_E and S_0 are free, because what people make of silence would otherwise be charged to the pushes. Then
alpha = w_G / (w_G + w_P).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pandas as pd

from calibration.inference.results import LEVEL, CalibrationResult, info, warning
from calibration.inference.uncertainty import Interval, Scale, Scales, StudentT, Uncertainty
from calibration.push.errors import STRONG_GAIN, FiellerRatios, RawWeights
from calibration.push.likelihood import Ties
from calibration.push.notes import notes_on_clusters
from calibration.push.pain import PainForm, allowing_for, felt, forms_of, notes_on_pain
from calibration.push.pairs import PAIN, PushJudgments, notes_on_judgments, push_judgments
from calibration.push.search import WeightSearch, judged_by, search_weights
from calibration.user_model.model import PARAMETERS, Diagnostic
from metrics.arrays import Floats

NAME = "push_alpha"
NAMES = ("gain", "non-relevant pushes", "S_E", "S_0")


@dataclass(frozen=True, slots=True, kw_only=True)
class FiellerAlpha:
    """Interval of alpha from Fieller's of r = w_P / w_G: alpha = 1 / (1 + r), negative r cut at 0.

    It holds its level however weak either weight is. Where w_P is not positive, alpha is 1 and the interval is a bound from
    below, the same lower end as otherwise: to turn to a one-sided one there would hold the truth in 91 % where P is small.

    Attributes
    ----------
    raw : RawWeights
        Gain and non-relevant pushes.
    """

    raw: RawWeights

    @property
    def scale(self) -> Scales:
        """The identity."""
        return Scale.IDENTITY

    @property
    def cov(self) -> Floats:
        """(1, 1) variance by the delta method; nan where alpha is 1."""
        ratio = self.raw.ratios[0]
        return self.raw.ratio_cov / (1 + ratio) ** 4 if ratio > 0 else np.full((1, 1), np.nan)

    def intervals(self, level: float) -> tuple[Interval, ...]:
        """One interval; an open end of r is 0 for alpha."""
        ((low, high),) = FiellerRatios(raw=self.raw).intervals(level)
        lowest = 0.0 if high is None else 1 / (1 + max(high, 0.0))
        highest = 1.0 if low is None else 1 / (1 + max(low, 0.0))
        return ((lowest, highest),)

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        """(n, 1) draws by way of r."""
        return np.asarray(1 / (1 + np.maximum(FiellerRatios(raw=self.raw).draws(n, rng), 0.0)))


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
    judged = judged_by(judgments, _design(judgments, "count"), ties)
    found = search_weights(judged, NAMES, ties, needed=2)
    forms = forms_of(
        lambda form: search_weights(
            judged_by(judgments, _design(judgments, form), ties), NAMES, ties, needed=2
        )
    )
    w_g, w_p = found.weights[:2].tolist()
    return CalibrationResult(
        parameters=MappingProxyType({NAME: w_g / (w_g + max(w_p, 0.0))}),
        unit=PARAMETERS[NAME],
        method=f"gain against all non-relevant pushes, ties: {ties}",
        uncertainty=MappingProxyType(
            allowing_for(forms if w_p > 0 else {}, _uncertainty(found), _uncertainty)
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
            *notes_on_pain(judgments, ties, _weights_by_place(found), forms),
        ),
    )


def _design(judgments: PushJudgments, form: PainForm) -> Floats:
    """Return the (n, 4) columns of `NAMES`."""
    left, right = (felt(x, form) for x in (judgments.left, judgments.right))
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
