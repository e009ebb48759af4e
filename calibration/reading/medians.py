"""Reading speed by medians, and the baselines that are more usual still.

Reading speed by medians: each worker's median log speed, then a normal population of medians.

y_u = median of worker u's log speeds (Kaplan-Meier, where reads were interrupted)
s_u^2 = (pi / 2) tau^2 / (n_u + pi / 2 - 1),  tau = 1.4826 MAD of all residuals
y_u ~ N(mu, sigma^2 + s_u^2)

s_u^2 is the variance of a median of n normal values, exact for n = 1 and for large n. One pooled tau: a
worker's own MAD of ten reads is too noisy to weigh by. Medians shrug off a few idle or skimmed reads, not a
third of them: the mixture of `calibration.reading.mixture` does.

What not to do with reading times: the usual ways of computing reading speed, as baselines.

Each takes table reads like `calibration.reading.fit.fit_reading_speed` and returns the same two parameters.
What is wrong with each stands in its docstring, with the bias measured at a true mu of 1.290 and sigma of
0.558 (100 workers, 20 items). nan where there are fewer than two workers.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import pandas as pd
from scipy.optimize import minimize

from calibration.reading.rows import TimedReads, readings
from metrics.arrays import Floats, Places

MEDIAN_VARIANCE = math.pi / 2
MAD_TO_SD = 1.4826
_LEAST_TAU = 0.02
_LEAST_SHARE = 1e-3  # of sigma in the spread of medians; stands for "none"
_TIE = 1e-9
_MUCH_ALIKE = 4
"""So many times as many cells as reads may stand in a table of workers and their reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MedianFit:
    """The fit by medians.

    Attributes
    ----------
    mu, sigma, tau : float
        Mean and standard deviation of log speeds over workers; scale of one read around its worker's.
    medians, variances : (workers,) ndarray of float
        y_u and s_u^2; nan and inf for a worker more than half of whose reads were interrupted.
    loglik : float
        Of the medians.
    cov : (2, 2) ndarray of float
        Of (mu, log sigma), from the observed information; nan where it has no inverse.
    """

    mu: float
    sigma: float
    tau: float
    medians: Floats
    variances: Floats
    loglik: float
    cov: Floats


def fit_medians(data: TimedReads) -> MedianFit:
    """Fit the population of medians.

    Parameters
    ----------
    data : TimedReads
        Of at least two workers with a median, one of them with two complete reads.

    Returns
    -------
    MedianFit
        sigma is next to 0 where medians differ by no more than chance.
    """
    medians = worker_medians(data)
    tau = residual_scale(data, medians)
    reads = np.bincount(data.worker[~data.cut], minlength=data.n_workers)
    variances = np.where(
        np.isnan(medians), np.inf, MEDIAN_VARIANCE * tau**2 / (np.maximum(reads, 1) + MEDIAN_VARIANCE - 1)
    )
    known = np.isfinite(variances)
    mu, sigma, loglik = normal_population(medians[known], variances[known])
    cov = _covariance(medians[known], variances[known], mu, sigma)
    return MedianFit(
        mu=mu, sigma=sigma, tau=tau, medians=medians, variances=variances, loglik=loglik, cov=cov
    )


def bootstrap_medians(fit: MedianFit, counts: Floats) -> Floats:
    """Fit samples of workers.

    Parameters
    ----------
    fit : MedianFit
        The fit of all workers.
    counts : (samples, workers) ndarray of float
        How often each worker is in each sample.

    Returns
    -------
    (samples, 2) ndarray of float
        mu and log sigma.
    """
    known = np.isfinite(fit.variances)
    y, variances = fit.medians[known], fit.variances[known]
    fits = [normal_population(y, variances, weights)[:2] for weights in counts[:, known]]
    return np.array([(mu, math.log(sigma)) for mu, sigma in fits])


def worker_medians(data: TimedReads) -> Floats:
    """Return each worker's median log speed by Kaplan and Meier; nan where the curve does not come down to a half.

    The slower end is the censored one: a cut read with bound x is one that took longer than it looks, so
    times at risk run from the fastest read to the slowest. Where exactly half is left between two reads the
    median is the middle of them.

    Returns
    -------
    (workers,) ndarray of float
    """
    reads = np.bincount(data.worker)
    if not data.cut.any() and len(reads) * reads.max(initial=0) < _MUCH_ALIKE * len(data.worker):
        return _middles(data.log_speed, reads)
    order = np.lexsort((data.cut, -data.log_speed, data.worker))
    worker, x, event = data.worker[order], data.log_speed[order], ~data.cut[order]
    begins = np.searchsorted(worker, np.arange(data.n_workers + 1))
    at_risk = begins[worker + 1] - np.arange(len(x))
    # a last read at risk ends the curve; any factor below a half of what is left does as well, and its log is finite
    log_factor = np.where(event, np.log(np.maximum(1 - 1 / at_risk, 1e-9)), 0.0)
    total = np.append(0.0, np.cumsum(log_factor))
    log_left = total[1:] - total[begins[worker]]
    rows = np.flatnonzero(event)
    low = _first_per_worker(worker, x, rows[log_left[rows] <= math.log(0.5) + _TIE], data.n_workers)
    beyond = _first_per_worker(worker, x, rows[log_left[rows] < math.log(0.5) - _TIE], data.n_workers)
    return np.where(np.isnan(beyond), low, (low + beyond) / 2)


def _middles(log_speed: Floats, reads: Places) -> Floats:
    """Return medians of complete reads, from a table with a row for each worker that is sorted at once."""
    table = np.full((len(reads), int(reads.max())), np.inf)
    table[np.arange(table.shape[1]) < reads[:, None]] = log_speed
    table.sort(axis=1)
    row = np.arange(len(reads))
    return np.asarray((table[row, (reads - 1) // 2] + table[row, reads // 2]) / 2)


def _first_per_worker(
    worker: "np.ndarray[tuple[int], np.dtype[np.intp]]",
    x: Floats,
    rows: "np.ndarray[tuple[int], np.dtype[np.intp]]",
    workers: int,
) -> Floats:
    values = np.full(workers, np.nan)
    values[worker[rows][::-1]] = x[rows][::-1]
    return values


def residual_scale(data: TimedReads, medians: Floats) -> float:
    """Return tau: 1.4826 MAD of the complete reads around their workers' medians.

    Corrected for medians of few reads. Of an odd number one read is the median itself and is left out; an
    even number is drawn to its median, and its residuals are stretched by 1 + 1.6 (n - 1) / n^2 (found by
    simulation; within 7 %).
    """
    complete = np.bincount(data.worker[~data.cut], minlength=data.n_workers)
    residual = np.abs(data.log_speed - medians[data.worker])
    rows = ~data.cut & (complete[data.worker] > 1) & (residual > 0)
    n = complete[data.worker[rows]]
    stretch = np.where(n % 2 == 0, 1 + 1.6 * (n - 1) / n**2, 1.0)
    return (
        max(MAD_TO_SD * float(np.median(residual[rows] * stretch)), _LEAST_TAU) if rows.any() else _LEAST_TAU
    )


def normal_population(
    y: Floats, variances: Floats, weights: Floats | None = None
) -> tuple[float, float, float]:
    """Return mu, sigma and the log-likelihood of y_u ~ N(mu, sigma^2 + s_u^2); mu is profiled out.

    sigma maximises the restricted likelihood, l - log(sum 1 / (sigma^2 + s_u^2)) / 2: that mu had to be estimated too makes
    the unrestricted one too small by half a worker in as many as there are.

    Parameters
    ----------
    y, variances : (workers,) ndarray of float
        Medians and their s_u^2.
    weights : (workers,) ndarray of float, optional
        How often each counts; once by default.
    """
    weights = np.ones_like(y) if weights is None else weights
    spread = max(float(y.std()), _LEAST_TAU)

    def loss(log_sigma: Floats) -> float:
        mu, total = _mean_and_variance(y, variances, weights, math.exp(log_sigma[0]))
        return _deviance(y, mu, weights, total) / 2 + 0.5 * math.log(float((weights / total).sum()))

    start = math.log(math.sqrt(max(spread**2 - float(variances.mean()), 0.04 * spread**2)))
    bounds = [(math.log(_LEAST_SHARE * spread), math.log(10 * spread))]
    found = minimize(loss, [start], method="L-BFGS-B", bounds=bounds)
    sigma = math.exp(float(found.x[0]))
    mu, total = _mean_and_variance(y, variances, weights, sigma)
    return mu, sigma, -_deviance(y, mu, weights, total) / 2


def _deviance(y: Floats, mu: float, weights: Floats, total: Floats) -> float:
    return float((weights * (np.log(2 * math.pi * total) + (y - mu) ** 2 / total)).sum())


def _mean_and_variance(y: Floats, variances: Floats, weights: Floats, sigma: float) -> tuple[float, Floats]:
    total = sigma**2 + variances
    return float((weights * y / total).sum() / (weights / total).sum()), total


def _covariance(y: Floats, variances: Floats, mu: float, sigma: float) -> Floats:
    """Invert the observed information in (mu, log sigma)."""
    total = sigma**2 + variances
    e = y - mu
    first = 0.5 * (e**2 / total**2 - 1 / total)
    second = 0.5 / total**2 - e**2 / total**3
    slope = 2 * sigma**2
    cross = float((e * slope / total**2).sum())
    information = np.array(
        [
            [float((1 / total).sum()), cross],
            [cross, -float((second * slope**2 + first * 2 * slope).sum())],
        ]
    )
    if information[0, 0] * information[1, 1] <= cross**2 or information[1, 1] <= 0:
        return np.full((2, 2), np.nan)
    return np.linalg.inv(information)


SPEED_WINDOW = (0.8, 15.0)
"""Words per second that are taken for reading by convention."""
ReadingSpeed: TypeAlias = dict[str, float]


def naive_pooled(reads: pd.DataFrame, *, language: str | None = None) -> ReadingSpeed:
    """Mean and standard deviation of all log speeds: the spread of reads within workers goes into sigma (twice too wide)."""
    data = readings(reads, language=language)
    return _moments(data.log_speed if data.n_workers > 1 else data.log_speed[:0])


def naive_totals(reads: pd.DataFrame, *, language: str | None = None) -> ReadingSpeed:
    """Each worker's words divided by all their seconds: a single idle read outweighs all others (mu -0.6 with 15 % idle reads)."""
    data = readings(reads, language=language)
    length = np.bincount(data.worker, weights=np.exp(data.log_length))
    seconds = np.bincount(data.worker, weights=np.exp(data.log_length - data.log_speed))
    return _moments(np.log(length / seconds))


def naive_speed_window(reads: pd.DataFrame, *, language: str | None = None) -> ReadingSpeed:
    """Worker means of the speeds inside a window: slow and fast readers lose reads too (sigma 30 % too small)."""
    data = readings(reads, language=language)
    low, high = np.log(SPEED_WINDOW)
    return _moments(_worker_means(data.of((low <= data.log_speed) & (data.log_speed <= high))))


def naive_cut_is_complete(reads: pd.DataFrame, *, language: str | None = None) -> ReadingSpeed:
    """Interrupted reads taken for complete ones: everybody reads faster (mu +0.4 with visits of ten seconds)."""
    data = readings(reads, language=language)
    return _by_medians(replace(data, cut=np.zeros_like(data.cut)))


def naive_cut_is_dropped(reads: pd.DataFrame, *, language: str | None = None) -> ReadingSpeed:
    """Interrupted reads left out: long reads are interrupted more often, and the slowest readers vanish."""
    data = readings(reads, language=language)
    return _by_medians(data.of(~data.cut))


NAIVE: MappingProxyType[str, Callable[..., ReadingSpeed]] = MappingProxyType(
    {
        "pooled": naive_pooled,
        "totals": naive_totals,
        "speed_window": naive_speed_window,
        "cut_is_complete": naive_cut_is_complete,
        "cut_is_dropped": naive_cut_is_dropped,
    }
)
"""All of them by name."""


def _worker_means(data: TimedReads) -> Floats:
    return np.asarray(np.bincount(data.worker, weights=data.log_speed) / np.bincount(data.worker))


def _moments(logs: Floats) -> ReadingSpeed:
    return (
        _named(float(logs.mean()), float(logs.std(ddof=1))) if len(logs) > 1 else _named(math.nan, math.nan)
    )


def _by_medians(data: TimedReads) -> ReadingSpeed:
    if data.n_workers < 2:
        return _named(math.nan, math.nan)
    fit = fit_medians(data)
    return _named(fit.mu, fit.sigma)


def _named(mu: float, sigma: float) -> ReadingSpeed:
    return {"reading_speed_mu": mu, "reading_speed_sigma": sigma}
