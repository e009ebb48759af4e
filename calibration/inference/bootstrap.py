"""Resampling by clusters: workers or queries are drawn whole, never their rows."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.inference.uncertainty import Floats

Ints = NDArray[np.intp]

MOST_GROUPS = 50


def cluster_counts(clusters: int, resamples: int, rng: np.random.Generator) -> Floats:
    """Return how often each cluster is drawn in each bootstrap sample.

    Parameters
    ----------
    clusters : int
        Number of clusters; each sample draws as many, with replacement.
    resamples : int
        Number of samples.
    rng : Generator
        Source of the draws.

    Returns
    -------
    (resamples, clusters) ndarray of float
        Whole numbers; each row adds up to ``clusters``.
    """
    return rng.multinomial(clusters, np.full(clusters, 1 / clusters), size=resamples).astype(np.float64)


def jackknife_groups(cluster: ArrayLike) -> Ints:
    """Return the group to leave out with each row: its cluster, or one of 50 groups of clusters when there are more.

    Parameters
    ----------
    cluster : (n,) array_like of int
        Cluster of each row, from 0 without holes.
    """
    clusters = np.asarray(cluster, dtype=np.intp)
    return clusters % min(MOST_GROUPS, int(clusters.max()) + 1)


def jackknife_variance(replicates: Floats) -> float:
    """Return the variance of an estimator from its values with one of g groups left out.

    (g - 1) / g * sum_j (x_j - mean)^2      (Tukey 1958)
    """
    g = len(replicates)
    return float((g - 1) / g * ((replicates - replicates.mean()) ** 2).sum())
