"""Fit of times away and session lengths: M and S of the workers' means.

`from_tables` makes the data, times at risk, of tables.

Read in this order: `exposure`, `likelihood`, `maximum`, `intervals`, this file; `from_tables` says what counts as a time away. Between
workers the means are log-normal, within one the times are exponential (Baruah, Smucker and Clarke, SIGIR 2015). Of ``law="gamma"``,
published on purpose, the rates of coming back are gamma instead.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from scipy.special import ndtri

from calibration.inference.formatting import BAND, band_label, label_axes, tails
from calibration.inference.results import LEVEL, CalibrationResult, NotIdentifiedError, info
from calibration.inference.uncertainty import Uncertainty
from calibration.models.durations.exposure import CensoredDurations, Design, WorkerTotals
from calibration.models.durations.intervals import DurationProfile, WorkerBootstrap
from calibration.models.durations.laws import ExtendedModel, gamma_rates
from calibration.models.durations.likelihood import BLOCK, posterior_moments
from calibration.models.durations.maximum import DurationMaximum, log_normal_values, maximum
from calibration.models.durations.simulate import Refit, Refits, simulate_totals
from metrics.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MeansLaw: TypeAlias = Literal["lognormal", "gamma"]
_VALUES = ("mean", "sd", "median", "quartile_low", "quartile_high")
AWAY = tuple(f"away_{value}_seconds" for value in _VALUES)
SESSION = tuple(f"session_{value}_seconds" for value in _VALUES)
METHOD = "marginal likelihood"
RESAMPLES = 500
MAX_CUT_SHARE = 0.1
"""Largest share of cut intervals at which a fixed count is taken as uncut."""
ENVELOPES, FEW_ENVELOPES, MANY_WORKERS = 99, 19, 5000


def fit_exposure(
    exposure: CensoredDurations,
    *,
    law: MeansLaw = "lognormal",
    rng: np.random.Generator | None = None,
    resamples: int = RESAMPLES,
) -> "DurationFit":
    """Fit M and S, the mean and spread of workers' times away or of their sessions.

    Parameters
    ----------
    exposure : CensoredDurations
        Times at risk, as `away_exposure` or `session_exposure` makes them of tables.
    law : {'lognormal', 'gamma'}
        Of the workers' means: the paper's, or that of gamma rates.
    rng : Generator, optional
        Source of the worker bootstrap's seed; the same one each time by default.
    resamples : int
        Of the worker bootstrap.

    Returns
    -------
    DurationFit
        With the parameters `AWAY`, in stream seconds, of a window, or `SESSION`, in wall seconds, of a count.

    Raises
    ------
    NotIdentifiedError
        If nothing that was waited for came, fewer than two workers are in the data, or the likelihood has no maximum.
    """
    is_window = exposure.design == "window"
    if not exposure.event.any():
        raise NotIdentifiedError(
            "nobody came back by themselves" if is_window else "no visit ended because the worker left"
        )
    totals = exposure.totals()
    optimum = fit_durations(totals)
    gamma = gamma_rates(totals, optimum) if law == "gamma" else None
    seed = int((rng or np.random.default_rng(1)).integers(2**32))
    no_spread = info(
        "no_spread",
        "Workers do not differ more than chance explains: S is 0, and only the upper end of its interval is informative.",
    )
    return DurationFit(
        parameters=MappingProxyType(
            dict(
                zip(
                    AWAY if is_window else SESSION,
                    np.exp(_values(optimum, gamma)).tolist(),
                    strict=True,
                )
            )
        ),
        unit="stream seconds" if is_window else "seconds",
        method=f"{METHOD}, gamma rates" if gamma else METHOD,
        uncertainty=MappingProxyType(_uncertainty(totals, optimum, gamma, resamples=resamples, seed=seed)),
        n_workers=len(totals),
        n_rows=len(exposure.event),
        n_censored=int((~exposure.event).sum()),
        loglik=gamma.loglik if gamma else optimum.top.loglik,
        n_free=2,
        details=MappingProxyType({} if gamma else {"mu": optimum.mu, "sigma": optimum.sigma}),
        diagnostics=() if optimum.sigma or gamma else (no_spread,),
        totals=totals,
        top=optimum,
        design=exposure.design,
        many_cut=many_cut(exposure),
        law=law,
        refits=Refits(totals=totals, top=optimum, design=exposure.design),
    )


def plain_estimates(
    exposure: CensoredDurations, names: Sequence[str], law: MeansLaw = "lognormal"
) -> dict[str, float]:
    """Return the estimates of a law without errors, as `fit_exposure` names them.

    It refuses what `fit_exposure` refuses.
    """
    totals = exposure.totals()
    optimum = fit_durations(totals)
    gamma = gamma_rates(totals, optimum) if law == "gamma" else None
    return dict(zip(names, np.exp(_values(optimum, gamma)).tolist(), strict=True))


def _values(optimum: DurationMaximum, gamma: ExtendedModel | None) -> Floats:
    return gamma.values(gamma.point) if gamma else log_normal_values(optimum.mu, optimum.sigma)


def _uncertainty(
    totals: WorkerTotals, optimum: DurationMaximum, gamma: ExtendedModel | None, *, resamples: int, seed: int
) -> dict[str, Uncertainty]:
    if gamma is not None:
        error = gamma.error()
        return {} if error is None else {"sandwich": error}
    return {
        "profile": DurationProfile(totals=totals, top=optimum, df=len(totals) - 1),
        "worker_bootstrap": WorkerBootstrap(totals=totals, top=optimum, resamples=resamples, seed=seed),
    }


def many_cut(exposure: CensoredDurations) -> bool:
    """Return whether too many of a fixed count of intervals were cut.

    The spread of the lost intervals is then unknown.
    """
    return exposure.design == "count" and float((~exposure.event).mean()) > MAX_CUT_SHARE


def fit_durations(totals: WorkerTotals) -> DurationMaximum:
    """Maximise the likelihood of arrays n and T.

    Parameters
    ----------
    totals : WorkerTotals
        n and T of each worker.

    Returns
    -------
    DurationMaximum
        M, S, mu, sigma, log-likelihood; in the unit of T.

    Raises
    ------
    NotIdentifiedError
        If there are fewer than two workers, no events, or no maximum.
    """
    if len(totals) < 2:
        raise NotIdentifiedError("there is a single worker, so how workers differ is unknown")
    if not totals.events.any():
        raise NotIdentifiedError("all durations were cut before they were complete")
    scale = float(np.exp(np.log(totals.seconds).mean()))
    return _in_seconds(maximum(totals.in_units_of(scale)), scale, float(totals.events.sum()))


def _in_seconds(optimum: DurationMaximum, scale: float, events: float) -> DurationMaximum:
    """Convert a maximum from units of ``scale`` to seconds.

    Each event's density has a second in its unit.
    """
    moved = optimum.top._replace(loglik=optimum.top.loglik - events * math.log(scale))
    return DurationMaximum(mu=optimum.mu + math.log(scale), log_sigma=optimum.log_sigma, top=moved)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DurationFit(CalibrationResult):
    """Fitted times away or session lengths: M, S, median and quartiles.

    They describe the workers' means.

    Simulations and plots are of the log-normal law, also where gamma rates are published.

    Attributes
    ----------
    totals : WorkerTotals
        n and T of each worker, in no order that means anything.
    top : DurationMaximum
        mu, sigma and the likelihood there.
    design : {'window', 'count'}
        What the study fixed: how long each worker was watched, or how many intervals there are.
    many_cut : bool
        So many intervals of a given number were cut that there is no band to draw.
    law : {'lognormal', 'gamma'}
        Of the workers' means.
    refits : Refits
        Simulated studies, for the drawings.
    """

    totals: WorkerTotals
    top: DurationMaximum
    design: Design
    many_cut: bool
    law: MeansLaw
    refits: Refits

    def simulate(self, n: int, rng: np.random.Generator) -> WorkerTotals:
        """Draw n and T of ``n`` workers from the fitted model.

        They are watched as long as the workers of the data.

        What the design fixes (T in a window, n in a count) is drawn with replacement from the data; counted intervals
        are all complete.
        """
        drawn = rng.integers(len(self.totals), size=n)
        tau = self.totals.seen_by_seconds
        people = WorkerTotals(
            events=self.totals.events[drawn],
            seconds=self.totals.seconds[drawn],
            seen_by_seconds=None if tau is None else tau[drawn],
        )
        return simulate_totals(people, self.top.mu, self.top.sigma, self.design, rng)

    def plot_totals(self, ax: "Axes", *, level: float = LEVEL, seed: int = 1) -> None:
        """Plot the share of workers with at least each number of returns.

        A band of simulated studies lies behind it.

        This is what MSU takes from the fit. For sessions, whose number is given, a worker's time takes its place.

        Raises
        ------
        NotIdentifiedError
            If many sessions were cut: the fit does not say when they would have been in another study.
        """
        self._check_drawable()
        observed = self._extent(self.totals)
        rank = np.arange(1, len(observed) + 1) / len(observed)
        drawn = [self._extent(study) for study, _ in self._studies(seed)]
        low, high = np.quantile(drawn, tails(level), axis=0)
        ax.fill_betweenx(rank, low, high, color=BAND, label=band_label(level))
        ax.plot(np.median(drawn, axis=0), rank, color="0.45", linestyle="--", label="fitted model")
        ax.plot(observed, rank, color="black", drawstyle="steps-post", label="observed")
        counted = self.design == "count"
        ax.set_xlabel("seconds in sessions" if counted else "visits that ended a time away")
        ax.set_ylabel("share of workers with as many or more")
        ax.set_ylim(0, 1)
        shows = "Sessions: the workers' total times" if counted else "Times away: how often workers came back"
        label_axes(ax, shows, "the observed steps should mostly lie inside the band")

    def plot_qq(self, ax: "Axes", *, level: float = LEVEL, seed: int = 1) -> None:
        """Plot the fitted workers' means against normal quantiles.

        A band of simulated studies lies behind them.

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
        drawn = [
            np.sort(posterior_means(study, optimum or self.top)) for study, optimum in self._studies(seed)
        ]
        low, high = np.exp(np.quantile(drawn, tails(level), axis=0))
        ax.fill_between(quantile, low, high, color=BAND, label=band_label(level))
        points = np.exp(np.sort(posterior_means(self.totals, self.top)))
        ax.plot(quantile, points, "o", color="black", markersize=3, label="workers")
        ax.set_yscale("log")
        ax.set_xlabel("standard normal quantile")
        ax.set_ylabel(f"worker's mean, {self.unit}")
        what = "Sessions" if self.design == "count" else "Times away"
        label_axes(
            ax,
            f"{what}: workers' means against the fitted log-normal law",
            "the points should mostly lie inside the band",
        )

    def _check_drawable(self) -> None:
        if self.many_cut:
            raise NotIdentifiedError(
                "more than a tenth of the sessions were cut, at times that a simulated study "
                "cannot reproduce: there is no band to compare the workers with"
            )

    def _extent(self, totals: WorkerTotals) -> Floats:
        """Return each worker's n, or T where n is given, in descending order."""
        return np.sort(totals.seconds if self.design == "count" else totals.events)[::-1]

    def _studies(self, seed: int) -> tuple[Refit, ...]:
        """Simulate the study repeatedly, fewer times with very many workers."""
        return self.refits.of(ENVELOPES if len(self.totals) <= MANY_WORKERS else FEW_ENVELOPES, seed)


def posterior_means(totals: WorkerTotals, optimum: DurationMaximum) -> Floats:
    """Return the posterior mean of each worker's log mean, (u,)."""
    sigma = float(np.exp(optimum.log_sigma))
    pieces = []
    for at in range(0, len(totals), BLOCK):
        block = posterior_moments(
            totals.events[at : at + BLOCK], totals.seconds[at : at + BLOCK], optimum.mu, sigma, 1
        )
        pieces.append(optimum.mu + sigma * block.mean)
    return np.concatenate(pieces)
