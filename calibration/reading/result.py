"""The result of a fit of reading speed: how well the model describes the workers, plots, data from the fit.

Holds no read, only what describes each worker (without a name): the median log speed and how many reads it is
of.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import log_ndtr, ndtri
from scipy.stats import norm

from calibration.inference.drawing import BAND, finish, of_studies, tails
from calibration.inference.goodness import REJECTED, anderson_darling_of_logs, tested_by_simulation
from calibration.inference.results import LEVEL, CalibrationResult, GoodnessOfFit
from calibration.reading.law import ANYTHING, EXTRA_VARIANCES, OFFSETS, Readers, simulate_reads
from calibration.reading.medians import MedianFit, normal_population, worker_medians
from calibration.reading.rows import TimedReads
from metrics.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_DRAWN = 200
_BINS = np.linspace(-4.5, 4.5, 61)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingSummary:
    """What is kept of the reads.

    Attributes
    ----------
    medians, variances : (workers,) ndarray of float
        Median log speed of each worker, and its sampling variance; of workers who have one.
    complete, cut : (workers,) ndarray of int
        Reads of each worker.
    residuals : (60,) ndarray of int
        Complete reads by their distance from their worker's speed, in even bins from -4.5 to 4.5.
    lengths : (2,) ndarray of float
        What 95 % of the items lie between, in words or characters.
    """

    medians: Floats
    variances: Floats
    complete: "np.ndarray[tuple[int], np.dtype[np.intp]]"
    cut: "np.ndarray[tuple[int], np.dtype[np.intp]]"
    residuals: "np.ndarray[tuple[int], np.dtype[np.intp]]"
    lengths: Floats

    @classmethod
    def of(cls, data: TimedReads, fit: MedianFit, centres: Floats) -> "ReadingSummary":
        """Summarise reads; ``centres`` are the workers' log speeds, (workers,)."""
        known = np.isfinite(fit.variances)
        complete = np.bincount(data.worker[~data.cut], minlength=data.n_workers)
        cut = np.bincount(data.worker[data.cut], minlength=data.n_workers)
        residual = (data.log_speed - centres[data.worker])[~data.cut]
        return cls(
            medians=fit.medians[known],
            variances=fit.variances[known],
            complete=complete[known],
            cut=cut[known],
            residuals=np.histogram(residual[np.isfinite(residual)], bins=_BINS)[0],
            lengths=np.exp(np.quantile(data.log_length, [0.025, 0.975])),
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ReadingSpeedFit(CalibrationResult):
    """Reading speed over workers.

    Attributes
    ----------
    summaries : ReadingSummary
        What is kept of the reads.
    """

    summaries: ReadingSummary

    def goodness_of_fit(self, n_boot: int = 99, seed: int = 1) -> tuple[GoodnessOfFit, ...]:
        """Test whether the workers' median log speeds are normal (Anderson and Darling), by parametric bootstrap.

        Each simulated study has the same number of reads of every worker, and is fitted anew.
        """
        rng = np.random.default_rng(seed)
        distance = self._distance(self.summaries.medians)
        simulated = [self._distance(self._simulated_medians(rng)) for _ in range(n_boot)]

        def sentence(p_value: float) -> str:
            verdict = "do not look" if p_value < REJECTED else "look"
            return (
                f"The workers' log reading speeds {verdict} normal "
                f"(Anderson-Darling {distance:.2f}, p = {p_value:.2g})."
            )

        return (tested_by_simulation("normal_over_workers", distance, simulated, sentence),)

    def simulate(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
        """Draw table reads of ``n`` workers from the fitted model, as many and as long items each as the workers had.

        Lengths stand in column words, whatever the unit; visits do not end.
        """
        low, high = self.summaries.lengths
        items = int(np.median(self.summaries.complete + self.summaries.cut))
        return simulate_reads(
            self._readers(),
            rng,
            workers=n,
            items=max(1, items),
            words=(max(1, round(low)), max(1, round(high))),
        )

    def plot_qq(self, ax: "Axes", *, level: float = LEVEL, n_boot: int = 199, seed: int = 1) -> None:
        """Draw the workers' median log speeds against normal quantiles, with an envelope of simulated studies.

        The envelope is pointwise and holds a share ``level`` of the simulated studies at each place; medians of few
        reads are noisy, which the simulated ones are too.
        """
        rng = np.random.default_rng(seed)
        medians = np.sort(self.summaries.medians)
        n = len(medians)
        quantile = ndtri((np.arange(n) + 0.5) / n)
        simulated = np.sort([self._simulated_medians(rng) for _ in range(n_boot)], axis=1)
        low, high = np.quantile(simulated, tails(level), axis=0)
        ax.fill_between(quantile, low, high, color=BAND, label=of_studies(level))
        ax.plot(quantile, np.median(simulated, axis=0), color="0.4", linewidth=1, label="fitted model")
        ax.plot(quantile, medians, "o", color="#0072b2", markersize=4, label="workers")
        ax.set_xlabel("standard normal quantile")
        ax.set_ylabel(f"worker's median, {self.unit}")
        finish(
            ax,
            "Reading speed: workers' medians against the fitted normal law",
            "the points should mostly lie inside the band",
        )

    def plot_residuals(self, ax: "Axes", *, level: float = LEVEL) -> None:  # noqa: ARG002
        """Draw how far complete reads are from their worker's speed, with the fitted law and its parts; it has no band."""
        width = _BINS[1] - _BINS[0]
        share = self.summaries.residuals / max(1, self.summaries.residuals.sum()) / width
        ax.stairs(share, _BINS, fill=True, color=BAND, label="complete reads")
        x = np.linspace(_BINS[0], _BINS[-1], 401)
        parts = self._shares()[:, None] * norm.pdf(x, OFFSETS[:, None], self._spreads()[:, None])
        ax.plot(x, parts.sum(axis=0), color="black", label="fitted law")
        for part, name, style, colour in zip(
            parts[:3],
            ("read", "idle", "skimmed"),
            ("--", ":", "-."),
            ("#0072b2", "#d55e00", "#009e73"),
            strict=True,
        ):
            ax.plot(x, part, linestyle=style, color=colour, label=name)
        ax.set_xlabel(f"{self.unit}, from the worker's own speed")
        ax.set_ylabel("density")
        finish(
            ax,
            "Reading speed: reads around their worker's speed",
            "the fitted law should follow the grey area",
        )

    def _readers(self) -> Readers:
        mu, sigma = self.estimates
        return Readers(
            mu=float(mu),
            sigma=float(sigma),
            tau=self.details["residual_scale"],
            idle=self.details["share_idle"],
            skimmed=self.details["share_skimmed"],
        )

    def _shares(self) -> Floats:
        idle, skimmed = self.details["share_idle"], self.details["share_skimmed"]
        anything = ANYTHING if idle + skimmed > 0 else 0.0
        return np.array([1 - idle - skimmed - anything, idle, skimmed, anything])

    def _spreads(self) -> Floats:
        return np.sqrt(self.details["residual_scale"] ** 2 + EXTRA_VARIANCES)

    def _distance(self, medians: Floats) -> float:
        """Return Anderson and Darling's distance of medians from the normal law fitted to them."""
        mu, sigma, _ = normal_population(medians, self.summaries.variances)
        z = np.sort((medians - mu) / np.sqrt(sigma**2 + self.summaries.variances))
        return anderson_darling_of_logs(log_ndtr(z), log_ndtr(-z))

    def _simulated_medians(self, rng: np.random.Generator) -> Floats:
        """Draw the medians of one simulated study; an interrupted read is cut at a uniform share of its time.

        Of more than 200 reads of a worker 200 are drawn: the error of such a median is nothing beside sigma.
        """
        mu, sigma = self.estimates
        kept = self.summaries
        share = np.minimum(1.0, MOST_DRAWN / (kept.complete + kept.cut))
        complete, cut_reads = (np.ceil(share * of).astype(np.intp) for of in (kept.complete, kept.cut))
        reads = complete + cut_reads
        worker = np.repeat(np.arange(len(reads)), reads)
        law = rng.choice(4, p=self._shares(), size=len(worker))
        speed = rng.normal(mu, sigma, len(reads))[worker] + OFFSETS[law]
        speed += self._spreads()[law] * rng.normal(size=len(worker))
        place = np.arange(len(worker)) - np.repeat(np.cumsum(reads) - reads, reads)
        cut = place >= complete[worker]
        seen = np.where(cut, speed - np.log(rng.uniform(size=len(worker))), speed)
        drawn = TimedReads(
            worker=worker,
            log_speed=seen,
            cut=cut,
            log_length=np.zeros(len(worker)),
            item=place,
        )
        medians = worker_medians(drawn)
        return np.where(np.isnan(medians), mu, medians)
