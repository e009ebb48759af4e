"""The interval of the vote-weighted agreement: over queries and over workers at once.

Without a majority step the agreement is a mean over votes, and both the queries and the people are samples. With V_c the
cluster-robust variance over clusters c,

    V = V_query + V_worker - V_both,    at least V_query,

where the clusters of V_both share query and worker (Cameron, Gelbach and Miller 2011). Student's t has min(queries,
workers) - 1 degrees of freedom. Where every worker judges one query it is the interval over queries alone. A majority
is no mean over votes, and workers are not resampled there: that would break majorities.
"""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit

from calibration.agree.judged_task import WORTH, JudgedTask
from metrics.agreement.agreement import pair_credit

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

NOTHING = 1e-24
"""Variances below are rounding errors."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VotesByPerson:
    """The votes on one task's p pairs with what they are samples of; one entry a judgment.

    Attributes
    ----------
    share : (p,) ndarray of float
        Vote share of system_a in every pair.
    pair, query, worker, both : (n,) ndarray of int
        Codes from 0 without holes; ``both`` is one of a query and worker.
    for_a : (n,) ndarray of float
        What the judgment adds to the share of system_a: 0, 0.5 or 1.
    weight : (n,) ndarray of float
        Its part in the mean over pairs.
    """

    share: Floats
    pair: Ints
    query: Ints
    worker: Ints
    both: Ints
    for_a: Floats
    weight: Floats

    def interval(self, difference: Floats, level: float = 0.95) -> tuple[float, float]:
        """Return the interval of the vote-weighted agreement of one measure.

        Parameters
        ----------
        difference : (p,) ndarray of float
            Score of system_a less that of system_b.
        level : float
            Confidence level.

        Returns
        -------
        (float, float)
            Cut at 0 and 1; of a single worker over queries alone; NaN for a single query, or without variation.
        """
        value = float(pair_credit(difference, self.share, ties="weighted").mean())
        reach = self.reach(difference, level)
        return (max(0.0, value - reach), min(1.0, value + reach)) if reach > 0 else (math.nan, math.nan)

    def reach(self, difference: Floats, level: float = 0.95) -> float:
        """Return half the width of the interval, uncut; NaN where there is none. Parameters as there."""
        value = pair_credit(difference, self.share, ties="weighted").mean()
        credit = 0.5 + np.sign(difference)[self.pair] * (self.for_a - 0.5)
        influence = (credit - value) * self.weight
        by_query, by_worker, by_both = (
            _variance(influence, code) for code in (self.query, self.worker, self.both)
        )
        error = math.sqrt(max(by_query, by_query + by_worker - by_both))
        units = min(self.query.max(), self.worker.max() or self.query.max()) + 1
        return float(stdtrit(units - 1, (1 + level) / 2)) * error if units > 1 and error > 0 else math.nan


def votes_by_person(task: JudgedTask) -> VotesByPerson:
    """Return the votes of a task, ready for the intervals of all its measures."""
    pairs, judged = task.pairs, task.judgments
    couple = ["topic", "system_a", "system_b"]
    number = pd.Series(np.arange(len(pairs)), index=pd.MultiIndex.from_frame(pairs[couple]))
    pair = number.loc[pd.MultiIndex.from_frame(judged[couple])].to_numpy(np.intp)
    query, worker = (pd.factorize(judged[name])[0] for name in ("topic", "worker"))
    return VotesByPerson(
        share=task.share,
        pair=pair,
        query=query,
        worker=worker,
        both=np.unique(query * (worker.max() + 1) + worker, return_inverse=True)[1],
        for_a=judged["vote"].map(WORTH).to_numpy(np.float64),
        weight=1 / (pairs["votes"].to_numpy(np.float64)[pair] * len(pairs)),
    )


def _variance(influence: Floats, cluster: Ints) -> float:
    """Return c / (c - 1) sum over the c clusters of (their influence)^2; 0 for a single one."""
    sums = np.bincount(cluster, influence)
    if sums.size < 2:
        return 0.0
    variance = float(sums.size / (sums.size - 1) * (sums**2).sum())
    return variance if variance > NOTHING else 0.0
