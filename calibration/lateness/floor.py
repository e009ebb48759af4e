"""The error of a lateness decay, the decay to a floor, and how far either may be off, one-sided at 0 and 1.

Answers are clustered by worker and, where several workers were asked about one, by nugget:

    V = V_worker + (J_nugget - J_couple),    negative eigenvalues of what is in brackets set to 0

V_worker is the sandwich by worker, J_c a jackknife over clusters c, each left out by one Newton step; a couple is a worker and a nugget.
Nuggets are drawn from a larger set as workers are; what answers on one nugget share counts beside what answers of one worker share (two ways as of
Cameron, Gelbach and Miller 2011; here the second way never makes an error smaller).

A decay to a floor: p(lambda) = p0 (f + (1 - f) L^lambda), because some updates keep their use however late they come.

For each floor f the likelihood has its maximum in (log L, logit p0), found by Fisher's scoring for many floors at once. How far the
likelihood then lies below its top, in units of a chi-squared and divided by the design effect of f, says which floors the answers
leave open, and so which L (a profile likelihood of L with f as a nuisance).

Inside, log L and logit p0 are given Student's t and an error clustered by worker, and by nugget where several workers were asked
about one. The lower end of L allows for floors that the answers leave open.
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
from scipy.special import expit, logit, stdtrit, xlog1py, xlogy

from calibration.inference.clusters import (
    between_clusters,
    jackknife_covariance,
    newton_changes,
    sandwich,
    without_negative,
)
from calibration.inference.maximise import Height, StoppingRule, climb
from calibration.inference.results import LEVEL
from calibration.inference.uncertainty import Interval, Scale, Scales, StudentT
from calibration.lateness.likelihood import LatenessCounts, scores_and_information
from metrics.arrays import Floats

DECAY, P0, FLOOR = range(3)
"""The places of the parameters."""


class ClusteredError(NamedTuple):
    """How far q parameters may be off.

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
    """Return the error of those of (log L, log p0, f) that were fitted, for L > 0 and p0 < 1.

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

    def derivatives(of: LatenessCounts) -> tuple[Floats, Floats]:
        scores, information = scores_and_information(decay, p0, of, floor)
        return scores[:, places], information[:, places][:, :, places]

    scores, information = derivatives(counts)
    cov = sandwich(scores, information.sum(axis=0))
    df = np.full(len(cov), counts.workers - 1.0)
    by_nugget, by_couple = counts.by_nugget, counts.by_couple
    if by_nugget is None or by_couple is None or by_nugget.workers < 2:
        return ClusteredError(cov, df)
    of_nuggets, of_couples = (
        jackknife_covariance(newton_changes(*derivatives(of))) for of in (by_nugget, by_couple)
    )
    return ClusteredError(
        np.asarray(cov + without_negative(of_nuggets - of_couples)),
        np.minimum(df, _degrees(derivatives(by_nugget)[1], places.index(P0) if P0 in places else 0)),
    )


def _degrees(information: Floats, moved: int) -> Floats:
    """Return how many nuggets tell each parameter, less one: (c, q, q) -> (q,).

    A nugget whose own log p0 is moved by x moves the estimates by x y, y = I^-1 I_c e, so the degrees of freedom of Satterthwaite's kind are
    (sum y^2)^2 / sum y^4 - 1, and at least 1: updates in time of three nuggets tell p0 no better if ten others come late.
    """
    whole = information.sum(axis=0)
    y = np.linalg.solve(whole + 1e-12 * np.diag(np.diag(whole)), information[:, :, moved].T).T ** 2
    return np.asarray(np.maximum(y.sum(axis=0) ** 2 / (y**2).sum(axis=0) - 1, 1.0))


def design_effect_in_time(counts: LatenessCounts) -> float:
    """Return how many times larger the variance of the share of yeses in time is because workers or nuggets differ, at least 1.

    w / (w - 1) sum_u (s_u - n_u p)^2 / (n p (1 - p)), u the workers or, if that is larger, the nuggets. Where all answers are the same it
    cannot be told, and each worker's (nugget's) answers are taken to be worth a single one.
    """
    by_nugget = counts.by_nugget
    effects = [_effect_in_time(of) for of in (counts, by_nugget) if of is not None and of.workers > 1]
    return max(effects, default=1.0)


def _effect_in_time(counts: LatenessCounts) -> float:
    asked, useful = counts.asked[:, 0], counts.useful[:, 0]
    p = useful.sum() / asked.sum()
    if p in {0.0, 1.0}:
        return float(asked.sum() / np.count_nonzero(asked))
    residual = useful - asked * p
    return float(max(1.0, between_clusters(residual) / (asked.sum() * p * (1 - p))))


LARGEST_DOUBTED = 0.6
"""The largest floor that an interval of L allows for where none was found: with a larger one lateness hardly matters."""
_DOUBTED = np.linspace(0, LARGEST_DOUBTED, 16)
_LARGEST = 0.95
_ZOOMS, _AT_ONCE = 3, 21
"""How often, and with how many floors at once, the best one is looked for: to a thousandth."""
_RULE = StoppingRule(least_promise=1e-7, most_steps=20, slack=1e-12)
_LEAST, _MOST = np.array([-30.0, -12.0]), np.array([-1e-6, 12.0])
"""Bounds of log L and logit p0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlooredDecay:
    """The maximum with a floor.

    Attributes
    ----------
    decay, p0, floor : float in (0, 1)
        L, p0 and f.
    loglik : float
        The log-likelihood there.
    """

    decay: float
    p0: float
    floor: float
    loglik: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FloorsLeftOpen:
    """Which floors the answers leave open, and the L that goes with each.

    Attributes
    ----------
    floor : (m,) ndarray of float
        f, ascending from 0.
    log_decay, error : (m,) ndarray of float
        log L of highest likelihood given f, and its standard error given f.
    drop : (m,) ndarray of float
        How far the likelihood lies below its top, 2 (l_max - l(f)) divided by the design effect.
    """

    floor: Floats
    log_decay: Floats
    error: Floats
    drop: Floats

    def least_log_decay(self, reach: float) -> float:
        """Return the smallest log L whose drop in likelihood is at most ``reach``^2."""
        room = np.sqrt(np.maximum(reach**2 - self.drop, 0.0))
        return float(np.where(self.drop <= reach**2, self.log_decay - room * self.error, np.inf).min())

    def largest_floor(self, reach: float) -> float:
        """Return the largest floor whose drop is at most ``reach``^2."""
        return float(self.floor[self.drop <= reach**2].max(initial=0.0))


def fit_floor(counts: LatenessCounts) -> FlooredDecay:
    """Maximise the likelihood of (L, p0, f)."""
    low, high = 0.0, _LARGEST
    for _ in range(_ZOOMS):
        grid = np.linspace(low, high, _AT_ONCE)
        point, loglik = _given(grid, counts)
        best = int(loglik.argmax())
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, _AT_ONCE - 1)]
    decay, p0 = np.exp(point[best, 0]), expit(point[best, 1])
    return FlooredDecay(decay=float(decay), p0=float(p0), floor=float(grid[best]), loglik=float(loglik[best]))


def floor_design_effect(curve: FlooredDecay, counts: LatenessCounts) -> float:
    """Return how many times larger the variance of f is because workers and nuggets differ, at least 1."""
    floor = max(curve.floor, 0.01)
    information = scores_and_information(curve.decay, curve.p0, counts, floor)[1].sum(axis=0)
    plain = np.linalg.pinv(information, hermitian=True)[FLOOR, FLOOR]
    error = clustered_error(curve.decay, curve.p0, counts, floor=floor, moving=(DECAY, P0, FLOOR))
    return float(max(1.0, error.cov[FLOOR, FLOOR] / plain))


def floors_left_open(curve: FlooredDecay, effect: float, counts: LatenessCounts) -> FloorsLeftOpen:
    """Return what the answers say about each floor up to `LARGEST_DOUBTED`.

    Parameters
    ----------
    curve : FlooredDecay
        The maximum.
    effect : float
        The design effect of f.
    counts : LatenessCounts
        The answers, with three levels or more.
    """
    point, loglik = _given(_DOUBTED, counts)
    top = max(loglik.max(), curve.loglik if curve.floor <= LARGEST_DOUBTED else -np.inf)
    errors = [
        clustered_error(float(np.exp(a)), float(expit(b)), counts, floor=float(floor)).cov[0, 0]
        for (a, b), floor in zip(point, _DOUBTED, strict=True)
    ]
    return FloorsLeftOpen(
        floor=_DOUBTED, log_decay=point[:, 0], error=np.sqrt(errors), drop=2 * (top - loglik) / effect
    )


def _given(floor: Floats, counts: LatenessCounts) -> tuple[Floats, Floats]:
    """Return (log L, logit p0) of highest likelihood given each of m floors, (m, 2), and the likelihoods, (m,)."""
    asked, useful = counts.total_asked, counts.total_useful
    room = (1 - floor)[:, None]

    def chance(point: Floats) -> tuple[Floats, Floats]:
        left = room * np.exp(point[:, :1] * counts.level)
        share = floor[:, None] + left
        return expit(point[:, 1:]) * share, counts.level * left / share

    def look(point: Floats) -> Height:
        p, _ = chance(point)
        return Height((xlogy(useful, p) + xlog1py(asked - useful, -p)).sum(axis=1))

    def step(point: Floats, _: Height) -> tuple[Floats, Floats]:
        p, by_decay = chance(point)
        design = np.stack([by_decay, np.broadcast_to(expit(-point[:, 1:]), p.shape)], axis=1)
        gradient = (design * ((useful - asked * p) / (1 - p))[:, None]).sum(axis=2)
        information = np.einsum("mk,mik,mjk->mij", asked * p / (1 - p), design, design)
        information += 1e-9 * np.eye(2)
        whole = np.linalg.solve(information, gradient[..., None])[..., 0]
        return whole, (gradient * whole).sum(axis=1)

    share = np.clip(useful[0] / asked[0], 0.05, 0.95)
    start = np.tile([-0.5, logit(share)], (len(floor), 1))
    top = climb(look, start, step, _RULE, (_LEAST, _MOST))
    return top.point, np.asarray(top.place.loglik)


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
