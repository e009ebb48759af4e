"""The interval of the vote-weighted agreement: over queries and over workers at once.

Without a majority step the agreement is a mean over votes, and both the queries and the people are samples. With V_c the
cluster-robust variance over clusters c,

    V = V_query + V_worker - V_both,    at least V_query,

where the clusters of V_both share query and worker (Cameron, Gelbach and Miller 2011). Student's t has min(queries,
workers) - 1 degrees of freedom. Where every worker judges one query it is the interval over queries alone. A majority
is no mean over votes, and workers are not resampled there: that would break majorities.
"""

import math

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit

from calibration.judged_task import WORTH, JudgedTask
from metrics.agreement import pair_credit

Floats = NDArray[np.float64]


def weighted_interval(task: JudgedTask, difference: Floats, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of the vote-weighted agreement of one measure.

    Parameters
    ----------
    task : JudgedTask
        With p pairs and n judgments.
    difference : (p,) ndarray of float
        Score of system_a less that of system_b.
    level : float
        Confidence level.

    Returns
    -------
    (float, float)
        Cut at 0 and 1; of a single worker over queries alone; NaN for a single query, or without variation.
    """
    value = float(pair_credit(difference, task.share, ties="weighted").mean())
    reach = weighted_reach(task, difference, level)
    return (max(0.0, value - reach), min(1.0, value + reach)) if reach > 0 else (math.nan, math.nan)


def weighted_reach(task: JudgedTask, difference: Floats, level: float = 0.95) -> float:
    """Return half the width of `weighted_interval`, uncut; NaN where there is none. Parameters as there."""
    pairs, judged = task.pairs, task.judgments
    couple = ["topic", "system_a", "system_b"]
    number = pd.Series(np.arange(len(pairs)), index=pd.MultiIndex.from_frame(pairs[couple]))
    of_vote = number.loc[pd.MultiIndex.from_frame(judged[couple])].to_numpy()
    for_a = judged["vote"].map(WORTH).to_numpy(np.float64)
    credit = 0.5 + np.sign(difference)[of_vote] * (for_a - 0.5)
    value = pair_credit(difference, task.share, ties="weighted").mean()
    votes = pairs["votes"].to_numpy(np.float64)[of_vote]
    influence = (credit - value) / (votes * len(pairs))
    query, worker = (pd.factorize(judged[name])[0] for name in ("topic", "worker"))
    error = _two_way_error(influence, query, worker)
    units = min(query.max(), worker.max() or query.max()) + 1
    return float(stdtrit(units - 1, (1 + level) / 2)) * error if units > 1 and error > 0 else math.nan


def _two_way_error(influence: Floats, query: NDArray[np.intp], worker: NDArray[np.intp]) -> float:
    both = query * (worker.max() + 1) + worker
    by_query, by_worker, by_both = (_variance(influence, code) for code in (query, worker, both))
    return math.sqrt(max(by_query, by_query + by_worker - by_both))


def _variance(influence: Floats, cluster: NDArray[np.intp]) -> float:
    """Return c / (c - 1) sum over the c clusters of (their influence)^2; 0 for one cluster, and for rounding errors."""
    sums = pd.Series(influence).groupby(cluster).sum().to_numpy()
    if sums.size < 2:
        return 0.0
    variance = float(sums.size / (sums.size - 1) * (sums**2).sum())
    return variance if variance > 1e-24 else 0.0
