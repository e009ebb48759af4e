"""The law of one read's log speed around its worker's: read, idle, skimmed, or anything; and a generator of reads by it.

e ~ sum_k p_k N(m_k, tau^2 + d_k^2):  read  m = 0, d = 0;  idle  m = -1.6, d = 0.9;  skimmed  m = 1.6, d = 0.5;
    anything  m = 0, d = 3 with a fixed share of 0.002, so that a single absurd time has little say

The result of a fit of reading speed: how well the model describes the workers, plots, data from the fit.

Holds no read, only what describes each worker (without a name): the median log speed and how many reads it is of.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import log_ndtr, ndtr, ndtri

from calibration.inference.goodness import anderson_darling_of_logs, tested_by_simulation
from calibration.inference.results import LEVEL, CalibrationResult, GoodnessOfFit
from calibration.inference.wording import BAND, finish, of_studies, tails
from calibration.reading.medians import MedianFit, normal_population, worker_medians
from calibration.reading.rows import TimedReads
from calibration.tables.files import checked
from calibration.tables.tables import TABLES
from metrics.arrays import Bools, Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OFFSETS = np.array([0.0, -1.6, 1.6, 0.0])
EXTRA_VARIANCES = np.array([0.0, 0.9, 0.5, 3.0]) ** 2
ANYTHING = 0.002
_TINY = 1e-300
_START = pd.Timestamp("2026-03-02T09:00:00", tz="UTC")


class ReadLaw:
    """The law of one residual at given parameters: (mu, log sigma,) log tau, a_idle, a_skimmed."""

    def __init__(self, p: Floats) -> None:
        odds = np.exp(np.array([0.0, p[3], p[4]]) - max(0.0, p[3], p[4]))
        self.softmax = odds / odds.sum()
        self.shares = np.append((1 - ANYTHING) * self.softmax, ANYTHING)
        variance = math.exp(2 * p[2]) + EXTRA_VARIANCES
        self.sd = np.sqrt(variance)
        self.pull = math.exp(2 * p[2]) / variance

    def of(self, e: Floats, cut: Bools) -> "LawValues":
        """Return f (F where cut) of residuals.

        Parameters
        ----------
        e : (n, k) ndarray of float
            Residuals at k nodes.
        cut : (n,) ndarray of bool
            Which rows are left-censored.
        """
        parts, tau_slope, censored = [], np.zeros_like(e), np.flatnonzero(cut)
        for share, offset, sd, pull in zip(self.shares, OFFSETS, self.sd, self.pull, strict=True):
            z = e - offset
            z /= sd
            tau_part = z * z
            part = np.exp(-0.5 * tau_part)
            part *= share / (math.sqrt(2 * math.pi) * sd)
            np.multiply(tau_part - 1, part, out=tau_part)
            if len(censored):
                at = z[censored]
                tau_part[censored] = -at * sd * part[censored]
                part[censored] = share * ndtr(at)
            tau_slope += pull * tau_part
            parts.append(part)
        told = parts[0] + parts[1] + parts[2]
        value = np.maximum(told + parts[3], _TINY)
        return LawValues(
            value=value, told=told, idle=parts[1], skimmed=parts[2], tau_slope=tau_slope, softmax=self.softmax
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LawValues:
    """f of some residuals, its parts, and d f / d log tau; (n, k) each."""

    value: Floats
    told: Floats
    idle: Floats
    skimmed: Floats
    tau_slope: Floats
    softmax: Floats

    def slopes(self, weight: Floats) -> Floats:
        """Return (n, 3): the slopes of log f in log tau, a_idle and a_skimmed, added up over nodes with (n, k) weights."""
        relative = weight / self.value
        tau, idle, skimmed, told = (
            np.einsum("nk,nk->n", part, relative)
            for part in (self.tau_slope, self.idle, self.skimmed, self.told)
        )
        return np.stack([tau, idle - self.softmax[1] * told, skimmed - self.softmax[2] * told], axis=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Readers:
    """People who read updates.

    Attributes
    ----------
    mu, sigma : float
        Mean and standard deviation of log words per second over workers.
    tau : float
        Standard deviation of one read's log speed around its worker's.
    idle, skimmed : float
        Shares of reads with a long pause in them, and of reads that are only skimmed.
    overhead_seconds : float
        What every item takes beside its words.
    mean_visit_seconds : float or None
        Visits end at exponential times of this mean, whatever is being read; None: workers read each page to
        its end.
    """

    mu: float = 1.290
    sigma: float = 0.558
    tau: float = 0.5
    idle: float = 0.0
    skimmed: float = 0.0
    overhead_seconds: float = 0.0
    mean_visit_seconds: float | None = None


def simulate_reads(
    readers: Readers,
    rng: np.random.Generator,
    *,
    workers: int = 100,
    items: int = 20,
    words: tuple[int, int] = (8, 40),
) -> pd.DataFrame:
    """Draw table reads: each worker reads ``items`` items one after the other, never two at once.

    Parameters
    ----------
    readers : Readers
        Who reads.
    rng : Generator
        Source of the draws.
    workers, items : int
        How much is on offer. With visits that end, an item cut at the end of one is not offered again.
    words : (int, int)
        Shortest and longest item; lengths are uniform between them.

    Returns
    -------
    DataFrame
        Column interrupted is false for everybody when visits do not end.
    """
    length = rng.integers(words[0], words[1] + 1, (workers, items))
    own = rng.normal(readers.mu, readers.sigma, (workers, 1))
    law = rng.choice(
        3, p=[1 - readers.idle - readers.skimmed, readers.idle, readers.skimmed], size=(workers, items)
    )
    spread = np.sqrt(readers.tau**2 + EXTRA_VARIANCES[law])
    log_speed = own + OFFSETS[law] + spread * rng.normal(size=(workers, items))
    seconds = length * np.exp(-log_speed) + readers.overhead_seconds
    visit, dwell, interrupted = _visits(seconds, readers.mean_visit_seconds, rng)
    shown_at = np.cumsum(dwell, axis=1) - dwell + (visit - 1) * 86_400.0
    number = np.tile(np.arange(items), workers)
    names = np.repeat([f"W{u}" for u in range(workers)], items)
    rows = pd.DataFrame(
        {
            "worker": names,
            "topic": "Q000",
            "system": "A",
            "page": [f"{name}-{page}" for name, page in zip(names, visit.ravel(), strict=True)],
            "visit": visit.ravel(),
            "item": [f"U{i}" for i in number],
            "kind": "update",
            "words": length.ravel(),
            "first_seen": _START + pd.to_timedelta(shown_at.ravel(), unit="s"),
            "dwell_seconds": dwell.ravel(),
            "fully_seen": ~interrupted.ravel(),
            "interrupted": interrupted.ravel(),
            "language": "en",
        }
    )
    return checked(rows, TABLES["reads"])


def _visits(
    seconds: "np.ndarray[tuple[int, int], np.dtype[np.float64]]",
    mean_visit_seconds: float | None,
    rng: np.random.Generator,
) -> tuple[
    "np.ndarray[tuple[int, int], np.dtype[np.intp]]",
    "np.ndarray[tuple[int, int], np.dtype[np.float64]]",
    "np.ndarray[tuple[int, int], np.dtype[np.bool_]]",
]:
    """Return the visit of each read, its dwell time and whether the visit's end cut it.

    The end of an exponential visit has no memory, so each read is cut with a time of its own.
    """
    if mean_visit_seconds is None:
        return np.ones(seconds.shape, dtype=np.intp), seconds, np.zeros(seconds.shape, dtype=bool)
    left = rng.exponential(mean_visit_seconds, seconds.shape)
    cut = left < seconds
    before = np.concatenate([np.zeros((len(cut), 1), dtype=bool), cut[:, :-1]], axis=1)
    return 1 + np.cumsum(before, axis=1), np.minimum(seconds, left), cut


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
