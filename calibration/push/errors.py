"""How far weights and their ratios may be off: a two-way jackknife, ratios by the delta method and by Fieller's.

Judgments of one topic share its streams, and what the cells do not explain stays with the streams; judgments of one
person share that person. With J_c the jackknife covariance over clusters c (each left out by one Newton step),

    V = J_topic + J_worker - J_both,    negative eigenvalues set to 0,

where the clusters of J_both share worker and topic (Cameron, Gelbach and Miller 2011, with jackknifes in place of
sandwiches: those were measured to be too small, most of all below 40 topics). Student's t has min(workers, topics) - 1
degrees of freedom.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.special import stdtrit

from calibration.inference.clusters import jackknife_covariance, newton_changes, two_way
from calibration.inference.uncertainty import Interval, Scale, Scales, Uncertainty
from calibration.push.likelihood import ChoiceModel, alike
from metrics.arrays import Floats, Ints

STRONG_GAIN = 3.0
"""Standard errors of G_E above which a ratio to it is nearly normal."""
GAIN_SHOWN = 0.9
"""Level of the two-sided interval of G_E that must lie above 0, else a warning: one-sided 5 %, since gain is no nuisance."""


def two_way_covariance(model: ChoiceModel, point: Floats, worker: Ints, topic: Ints) -> Floats:
    """Return the (p, p) covariance of the weights and the tie parameter.

    Parameters
    ----------
    model : ChoiceModel
        With each judgment counted once.
    point : (p,) ndarray of float
        Where it is highest.
    worker, topic : (n,) ndarray of int
        Clusters of each judgment, from 0 without holes; at least two of either.
    """
    both = pd.factorize(worker * (int(topic.max()) + 1) + topic, sort=True)[0]
    by_topic, by_worker, by_both = (
        jackknife_covariance(changes_without_each(model, point, code)) for code in (topic, worker, both)
    )
    return two_way(by_topic, by_worker, by_both)


def changes_without_each(model: ChoiceModel, point: Floats, cluster: Ints) -> Floats:
    """Return the Newton step from ``point`` without each cluster, see `newton_changes`: (c, p)."""
    first, kind = alike(model.design, model.vote)
    scores, information = model.of(first).row_derivatives(point)
    counts = csr_array((np.ones(len(kind)), (cluster, kind)))
    of_cluster: Floats = np.asarray(counts @ information.reshape(len(first), -1))
    return newton_changes(np.asarray(counts @ scores), of_cluster.reshape(-1, *information.shape[1:]))


@dataclass(frozen=True, slots=True, kw_only=True)
class RawWeights:
    """Weights as fitted, in log odds.

    Attributes
    ----------
    names : tuple of str
        G_E first.
    weights : (k,) ndarray of float
        Estimates.
    cov : (k, k) ndarray of float
        Their covariance.
    df : int
        Degrees of freedom of Student's t.
    """

    names: tuple[str, ...]
    weights: Floats
    cov: Floats
    df: int

    @property
    def gain_in_errors(self) -> float:
        """G_E in standard errors."""
        return float(self.weights[0] / np.sqrt(self.cov[0, 0]))

    @property
    def gain_may_be_nothing(self) -> bool:
        """Whether nothing shows that gain matters: G_E > 0 has a one-sided p of 5 % or more."""
        return self.gain_in_errors < self.t(GAIN_SHOWN)

    def t(self, level: float) -> float:
        """Return how many standard errors an interval reaches to either side."""
        return float(stdtrit(self.df, (1 + level) / 2))

    @property
    def ratios(self) -> Floats:
        """(k - 1,) weights relative to G_E."""
        return np.asarray(self.weights[1:] / self.weights[0])

    @property
    def ratio_cov(self) -> Floats:
        """(k - 1, k - 1) covariance of the ratios by the delta method."""
        slopes = np.column_stack([-self.ratios, np.eye(len(self.ratios))]) / self.weights[0]
        return np.asarray(slopes @ self.cov @ slopes.T)


@dataclass(frozen=True, slots=True, kw_only=True)
class FiellerRatios:
    """Fieller's intervals of ratios to G_E: {r : (w - r g)^2 <= t^2 Var(w - r g)}.

    They hold their level however weak g is. Where the set has no end, so has the interval; of two rays the one with
    the estimate is taken, because G_E is positive.

    Attributes
    ----------
    raw : RawWeights
        With a positive G_E.
    """

    raw: RawWeights

    @property
    def scale(self) -> Scales:
        """The identity."""
        return Scale.IDENTITY

    @property
    def cov(self) -> Floats:
        """(k, k) covariance by the delta method."""
        return self.raw.ratio_cov

    def intervals(self, level: float) -> tuple[Interval, ...]:
        """One interval a ratio."""
        t = self.raw.t(level)
        return tuple(self._interval(place, t) for place in range(1, len(self.raw.weights)))

    def _interval(self, place: int, t: float) -> Interval:
        g, w = self.raw.weights[0], self.raw.weights[place]
        v = self.raw.cov
        a = g**2 - t**2 * v[0, 0]
        half_b = g * w - t**2 * v[0, place]
        c = w**2 - t**2 * v[place, place]
        inside = half_b**2 - a * c
        if inside <= 0:
            return None, None
        roots = sorted((half_b + sign * np.sqrt(inside)) / a for sign in (-1, 1))
        if a > 0:
            return float(roots[0]), float(roots[1])
        return (float(roots[1]), None) if w / g >= roots[1] else (None, float(roots[0]))

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        """(n, k) ratios of normal draws of the weights, those with a positive G_E."""
        kept = np.empty((0, len(self.raw.weights)))
        while len(kept) < n:
            drawn = rng.multivariate_normal(self.raw.weights, self.raw.cov, size=2 * n)
            kept = np.concatenate([kept, drawn[drawn[:, 0] > 0]])
        return np.asarray(kept[:n, 1:] / kept[:n, :1])


def with_sum(raw: RawWeights) -> RawWeights:
    """Return the weights with the sum of the last two as one more."""
    sums = np.vstack([np.eye(len(raw.names)), np.zeros(len(raw.names))])
    sums[-1, -2:] = 1.0
    return RawWeights(
        names=(*raw.names, f"{raw.names[-2]} + {raw.names[-1]}"),
        weights=sums @ raw.weights,
        cov=sums @ raw.cov @ sums.T,
        df=raw.df,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PainByDays:
    """What is left of the weights where pain is that of a day with any push.

    A silent day has a push or is silent, so the weight b that is fitted to silent silent days, without P_0, is P_0 + S_0. With no weight
    negative, either lies between 0 and b. Most eventful days with a push have one that is not relevant: the weight a that is fitted to silent
    eventful days lacks as much of what such a day costs as the number of pushes does not tell, at most b, so S_E lies between a and a + b.

    Attributes
    ----------
    fitted : Uncertainty
        Of P_E, a, b and a + b, relative to gain.
    """

    fitted: Uncertainty

    @property
    def scale(self) -> Scales:
        """The identity."""
        return Scale.IDENTITY

    @property
    def cov(self) -> Floats:
        """(4, 4) covariance of draws."""
        return np.asarray(np.cov(self.draws(1000, np.random.default_rng(1)), rowvar=False))

    def intervals(self, level: float) -> tuple[Interval, ...]:
        """Of P_E, S_E, P_0 and S_0, the last two alike."""
        pain, (least, most_a), (low, high), (_, most) = self.fitted.intervals(level)
        part = (None if low is None else min(low, 0.0), None if high is None else max(high, 0.0))
        return pain, (least, None if most is None or most_a is None else max(most, most_a)), part, part

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        """(n, 4) draws: each part of b is as likely to be the cost of a silent day, or to be lacking in a."""
        pain, a, b, _ = self.fitted.draws(n, rng).T
        part = rng.random(n) * b
        return np.stack([pain, a + rng.random(n) * b, part, b - part], axis=1)


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
