"""Fit of reading speed over workers: mean and spread of log words per second.

The workers' mean log speeds are normal with mean mu and standard deviation sigma.

`rows` selects the rows of table reads that count. The law of a read and its likelihood are in `law` and `mixture`, the error
due to items in `items`.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import ndtri

from calibration.inference.formatting import BAND, band_label, label_axes, tails
from calibration.inference.results import LEVEL, CalibrationResult, NotIdentifiedError, info
from calibration.inference.uncertainty import Scale, StudentT
from calibration.models.reading.items import ItemEffects, item_effects
from calibration.models.reading.law import (
    ANYTHING,
    EXTRA_VARIANCES,
    OFFSETS,
    SimulatedReaders,
    simulate_reads,
)
from calibration.models.reading.medians import MedianFit, worker_medians
from calibration.models.reading.mixture import N_FREE, MixtureFit, fit_mixture, reading_sample
from calibration.models.reading.rows import TimedReads
from calibration.user_model.model import Diagnostic
from metrics.arrays import Floats, Ints
from metrics.errors import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MU, SIGMA = NAMES = ("reading_speed_mu", "reading_speed_sigma")
SCALES = (Scale.IDENTITY, Scale.LOG)
MIN_WORKERS = 3
_MIN_SPREAD_SE = 2.0
_ONE_SPEED = 0.02
"""Largest difference of log speeds that count as equal: 2 % from rounded times."""
MAX_READS_A_WORKER, MAX_ROWS, MIN_STUDIES = 200, 300_000, 5
"""Limits of a simulation: reads of a worker, rows in all, and fewest studies.

The error of a median of so many reads is negligible beside sigma.
"""
_BINS = np.linspace(-4.5, 4.5, 61)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingSummary:
    """Summary of the reads, without single reads and without names.

    Attributes
    ----------
    medians, variances : (workers,) ndarray of float
        Median log speed of each worker, and its sampling variance; of workers who have one.
    complete, cut : (workers,) ndarray of int
        Reads of each worker.
    residuals : (60,) ndarray of int
        Complete reads by their distance from their worker's speed, in even bins from -4.5 to 4.5.
    lengths : (2,) ndarray of float
        Range of 95 % of the items, in words or characters.
    """

    medians: Floats
    variances: Floats
    complete: Ints
    cut: Ints
    residuals: Ints
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
    """Fitted reading speed over workers.

    Attributes
    ----------
    summaries : ReadingSummary
        Summary of the reads.
    """

    summaries: ReadingSummary

    def simulate(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
        """Draw table reads of ``n`` workers from the fitted model.

        Each has as many items, of the same lengths, as a worker of the data.

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

    def simulated_medians(self, rng: np.random.Generator, studies: int) -> Floats:
        """Return medians of simulated studies, (studies, workers).

        Each worker has as many reads as in the data.

        An interrupted read is cut at a uniform share of its time. Every study has people of its own; the errors of their medians come
        from `MAX_ROWS` drawn reads, or from five studies where these are more, and are reused by later studies.
        """
        (mu, sigma), kept = self.estimates, self.summaries
        share = np.minimum(1.0, MAX_READS_A_WORKER / (kept.complete + kept.cut))
        complete, cut_reads = (np.ceil(share * of).astype(np.intp) for of in (kept.complete, kept.cut))
        drawn = min(studies, max(MIN_STUDIES, MAX_ROWS // int((complete + cut_reads).sum())))
        reads = np.tile(complete + cut_reads, drawn)
        worker = np.repeat(np.arange(len(reads)), reads)
        rank = np.arange(len(worker)) - np.repeat(np.cumsum(reads) - reads, reads)
        cut = rank >= np.tile(complete, drawn)[worker]
        law = np.searchsorted(np.cumsum(self._shares())[:3], rng.random(len(worker)), side="right")
        speed = OFFSETS[law] + self._spreads()[law] * rng.normal(size=len(worker))
        seen = np.where(cut, speed - np.log(rng.uniform(size=len(worker))), speed) if cut.any() else speed
        apart = worker_medians(
            TimedReads(worker=worker, log_speed=seen, cut=cut, log_length=speed, item=rank)
        )
        own = rng.normal(mu, sigma, (studies, len(complete)))
        own += apart.reshape(drawn, -1)[np.arange(studies) % drawn]
        return np.where(np.isnan(own), mu, own)

    def plot_qq(self, ax: "Axes", *, level: float = LEVEL, n_boot: int = 199, seed: int = 1) -> None:
        """Plot the workers' median log speeds against normal quantiles.

        An envelope of simulated studies lies behind them.

        The envelope is pointwise and holds a share ``level`` of the simulated studies at each place; medians of few
        reads are noisy, which the simulated ones are too.
        """
        rng = np.random.default_rng(seed)
        medians = np.sort(self.summaries.medians)
        n = len(medians)
        quantile = ndtri((np.arange(n) + 0.5) / n)
        simulated = np.sort(self.simulated_medians(rng, n_boot), axis=1)
        low, high = np.quantile(simulated, tails(level), axis=0)
        ax.fill_between(quantile, low, high, color=BAND, label=band_label(level))
        ax.plot(quantile, np.median(simulated, axis=0), color="0.4", linewidth=1, label="fitted model")
        ax.plot(quantile, medians, "o", color="#0072b2", markersize=4, label="workers")
        ax.set_xlabel("standard normal quantile")
        ax.set_ylabel(f"worker's median, {self.unit}")
        label_axes(
            ax,
            "Reading speed: workers' medians against the fitted normal law",
            "the points should mostly lie inside the band",
        )

    def plot_residuals(self, ax: "Axes", *, level: float = LEVEL) -> None:  # noqa: ARG002
        """Plot the residuals of complete reads with the fitted law and its parts.

        Residuals are distances from the worker's speed; the plot has no band.
        """
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
        label_axes(
            ax,
            "Reading speed: reads around their worker's speed",
            "the fitted law should follow the grey area",
        )

    def _readers(self) -> SimulatedReaders:
        mu, sigma = self.estimates
        return SimulatedReaders(
            mu=float(mu),
            sigma=float(sigma),
            tau=self.details["residual_scale"],
            idle=self.details["share_idle"],
            skimmed=self.details["share_skimmed"],
        )

    def _shares(self) -> Floats:
        idle, skimmed = self.details["share_idle"], self.details["share_skimmed"]
        return np.array([1 - idle - skimmed - ANYTHING, idle, skimmed, ANYTHING])

    def _spreads(self) -> Floats:
        return np.sqrt(self.details["residual_scale"] ** 2 + EXTRA_VARIANCES)


def fit_reading_speed(data: TimedReads) -> ReadingSpeedFit:
    """Fit mean and spread of log reading speed over workers.

    The estimates maximise the marginal likelihood.

    Parameters
    ----------
    data : TimedReads
        As `calibration.models.reading.rows.readings` makes them of table reads.

    Returns
    -------
    ReadingSpeedFit
        With ``reading_speed_mu`` and ``reading_speed_sigma``. Interval method: ``two_way``, Student's t on (mu, log sigma) over workers,
        and for mu over the items that several of them read.

    Raises
    ------
    NotIdentifiedError
        If fewer than 3 workers read two items to their ends (with one each, the spread over workers and the
        spread over items are one number), if nearly everybody was interrupted in more than half of their
        reads, if workers differ by no more than chance, or if the likelihood has no maximum inside its bounds.
    """
    check_identified(data)
    _, medians, top = reading_sample(data)
    fit = None if top is None else fit_mixture(top)
    spread = medians.cov if fit is None else fit.cov
    if not np.isfinite(spread).all() or math.sqrt(spread[1, 1]) > _MIN_SPREAD_SE:
        raise NotIdentifiedError(
            f"the speeds of {data.n_workers} workers differ by no more than chance: their spread is not known"
        )
    if fit is None:
        raise NotIdentifiedError(
            f"the likelihood of the reads of {data.n_workers} workers, some idle and some skimmed, has no maximum inside its bounds: "
            "the spread of workers cannot be separated from that of their reads"
        )
    effects = item_effects(data, medians)
    unit = f"log {data.unit} per second"
    return ReadingSpeedFit(
        parameters=MappingProxyType(dict(zip(NAMES, (fit.mu, fit.sigma), strict=True))),
        unit=unit,
        units=MappingProxyType(dict.fromkeys(NAMES, unit)),
        method="mixture likelihood",
        uncertainty=MappingProxyType({"two_way": _uncertainty(data, fit, effects)}),
        n_workers=data.n_workers,
        n_rows=len(data.worker),
        n_censored=int(data.cut.sum()),
        loglik=fit.loglik,
        n_free=N_FREE,
        details=MappingProxyType(_details(data, fit, effects)),
        diagnostics=(*_rates(data, fit),),
        summaries=ReadingSummary.of(data, medians, fit.centres),
    )


def _uncertainty(data: TimedReads, fit: MixtureFit, effects: ItemEffects) -> StudentT:
    """Return the error over workers and, if several read an item, over items.

    The degrees of freedom are Satterthwaite's for the sum of both variances, or the workers' alone without a
    part of items.
    """
    both, workers = fit.cov + np.diag([effects.mu_variance, 0.0]), data.n_workers - 1
    of_items = effects.mu_variance**2 / max(effects.items - 1, 1)
    df = both[0, 0] ** 2 / (fit.cov[0, 0] ** 2 / workers + of_items)
    return StudentT(centre=np.array([fit.mu, math.log(fit.sigma)]), cov=both, df=float(df), scale=SCALES)


def check_identified(data: TimedReads) -> None:
    """Check that reads identify mean and spread over workers.

    Raises
    ------
    NotIdentifiedError
        If they cannot.
    """
    complete = np.bincount(data.worker[~data.cut], minlength=data.n_workers)
    why = ", ".join(f"{count} {reason}" for reason, count in data.left_out.items())
    left_out = f" (rows not used: {why})" if why else ""
    if not len(complete):
        raise NotIdentifiedError(
            f"no read of an iUnit, update or entry of a list with a number of {data.unit} can be used{left_out}"
        )
    if (complete > 0).sum() < MIN_WORKERS:
        raise NotIdentifiedError(
            f"{(complete > 0).sum()} workers read something to its end, {MIN_WORKERS} are needed{left_out}"
        )
    if (complete > 1).sum() < MIN_WORKERS:
        raise NotIdentifiedError(
            f"fewer than {MIN_WORKERS} workers read two items to their ends: the spread of workers cannot be separated from "
            "that of one worker's reads"
        )
    if (~np.isnan(worker_medians(data))).sum() < MIN_WORKERS:
        raise NotIdentifiedError(
            "more than half of what nearly every worker read was interrupted by the end of a visit"
        )
    log_speed = data.log_speed[~data.cut]
    if np.ptp(log_speed) < _ONE_SPEED:
        speed = f"{math.exp(float(np.median(log_speed))):.3g} {data.unit} a second"
        raise NotIdentifiedError(
            f"all {len(log_speed)} reads have one speed, {speed}: people's times differ, so these were computed and not "
            "measured"
        )


def _details(data: TimedReads, fit: MixtureFit, effects: ItemEffects) -> dict[str, float]:
    low, high = np.quantile(np.exp(data.log_length), [0.025, 0.975])
    return {
        "residual_scale": fit.tau,
        "share_idle": fit.idle,
        "share_skimmed": fit.skimmed,
        "share_interrupted": float(data.cut.mean()),
        "reads_per_worker": len(data.worker) / data.n_workers,
        "shared_items": float(effects.items),
        "item_spread": effects.spread,
        "short_length": float(low),
        "long_length": float(high),
    }


def _rates(data: TimedReads, fit: MixtureFit) -> Iterator[Diagnostic]:
    """Yield sentences on mu and the shares of reads."""
    per_second = math.exp(fit.mu)
    yield info(
        "reading_rate",
        f"The median worker reads exp(mu) = {per_second:.2g} {data.unit} a second, {60 * per_second:.0f} a minute.",
    )
    yield info(
        "outlying_reads",
        f"By the fit {percent(fit.idle)} of the reads have an idle pause in them and {percent(fit.skimmed)} were skimmed.",
    )
