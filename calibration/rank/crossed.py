"""How far many estimates may be off at once, when topics and people are both samples.

An entry adds u to the error of one estimate k (its influence) and has a part w in it. Let U and w be their sums over a topic t, a
worker p, or the cell pt that both share. As in `metrics.agreement.people`, but for any two estimates k and l at once:

    V_topic   = sum_t U_t^k U_t^l / sqrt((1 - w_t^k)(1 - w_t^l))
    V_worker  = sum_p U_p^k U_p^l / sqrt(r_p^k r_p^l),   r_p = 1 - 2 w_p + sum w_p^2
    P         = V_worker - sum_pt U_pt^k U_pt^l / sqrt(r_p^k r_p^l) + c V_topic
    c         = sum_p (w_p^k w_p^l - sum_t w_pt^k w_pt^l) / sqrt(r_p^k r_p^l)
    V         = V_topic + max(0, P) T / (T - 1),   T = 1 / sum w_t^2

the two-way clustered variance of Cameron, Gelbach and Miller (2011) with what the mean over few clusters takes off put back, as
Bell and McCaffrey (2002) do in one way. Where all have judged all, V is the variance of a two-way analysis of variance. Student's t
has Satterthwaite's degrees of freedom.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_array
from scipy.special import stdtr, stdtrit

from metrics.arrays import Floats, Ints

NOTHING = 1e-24
"""Variances below are rounding errors."""
NO_SHARE = 1e-9
"""Weights, degrees of freedom and shares of a variance below are rounding errors."""

Square: TypeAlias = Callable[[csr_array], Floats]
"""(clusters, k) sums -> what they say of variances: (k, k), or (k,) of each estimate alone."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Errors:
    """How far estimates may be off, arrays of one shape; NaN where nothing is known.

    Attributes
    ----------
    standard_error, df : ndarray of float
        Of each estimate, and the degrees of freedom of its Student's t.
    """

    standard_error: Floats
    df: Floats

    def reach(self, level: float) -> Floats:
        """Return half the width of the interval of this level."""
        return np.asarray(stdtrit(self.df, (1 + level) / 2) * self.standard_error)

    def p_values(self, estimate: Floats) -> Floats:
        """Return the two-sided p of estimates whose true value is 0."""
        return np.asarray(2 * stdtr(self.df, -np.abs(estimate) / self.standard_error))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Variances:
    """V_topic, V_worker and P, of estimates (k,) or of any two (k, k), with degrees of freedom of the same shape.

    Attributes
    ----------
    by_topic, by_worker, people : ndarray of float
        See the module.
    topic_df, worker_df : ndarray of float
        Effective number of topics, of people, less 1.
    """

    by_topic: Floats
    by_worker: Floats
    people: Floats
    topic_df: Floats
    worker_df: Floats

    def total(self) -> Floats:
        """Return V where P is taken as it is, below 0 too: for covariances."""
        return np.asarray(self.by_topic + self.people * (1 + 1 / np.maximum(self.topic_df, 1)))

    def errors(self) -> Errors:
        """Return standard errors and degrees of freedom of what these are variances of."""
        matter = self.people > NO_SHARE * self.by_topic
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = self.by_topic + np.where(matter, self.people, 0) * (1 + 1 / self.topic_df)
            crossed = variance**2 / (self.by_topic**2 / self.topic_df + self.by_worker**2 / self.worker_df)
        least = np.fmin(self.topic_df, self.worker_df)
        df = np.where(matter, np.fmax(crossed, least), self.topic_df)
        known = (self.by_topic > NOTHING) & (self.topic_df > NO_SHARE)
        return Errors(
            standard_error=np.sqrt(np.where(known, variance, np.nan)), df=np.where(known, df, np.nan)
        )

    def of_one_each(self) -> "Variances":
        """Return the variances of single estimates from those of any two."""
        return Variances(
            by_topic=np.diagonal(self.by_topic),
            by_worker=np.diagonal(self.by_worker),
            people=np.diagonal(self.people),
            topic_df=np.diagonal(self.topic_df),
            worker_df=np.diagonal(self.worker_df),
        )

    def of_differences(self) -> "Variances":
        """Return those of the differences of any two estimates, (k, k), from those of any two."""
        return Variances(
            by_topic=_of_difference(self.by_topic),
            by_worker=_of_difference(self.by_worker),
            people=_of_difference(self.people),
            topic_df=self.topic_df,
            worker_df=self.worker_df,
        )

    def through(self, bread: Floats) -> "Variances":
        """Return those of bread x estimates, (r, r): from the scores of a likelihood to its first r parameters."""
        r = len(bread)
        return Variances(
            by_topic=bread @ self.by_topic @ bread.T,
            by_worker=bread @ self.by_worker @ bread.T,
            people=bread @ self.people @ bread.T,
            topic_df=self.topic_df[:r, :r],
            worker_df=self.worker_df[:r, :r],
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Influence:
    """What n entries add to the errors of k estimates.

    Attributes
    ----------
    estimate, topic, worker : (n,) ndarray of int
        Codes from 0.
    error, weight : (n,) ndarray of float
        u and w; for each estimate u adds up to 0 and w to 1.
    """

    estimate: Ints
    topic: Ints
    worker: Ints
    error: Floats
    weight: Floats

    def variances(self) -> Variances:
        """Return those of each estimate alone, (k,)."""
        return self._variances(lambda sums: np.asarray((sums * sums).sum(axis=0)), np.asarray)

    def covariances(self) -> Variances:
        """Return those of any two estimates, (k, k)."""
        return self._variances(
            lambda sums: (sums.T @ sums).toarray(), lambda each: np.minimum(each[:, None], each[None])
        )

    def _variances(self, square: Square, both: Callable[[Floats], Floats]) -> Variances:
        k, people = int(self.estimate.max()) + 1, int(self.worker.max()) + 1
        topics = self._sums(self.topic)
        workers = self._sums(self.worker)
        cells = self._sums(self.topic * people + self.worker)
        topic_df = _effective(topics, k, topics.weight) - 1
        worker_df = _effective(workers, k, workers.weight**2) - 1
        left = 1 - 2 * workers.weight + np.bincount(workers.estimate, workers.weight**2, k)[workers.estimate]
        of_worker = _inverse_root(left)
        whose = cells.estimate * people + cells.cluster % people
        of_cell = of_worker[np.searchsorted(workers.estimate * people + workers.cluster, whose)]
        by_topic = square(topics.table(topics.error * _inverse_root(1 - topics.weight), k))
        by_worker = square(workers.table(workers.error * of_worker, k))
        taken_off = square(workers.table(workers.weight * of_worker, k)) - square(
            cells.table(cells.weight * of_cell, k)
        )
        return Variances(
            by_topic=by_topic,
            by_worker=by_worker,
            people=by_worker - square(cells.table(cells.error * of_cell, k)) + taken_off * by_topic,
            topic_df=both(topic_df),
            worker_df=both(worker_df),
        )

    def _sums(self, cluster: Ints) -> "_Sums":
        clusters = int(cluster.max()) + 1
        keys, place = np.unique(self.estimate * clusters + cluster, return_inverse=True)
        return _Sums(
            estimate=keys // clusters,
            cluster=keys % clusters,
            error=np.bincount(place, self.error),
            weight=np.bincount(place, self.weight),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Sums:
    """U and w of every estimate in every cluster that has a part in it."""

    estimate: Ints
    cluster: Ints
    error: Floats
    weight: Floats

    def table(self, values: Floats, estimates: int) -> csr_array:
        """Put values into a sparse table, a row a cluster and a column an estimate."""
        row = np.unique(self.cluster, return_inverse=True)[1]
        return csr_array((values, (row, self.estimate)), shape=(int(row.max()) + 1, estimates))


def _of_difference(covariance: Floats) -> Floats:
    own = np.diagonal(covariance)
    return np.asarray(own[:, None] + own[None] - 2 * covariance)


def _effective(sums: _Sums, k: int, share: Floats) -> Floats:
    """Return how many clusters of equal weight would count as much: (sum w)^2 / sum w^2, (k,)."""
    return np.asarray(np.bincount(sums.estimate, share, k) ** 2 / np.bincount(sums.estimate, share**2, k))


def _inverse_root(values: Floats) -> Floats:
    """Return 1 / sqrt of values, 0 for those that are 0: of a cluster that is alone nothing varies."""
    inverse = np.zeros_like(values)
    np.divide(1, np.sqrt(np.maximum(values, 0)), out=inverse, where=values > NO_SHARE)
    return inverse
