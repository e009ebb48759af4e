"""Fleiss' kappa and Krippendorff's alpha, for any number of ratings an item.

Both are functions of sums over items, so that a bootstrap over clusters of items costs one matrix product, and both are undefined (NaN)
when every rating is the same. What the items and ratings are is not known here: `calibration.raters.preferences` and
`calibration.raters.importance` know. statsmodels' `fleiss_kappa` takes the same number of ratings for every item; here they differ, and
samples of clusters are weighed.
"""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from calibration.inference.clusters import (
    cluster_uncertainty,
    jackknife_covariance,
    jackknife_groups,
    two_way,
)
from calibration.inference.uncertainty import Replicates, StudentT
from metrics.arrays import Floats, Ints

Metric: TypeAlias = Literal["nominal", "ordinal", "interval"]

RESAMPLES = 2000
MIN_WORKERS = 5
"""Smallest number of workers to generalise to others.

Fewer workers are treated as fixed.
"""


def fleiss_kappa(counts: ArrayLike) -> float:
    """Return Fleiss' kappa of ratings in named categories.

    kappa = (P - P_e) / (1 - P_e),  P = mean_i sum_c n_ic (n_ic - 1) / (n_i (n_i - 1)),  P_e = sum_c p_c^2

    with p_c the share of category c among all ratings (Fleiss 1971; the items' own numbers n_i of ratings stand for
    his one n). Every item counts alike in P, as it does there.

    Parameters
    ----------
    counts : (items, categories) array_like of int
        How many raters put each item into each category. Items with fewer than two ratings do not count.

    Returns
    -------
    float
        1 at full agreement, 0 at what chance gives; NaN when every rating is the same, or no item has two.
    """
    return float(_fleiss_of(_fleiss_sums(_rated_twice(counts)).sum(axis=0)[None])[0])


def krippendorff_alpha(
    counts: ArrayLike, metric: Metric = "nominal", *, values: ArrayLike | None = None
) -> float:
    """Return Krippendorff's alpha.

    alpha = 1 - (n - 1) sum_ck o_ck d_ck / sum_ck n_c n_k d_ck,  o_ck = sum_i n_ic (n_ik - [c = k]) / (n_i - 1)

    with n_c = sum_k o_ck, n = sum_c n_c, and d the squared distance of two categories: 1 for different names
    (nominal), the ranks between them (ordinal), the difference of their values (interval) (Krippendorff 2004, 11.3).

    Parameters
    ----------
    counts : (items, categories) array_like of int
        As for `fleiss_kappa`; for ordinal, categories ascend.
    metric : {'nominal', 'ordinal', 'interval'}
        The distance.
    values : (categories,) array_like of float, optional
        What the categories are worth, for interval; 0, 1, 2, ... by default.

    Returns
    -------
    float
        1 at full agreement, 0 at chance; NaN when every rating is the same, or no item has two.
    """
    counts = _rated_twice(counts)
    worth = np.arange(counts.shape[1]) if values is None else np.asarray(values)
    sums = _coincidences(counts).sum(axis=0)[None]
    return float(_alpha_of(sums, metric, worth.astype(np.float64))[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratings:
    """Ratings of items that come in clusters (topics), by workers.

    Attributes
    ----------
    item, worker, category : (ratings,) ndarray of int
        Codes from 0 without holes.
    cluster : (items,) ndarray of int
        Cluster of each item, from 0 without holes.
    values : (categories,) ndarray of float
        What the categories are worth, ascending.
    metric : {'nominal', 'ordinal', 'interval'}
        How far categories are apart, for alpha.
    exchangeable : bool
        The first two categories are names given by lot (which system of a pair is called the first): what chance
        gives is taken over both ways of naming them, so that no renaming changes a coefficient.
    """

    item: Ints
    worker: Ints
    category: Ints
    cluster: Ints
    values: Floats
    metric: Metric = "nominal"
    exchangeable: bool = False

    @property
    def counts(self) -> Floats:
        """Number of ratings by item and category, (items, categories)."""
        shape = len(self.cluster), len(self.values)
        cell = self.item * shape[1] + self.category
        return np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)

    @property
    def clusters(self) -> int:
        """Number of clusters."""
        return int(self.cluster.max()) + 1

    def coefficients(self, weights: Floats, counts: Floats | None = None) -> Floats:
        """Return kappa and alpha with weighted clusters.

        Parameters
        ----------
        weights : (b, clusters) ndarray of float
            How often each cluster counts in each of b samples.
        counts : (items, categories) ndarray of float, optional
            Instead of all ratings.

        Returns
        -------
        (b, 2) ndarray of float
            Fleiss' kappa and Krippendorff's alpha; NaN where every rating is the same.
        """
        counts = self.counts if counts is None else counts
        cells = [self._by_cluster(each) for each in (_fleiss_sums(counts), _coincidences(counts))]
        swap = [1, 0, *range(2, len(self.values))]
        fleiss = weights @ cells[0]
        together = np.tensordot(weights, cells[1], axes=1)
        if self.exchangeable:
            fleiss[:, 2:] = (fleiss[:, 2:] + fleiss[:, 2:][:, swap]) / 2
            together = (together + together[:, swap][:, :, swap]) / 2
        return np.stack([_fleiss_of(fleiss), _alpha_of(together, self.metric, self.values)], axis=1)

    def _by_cluster(self, of_items: Floats) -> Floats:
        columns = of_items.reshape(len(of_items), -1).T
        sums = [np.bincount(self.cluster, column, self.clusters) for column in columns]
        return np.stack(sums, axis=1, dtype=np.float64).reshape(self.clusters, *of_items.shape[1:])


def coefficient_uncertainty(
    ratings: Ratings, *, rng: np.random.Generator, resamples: int = RESAMPLES
) -> MappingProxyType[str, StudentT | Replicates]:
    """Return the uncertainty of kappa and alpha.

    Parameters
    ----------
    ratings : Ratings
        What they are of.
    rng : Generator
        Source of the bootstrap.
    resamples : int
        Bootstrap samples. One in which every rating is the same is dropped.

    Returns
    -------
    mapping of str to Uncertainty
        Where five workers or more rate in several clusters, first ``two_way_jackknife``: both are sampled,
        Var = Var(cluster) + Var(worker) - Var(cluster x worker) (Cameron, Gelbach and Miller 2011, for jackknife
        variances), at least the larger of the first two. ``topic_jackknife``: leaving out one cluster at a time,
        Student's t; ``topic_bootstrap``: percentiles over resampled clusters; both take the workers as they are.
        Empty for a single cluster.
    """
    by_topic = cluster_uncertainty(ratings.coefficients, ratings.clusters, rng=rng, resamples=resamples)
    workers = int(ratings.worker.max()) + 1
    both, pairs = pd.factorize(ratings.cluster[ratings.item] * workers + ratings.worker)
    if not by_topic or len(pairs) == workers or workers < MIN_WORKERS:
        return MappingProxyType({**by_topic})
    by_cluster = _leaving_out(ratings, ratings.cluster[ratings.item])
    by_worker = _leaving_out(ratings, ratings.worker)
    in_both_ways = StudentT(
        centre=ratings.coefficients(np.ones((1, ratings.clusters)))[0],
        cov=_at_least(two_way(by_cluster, by_worker, _leaving_out(ratings, both)), by_cluster, by_worker),
        df=min(ratings.clusters, workers) - 1,
        most=1.0,
    )
    return MappingProxyType({"two_way_jackknife": in_both_ways, **by_topic})


def _leaving_out(ratings: Ratings, code: Ints) -> Floats:
    """Return the jackknife covariance of kappa and alpha over groups of ratings."""
    group = jackknife_groups(code)
    groups = int(group.max()) + 1
    whole, everything = ratings.counts, np.ones((1, ratings.clusters))
    cell = (group * len(whole) + ratings.item) * whole.shape[1] + ratings.category
    of_group = np.bincount(cell, minlength=groups * whole.size).reshape(groups, *whole.shape)
    left = [ratings.coefficients(everything, whole - one)[0] for one in of_group]
    return jackknife_covariance(np.array(left))


def _at_least(cov: Floats, *floors: Floats) -> Floats:
    """Return a covariance with variances raised to ``floors``; correlations stay."""
    variance = np.max([np.diag(covariance) for covariance in (cov, *floors)], axis=0)
    known = np.diag(cov) > 0
    stretch = np.sqrt(np.divide(variance, np.diag(cov), out=np.ones_like(variance), where=known))
    raised = cov * stretch[:, None] * stretch
    raised[np.diag_indices_from(raised)] = variance
    return np.asarray(raised)


def _rated_twice(counts: ArrayLike) -> Floats:
    counts = np.asarray(counts, dtype=np.float64)
    kept: Floats = counts[counts.sum(axis=1) > 1]
    return kept


def _fleiss_sums(counts: Floats) -> Floats:
    """Return each item's terms of kappa, (items, 2 + categories).

    They are whether an item counts, its share of agreeing pairs of raters, and its ratings.
    """
    n = counts.sum(axis=1)
    counts = counts * (n > 1)[:, None]
    pairs = np.maximum(n * (n - 1), 1)
    agreeing = (counts * (counts - 1)).sum(axis=1) / pairs
    return np.column_stack([n > 1, agreeing, counts])


def _fleiss_of(sums: Floats) -> Floats:
    items, agreeing, counts = sums[:, 0], sums[:, 1], sums[:, 2:]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = counts / counts.sum(axis=1, keepdims=True)
        return _beyond_chance(agreeing / items, (share**2).sum(axis=1))


def _beyond_chance(observed: Floats, chance: Floats) -> Floats:
    """Return (P - P_e) / (1 - P_e), NaN where chance leaves nothing to find."""
    room = np.where(chance < 1 - 1e-12, 1 - chance, np.nan)
    return np.asarray((observed - chance) / room)


def _coincidences(counts: Floats) -> Floats:
    """Return coincidences o_ck of each item, (items, categories, categories).

    An item with fewer than two ratings has 0.
    """
    n = counts.sum(axis=1)
    pairs = counts[:, :, None] * counts[:, None, :]
    each = np.arange(counts.shape[1])
    pairs[:, each, each] -= counts
    return np.asarray(pairs * ((n > 1) / np.maximum(n - 1, 1))[:, None, None])


def _alpha_of(together: Floats, metric: Metric, values: Floats) -> Floats:
    n_c = together.sum(axis=2)
    n = n_c.sum(axis=1)
    distance = _distance(n_c, metric, values)
    seen = (together * distance).sum(axis=(1, 2))
    expected = (n_c[:, :, None] * n_c[:, None, :] * distance).sum(axis=(1, 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(1 - (n - 1) * seen / np.where(expected > 0, expected, np.nan))


def _distance(n_c: Floats, metric: Metric, values: Floats) -> Floats:
    """Return squared distances of categories, (b, categories, categories).

    The ordinal distance depends on the frequency of each category.
    """
    if metric == "nominal":
        return np.broadcast_to(1.0 - np.eye(len(values)), (len(n_c), len(values), len(values)))
    place = n_c.cumsum(axis=1) - n_c / 2 if metric == "ordinal" else np.broadcast_to(values, n_c.shape)
    return np.asarray((place[:, :, None] - place[:, None, :]) ** 2)
