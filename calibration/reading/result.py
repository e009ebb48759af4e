"""The result of a fit of reading speed: how well the model describes the workers, plots, data from the fit.

Holds no read, only what describes each worker (without a name): the median log speed and how many reads it is of.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import log_ndtr, ndtri

from calibration.inference.goodness import anderson_darling_of_logs, tested_by_simulation
from calibration.inference.results import LEVEL, CalibrationResult, GoodnessOfFit
from calibration.inference.wording import BAND, finish, of_studies, tails
from calibration.reading.law import ANYTHING, EXTRA_VARIANCES, OFFSETS, Readers, simulate_reads
from calibration.reading.medians import MedianFit, normal_population, worker_medians
from calibration.reading.rows import TimedReads
from metrics.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MOST_DRAWN, MOST_READS, LEAST_DRAWN = 200, 3_000_000, 5
SMALL_NOISE = 0.1  # of the variance of own speeds
NOT_NORMAL = 0.03
"""A p-value below it rejects the law between workers; items, lengths and fast workers are tested beside it."""
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
        simulated = [self._distance(medians) for medians in self._simulated_medians(rng, n_boot)]

        def sentence(p_value: float) -> str:
            verdict = "do not look" if p_value < NOT_NORMAL else "look"
            return (
                f"The workers' log reading speeds {verdict} normal "
                f"(Anderson-Darling {distance:.2f}, p = {p_value:.2g})."
            )

        test = tested_by_simulation("normal_over_workers", distance, simulated, sentence)
        return (replace(test, level=NOT_NORMAL),)

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
        simulated = np.sort([*self._simulated_medians(rng, n_boot)], axis=1)
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
        z = (x - OFFSETS[:, None]) / self._spreads()[:, None]
        parts = (self._shares() / self._spreads() / math.sqrt(2 * math.pi))[:, None] * np.exp(-z * z / 2)
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

    def _simulated_medians(self, rng: np.random.Generator, studies: int) -> Iterator[Floats]:
        """Yield the medians of each simulated study, (workers,); an interrupted read is cut at a uniform share of its time.

        Of more than 200 reads of a worker 200 are drawn: the error of such a median is nothing beside sigma. Where that error is
        small anyway, reads are drawn until there are three million; later studies take the errors of an earlier one again.
        """
        (mu, sigma), kept = self.estimates, self.summaries
        share = np.minimum(1.0, MOST_DRAWN / (kept.complete + kept.cut))
        complete, cut_reads = (np.ceil(share * of).astype(np.intp) for of in (kept.complete, kept.cut))
        reads = complete + cut_reads
        worker = np.repeat(np.arange(len(reads)), reads)
        place = np.arange(len(worker)) - np.repeat(np.cumsum(reads) - reads, reads)
        cut = place >= complete[worker]
        noise_is_small = kept.variances.mean() < SMALL_NOISE * sigma**2
        drawn = max(LEAST_DRAWN, MOST_READS // len(worker)) if noise_is_small else studies
        noise: list[Floats] = []
        for study in range(studies):
            part = rng.random(len(worker) if study < drawn else 0)
            own = rng.normal(mu, sigma, len(reads))
            if study < drawn:
                law = sum((part >= edge).astype(np.intp) for edge in np.cumsum(self._shares())[:3])
                speed = OFFSETS[law] + self._spreads()[law] * rng.normal(size=len(worker))
                seen = np.where(cut, speed - np.log(rng.uniform(size=len(worker))), speed)
                read = TimedReads(worker=worker, log_speed=seen, cut=cut, log_length=speed, item=place)
                noise.append(worker_medians(read))
            medians = own + noise[study % drawn]
            yield np.where(np.isnan(medians), mu, medians)
