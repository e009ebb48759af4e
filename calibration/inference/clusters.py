"""Uncertainty of a share or coefficient, at most 1, of clusters: leaving clusters out, and drawing them anew.

The statistic is a function of how often each cluster counts, evaluated for many samples at once.
"""

from collections.abc import Callable
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from calibration.inference.bootstrap import cluster_counts, jackknife_groups
from calibration.inference.uncertainty import Floats, Replicates, StudentT

Statistic: TypeAlias = Callable[[Floats], Floats]
"""(b, clusters) weights of clusters -> (b, k) values, NaN where a sample says nothing."""


def cluster_uncertainty(
    statistic: Statistic, clusters: int, *, rng: np.random.Generator, resamples: int, unit: str = "topic"
) -> MappingProxyType[str, StudentT | Replicates]:
    """Return how far a statistic may be off, with clusters as what was sampled.

    Parameters
    ----------
    statistic : callable
        See `Statistic`.
    clusters : int
        Their number.
    rng : Generator
        Source of the bootstrap.
    resamples : int
        Bootstrap samples; those that say nothing are dropped.
    unit : str
        What a cluster is, for the names of the methods.

    Returns
    -------
    mapping of str to Uncertainty
        ``topic_jackknife``, Student's t with clusters - 1 degrees of freedom (50 groups of clusters when there are more), and ``topic_bootstrap``, percentiles.
        Empty for a single cluster, or where leaving out one leaves nothing to estimate.
    """
    if clusters < 2:
        return MappingProxyType({})
    group = jackknife_groups(np.arange(clusters))
    without = statistic(1.0 - (group[None] == np.arange(group.max() + 1)[:, None]))
    if np.isnan(without).any():
        return MappingProxyType({})
    replicates = statistic(cluster_counts(clusters, resamples, rng))
    return MappingProxyType(
        {
            f"{unit}_jackknife": StudentT(
                centre=statistic(np.ones((1, clusters)))[0],
                cov=jackknife_covariance(without),
                df=len(without) - 1,
                most=1.0,
            ),
            f"{unit}_bootstrap": Replicates(
                values=replicates[~np.isnan(replicates).any(axis=1)], clusters=clusters
            ),
        }
    )


def jackknife_covariance(replicates: Floats) -> Floats:
    """Return the covariance of k statistics from their values with one of g groups left out, (g, k) -> (k, k).

    (g - 1) / g sum_j (x_j - mean)(x_j - mean)'
    """
    apart = replicates - replicates.mean(axis=0)
    return np.asarray((len(apart) - 1) / len(apart) * apart.T @ apart)
