"""How far M, S and the quantiles of the workers' means may be off.

Told by the profile likelihood or by a worker bootstrap, both from (n, T) of each worker. Working scale of all parameters
is the logarithm. S may be 0, where its logarithm is not; intervals then begin at 0.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.polynomial.chebyshev import chebder, chebpts1, chebvander
from scipy.special import stdtrit

from calibration.durations.at_risk import Totals
from calibration.durations.likelihood import each_at, log_likelihoods
from calibration.durations.maximum import (
    LEAST_LOG_SIGMA,
    MOST_LOG_SIGMA,
    QUANTILES,
    DurationMaximum,
    MeanCurve,
    ParameterCurve,
    QuantileCurve,
    SdCurve,
    along,
    given_sigma,
    maximum,
)
from calibration.durations.other_laws.extended import log_normal_values
from calibration.inference.clusters import cluster_counts
from calibration.inference.maximise import StoppingRule, climb
from calibration.inference.results import NotIdentifiedError
from calibration.inference.uncertainty import AnyForm, Interval, Replicates, Scale, Uncertainty
from metrics.arrays import Floats

FURTHEST = math.log(1e3)
"""An end further from the estimate than this factor is open."""
MOST_TRIALS = 60
ACCURACY = 1e-4
GRID = 121
MOST_LOG = 700.0
"""Beyond it exp leaves the range of numbers; draws from two or three workers may go there."""
MANY_IN_A_BOX = 1000
"""Workers from which on resamples of them are fitted together, in a box around the maximum."""
NEAR, WIDEST, DEGREE = 6.0, 0.5, 6
"""Half a side of the box in standard errors, the most that it may be, and the degree of the polynomials there."""
_RULE = StoppingRule(least_promise=1e-12, most_steps=50, slack=1e-11)


@dataclass(frozen=True, kw_only=True)
class DurationProfile:
    """Profile likelihood of M, S, and the median and quartiles of the workers' means.

    {x : 2 (l_max - l(x)) <= t_df^2}, l(x) the largest log-likelihood with M (or another) = x; Student's t instead of the
    normal quantile because workers may be few.

    Attributes
    ----------
    totals : Totals
        n and T of each worker.
    top : DurationMaximum
        The maximum of their likelihood.
    df : float
        Workers - 1.
    """

    totals: Totals
    top: DurationMaximum
    df: float
    scale: Scale = Scale.LOG
    _known: dict[float, tuple[Interval, ...]] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def cov(self) -> Floats:
        """(5, 5) covariance of the logarithms: of the maximum, or of the draws where S may well be 0."""
        if self.top.sigma and np.all(np.linalg.eigvalsh(-self.top.top.hessian) > 0) and not self._may_be_zero:
            return self.top.log_cov
        draws = np.log(self.draws(10_000, np.random.default_rng(1)))
        return np.asarray(np.cov(draws, rowvar=False), dtype=np.float64)

    def intervals(self, level: float) -> tuple[Interval, ...]:
        """Return an interval of each; an end is open where the likelihood never falls far enough."""
        if level not in self._known:
            self._known[level] = self._intervals(float(stdtrit(self.df, (1 + level) / 2)))
        return self._known[level]

    def _intervals(self, reach: float) -> tuple[Interval, ...]:
        log_sd = self.top.mu + (math.log(self.top.sd / self.top.mean) if self.top.sigma else LEAST_LOG_SIGMA)
        mean = self._ends(MeanCurve(), math.log(self.top.mean), reach)
        low, high = self._ends(SdCurve(), log_sd + self.top.sigma**2 / 2, reach)
        quantiles = (
            self._ends(QuantileCurve(place), self.top.mu + place * self.top.sigma, reach)
            for place in QUANTILES
        )
        return mean, (0.0 if self._drop_at_zero <= reach**2 else low, high), *quantiles

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        """(n, 5) draws that agree with the intervals.

        The signed root of the drop of sigma's profile is a draw from Student's t; given sigma, mu is normal around its best
        value there. A root below the one of sigma = 0 is a population without spread.
        """
        log_sigmas, drop, centre, spread = self._ridge
        root = np.sign(log_sigmas - self.top.log_sigma) * np.sqrt(np.maximum(drop, 0))
        root = np.maximum.accumulate(root)
        drawn = np.interp(rng.standard_t(self.df, n), root, log_sigmas)
        mu = np.interp(drawn, log_sigmas, centre)
        log_median = mu + np.interp(drawn, log_sigmas, spread) * rng.standard_normal(n)
        log_mean = log_median + np.exp(2 * drawn) / 2
        log_sd = log_mean + np.log(np.expm1(np.exp(2 * drawn))) / 2
        quantiles = (log_median + place * np.exp(drawn) for place in QUANTILES)
        logs = np.stack([log_mean, log_sd, *quantiles], axis=1)
        return np.asarray(np.exp(np.clip(logs, -MOST_LOG, MOST_LOG)), dtype=np.float64)

    @cached_property
    def _drop_at_zero(self) -> float:
        """2 (l_max - l) where everybody has the same mean."""
        return 2 * (self.top.top.loglik - given_sigma(self.totals, LEAST_LOG_SIGMA, self.top.mu)[0])

    @property
    def _may_be_zero(self) -> bool:
        return self._drop_at_zero <= float(stdtrit(self.df, 0.975)) ** 2

    @cached_property
    def _ridge(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Log sigma on a grid, and there 2 (l_max - l), the best mu, its standard error."""
        sure = (
            math.sqrt(max(float(np.linalg.pinv(-self.top.top.hessian)[1, 1]), 0.0)) if self.top.sigma else 5.0
        )
        low = max(LEAST_LOG_SIGMA, self.top.log_sigma - 8 * sure)
        high = min(MOST_LOG_SIGMA, self.top.log_sigma + 8 * sure)
        log_sigmas = np.linspace(low, high, GRID)
        rows, mu = [], self.top.mu
        for log_sigma in log_sigmas:
            loglik, mu, spread = given_sigma(self.totals, float(log_sigma), mu)
            rows.append((2 * (self.top.top.loglik - loglik), mu, spread))
        drop, centre, spreads = np.array(rows).T
        return log_sigmas, drop, centre, spreads

    def _ends(self, curve: ParameterCurve, estimate: float, reach: float) -> Interval:
        ends = [self._end(curve, estimate, sign, reach) for sign in (-1, 1)]
        return ends[0], ends[1]

    def _end(self, curve: ParameterCurve, estimate: float, sign: int, reach: float) -> float | None:
        """Return where the root of the drop crosses ``reach``: bracketed by growing steps, then regula falsi."""
        inside, at_inside, log_sigma = 0.0, 0.0, self.top.log_sigma
        outside, at_outside = math.inf, math.inf
        trial, slope = self._first_step(curve, reach)
        before = 0.0
        for _ in range(MOST_TRIALS):
            guess = log_sigma + slope * sign * (trial - before)
            guess = min(max(guess, LEAST_LOG_SIGMA), MOST_LOG_SIGMA)
            there = along(self.totals, curve, estimate + sign * trial, guess)
            root = math.sqrt(max(2 * (self.top.top.loglik - there.top.loglik), 0.0))
            log_sigma, before = there.log_sigma, trial
            if abs(root - reach) < ACCURACY:
                return math.exp(estimate + sign * trial)
            if root < reach:
                inside, at_inside = trial, root
            else:
                outside, at_outside = trial, root
            if math.isinf(outside):
                if trial > FURTHEST or there.log_sigma >= MOST_LOG_SIGMA:
                    return None
                trial = 2 * trial if root < reach / 2 else trial * (1.02 * reach / root)
                continue
            if outside - inside < ACCURACY / 10:
                return math.exp(estimate + sign * inside)
            share = (reach - at_inside) / (at_outside - at_inside)
            trial = inside + (outside - inside) * min(max(share, 0.05), 0.95)
        return None

    def _first_step(self, curve: ParameterCurve, reach: float) -> tuple[float, float]:
        """Return a first guess of the distance to an end, and of how log sigma changes on the way there."""
        if not self.top.sigma:
            return 0.5, 0.0
        row = np.array([1.0, curve.shift(self.top.log_sigma)[1]])
        with_parameter = np.linalg.pinv(-self.top.top.hessian) @ row
        variance = float(row @ with_parameter)
        if variance <= 0:
            return 0.5, 0.0
        return min(max(reach * math.sqrt(variance), 1e-3), 2.0), float(with_parameter[1]) / variance


@dataclass(frozen=True, kw_only=True)
class WorkerBootstrap:
    """Workers drawn with replacement and the model fitted anew; made when it is first asked for.

    Where most resamples cannot be fitted, draws by the profile stand in for them.

    Attributes
    ----------
    totals, top
        As in `DurationProfile`.
    resamples, seed : int
        How many, and of the draws.
    """

    totals: Totals
    top: DurationMaximum
    resamples: int
    seed: int
    scale: Scale = Scale.LOG

    @property
    def cov(self) -> Floats:
        """(5, 5) covariance of the logarithms over the resamples."""
        return self._replicates.cov

    def intervals(self, level: float) -> tuple[Interval, ...]:
        """Percentiles, moved outwards as few workers ask; that of S begins at 0 where resamples have no spread."""
        mean, (low, high), *quantiles = self._replicates.intervals(level)
        least = math.exp(LEAST_LOG_SIGMA) * self.top.mean
        return mean, (0.0 if low is not None and low < 2 * least else low, high), *quantiles

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        """Replicates drawn with replacement."""
        return self._replicates.draws(n, rng)

    @cached_property
    def _replicates(self) -> Replicates:
        values = np.array(list(self._refits()))
        if len(values) < self.resamples / 2:  # most resamples of a few workers tell nothing
            profile = DurationProfile(totals=self.totals, top=self.top, df=len(self.totals) - 1)
            values = np.log(profile.draws(self.resamples, np.random.default_rng(self.seed)))
        return Replicates(values=values, scale=self.scale, clusters=len(self.totals))

    def _refits(self) -> Iterator[Floats]:
        """Yield the logarithms of every resample that tells them; S is at least a thousandth of M."""
        rng = np.random.default_rng(self.seed)
        start = (self.top.mu, max(self.top.log_sigma, math.log(0.1)))
        known = each_at(self.totals, *start)
        drawn = cluster_counts(len(self.totals), self.resamples, rng)
        near = tops_nearby(self.totals, self.top, drawn)
        for counts, (mu, log_sigma) in zip(drawn, near.tolist(), strict=True):
            if math.isnan(mu):
                try:
                    fit = maximum(self.totals, counts, start, known)
                except NotIdentifiedError:
                    continue
                mu, log_sigma = fit.mu, math.log(max(fit.sigma, math.exp(LEAST_LOG_SIGMA)))  # noqa: PLW2901 - where it is
            yield log_normal_values(mu, math.exp(log_sigma))


def tops_nearby(totals: Totals, top: DurationMaximum, drawn: Floats) -> Floats:
    """Return where the likelihoods of many resamples of many workers are highest: mu and log sigma of each, (k, 2).

    Each worker's log-likelihood is a smooth surface over mu and log sigma, and a resample is a weighted sum of them. So it
    is taken at the Chebyshev points of a box around the maximum, summed for all resamples by one product of matrices, and
    the polynomials through the sums are climbed together. With so many workers they are right to ten digits.

    Parameters
    ----------
    totals, top
        The data and their maximum.
    drawn : (k, u) ndarray of float
        How often each worker is in each resample.

    Returns
    -------
    (k, 2) ndarray of float
        nan where a resample has to be fitted by itself: its top is outside the box, or the box would be large.
    """
    sides = NEAR * np.sqrt(np.diag(np.linalg.pinv(-top.top.hessian)).clip(0))
    nowhere = np.full((len(drawn), 2), np.nan)
    if len(totals) < MANY_IN_A_BOX or totals.seen_by_seconds is not None or not 0 < sides.max() < WIDEST:
        return nowhere
    points = chebpts1(DEGREE + 1)
    heights = np.stack(
        [
            log_likelihoods(totals, top.mu + x * sides[0], math.exp(top.log_sigma + y * sides[1]))
            for x in points
            for y in points
        ],
        axis=1,
    )
    through = np.linalg.inv(chebvander(points, DEGREE))
    found = _tops(through @ (drawn @ heights).reshape(-1, DEGREE + 1, DEGREE + 1) @ through.T)
    inside = (np.abs(found) < 1).all(axis=1, keepdims=True)
    return np.where(inside, np.array([top.mu, top.log_sigma]) + found * sides, nowhere)


class _Heights(NamedTuple):
    """Polynomials at a point each: value, gradient (k, 2), minus the Hessian (k, 2, 2)."""

    loglik: Floats
    gradient: Floats
    curvature: Floats


def _tops(polynomials: Floats) -> Floats:
    """Climb polynomials in two variables, (k, d, d) Chebyshev coefficients, from the middle of their box; (k, 2)."""
    slope = np.stack([np.append(chebder(one), 0.0) for one in np.eye(DEGREE + 1)])
    by_x, by_y = slope.T @ polynomials, polynomials @ slope
    parts = np.stack([polynomials, by_x, by_y, slope.T @ by_x, by_x @ slope, by_y @ slope])

    def look(at: Floats) -> _Heights:
        x, y = (chebvander(column, DEGREE) for column in at.T)
        value, dx, dy, xx, xy, yy = np.einsum("dkij,ki,kj->dk", parts, x, y, optimize=True)
        return _Heights(value, np.stack([dx, dy], 1), -np.moveaxis(np.array([[xx, xy], [xy, yy]]), 2, 0))

    def step(_: Floats, here: _Heights) -> tuple[Floats, Floats]:
        steps = np.linalg.solve(here.curvature, here.gradient[..., None])
        whole = np.asarray(steps[..., 0], dtype=np.float64)
        return whole, np.einsum("ki,ki->k", whole, here.gradient)

    bounds = np.full(2, -1.0), np.full(2, 1.0)
    return climb(look, np.zeros((len(polynomials), 2)), step, _RULE, bounds).point


@dataclass(frozen=True, kw_only=True)
class CommonScale:
    """Errors of another kind, and one factor on all times that everybody shares: what the draw of the days adds.

    Attributes
    ----------
    inner : Uncertainty
        Errors on the log scale, as if the days were always these.
    error : float
        Standard error of the factor's logarithm.
    df : float
        Its degrees of freedom.
    """

    inner: Uncertainty
    error: float
    df: float
    scale: Scale = Scale.LOG

    @property
    def cov(self) -> Floats:
        """(5, 5) covariance of the logarithms."""
        return np.asarray(self.inner.cov + self.error**2, dtype=np.float64)

    def intervals(self, level: float) -> tuple[Interval, ...]:
        """Return the inner ones, each half lengthened on the log scale as two independent errors add up."""
        reach = self.error * float(stdtrit(self.df, (1 + level) / 2))
        inner = self.inner.intervals(level)
        centres = np.sqrt([(low or 1.0) * (high or 1.0) for low, high in inner])
        return tuple(
            (_further(low, centre, -reach), _further(high, centre, reach))
            for (low, high), centre in zip(inner, centres.tolist(), strict=True)
        )

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw from both."""
        factor = np.exp(self.error * rng.standard_t(self.df, n))
        return np.asarray(self.inner.draws(n, rng) * factor[:, None])


def _further(end: float | None, centre: float, reach: float) -> float | None:
    if not end:
        return end
    return centre * math.exp(math.copysign(math.hypot(math.log(end / centre), reach), reach))


@dataclass(frozen=True, slots=True, kw_only=True)
class EitherLaw(AnyForm):
    """Laws that the data cannot tell apart, with errors on the log scale; the covariance is of draws from all of them.

    Attributes
    ----------
    heavy : bool
        One of them has a heavy tail: no data of such people bound S, so its interval has no upper end.
    """

    heavy: bool = False

    @property
    def cov(self) -> Floats:
        """(5, 5) covariance of the logarithms of draws."""
        draws = np.log(np.maximum(self.draws(10_000, np.random.default_rng(1)), math.exp(-MOST_LOG)))
        return np.asarray(np.cov(draws, rowvar=False), dtype=np.float64)

    def intervals(self, level: float) -> tuple[Interval, ...]:
        """Return the hull of the intervals under all laws."""
        mean, (low, high), *quantiles = AnyForm.intervals(self, level)
        return mean, (low, None if self.heavy else high), *quantiles
