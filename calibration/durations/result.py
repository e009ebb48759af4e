"""The result of a duration fit, and the baselines that it is compared with.

The result of a duration fit: tests, simulation and plots. How far its numbers may be off is told in `errors`.

What is usually done with times away and session lengths, and why it goes wrong: baselines to compare a fit with.

Not for use. Each takes the same tables as the fit; `docs/calibration.md` has their measured bias.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from calibration.durations.at_risk import Design, Exposure, Totals, total
from calibration.durations.checks import Refit, Refits, between_worker_test, simulate_totals
from calibration.durations.exposures import Unit, away_exposure, session_exposure
from calibration.durations.likelihood import BLOCK, posterior_moments
from calibration.durations.maximum import DurationMaximum, maximum, moments
from calibration.durations.other_laws.alternatives import Alternative
from calibration.durations.other_laws.extended import Extended, Together
from calibration.durations.other_laws.laws import GAMMA, GENERALISED_GAMMA, TWO_KINDS
from calibration.inference.results import LEVEL, CalibrationResult, GoodnessOfFit, NotIdentifiedError
from calibration.inference.wording import BAND, finish, of_studies, short, tails
from metrics.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ALONE = 0.011
"""A p-value below it is a warning: these are two tests of many, and the diagnostics have named causes already."""
LEVELS = 40
ENVELOPES, FEW_ENVELOPES, MANY_WORKERS = 99, 19, 5000


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DurationFit(CalibrationResult):
    """Times away or session lengths: M and S of the workers' means, their median and quartiles.

    Tests, simulations and plots are of the plain model, also where another one has the numbers.

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
    held : Extended or None
        The model that the numbers are of, where it is not the plain one.
    together : Together or None
        Sessions fitted together with the times away of the same people.
    refits : Refits
        Simulated studies, for the test and the drawings.
    """

    totals: Totals
    top: DurationMaximum
    design: Design
    within: GoodnessOfFit | None
    many_cut: bool
    laws: tuple[Alternative, ...]
    refits: Refits
    held: Extended | None = None
    together: Together | None = None

    def goodness_of_fit(self, n_boot: int = ENVELOPES, seed: int = 1) -> tuple[GoodnessOfFit, ...]:
        """Test the law within workers, and by simulation the one between them.

        Parameters
        ----------
        n_boot : int
            Simulated data sets behind the second p-value.
        seed : int
            Of their simulation.
        """
        within = () if self.within is None else (self.within,)
        tests = tuple(replace(test, level=ALONE) for test in within)
        if self.many_cut or self.held is not None:
            return tests
        between = between_worker_test(self.refits, n_boot=n_boot, seed=seed)
        return (*tests, replace(between, level=ALONE))

    @property
    def law(self) -> tuple[float, ...]:
        """Logs of the quantiles of the workers' means at levels (k + 1/2) / `LEVELS`; empty where the means are log-normal."""
        if self.held is None or self.held.name not in {GENERALISED_GAMMA, TWO_KINDS, GAMMA}:
            return ()
        log_mean, share = self.held.population(self.held.point)
        levels = (np.arange(LEVELS) + 0.5) / LEVELS
        return tuple(short(log) for log in np.interp(levels, np.cumsum(share) - share / 2, log_mean).tolist())

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
        drawn = [self._extent(study) for study, _ in self._studies(seed)]
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
        drawn = [np.sort(posterior_means(study, top or self.top)) for study, top in self._studies(seed)]
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

    def _studies(self, seed: int) -> tuple[Refit, ...]:
        """Simulate the study again and again; less often where there are very many workers."""
        return self.refits.of(ENVELOPES if len(self.totals) <= MANY_WORKERS else FEW_ENVELOPES, seed)


def posterior_means(totals: Totals, top: DurationMaximum) -> Floats:
    """(u,) posterior mean of each worker's log mean."""
    sigma = float(np.exp(top.log_sigma))
    pieces = []
    for at in range(0, len(totals), BLOCK):
        block = posterior_moments(
            totals.events[at : at + BLOCK], totals.seconds[at : at + BLOCK], top.mu, sigma, 1
        )
        pieces.append(top.mu + sigma * block.mean)
    return np.concatenate(pieces)


NO_EVENT = "no duration is complete"


@dataclass(frozen=True, slots=True, kw_only=True)
class NaiveDurations:
    """What a naive estimator says.

    Attributes
    ----------
    name : str
        The estimator.
    mean, sd : float
        Its M and S in seconds; nan where it gives none.
    fault : str
        What is wrong with it.
    """

    name: str
    mean: float
    sd: float
    fault: str


def naive_pooled(exposure: Exposure) -> tuple[float, float]:
    """Fit a log-normal law to all complete intervals: the rows, not the workers, and only what ended."""
    seconds = exposure.seconds[exposure.event]
    return _log_normal(seconds[seconds > 0])


def naive_worker_means(exposure: Exposure) -> tuple[float, float]:
    """Fit a log-normal law to each worker's mean of complete intervals: short records scatter, who never came is missing."""
    n = total(exposure.unit, exposure.event, exposure.units)
    seconds = total(exposure.unit, np.where(exposure.event, exposure.seconds, 0.0), exposure.units)
    some = (n > 0) & (seconds > 0)
    return _log_normal(seconds[some] / n[some])


def naive_count_moments(exposure: Exposure) -> tuple[float, float]:
    """Match mean and variance of the counts: unbiased for rates, but not for their reciprocals."""
    if not exposure.event.any():
        raise NotIdentifiedError(NO_EVENT)
    return _mean_and_sd(*moments(exposure.totals()))


def naive_without_cut(exposure: Exposure) -> tuple[float, float]:
    """Maximise the right likelihood without cut intervals: long times are the ones that were cut.

    For times away it is the same as ending everybody's record at the last visit.
    """
    n = total(exposure.unit, exposure.event, exposure.units)
    seconds = total(exposure.unit, np.where(exposure.event, exposure.seconds, 0.0), exposure.units)
    some = (n > 0) & (seconds > 0)
    if not some.any():
        raise NotIdentifiedError(NO_EVENT)
    fit = maximum(Totals(events=n[some], seconds=seconds[some]))
    return fit.mean, fit.sd


def naive_cut_as_complete(exposure: Exposure) -> tuple[float, float]:
    """Maximise the right likelihood with cut intervals taken as complete: they would have been longer."""
    everything = replace(exposure, event=np.ones(len(exposure.event), dtype=bool))
    fit = maximum(everything.totals())
    return fit.mean, fit.sd


def naive_enrolment_counted(tables: Mapping[str, pd.DataFrame], **options: Any) -> tuple[float, float]:
    """Count the visit in which somebody enrols as the end of a time away of no length."""
    earlier = tables["follows"]["started_at"] - pd.Timedelta(milliseconds=1)
    shifted = {**tables, "follows": tables["follows"].assign(started_at=earlier)}
    totals = away_exposure(shifted, **options).totals()
    if not totals.events.any():
        raise NotIdentifiedError(NO_EVENT)
    fit = maximum(totals)
    return fit.mean, fit.sd


_FAULTS: Mapping[str, tuple[Callable[[Exposure], tuple[float, float]], str]] = MappingProxyType(
    {
        "pooled log-normal": (
            naive_pooled,
            "takes rows for people: frequent visitors give most rows, and one person's scatter is read as a difference",
        ),
        "log-normal of workers' means": (
            naive_worker_means,
            "leaves out who never came and what was cut, and takes the scatter of short records for a difference",
        ),
        "moments of counts": (naive_count_moments, "is biased for few workers or wide populations"),
        "likelihood without cut intervals": (
            naive_without_cut,
            "drops the longest intervals: the ones that were cut",
        ),
        "cut intervals as complete": (
            naive_cut_as_complete,
            "takes what was cut for as long as it would have been",
        ),
    }
)
_OF_AWAY = (
    "pooled log-normal",
    "log-normal of workers' means",
    "moments of counts",
    "likelihood without cut intervals",
)
_OF_SESSIONS = (
    "pooled log-normal",
    "log-normal of workers' means",
    "likelihood without cut intervals",
    "cut intervals as complete",
)


def naive_away(tables: Mapping[str, pd.DataFrame], **options: Any) -> tuple[NaiveDurations, ...]:
    """Return what every naive estimator makes of times away.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        As for `fit_away`.
    **options
        As of `away_exposure`.

    Raises
    ------
    NotIdentifiedError
        As `fit_away` does.
    """
    exposure = away_exposure(tables, **options)
    found = [_tried(name, partial(_FAULTS[name][0], exposure), _FAULTS[name][1]) for name in _OF_AWAY]
    if "follows" in tables:
        counted = partial(naive_enrolment_counted, tables, **options)
        fault = "counts the visit in which somebody enrols as coming back"
        found.append(_tried("enrolment visit counted", counted, fault))
    return tuple(found)


def naive_session(tables: Mapping[str, pd.DataFrame], *, unit: Unit = "worker") -> tuple[NaiveDurations, ...]:
    """Return what every naive estimator makes of session lengths; parameters and errors as of `fit_session`."""
    exposure = session_exposure(tables, unit=unit)
    return tuple(_tried(name, partial(_FAULTS[name][0], exposure), _FAULTS[name][1]) for name in _OF_SESSIONS)


def _tried(name: str, estimator: Callable[[], tuple[float, float]], fault: str) -> NaiveDurations:
    try:
        mean, sd = estimator()
    except NotIdentifiedError:
        mean, sd = math.nan, math.nan
    return NaiveDurations(name=name, mean=mean, sd=sd, fault=fault)


def _log_normal(values: Floats) -> tuple[float, float]:
    if len(values) < 2:
        raise NotIdentifiedError("there are fewer than two durations")
    logs = np.log(values)
    return _mean_and_sd(float(logs.mean()), math.log(max(float(logs.std(ddof=1)), 1e-6)))


def _mean_and_sd(mu: float, log_sigma: float) -> tuple[float, float]:
    variance = math.exp(2 * log_sigma)
    mean = math.exp(mu + variance / 2)
    return mean, mean * math.sqrt(math.expm1(variance))
