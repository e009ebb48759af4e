"""Error of a lateness decay, clustered over workers, nuggets and topics.

It is one-sided at 0 and 1.

    V = V_worker + N + T,    N = (J_nugget - J_worker,nugget)+,    T = (J_topic - J_worker,topic - N)+

V_worker is the sandwich by worker, J_c a jackknife over clusters c, each left out by one Newton step; negative eigenvalues of what
stands in ( )+ are 0. Nuggets and topics are drawn from larger sets as workers are; what answers on one nugget, or one topic, share counts
beside what answers of one worker share (two ways as of Cameron, Gelbach and Miller 2011; here a further way never makes an error
smaller). Degrees of freedom are Satterthwaite's of the sum: few nuggets, or topics, tell little about how much they differ, which matters
as far as the variance is theirs. Where no nugget (topic) was asked of two workers, or there is only one,
its part is not known and left out.

At an edge there is no curvature to speak of, and a standard error of 0 would be false certainty:

- L = 0 (no late update was of use): the L at which that outcome still has probability 1 - level,
  sum_lambda n_lambda log(1 - p0 L^lambda) = d log(1 - level), which for updates one visit late alone is the one-sided
  bound of Clopper and Pearson divided by p0; d is the design effect.
- L = 1: the lower end of a one-sided interval by the same sandwich.
- p0 = 1 (every update in time was of use): (1 - level)^(d / n_0).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit, stdtrit

from calibration.inference.clusters import (
    cluster_covariance,
    jackknife_covariance,
    newton_changes,
    sandwich,
    without_negative,
)
from calibration.inference.uncertainty import Interval, Scale, Scales
from calibration.models.lateness.answers import LatenessCounts
from calibration.models.lateness.likelihood import scores_and_information
from metrics.arrays import Floats

DECAY, P0, FLOOR = range(3)
"""Indices of the parameters."""


class ClusteredError(NamedTuple):
    """Clustered covariance of q parameters, with degrees of freedom.

    Attributes
    ----------
    cov : (q, q) ndarray of float
        Their covariance.
    df : (q,) ndarray of float
        Degrees of freedom of Student's t.
    """

    cov: Floats
    df: Floats


def clustered_error(
    decay: float,
    p0: float,
    counts: LatenessCounts,
    *,
    floor: float = 0.0,
    moving: tuple[int, ...] = (DECAY, P0),
) -> ClusteredError:
    """Return the clustered error of the fitted parameters among (log L, log p0, f).

    It needs L > 0 and p0 < 1.

    Parameters
    ----------
    decay, p0, floor : float
        Estimates.
    counts : LatenessCounts
        What they were fitted to.
    moving : tuple of int
        Their places.
    """
    places = list(moving)
    moved = places.index(P0) if P0 in places else 0

    def derivatives(of: LatenessCounts) -> tuple[Floats, Floats]:
        scores, information = scores_and_information(decay, p0, of, floor)
        return scores[:, places], information[:, places][:, :, places]

    scores, information = derivatives(counts)
    cov = sandwich(scores, information.sum(axis=0))
    df = np.full(len(cov), counts.workers - 1.0)
    beyond = np.zeros_like(cov)
    for way in counts.shared_ways.values():
        alone, by_worker = derivatives(way.alone), derivatives(way.by_worker)
        of_way, of_both = (jackknife_covariance(newton_changes(*each)) for each in (alone, by_worker))
        part = without_negative(of_way - of_both - beyond)
        of_part = _degrees(alone[1], moved)
        df = of_both_parts(np.diag(cov), df, np.diag(part), of_part)
        cov, beyond = cov + part, beyond + part
    return ClusteredError(np.asarray(cov), df)


def of_both_parts(first: Floats, first_df: Floats, second: Floats, second_df: Floats) -> Floats:
    """Return Satterthwaite's degrees of freedom of a sum of two variances, (q,)."""
    df, spread = first_df.copy(), first**2 / first_df + second**2 / second_df
    np.divide((first + second) ** 2, spread, out=df, where=spread > 0)
    return df


def _degrees(information: Floats, moved: int) -> Floats:
    """Return the degrees of freedom of each parameter, (c, q, q) -> (q,).

    They are the effective number of clusters less one.

    A cluster whose own log p0 is moved by x moves the estimates by x y, y = I^-1 I_c e, so the degrees of freedom of Satterthwaite's kind are
    (sum y^2)^2 / sum y^4 - 1, and at least 1: updates in time of three nuggets tell p0 no better if ten others come late.
    """
    whole = information.sum(axis=0)
    y = np.linalg.solve(whole + 1e-12 * np.diag(np.diag(whole)), information[:, :, moved].T).T ** 2
    return np.asarray(np.maximum(y.sum(axis=0) ** 2 / (y**2).sum(axis=0) - 1, 1.0))


def design_effect_in_time(counts: LatenessCounts) -> float:
    """Return the design effect of the share of useful updates in time, at least 1.

    It exceeds 1 where workers, nuggets or topics differ.

    w / (w - 1) sum_u (s_u - n_u p)^2 / (n p (1 - p)), u the workers or, if that is larger, the nuggets or the topics. Where all answers are the same it
    cannot be told, and each worker's (nugget's) answers are taken to be worth a single one.
    """
    by_way = [way.alone for way in counts.shared_ways.values()]
    return max((_effect_in_time(of) for of in (counts, *by_way) if of.workers > 1), default=1.0)


def _effect_in_time(counts: LatenessCounts) -> float:
    question_counts, useful = counts.asked[:, 0], counts.useful[:, 0]
    p = useful.sum() / question_counts.sum()
    if p in {0.0, 1.0}:
        return float(question_counts.sum() / np.count_nonzero(question_counts))
    residual = useful - question_counts * p
    return float(max(1.0, cluster_covariance(residual) / (question_counts.sum() * p * (1 - p))))


_QUANTILES = 400
"""Number of quantiles of the law that draws at L = 0 are taken from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecayUncertainty:
    """Uncertainty of (L, p0), one-sided at the edges.

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
    """

    decay: float
    p0: float
    cov: Floats
    df: Floats
    level: Floats
    effective: Floats

    @property
    def scale(self) -> Scales:
        """Working scales: logarithm and logit."""
        return (Scale.LOG, Scale.LOGIT)

    def intervals(self, level: float) -> tuple[Interval, ...]:
        """Return intervals of L and of p0, one-sided at an edge."""
        return (self._decay_interval(level), self._p0_interval(level))

    def _decay_interval(self, level: float) -> Interval:
        if self.decay == 0:
            return 0.0, self._bound_above_zero(1 - level)
        if self.decay == 1:
            return self._bound_below_one(level), 1.0
        reach = float(stdtrit(self.df[0], (1 + level) / 2))
        low, high = np.log(self.decay) + reach * np.sqrt(self.cov[0, 0]) * np.array([-1, 1])
        return float(np.exp(low)), float(min(1.0, np.exp(high)))

    def _p0_interval(self, level: float) -> Interval:
        if self.p0 == 1:
            return float((1 - level) ** (1 / self.effective[0])), 1.0
        reach = stdtrit(self.df[1], (1 + level) / 2) * np.sqrt(self.cov[1, 1])
        low, high = expit(logit(self.p0) + np.array([-reach, reach]))
        return float(low), float(high)

    def _bound_above_zero(self, tail: float) -> float:
        """Return the L at which no late useful answer has probability ``tail``.

        It is 1 if the probability is larger even there.
        """
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

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw (L, p0) from normal laws on the working scales, cut at 1, (n, 2).

        At an edge the one-sided bounds give the spread.
        """
        cov = np.nan_to_num(self.cov)
        centre = [np.log(self.decay) if self.decay else 0.0, logit(self.p0) if self.p0 < 1 else 0.0]
        working = rng.multivariate_normal(centre, cov, size=n)
        decay, p0 = np.minimum(np.exp(working[:, 0]), 1.0), expit(working[:, 1])
        chance = rng.random(n)
        if self.decay == 0:
            tails = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
            decay = np.interp(chance, tails, [self._bound_above_zero(tail) for tail in tails])
        if self.p0 == 1:
            p0 = chance ** (1 / self.effective[0])
            decay = chance ** (1 / (self.effective @ self.level)) if self.decay == 1 else decay
        return np.stack([decay, p0], axis=1)


def decay_uncertainty(decay: float, p0: float, counts: LatenessCounts) -> DecayUncertainty:
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
    return DecayUncertainty(decay=decay, p0=p0, cov=cov, df=df, level=counts.level, effective=effective)
