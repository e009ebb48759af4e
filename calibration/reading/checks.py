"""Checks of what a fit of reading speed takes for granted: times in proportion to lengths, dwell times as they were."""

import math
from collections.abc import Iterator

import numpy as np
from scipy.special import stdtr

from calibration.inference.clusters import between_clusters
from calibration.inference.results import warning
from calibration.reading.medians import MAD_TO_SD, MedianFit
from calibration.reading.rows import Readings
from calibration.user_model.model import Diagnostic

LEAST_RANGE = 3.0
LEAST_SLOPE = 0.1
MANY_CUT = 0.5
FEW_CUT = 0.1
FEW_WORKERS = 20
AT_THE_SHORTEST = 0.05
LEAST_ROWS = 40
SIGNIFICANT = 0.01
_NEAR = 1.01
_OUTLYING = 3.0


def reading_notes(data: Readings, medians: MedianFit) -> Iterator[Diagnostic]:
    """Yield a diagnostic for every assumption that the reads speak against, or cannot speak about."""
    if data.of_lists:
        yield warning(
            "from_lists",
            "All reads are entries of ranked lists, which people scan to compare two lists: this is how fast they judged "
            "such lists, and not how fast they read a text.",
        )
    if data.n_workers < FEW_WORKERS:
        yield warning(
            "few_workers", f"With {data.n_workers} workers the spread over people is known only roughly."
        )
    if data.cut.mean() > MANY_CUT:
        yield warning(
            "many_interrupted",
            f"{data.cut.mean():.0%} of the reads were interrupted by the end of the visit: slow reading is extrapolated.",
        )
    yield from _length_notes(data, medians)
    yield from _shortest_note(data)


def _length_notes(data: Readings, medians: MedianFit) -> Iterator[Diagnostic]:
    low, high = np.exp(np.quantile(data.log_length, [0.025, 0.975]))
    if high < LEAST_RANGE * low:
        yield warning(
            "narrow_lengths",
            f"The items are of {low:.0f} to {high:.0f} words or characters: time per word cannot be told from a fixed time "
            "per item.",
        )
        return
    slope, p_value = length_slope(data, medians)
    if p_value < SIGNIFICANT and abs(slope) > LEAST_SLOPE:
        more = "more" if slope > 0 else "less"
        yield warning(
            "time_per_item",
            f"An item of twice the length takes {2 ** (1 - slope):.2f} times as long (p = {p_value:.2g}): {more} "
            "time per item than its length explains goes into short ones, and the speed is one of items of these lengths.",
        )


def length_slope(data: Readings, medians: MedianFit) -> tuple[float, float]:
    """Return the slope of log speed on log length within workers, and its p-value; (nan, nan) where it cannot be told.

    Least squares on reads within 3 tau of their worker's median, both sides centred by worker; variance
    clustered by worker, t. Zero if time is in proportion to length; positive if every item costs some time
    beside its length. Where more than a tenth of the reads were interrupted it is not told: long items are
    cut more often. Nor is it where reads do not scatter around the line.
    """
    tau = medians.tau
    residual = data.log_speed - medians.medians[data.worker]
    rows = ~data.cut & (np.abs(residual) < _OUTLYING * tau)
    if data.cut.mean() > FEW_CUT or not rows.any():
        return math.nan, math.nan
    worker = np.unique(data.worker[rows], return_inverse=True)[1]
    workers = int(worker.max()) + 1
    reads = np.bincount(worker)
    x = data.log_length[rows] - (np.bincount(worker, data.log_length[rows]) / reads)[worker]
    y = residual[rows] - (np.bincount(worker, residual[rows]) / reads)[worker]
    square = float(x @ x)
    if square <= 0 or workers < 2:
        return math.nan, math.nan
    slope = float(x @ y) / square
    score = np.bincount(worker, x * (y - slope * x))
    error = math.sqrt(float(between_clusters(score))) / square
    if error == 0:  # every worker's reads are in proportion to each other, as where times were computed
        return math.nan, math.nan
    return slope, float(2 * stdtr(workers - 1, -abs(slope) / error))


def _shortest_note(data: Readings) -> Iterator[Diagnostic]:
    """Warn of many complete dwell times next to the shortest one."""
    seconds = np.exp(data.log_length - data.log_speed)[~data.cut]
    shortest = float(seconds.min())
    share = float((seconds <= _NEAR * shortest).mean())
    if len(seconds) >= LEAST_ROWS and share > AT_THE_SHORTEST:
        yield warning(
            "minimum_dwell",
            f"{share:.0%} of the dwell times are {shortest:.3g} s, the shortest there is: a least time on the page, or clocks "
            "that count whole seconds, make fast readers look slower.",
        )


def outlying_share(data: Readings, medians: MedianFit) -> float:
    """Return the share of complete reads further than 3 MAD from their worker's median; 4 % of normal ones are."""
    residual = (data.log_speed - medians.medians[data.worker])[~data.cut]
    return float((np.abs(residual) > _OUTLYING * medians.tau / MAD_TO_SD).mean())
