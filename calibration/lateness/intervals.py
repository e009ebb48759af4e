"""How far the decay may be off: clustered errors inside [0, 1], one-sided bounds at 0 and 1.

Inside, log L and logit p0 are given Student's t and an error clustered by worker, and by nugget where several workers were asked
about one (`calibration.lateness.errors`). The lower end of L allows for floors that the answers leave open (`calibration.lateness.floor`).
At an edge there is no curvature to speak of, and a standard error of 0 would be false certainty:

- L = 0 (no late update was of use): the L at which that outcome still has probability 1 - level,
  sum_lambda n_lambda log(1 - p0 L^lambda) = d log(1 - level), which for updates one visit late alone is the one-sided
  bound of Clopper and Pearson divided by p0; d is the design effect.
- L = 1: the lower end of a one-sided interval by the same sandwich.
- p0 = 1 (every update in time was of use): (1 - level)^(d / n_0).
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit, stdtrit

from calibration.inference.results import LEVEL
from calibration.inference.uncertainty import Interval, Scale, Scales, StudentT
from calibration.lateness.errors import DECAY, FLOOR, P0, clustered_error, design_effect_in_time
from calibration.lateness.floor import FloorsLeftOpen
from calibration.lateness.likelihood import LatenessCounts
from metrics.arrays import Floats

_QUANTILES = 400
"""Points of the distribution that draws at L = 0 are taken from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecayUncertainty:
    """The error of (L, p0), honest at the edges.

    Attributes
    ----------
    decay, p0 : float
        Estimates.
    cov : (2, 2) ndarray of float
        Covariance of (log L, logit p0); nan in the row and column of a parameter without one: L = 0, p0 = 1.
    df : (2,) ndarray of float
        Degrees of freedom of Student's t, of L and of p0.
    level : (k,) ndarray of float
        lambda.
    effective : (k,) ndarray of float
        Questions of each level, divided by the design effect.
    floors : FloorsLeftOpen or None
        Floors that the answers leave open; None where L is told by the geometric law alone.
    """

    decay: float
    p0: float
    cov: Floats
    df: Floats
    level: Floats
    effective: Floats
    floors: FloorsLeftOpen | None = None

    @property
    def scale(self) -> Scales:
        """Logarithm and logit."""
        return (Scale.LOG, Scale.LOGIT)

    def intervals(self, level: float) -> tuple[Interval, ...]:
        """Interval of L and of p0; one-sided at an edge."""
        return (self._decay_interval(level), self._p0_interval(level))

    def _decay_interval(self, level: float) -> Interval:
        if self.decay == 0:
            return 0.0, self._bound_above_zero(1 - level)
        if self.decay == 1:
            return self._bound_below_one(level), 1.0
        reach = float(stdtrit(self.df[0], (1 + level) / 2))
        low, high = np.log(self.decay) + reach * np.sqrt(self.cov[0, 0]) * np.array([-1, 1])
        if self.floors is not None:
            low = min(low, self.floors.least_log_decay(reach))
        return float(np.exp(low)), float(min(1.0, np.exp(high)))

    def _p0_interval(self, level: float) -> Interval:
        if self.p0 == 1:
            return float((1 - level) ** (1 / self.effective[0])), 1.0
        reach = stdtrit(self.df[1], (1 + level) / 2) * np.sqrt(self.cov[1, 1])
        low, high = expit(logit(self.p0) + np.array([-reach, reach]))
        return float(low), float(high)

    def _bound_above_zero(self, tail: float) -> float:
        """Return the L at which no late yes has probability ``tail``; 1 if even there it has more."""
        late = self.level > 0

        def surplus(decay: float) -> float:
            p = np.minimum(self.p0 * decay ** self.level[late], 1 - 1e-15)
            return float(self.effective[late] @ np.log1p(-p) - np.log(tail))

        return float(brentq(surplus, 0.0, 1.0)) if surplus(1.0) < 0 else 1.0

    def _bound_below_one(self, level: float) -> float:
        if self.p0 == 1:  # every answer was yes: L^(sum lambda n) has probability 1 - level
            return float((1 - level) ** (1 / (self.effective @ self.level)))
        reach = max(0.0, float(stdtrit(self.df[0], level))) * np.sqrt(self.cov[0, 0])
        return float(np.exp(-reach))

    @property
    def _stretch(self) -> float:
        """How many times further the 95 % interval reaches down than without a floor."""
        low, _ = self._decay_interval(LEVEL)
        reach = stdtrit(self.df[0], (1 + LEVEL) / 2) * np.sqrt(self.cov[0, 0])
        return float(np.log(self.decay / (low or self.decay)) / reach)

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        """(n, 2) draws: normal on the working scales and cut at 1, below the estimate as wide as the interval; at an edge what the
        one-sided bounds spread out.
        """  # noqa: D205 - one sentence
        cov = np.nan_to_num(self.cov)
        centre = [np.log(self.decay) if self.decay else 0.0, logit(self.p0) if self.p0 < 1 else 0.0]
        working = rng.multivariate_normal(centre, cov, size=n)
        if self.floors is not None:
            apart = working[:, 0] - centre[0]
            working[:, 0] += np.where(apart < 0, apart * (self._stretch - 1), 0.0)
        decay, p0 = np.minimum(np.exp(working[:, 0]), 1.0), expit(working[:, 1])
        chance = rng.random(n)
        if self.decay == 0:
            tails = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
            decay = np.interp(chance, tails, [self._bound_above_zero(tail) for tail in tails])
        if self.p0 == 1:
            p0 = chance ** (1 / self.effective[0])
            decay = chance ** (1 / (self.effective @ self.level)) if self.decay == 1 else decay
        return np.stack([decay, p0], axis=1)


def decay_uncertainty(
    decay: float, p0: float, counts: LatenessCounts, floors: FloorsLeftOpen | None = None
) -> DecayUncertainty:
    """Return the clustered error of a fit to at least two workers."""
    effective = counts.total_asked / design_effect_in_time(counts)
    cov, df = np.full((2, 2), np.nan), np.full(2, counts.workers - 1.0)
    if p0 < 1 and decay > 0:
        slope = np.array([1.0, 1 / (1 - p0)])  # d logit p0 = d log p0 / (1 - p0)
        error = clustered_error(decay, p0, counts)
        cov, df = slope[:, None] * error.cov * slope, error.df
    elif p0 < 1:
        error = clustered_error(1.0, p0, counts.at(slice(0, 1)), moving=(P0,))
        cov[1, 1], df[1] = error.cov[0, 0] / (1 - p0) ** 2, error.df[0]
    elif 0 < decay < 1:
        error = clustered_error(decay, 1.0, counts.at(slice(1, None)), moving=(DECAY,))
        cov[0, 0], df[0] = error.cov[0, 0], error.df[0]
    return DecayUncertainty(
        decay=decay, p0=p0, cov=cov, df=df, level=counts.level, effective=effective, floors=floors
    )


def floored_uncertainty(decay: float, p0: float, floor: float, counts: LatenessCounts) -> StudentT:
    """Return the clustered error of a decay to a floor, on the logits of L, p0 and f."""
    estimates = np.array([decay, p0, floor])
    error = clustered_error(decay, p0, counts, floor=floor, moving=(DECAY, P0, FLOOR))
    slope = 1 / (1 - estimates) / np.array([1, 1, floor])  # d logit x = d log x / (1 - x) = d x / (x (1 - x))
    return StudentT(
        centre=logit(estimates), cov=slope[:, None] * error.cov * slope, df=error.df.min(), scale=Scale.LOGIT
    )
