"""The result of a duration fit: tests, simulation and plots, and how far M and S may be off.

The error is told by the profile likelihood or by a worker bootstrap, both from (n, T) of each worker. Working scale of both
parameters is the logarithm. S may be 0, where its logarithm is not; intervals then begin at 0.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtrit

from calibration.durations.alternatives import Alternative
from calibration.durations.checks import between_worker_test, simulate_totals
from calibration.durations.likelihood import BLOCK, Design, Totals, posterior
from calibration.durations.maximum import (
    LEAST_LOG_SIGMA,
    MOST_LOG_SIGMA,
    DurationMaximum,
    MeanCurve,
    ParameterCurve,
    SdCurve,
    along,
    given_sigma,
    log_jacobian,
    maximum,
)
from calibration.inference.clusters import cluster_counts
from calibration.inference.drawing import BAND, finish, of_studies, tails
from calibration.inference.results import LEVEL, CalibrationResult, GoodnessOfFit, NotIdentifiedError
from calibration.inference.uncertainty import Interval, Replicates, Scale
from metrics.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ENVELOPES, FEW_ENVELOPES, MANY_WORKERS = 99, 19, 5000
FURTHEST = math.log(1e3)
"""An end further from the estimate than this factor is open."""
MOST_TRIALS = 60
ACCURACY = 1e-4
GRID = 121
MOST_LOG = 700.0
"""Beyond it exp leaves the range of numbers; draws from two or three workers may go there."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DurationFit(CalibrationResult):
    """Times away or session lengths: M and S of the workers' means.

    Attributes
    ----------
    totals : Totals
        n and T of each worker, in no order that means anything.
    top : DurationMaximum
        mu, sigma and the likelihood there.
    design : {'window', 'count'}
        What the study fixed: how long each worker was watched, or how many intervals there are.
    within : GoodnessOfFit or None
        The test of an exponential law within workers.
    many_cut : bool
        So many intervals of a given number were cut that the law between workers cannot be tested.
    laws : tuple of Alternative
        This law and others on the same data, best first; empty for very large data.
    """

    totals: Totals
    top: DurationMaximum
    design: Design
    within: GoodnessOfFit | None
    many_cut: bool
    laws: tuple[Alternative, ...]

    def goodness_of_fit(self, n_boot: int = ENVELOPES, seed: int = 1) -> tuple[GoodnessOfFit, ...]:
        """Test the law within workers, and by simulation the one between them.

        Parameters
        ----------
        n_boot : int
            Simulated data sets behind the second p-value.
        seed : int
            Of their simulation.
        """
        tests = () if self.within is None else (self.within,)
        if self.many_cut:
            return tests
        return (*tests, between_worker_test(self.totals, self.top, self.design, n_boot=n_boot, seed=seed))

    def alternatives(self) -> pd.DataFrame:
        """Return the laws with law, loglik, parameters, aic, aic_difference, mean_seconds, sd_seconds, shape.

        A difference below about 10 decides nothing.
        """
        best = min((law.aic for law in self.laws), default=0.0)
        return pd.DataFrame(
            [
                (law.name, law.loglik, law.n_free, law.aic, law.aic - best, law.mean, law.sd, law.shape)
                for law in self.laws
            ],
            columns=[
                "law", "loglik", "parameters", "aic", "aic_difference", "mean_seconds", "sd_seconds", "shape",
            ],
        )  # fmt: skip

    def simulate(self, n: int, rng: np.random.Generator) -> Totals:
        """Draw n and T of ``n`` workers from the fitted model, watched as the workers of the data were.

        What the design fixes (T in a window, n in a count) is drawn with replacement from the data; counted intervals
        are all complete.
        """
        drawn = rng.integers(len(self.totals), size=n)
        tau = self.totals.seen_by_seconds
        people = Totals(
            events=self.totals.events[drawn],
            seconds=self.totals.seconds[drawn],
            seen_by_seconds=None if tau is None else tau[drawn],
        )
        return simulate_totals(people, self.top.mu, self.top.sigma, self.design, rng)

    def plot_totals(self, ax: "Axes", *, level: float = LEVEL, seed: int = 1) -> None:
        """Draw the share of workers who came back at least so many times, over the band of simulated studies.

        This is what MSU takes from the fit. For sessions, whose number is given, a worker's time takes its place.

        Raises
        ------
        NotIdentifiedError
            If many sessions were cut: the fit does not say when they would have been in another study.
        """
        self._check_drawable()
        observed = self._extent(self.totals)
        rank = np.arange(1, len(observed) + 1) / len(observed)
        drawn = [self._extent(study) for study in self._studies(seed)]
        low, high = np.quantile(drawn, tails(level), axis=0)
        ax.fill_betweenx(rank, low, high, color=BAND, label=of_studies(level))
        ax.plot(np.median(drawn, axis=0), rank, color="0.45", linestyle="--", label="fitted model")
        ax.plot(observed, rank, color="black", drawstyle="steps-post", label="observed")
        counted = self.design == "count"
        ax.set_xlabel("seconds in sessions" if counted else "visits that ended a time away")
        ax.set_ylabel("share of workers with as many or more")
        ax.set_ylim(0, 1)
        shows = "Sessions: the workers' total times" if counted else "Times away: how often workers came back"
        finish(ax, shows, "the observed steps should mostly lie inside the band")

    def plot_qq(self, ax: "Axes", *, level: float = LEVEL, seed: int = 1) -> None:
        """Draw the workers' means as the fit sees them against normal quantiles, over the band of simulated studies.

        A worker's mean is known from few intervals only and shrunk to the population's, so the points need not lie on
        a line; under the model they lie in the band.

        Raises
        ------
        NotIdentifiedError
            As for `plot_totals`.
        """
        self._check_drawable()
        size = len(self.totals)
        quantile = ndtri((np.arange(1, size + 1) - 0.5) / size)
        drawn = [np.sort(posterior_means(study, self._refitted(study))) for study in self._studies(seed)]
        low, high = np.exp(np.quantile(drawn, tails(level), axis=0))
        ax.fill_between(quantile, low, high, color=BAND, label=of_studies(level))
        points = np.exp(np.sort(posterior_means(self.totals, self.top)))
        ax.plot(quantile, points, "o", color="black", markersize=3, label="workers")
        ax.set_yscale("log")
        ax.set_xlabel("standard normal quantile")
        ax.set_ylabel(f"worker's mean, {self.unit}")
        what = "Sessions" if self.design == "count" else "Times away"
        finish(
            ax,
            f"{what}: workers' means against the fitted log-normal law",
            "the points should mostly lie inside the band",
        )

    def _check_drawable(self) -> None:
        if self.many_cut:
            raise NotIdentifiedError(
                "more than a tenth of the sessions were cut, and when they would have been in a simulated study is not "
                "known: there is no band to hold the workers against"
            )

    def _extent(self, totals: Totals) -> Floats:
        """Return everybody's n, or T where n is given, the largest first."""
        return np.sort(totals.seconds if self.design == "count" else totals.events)[::-1]

    def _studies(self, seed: int) -> Iterator[Totals]:
        """Simulate the study again and again; less often where there are very many workers."""
        rng = np.random.default_rng(seed)
        for _ in range(ENVELOPES if len(self.totals) <= MANY_WORKERS else FEW_ENVELOPES):
            yield simulate_totals(self.totals, self.top.mu, self.top.sigma, self.design, rng)

    def _refitted(self, study: Totals) -> DurationMaximum:
        try:
            return maximum(study, start=(self.top.mu, max(self.top.log_sigma, -2.0)))
        except NotIdentifiedError:
            return self.top


def posterior_means(totals: Totals, top: DurationMaximum) -> Floats:
    """(u,) posterior mean of each worker's log mean."""
    sigma = float(np.exp(top.log_sigma))
    pieces = []
    for at in range(0, len(totals), BLOCK):
        block = posterior(totals.events[at : at + BLOCK], totals.seconds[at : at + BLOCK], top.mu, sigma)
        pieces.append(top.mu + sigma * np.einsum("uk,uk->u", block.weights, block.z))
    return np.concatenate(pieces)


@dataclass(frozen=True, kw_only=True)
class DurationProfile:
    """Profile likelihood of M and of S.

    {x : 2 (l_max - l(x)) <= t_df^2}, l(x) the largest log-likelihood with M (or S) = x; Student's t instead of the
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

    @cached_property
    def cov(self) -> Floats:
        """(2, 2) covariance of (log M, log S): of the maximum, or of the draws where S may well be 0."""
        if self.top.sigma and np.all(np.linalg.eigvalsh(-self.top.top.hessian) > 0) and not self._may_be_zero:
            return self.top.log_cov
        draws = np.log(self.draws(10_000, np.random.default_rng(1)))
        return np.asarray(np.cov(draws, rowvar=False), dtype=np.float64)

    def intervals(self, level: float) -> tuple[Interval, ...]:
        """Return the intervals of M and of S; an end is open where the likelihood never falls far enough."""
        reach = float(stdtrit(self.df, (1 + level) / 2))
        log_sd = self.top.mu + (math.log(self.top.sd / self.top.mean) if self.top.sigma else LEAST_LOG_SIGMA)
        mean = self._ends(MeanCurve(), math.log(self.top.mean), reach)
        low, high = self._ends(SdCurve(), log_sd + self.top.sigma**2 / 2, reach)
        return mean, (0.0 if self._drop_at_zero <= reach**2 else low, high)

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        """(n, 2) draws of M and S that agree with the intervals.

        The signed root of the drop of sigma's profile is a draw from Student's t; given sigma, mu is normal around its best
        value there. A root below the one of sigma = 0 is a population without spread.
        """
        log_sigmas, drop, centre, spread = self._ridge
        root = np.sign(log_sigmas - self.top.log_sigma) * np.sqrt(np.maximum(drop, 0))
        root = np.maximum.accumulate(root)
        drawn = np.interp(rng.standard_t(self.df, n), root, log_sigmas)
        mu = np.interp(drawn, log_sigmas, centre)
        log_mean = mu + np.interp(drawn, log_sigmas, spread) * rng.standard_normal(n) + np.exp(2 * drawn) / 2
        log_sd = log_mean + np.log(np.expm1(np.exp(2 * drawn))) / 2
        return np.exp(np.clip(np.stack([log_mean, log_sd], axis=1), -MOST_LOG, MOST_LOG))

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
        row = log_jacobian(self.top.log_sigma)[0 if isinstance(curve, MeanCurve) else 1]
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
        """(2, 2) covariance of log M and log S over the resamples."""
        return self._replicates.cov

    def intervals(self, level: float) -> tuple[Interval, ...]:
        """Percentiles, moved outwards as few workers ask."""
        return self._replicates.intervals(level)

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

    def _refits(self) -> Iterator[tuple[float, float]]:
        """Yield (log M, log S) of every resample that tells them; S is at least a thousandth of M."""
        rng = np.random.default_rng(self.seed)
        start = (self.top.mu, max(self.top.log_sigma, math.log(0.1)))
        for counts in cluster_counts(len(self.totals), self.resamples, rng):
            try:
                fit = maximum(self.totals, counts, start)
            except NotIdentifiedError:
                continue
            log_mean = math.log(fit.mean)
            yield log_mean, math.log(fit.sd) if fit.sigma else log_mean + LEAST_LOG_SIGMA
