"""The result of a duration fit: tests, simulation and plots. How far its numbers may be off is told in `errors`."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import ndtri

from calibration.durations.alternatives import Alternative
from calibration.durations.checks import between_worker_test, simulate_totals
from calibration.durations.extended import Extended
from calibration.durations.laws import GENERALISED_GAMMA, TWO_KINDS
from calibration.durations.likelihood import BLOCK, Design, Totals, posterior
from calibration.durations.maximum import DurationMaximum, maximum
from calibration.durations.together import Together
from calibration.inference.drawing import BAND, finish, of_studies, tails
from calibration.inference.results import LEVEL, CalibrationResult, GoodnessOfFit, NotIdentifiedError
from calibration.inference.wording import short
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
    """

    totals: Totals
    top: DurationMaximum
    design: Design
    within: GoodnessOfFit | None
    many_cut: bool
    laws: tuple[Alternative, ...]
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
        between = between_worker_test(self.totals, self.top, self.design, n_boot=n_boot, seed=seed)
        return (*tests, replace(between, level=ALONE))

    @property
    def law(self) -> tuple[float, ...]:
        """Logs of the quantiles of the workers' means at levels (k + 1/2) / `LEVELS`; empty where the means are log-normal."""
        if self.held is None or self.held.name not in {GENERALISED_GAMMA, TWO_KINDS}:
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
