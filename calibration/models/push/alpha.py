"""T11U's alpha from preferences: gain against all non-relevant pushes.

Such pushes count alike on every day. T11U = alpha gain - (1 - alpha) nonrelevant (Tan et al., SIGIR 2016, eq. 3) does not tell the days
apart, so P_E = P_0 = P here; S_E and S_0 are free, because what people make of silence would otherwise be charged to the pushes. Then alpha
= w_G / (w_G + w_P).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from calibration.inference.choice import Ties
from calibration.inference.results import CalibrationResult, info
from calibration.inference.uncertainty import Interval, Scale, Scales
from calibration.models.push.judgments import PushJudgments
from calibration.models.push.weights import (
    FiellerRatios,
    RawWeights,
    WeightFit,
    facts_of,
    fit_data,
    fit_identified_weights,
)
from calibration.user_model.model import PARAMETERS, Diagnostic
from metrics.arrays import Floats

NAME = "push_alpha"
NAMES = ("gain", "non-relevant pushes", "S_E", "S_0")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AlphaFit(CalibrationResult):
    """Fitted alpha of T11U.

    Attributes
    ----------
    search : WeightFit
        The weights of `NAMES` in log odds with their covariance, and the maximum.
    ties : str
        How ties were treated.
    """

    search: WeightFit
    ties: Ties


@dataclass(frozen=True, slots=True, kw_only=True)
class FiellerAlpha:
    """Fieller interval of alpha, from r = w_P / w_G.

    alpha = 1 / (1 + r), with negative r cut at 0.

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
        """Working scale: the identity."""
        return Scale.IDENTITY

    @property
    def cov(self) -> Floats:
        """Variance by the delta method, (1, 1); nan where alpha is 1."""
        ratio = self.raw.ratios[0]
        return self.raw.ratio_cov / (1 + ratio) ** 4 if ratio > 0 else np.full((1, 1), np.nan)

    def intervals(self, level: float) -> tuple[Interval, ...]:
        """Return the interval of alpha; an open end of r is 0 for alpha."""
        ((low, high),) = FiellerRatios(raw=self.raw).intervals(level)
        lowest = 0.0 if high is None else 1 / (1 + max(high, 0.0))
        highest = 1.0 if low is None else 1 / (1 + max(low, 0.0))
        return ((lowest, highest),)

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw alpha by way of r, (n, 1)."""
        return np.asarray(1 / (1 + np.maximum(FiellerRatios(raw=self.raw).draws(n, rng), 0.0)))


def fit_push_alpha(judgments: PushJudgments, *, ties: Ties = "davidson") -> AlphaFit:
    """Fit T11U's alpha to preferences.

    Parameters
    ----------
    judgments, ties
        As in `calibration.models.push.weights.fit_push_weights`.

    Returns
    -------
    AlphaFit
        With parameter ``push_alpha`` in (0, 1]. Interval method: ``fieller``; none with a single topic or worker.

    Raises
    ------
    NotIdentifiedError
        If everybody is undecided, the two weights cannot be told apart, or that of gain is not positive.
    ValueError
        If there is no such treatment of ties.
    """
    judged = fit_data(judgments, alpha_design(judgments), ties)
    weight_fit = fit_identified_weights(judged, NAMES, ties, needed=2)
    w_g, w_p = weight_fit.weights[:2].tolist()
    return AlphaFit(
        parameters=MappingProxyType({NAME: w_g / (w_g + max(w_p, 0.0))}),
        unit=PARAMETERS[NAME],
        method=f"gain against all non-relevant pushes, ties: {ties}",
        uncertainty=MappingProxyType(
            {} if weight_fit.raw is None else {"fieller": fieller_of_alpha(weight_fit.raw)}
        ),
        loglik=weight_fit.maximum.loglik,
        n_free=len(weight_fit.maximum.point),
        n_workers=judged.workers,
        n_rows=len(judged.vote),
        details=MappingProxyType(
            {"gain_log_odds": w_g, "nonrelevant_log_odds": w_p, "topics": judged.topics}
        ),
        diagnostics=(*facts_of(judgments, judged), *_on_edge(w_p)),
        search=weight_fit,
        ties=ties,
    )


def alpha_design(judgments: PushJudgments) -> Floats:
    """Return the (n, 4) columns of `NAMES`."""
    gain, eventful, silence, silent_pushes, reward = judgments.difference.T
    return np.stack([gain, eventful + silent_pushes, silence, reward], axis=1)


def fieller_of_alpha(raw: RawWeights) -> FiellerAlpha:
    """Return the interval of alpha from the weights of `NAMES`."""
    pair = replace(raw, names=raw.names[:2], weights=raw.weights[:2], cov=raw.cov[:2, :2])
    return FiellerAlpha(raw=pair)


def _on_edge(w_p: float) -> Iterator[Diagnostic]:
    if w_p <= 0:
        yield info(
            "no_pain",
            "People do not mind non-relevant pushes here: alpha is 1 and its interval is a bound from below.",
        )
