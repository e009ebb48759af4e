"""Profile-likelihood intervals of M, S and quantiles of the workers' means.

`WorkerBootstrap` stands beside it, for who asks for resamples. Both are of (n, T) of each worker. The working scale of all
parameters is the logarithm. S may be 0, where its logarithm is not; intervals then begin at 0.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.special import stdtrit

from calibration.inference.clusters import cluster_counts
from calibration.inference.results import NotIdentifiedError
from calibration.inference.uncertainty import Interval, Replicates, Scale
from calibration.models.durations.exposure import WorkerTotals
from calibration.models.durations.likelihood import expansion_per_person
from calibration.models.durations.maximum import (
    MAX_LOG_SIGMA,
    MIN_LOG_SIGMA,
    QUANTILES,
    DurationMaximum,
    MeanCurve,
    ParameterCurve,
    QuantileCurve,
    SdCurve,
    along,
    given_sigma,
    log_normal_values,
    maximum,
)
from metrics.arrays import Floats

FURTHEST = math.log(1e3)
"""Largest ratio of an interval's end to the estimate; further ends are open."""
MAX_TRIALS = 60
ACCURACY = 1e-4
GRID = 121
MAX_LOG = 700.0
"""Largest logarithm of a draw; beyond it exp overflows.

Draws from two or three workers may exceed it.
"""


@dataclass(frozen=True, kw_only=True)
class DurationProfile:
    """Profile likelihood of M, S, median and quartiles of the workers' means.

    {x : 2 (l_max - l(x)) <= t_df^2}, l(x) the largest log-likelihood with M (or another) = x; Student's t instead of the
    normal quantile because workers may be few.

    Attributes
    ----------
    totals : WorkerTotals
        n and T of each worker.
    top : DurationMaximum
        The maximum of their likelihood.
    df : float
        Workers - 1.
    """

    totals: WorkerTotals
    top: DurationMaximum
    df: float
    scale: Scale = Scale.LOG
    _known: dict[float, tuple[Interval, ...]] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def cov(self) -> Floats:
        """Covariance of the logarithms, (5, 5).

        It is that of the maximum, or that of the draws where S may well be 0.
        """
        if self.top.sigma and np.all(np.linalg.eigvalsh(-self.top.top.hessian) > 0) and not self._may_be_zero:
            return self.top.log_cov
        draws = np.log(self.draws(10_000, np.random.default_rng(1)))
        return np.asarray(np.cov(draws, rowvar=False), dtype=np.float64)

    def intervals(self, level: float) -> tuple[Interval, ...]:
        """Return an interval of each parameter.

        An end is open where the likelihood never falls far enough.
        """
        if level not in self._known:
            self._known[level] = self._intervals(float(stdtrit(self.df, (1 + level) / 2)))
        return self._known[level]

    def _intervals(self, reach: float) -> tuple[Interval, ...]:
        log_sd = self.top.mu + (math.log(self.top.sd / self.top.mean) if self.top.sigma else MIN_LOG_SIGMA)
        mean = self._ends(MeanCurve(), math.log(self.top.mean), reach)
        low, high = self._ends(SdCurve(), log_sd + self.top.sigma**2 / 2, reach)
        quantiles = (
            self._ends(QuantileCurve(quantile), self.top.mu + quantile * self.top.sigma, reach)
            for quantile in QUANTILES
        )
        return mean, (0.0 if self._drop_at_zero <= reach**2 else low, high), *quantiles

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw from a law that agrees with the intervals, (n, 5).

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
        quantiles = (log_median + quantile * np.exp(drawn) for quantile in QUANTILES)
        logs = np.stack([log_mean, log_sd, *quantiles], axis=1)
        return np.asarray(np.exp(np.clip(logs, -MAX_LOG, MAX_LOG)), dtype=np.float64)

    @cached_property
    def _drop_at_zero(self) -> float:
        """Return 2 (l_max - l) where everybody has the same mean."""
        return 2 * (self.top.top.loglik - given_sigma(self.totals, MIN_LOG_SIGMA, self.top.mu)[0])

    @property
    def _may_be_zero(self) -> bool:
        return self._drop_at_zero <= float(stdtrit(self.df, 0.975)) ** 2

    @cached_property
    def _ridge(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Return a grid of log sigma, with 2 (l_max - l), the best mu and its error there.

        The error is a standard error.
        """
        sure = (
            math.sqrt(max(float(np.linalg.pinv(-self.top.top.hessian)[1, 1]), 0.0)) if self.top.sigma else 5.0
        )
        low = max(MIN_LOG_SIGMA, self.top.log_sigma - 8 * sure)
        high = min(MAX_LOG_SIGMA, self.top.log_sigma + 8 * sure)
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
        """Return where the root of the drop crosses ``reach``.

        Growing steps bracket the crossing, then regula falsi finds it.
        """
        inside, at_inside, log_sigma = 0.0, 0.0, self.top.log_sigma
        outside, at_outside = math.inf, math.inf
        trial, slope = self._first_step(curve, reach)
        before = 0.0
        for _ in range(MAX_TRIALS):
            guess = log_sigma + slope * sign * (trial - before)
            guess = min(max(guess, MIN_LOG_SIGMA), MAX_LOG_SIGMA)
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
                if trial > FURTHEST or there.log_sigma >= MAX_LOG_SIGMA:
                    return None
                trial = 2 * trial if root < reach / 2 else trial * (1.02 * reach / root)
                continue
            if outside - inside < ACCURACY / 10:
                return math.exp(estimate + sign * inside)
            share = (reach - at_inside) / (at_outside - at_inside)
            trial = inside + (outside - inside) * min(max(share, 0.05), 0.95)
        return None

    def _first_step(self, curve: ParameterCurve, reach: float) -> tuple[float, float]:
        """Return a first guess of the distance to an end, and the slope of log sigma.

        The slope is that of log sigma on the way to the end.
        """
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
    """Bootstrap over workers with the model refitted, computed on first use.

    Where most resamples cannot be fitted, draws by the profile replace them.

    Attributes
    ----------
    totals, top
        As in `DurationProfile`.
    resamples, seed : int
        How many, and of the draws.
    """

    totals: WorkerTotals
    top: DurationMaximum
    resamples: int
    seed: int
    scale: Scale = Scale.LOG

    @property
    def cov(self) -> Floats:
        """Covariance of the logarithms over the resamples, (5, 5)."""
        return self._replicates.cov

    def intervals(self, level: float) -> tuple[Interval, ...]:
        """Return percentile intervals, widened for few workers.

        The interval of S begins at 0 where resamples have no spread.
        """
        mean, (low, high), *quantiles = self._replicates.intervals(level)
        least = math.exp(MIN_LOG_SIGMA) * self.top.mean
        return mean, (0.0 if low is not None and low < 2 * least else low, high), *quantiles

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw replicates with replacement."""
        return self._replicates.draws(n, rng)

    @cached_property
    def _replicates(self) -> Replicates:
        values = np.array(list(self._refits()))
        if len(values) < self.resamples / 2:  # most resamples of a few workers tell nothing
            profile = DurationProfile(totals=self.totals, top=self.top, df=len(self.totals) - 1)
            values = np.log(profile.draws(self.resamples, np.random.default_rng(self.seed)))
        return Replicates(values=values, scale=self.scale, clusters=len(self.totals))

    def _refits(self) -> Iterator[Floats]:
        """Yield the logarithms of each resample that identifies them.

        S is at least a thousandth of M.
        """
        rng = np.random.default_rng(self.seed)
        start = (self.top.mu, max(self.top.log_sigma, math.log(0.1)))
        known = expansion_per_person(self.totals, *start)
        for counts in cluster_counts(len(self.totals), self.resamples, rng):
            try:
                fit = maximum(self.totals, counts, start, known)
            except NotIdentifiedError:
                continue
            yield log_normal_values(fit.mu, max(fit.sigma, math.exp(MIN_LOG_SIGMA)))
