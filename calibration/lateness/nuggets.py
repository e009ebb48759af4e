"""A test whether nuggets differ in how often they are of use, whoever is asked and however late they come.

With r_uj the sum of (y - p) / (1 - p) over the answers y of worker u on nugget j, p the share of useful updates at their lateness (what a
nugget's own p0 moves, per unit), and workers independent of each other,

    T = sum_{u != v} a_uv,    a_uv = sum_j r_uj r_vj

has mean 0 where nuggets do not differ, but for what the fitted shares take away, and variance 2 sum_{u != v} a_uv^2: workers who differ in
how often anything is of use to them do not move it. A score test of a variance (Liang 1987), nearly chi-squared with as many degrees
of freedom as nuggets.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from calibration.lateness.likelihood import LatenessCounts

MOST_WORKERS = 1000
"""Above so many, only so many of them, evenly chosen, enter a test: they are plenty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NuggetTest:
    """How far nuggets differ.

    Attributes
    ----------
    nuggets : int
        That were asked about.
    p_value : float
        How often chance brings about as much.
    """

    nuggets: int
    p_value: float


def nugget_test(counts: LatenessCounts) -> NuggetTest | None:
    """Test whether nuggets differ; None where no nugget was asked of two workers, or all were the same."""
    counts = thinned(counts)
    crossing, by_nugget = counts.crossing, counts.by_nugget
    if crossing is None or by_nugget is None or by_nugget.workers < 2:
        return None
    share = counts.total_useful / counts.total_asked
    weight = 1 / (1 - counts.total_useful / (counts.total_asked + 1))
    residual = np.zeros((counts.workers, by_nugget.workers))
    residual[crossing.worker, crossing.nugget] = (crossing.useful - crossing.asked * share) @ weight
    together = residual @ residual.T
    np.fill_diagonal(together, 0.0)
    deviation = np.sqrt(2 * (together**2).sum())
    if deviation == 0:
        return None
    own = (residual**2).sum(axis=0)
    fitted = share * (1 - share) * weight**2 @ ((by_nugget.asked**2).sum(axis=0) / counts.total_asked)
    effective = own.sum() ** 2 / (own**2).sum()
    value = effective + np.sqrt(2 * effective) * (together.sum() + fitted) / deviation
    return NuggetTest(nuggets=by_nugget.workers, p_value=float(chi2.sf(value, effective)))


def thinned(counts: LatenessCounts) -> LatenessCounts:
    """Return the answers of at most `MOST_WORKERS` workers."""
    if counts.workers <= MOST_WORKERS:
        return counts
    return counts.of(np.linspace(0, counts.workers - 1, MOST_WORKERS).astype(np.intp))
