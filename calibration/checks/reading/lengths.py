"""Does time follow length?

Lengths that are too much alike cannot show it, and a fixed time per item breaks the proportion.
"""

import math

import numpy as np
from scipy.special import ndtri, stdtr

from calibration.checks.finding import Finding, warn_if
from calibration.checks.reading.alike_times import NOT_READING
from calibration.inference.clusters import couple_codes, jackknife_covariance, two_way
from calibration.inference.formatting import format_p
from calibration.models.reading.fit import ReadingSpeedFit
from calibration.models.reading.items import near_reads
from calibration.models.reading.medians import MedianFit
from calibration.models.reading.mixture import reading_sample
from calibration.models.reading.rows import TimedReads
from metrics.arrays import Floats, Indices, Ints

FEW_CUT = 0.1
MIN_RANGE = 3.0
MIN_SLOPE = 0.1
"""Smallest slope that matters.

Below it an item of twice the length takes 1.87 to 2.14 times as long.
"""
_NOTHING = 1e-12


def check_range_of_lengths(fit: ReadingSpeedFit, data: TimedReads) -> Finding | None:
    """Warn if items are too alike in length to show whether time follows it."""
    low, high = np.exp(np.quantile(data.log_length, [0.025, 0.975]))
    return warn_if(
        high < MIN_RANGE * low,
        "narrow_lengths",
        f"The items are of {low:.0f} to {high:.0f} {data.unit}: time per {data.unit.removesuffix('s')} cannot be told from a fixed "
        "time per item.",
    )


def check_time_per_item(fit: ReadingSpeedFit, data: TimedReads) -> Finding | None:
    """Test whether the log of speed is the same whatever the length."""
    slope, p_value = length_slope(data, reading_sample(data).medians)
    if math.isnan(slope) or abs(slope) <= MIN_SLOPE:
        return None
    more = "more" if slope > 0 else "less"
    return Finding(
        name="time_per_item",
        p_value=p_value,
        explains=NOT_READING,
        gain=float(ndtri(max(p_value, 1e-300) / 2)) ** 2 / 2,
        sentence=f"An item of twice the length takes {2 ** (1 - slope):.2f} times as long ({format_p(p_value)}): {more} "
        "time per item than its length explains goes into short ones, and the speed is one of items of these lengths.",
    )


def length_slope(data: TimedReads, medians: MedianFit) -> tuple[float, float]:
    """Return the slope of log speed on log length within workers, and its p.

    Both are NaN where the slope is not identified.

    Least squares on the near reads, both sides centred by worker. Zero if time is in proportion to length; positive if every
    item costs some time beside its length. Its variance is the two-way jackknife over workers and items, since an item that is
    hard for all has one length; Student's t. Where more than a tenth of the reads were interrupted it is not told: long items
    are cut more often. Nor is it where reads do not scatter around the line.
    """
    rows = near_reads(data, medians)
    if data.cut.mean() > FEW_CUT or not rows.any():
        return math.nan, math.nan
    worker, item = (np.unique(code[rows], return_inverse=True)[1] for code in (data.worker, data.item))
    df = min(worker.max(), item.max())
    x, y = (_centred(values[rows], worker) for values in (data.log_length, data.log_speed))
    square = float(x @ x)
    if square < _NOTHING or df < 1:
        return math.nan, math.nan
    slope = float(x @ y) / square
    if float(np.square(y - slope * x).mean()) < _NOTHING:  # computed times: all in proportion to each other
        return math.nan, math.nan
    by_worker, by_item, by_both = (
        _jackknifed(x, y, code) for code in (worker, item, couple_codes(worker, item))
    )
    error = math.sqrt(max(two_way(by_worker, by_item, by_both).item(), by_both.item()))
    return slope, float(2 * stdtr(df, -abs(slope) / error))


def _jackknifed(x: Floats, y: Floats, code: Ints) -> Floats:
    """Return the jackknife variance of a slope over clusters, (1, 1)."""
    left = x @ x - np.bincount(code, x * x)
    without = (x @ y - np.bincount(code, x * y)) / np.maximum(left, _NOTHING)
    return jackknife_covariance(without[:, None])


def _centred(values: Floats, worker: Indices) -> Floats:
    return np.asarray(values - (np.bincount(worker, values) / np.bincount(worker))[worker])
