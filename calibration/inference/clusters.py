"""Clustered errors: sandwich, jackknife and bootstrap over workers or topics.

The clusters were sampled, and the rows of each belong together. A covariance comes from a likelihood's scores summed within clusters (the
sandwich), from leaving clusters out (the jackknife), or from drawing them anew (the bootstrap); in two ways, of workers and topics at once,
from the three of each and of both. statsmodels' `cov_cluster` and `cov_cluster_2groups` take results of its own models; these likelihoods
are not among them, and in two ways it may return negative variances.
"""

from collections.abc import Callable
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc

from calibration.inference.uncertainty import Replicates, StudentT
from metrics.arrays import Floats, Ints

MAX_GROUPS = 50
RIDGE = 1e-12
"""Relative ridge that keeps the information invertible without a cluster."""

Statistic: TypeAlias = Callable[[Floats], Floats]
"""Function from cluster weights (b, clusters) to values (b, k).

A value is NaN where a sample does not identify it.
"""


def cluster_covariance(scores: Floats) -> Floats:
    """Return the covariance of sums over clusters, c / (c - 1) sum_j s_j s_j'.

    Parameters
    ----------
    scores : (c, k) or (c,) ndarray of float
        Of each of c clusters, adding up to 0.

    Returns
    -------
    (k, k) ndarray of float, or () for one score each
    """
    c = len(scores)
    return np.asarray(scores.T @ scores * c / (c - 1))


def sandwich(scores: Floats, information: Floats) -> Floats:
    """Return the cluster-robust covariance of estimates.

    The covariance is I^-1 (c / (c - 1) sum_j s_j s_j') I^-1.

    Parameters
    ----------
    scores : (c, k) ndarray of float
        Gradient of each cluster's log-likelihood at the maximum.
    information : (k, k) ndarray of float
        Minus the second derivatives of the whole; where it has no inverse, its pseudoinverse is taken.
    """
    return cluster_covariance(scores @ np.linalg.pinv(information, hermitian=True))


def two_way(first: Floats, second: Floats, both: Floats) -> Floats:
    """Return the two-way clustered covariance, first + second - both.

    Its negative eigenvalues are set to 0.

    (Cameron, Gelbach and Miller 2011)

    Parameters
    ----------
    first, second : (k, k) ndarray of float
        Covariances by the clusters of either kind.
    both : (k, k) ndarray of float
        That by what shares a cluster of both kinds.
    """
    return without_negative(first + second - both)


def without_negative(matrix: Floats) -> Floats:
    """Set the negative eigenvalues of a symmetric matrix to 0."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.maximum(values, 0)) @ vectors.T)


def couple_codes(first: Ints, second: Ints) -> Ints:
    """Return the code of each row's couple of clusters, from 0 without holes, (n,)."""
    return np.asarray(np.unique(first * (int(second.max()) + 1) + second, return_inverse=True)[1])


def crossed_variance(influence: Floats, first: Ints, second: Ints) -> float:
    """Return the variance of summed influences over two crossed kinds of clusters.

    It is never below that of either kind.

    V_first + V_second - V_both (Cameron, Gelbach and Miller 2011). Where one kind lies within the other this is the variance by the
    outer one.

    Parameters
    ----------
    influence : (n,) ndarray of float
        How far each row moves the estimate.
    first, second : (n,) ndarray of int
        Clusters of each row.
    """
    first_variance, second_variance, cells = (
        summed_variance(influence, group) for group in (first, second, couple_codes(first, second))
    )
    return max(first_variance, second_variance, first_variance + second_variance - cells)


def summed_variance(influence: Floats, group: Ints) -> float:
    """Return the variance of summed influences over clusters; 0 for a single one."""
    sums = np.bincount(group, influence).astype(np.float64)
    return float(cluster_covariance(sums)) if len(sums) > 1 else 0.0


class UnequalVariance(NamedTuple):
    """Two-way clustered variance of unequal clusters, with each way's df.

    Attributes
    ----------
    variance : float
        By both ways at once, never below either.
    df : (float, float)
        Of the first and of the second way; one less than the clusters where all are as large.
    """

    variance: float
    df: tuple[float, float]


def crossed_unequal(influence: Floats, first: Ints, second: Ints, count: Floats) -> UnequalVariance:
    """Return the variance of summed influences over two kinds of unequal clusters.

    As `crossed_variance`, but a cluster with the share s_j of the judgments pulls the estimate towards itself: with U_j the sums of
    influences, V = sum_j U_j^2 / (1 - s_j), and by Satterthwaite's rule 1 / df = sum_j s_j^2 + sum_{j != k} s_j^2 s_k^2 / ((1 - s_j)
    (1 - s_k)) (Bell and McCaffrey 2002). Clusters of one size have c / (c - 1) sum_j U_j^2 and df = c - 1.

    Parameters
    ----------
    influence : (n,) ndarray of float
        How far each row moves the estimate.
    first, second : (n,) ndarray of int
        Clusters of each row.
    count : (n,) ndarray of float
        Judgments in each row.
    """
    (first_variance, df_one), (second_variance, df_other), (cells, _) = (
        _unequal_variance(influence, group, count) for group in (first, second, couple_codes(first, second))
    )
    return UnequalVariance(
        max(first_variance, second_variance, first_variance + second_variance - cells), (df_one, df_other)
    )


def _unequal_variance(influence: Floats, group: Ints, count: Floats) -> tuple[float, float]:
    sums, size = np.bincount(group, influence), np.bincount(group, count)
    share = size[size > 0] / size.sum()
    if len(share) < 2:
        return 0.0, 0.0
    odds = share**2 / (1 - share)
    df = 1 / float((share**2).sum() + odds.sum() ** 2 - (odds**2).sum())
    return float((sums[size > 0] ** 2 / (1 - share)).sum()), df


def p_shared_effect(values: Floats, group: Ints) -> float:
    """Test whether rows of a group share an effect; return p.

    The statistic is sum_g (sum of values)^2, the score of a random effect of the group (Commenges and Andersen 1995); its law is
    taken for a multiple of a chi-squared with the same mean and variance, from the squares of the rows themselves.

    Parameters
    ----------
    values : (n,) ndarray of float
        Residuals, of mean 0 and not correlated if nothing is in common.
    group : (n,) ndarray of int
        From 0.
    """
    squares = np.bincount(group, values**2)
    spread = float((squares**2 - np.bincount(group, values**4)).sum())
    if spread <= 1e-12 * squares.sum() ** 2:
        return 1.0
    df = squares.sum() ** 2 / spread
    return float(chdtrc(df, df * (np.bincount(group, values) ** 2).sum() / squares.sum()))


def newton_changes(scores: Floats, information: Floats) -> Floats:
    """Return the change of estimates without each cluster, by one Newton step, (c, k).

    Where the other clusters hardly tell a direction, the step along it is large, as it should be.

    Parameters
    ----------
    scores : (c, k) ndarray of float
        Gradient of each cluster's log-likelihood at the maximum.
    information : (c, k, k) ndarray of float
        Minus its second derivatives.
    """
    whole = information.sum(axis=0)
    ridge = RIDGE * np.diag(np.diag(whole))
    return np.asarray(np.linalg.solve(whole - information + ridge, -scores[..., None])[..., 0])


def cluster_counts(clusters: int, resamples: int, rng: np.random.Generator) -> Floats:
    """Return the count of each cluster in each bootstrap sample.

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
    """Return the group of each row: its cluster, or one of 50 groups of clusters.

    More than 50 clusters are grouped.

    Parameters
    ----------
    cluster : (n,) array_like of int
        Cluster of each row, from 0 without holes.
    """
    clusters = np.asarray(cluster, dtype=np.intp)
    return clusters % min(MAX_GROUPS, int(clusters.max()) + 1)


def jackknife_covariance(replicates: Floats) -> Floats:
    """Return the jackknife covariance of k statistics, (g, k) -> (k, k).

    Each row has their values without one of g groups.

    (g - 1) / g sum_j (x_j - mean)(x_j - mean)'
    """
    apart = replicates - replicates.mean(axis=0)
    return np.asarray((len(apart) - 1) / len(apart) * apart.T @ apart)


def cluster_uncertainty(
    statistic: Statistic, clusters: int, *, rng: np.random.Generator, resamples: int, unit: str = "topic"
) -> MappingProxyType[str, StudentT | Replicates]:
    """Return the uncertainty of a statistic over sampled clusters.

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
