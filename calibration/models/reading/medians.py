"""Reading speed by medians: each worker's, then a normal law of medians.

y_u = median of worker u's log speeds (Kaplan-Meier, where reads were interrupted)
s_u^2 = (pi / 2) tau^2 / (n_u + pi / 2 - 1),  tau = 1.4826 MAD of all residuals
y_u ~ N(mu, sigma^2 + s_u^2)

s_u^2 is the variance of a median of n normal values, exact for n = 1 and for large n. One pooled tau: a
worker's own MAD of ten reads is too noisy to weigh by. Medians shrug off a few idle or skimmed reads, not a
third of them: here they are where the search of `calibration.models.reading.mixture` starts, and what checks look at.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from calibration.models.reading.rows import TimedReads
from metrics.arrays import Bools, Floats, Indices

MEDIAN_VARIANCE = math.pi / 2
MAD_TO_SD = 1.4826
_MIN_TAU = 0.02
_MIN_SHARE = 1e-3  # of sigma in the spread of medians; stands for "none"
_TIE = 1e-9
_MUCH_ALIKE = 4
"""Largest ratio of cells to reads in a table of workers by reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MedianFit:
    """Fit by medians.

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
    """Fit the normal law of the workers' medians.

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


def worker_medians(data: TimedReads) -> Floats:
    """Return each worker's median log speed by Kaplan and Meier, or nan.

    It is nan where the curve does not fall to a half.

    The slower end is the censored one: a cut read with bound x is one that took longer than it looks, so
    times at risk run from the fastest read to the slowest. Where exactly half is left between two reads the
    median is the middle of them.

    Returns
    -------
    (workers,) ndarray of float
    """
    reads = np.bincount(data.worker)
    are_alike = len(reads) * reads.max(initial=0) < _MUCH_ALIKE * len(data.worker)
    if are_alike and not data.cut.any():
        return _middles(data.log_speed, reads)
    order = (
        _order_in_table(data, reads) if are_alike else np.lexsort((data.cut, -data.log_speed, data.worker))
    )
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


def _middles(log_speed: Floats, reads: Indices) -> Floats:
    """Return each worker's median of complete reads."""
    table = _table(log_speed, reads)
    table.sort(axis=1)
    row = np.arange(len(reads))
    return np.asarray((table[row, (reads - 1) // 2] + table[row, reads // 2]) / 2)


def _order_in_table(data: TimedReads, reads: Indices) -> Indices:
    """Return the order by worker, speed (fastest first) and cut."""
    order = np.lexsort((_table(data.cut, reads), _table(-data.log_speed, reads)), axis=1)
    order += (np.cumsum(reads) - reads)[:, None]
    return order[np.arange(order.shape[1]) < reads[:, None]]


def _table(values: Floats | Bools, reads: Indices) -> Floats:
    """Return a row for each worker, filled up with infinity."""
    table = np.full((len(reads), int(reads.max())), np.inf)
    table[np.arange(table.shape[1]) < reads[:, None]] = values
    return table


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
    return max(MAD_TO_SD * float(np.median(residual[rows] * stretch)), _MIN_TAU) if rows.any() else _MIN_TAU


def normal_population(
    y: Floats, variances: Floats, weights: Floats | None = None
) -> tuple[float, float, float]:
    """Return mu, sigma and the log-likelihood of y_u ~ N(mu, sigma^2 + s_u^2).

    mu is profiled out.

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
    spread = max(float(y.std()), _MIN_TAU)

    def loss(log_sigma: Floats) -> float:
        mu, total = _mean_and_variance(y, variances, weights, math.exp(log_sigma[0]))
        return _deviance(y, mu, weights, total) / 2 + 0.5 * math.log(float((weights / total).sum()))

    start = math.log(math.sqrt(max(spread**2 - float(variances.mean()), 0.04 * spread**2)))
    bounds = [(math.log(_MIN_SHARE * spread), math.log(10 * spread))]
    minimum = minimize(loss, [start], method="L-BFGS-B", bounds=bounds)
    sigma = math.exp(float(minimum.x[0]))
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
