"""Effects of items on reading speed, with items as a sample beside the workers.

An item that is hard to read makes every reader slower at once:

    x_ui = theta_u + b_i + e,    b_i ~ (0, s^2)

Only reads by which workers and items can be told apart take part: complete, and within 3 tau of their worker's median. s^2 is
the moment estimate of Henderson (1953, method 3): what items explain beyond workers, less what chance would. mu moves with
sum_i p_i b_i, where p_i is the share of item i in mu, so its variance grows by s^2 sum_i p_i^2.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.sparse import block_array, coo_array, csc_array, hstack
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import lsqr
from scipy.special import fdtrc

from calibration.models.reading.medians import MedianFit
from calibration.models.reading.rows import TimedReads
from metrics.arrays import Bools, Floats, Indices

_NEAR = 3.0
_NOTHING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemEffects:
    """Spread of item effects, and the variance that it adds to mu.

    Attributes
    ----------
    items : int
        How many were read by two workers or more.
    spread : float
        s, of log speeds; 0 where items differ by no more than chance would have it.
    p_value : float
        Of no difference between items, by F; nan where it cannot be told.
    mu_variance : float
        What items add to the variance of mu.
    """

    items: int = 0
    spread: float = 0.0
    p_value: float = math.nan
    mu_variance: float = 0.0


def item_effects(data: TimedReads, medians: MedianFit, slope: float = 0.0) -> ItemEffects:
    """Estimate the effects of items on log speeds beside workers.

    It first removes ``slope`` on log length.
    """
    usable = near_reads(data, medians)
    shared = usable & _read_by_several(data.item, usable)
    if not shared.any():
        return ItemEffects()
    worker, item = (np.unique(code[shared], return_inverse=True)[1] for code in (data.worker, data.item))
    residual = (data.log_speed - medians.medians[data.worker] - slope * data.log_length)[shared]
    by_worker, by_item = _dummies(worker), _dummies(item)
    read = by_worker.T @ by_item
    parts = connected_components(block_array([[None, read], [read.T, None]]), directed=False)[0]
    workers, items = by_worker.shape[1], by_item.shape[1]
    told, left = items - parts, len(item) - workers - items + parts
    if told < 1 or left < 1:
        return ItemEffects(items=items)
    alone, both = (_unexplained(residual, by) for by in (by_worker, hstack([by_worker, by_item])))
    noise = both / left
    if noise < _NOTHING:
        return ItemEffects(items=items)
    variance = max(0.0, (alone - both - told * noise) / (len(item) - workers))
    share = np.bincount(item, weights=_row_weights(data, medians, usable)[shared])
    return ItemEffects(
        items=items,
        spread=math.sqrt(variance),
        p_value=float(fdtrc(told, left, (alone - both) / told / noise)),
        mu_variance=variance * float(share @ share),
    )


def near_reads(data: TimedReads, medians: MedianFit) -> Bools:
    """Return which reads are complete and within 3 tau of their worker's median."""
    residual = data.log_speed - medians.medians[data.worker]
    return np.asarray(~data.cut & (np.abs(residual) < _NEAR * medians.tau))


def _read_by_several(item: Indices, rows: Bools) -> Bools:
    return np.asarray(np.bincount(item[rows], minlength=int(item.max()) + 1)[item] > 1)


def _dummies(code: Indices) -> csc_array:
    """Return the 0/1 matrix of group membership, (rows, groups)."""
    return coo_array((np.ones(len(code)), (np.arange(len(code)), code))).tocsc()


def _unexplained(y: Floats, design: csc_array) -> float:
    """Return the residual sum of squares of least squares."""
    return float(np.square(y - design @ lsqr(design, y, atol=1e-9, btol=1e-9)[0]).sum())


def _row_weights(data: TimedReads, medians: MedianFit, rows: Bools) -> Floats:
    """Return the weight of each usable read in mu.

    A worker's precision is the worker's weight, split evenly over the reads.
    """
    precision = 1 / (medians.sigma**2 + medians.variances)
    reads = np.bincount(data.worker[rows], minlength=data.n_workers)
    each = np.where(reads > 0, precision / np.maximum(reads, 1), 0.0)
    return np.asarray((each / (each @ reads))[data.worker])
