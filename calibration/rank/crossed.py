"""How far many estimates may be off at once, and the ranks that this leaves open.

How far many estimates may be off at once, when topics and people are both samples.

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

The ranks that are left open: simultaneous intervals of all differences, and what they allow.

A system is behind another for certain where the interval of their difference lies on one side of 0. With intervals that hold all at
once, every system's rank is at least 1 + those for certain before it, and at most all less those for certain behind it: all ranks right
at once with the same level (Mogstad, Romano, Shaikh and Wilhelm 2024).
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import ndtr, stdtr, stdtrit

from calibration.inference.clusters import without_negative
from metrics.arrays import Bools, Floats, Ints

NOTHING = 1e-24
"""Variances below are rounding errors."""
NO_SHARE = 1e-9
"""Weights, degrees of freedom and shares of a variance below are rounding errors."""
TABLE_VALUES = 2_000_000
"""Of a table of cells and estimates that is made at once."""


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
        """Return a covariance matrix, (k, k), from those of any two: V with what of P is no covariance set to 0."""
        return np.asarray(
            self.by_topic + without_negative(self.people * (1 + 1 / np.maximum(self.topic_df, 1)))
        )

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
    """What n judgments add to the errors of k estimates, each of them to m.

    Attributes
    ----------
    estimate : (m, n) ndarray of int
        To which estimates a judgment adds, from 0.
    error, weight : (m, n) ndarray of float
        u and w; for each estimate u adds up to 0 and w to 1.
    topic, worker : (n,) ndarray of int
        Codes from 0 without holes.
    """

    estimate: Ints
    error: Floats
    weight: Floats
    topic: Ints
    worker: Ints

    def variances(self) -> Variances:
        """Return those of each estimate alone, (k,): in memory of the order of judgments."""
        k = int(self.estimate.max()) + 1
        topics, workers = self._sums(self.topic), self._sums(self.worker)
        cells = self._sums(_numbered(self.topic, self.worker))
        whole = {power: _added(workers.estimate, workers.weight**power, k) for power in (2, 4)}
        of_worker = _inverse_root(_left_of(workers.weight, whole[2][workers.estimate]))
        of_cell = np.empty(len(cells.weight))
        of_cell[cells.place] = of_worker[workers.place]

        def square(sums: _Sums, values: Floats) -> Floats:
            return _added(sums.estimate, values**2, k)

        return _variances(
            by_topic=square(topics, topics.error * _inverse_root(1 - topics.weight)),
            by_worker=square(workers, workers.error * of_worker),
            by_cell=square(cells, cells.error * of_cell),
            taken_off=square(workers, workers.weight * of_worker) - square(cells, cells.weight * of_cell),
            topic_df=_effective(_added(topics.estimate, topics.weight, k), square(topics, topics.weight)) - 1,
            worker_df=_effective(whole[2], whole[4]) - 1,
        )

    def covariances(self) -> Variances:
        """Return those of any two estimates, (k, k): in memory of the order of judgments and (topics + workers) x k."""
        topic_error, topic_weight = self._table(self.topic)
        worker_error, worker_weight = self._table(self.worker)
        of_worker = _inverse_root(_left_of(worker_weight, (worker_weight**2).sum(axis=0)))
        by_cell, weight_by_cell = self._by_cells(of_worker)
        topic_df = _effective(topic_weight.sum(axis=0), (topic_weight**2).sum(axis=0)) - 1
        worker_df = _effective((worker_weight**2).sum(axis=0), (worker_weight**4).sum(axis=0)) - 1
        return _variances(
            by_topic=_square(topic_error * _inverse_root(1 - topic_weight)),
            by_worker=_square(worker_error * of_worker),
            by_cell=by_cell,
            taken_off=_square(worker_weight * of_worker) - weight_by_cell,
            topic_df=np.minimum(topic_df[:, None], topic_df),
            worker_df=np.minimum(worker_df[:, None], worker_df),
        )

    def _by_cells(self, of_worker: Floats) -> tuple[Floats, Floats]:
        """Return the squares of errors and of weights summed by what topic and worker share, (k, k) each, some cells at a time."""
        k = of_worker.shape[1]
        cell = _numbered(self.topic, self.worker)
        order = np.argsort(cell, kind="stable")
        at_once = max(1, TABLE_VALUES // k)
        starts = np.arange(0, int(cell.max()) + 1, at_once)
        errors, weights = np.zeros((k, k)), np.zeros((k, k))
        for chosen in np.split(order, np.searchsorted(cell, starts[1:], sorter=order)):
            own = cell[chosen] - cell[chosen[0]]
            scale = of_worker[self.worker[chosen[np.unique(own, return_index=True)[1]]]]
            error, weight = self._table(own, chosen)
            errors += _square(error * scale)
            weights += _square(weight * scale)
        return errors, weights

    def _table(self, cluster: Ints, chosen: "Ints | slice" = slice(None)) -> tuple[Floats, Floats]:
        """Return U and w, (clusters, k) each, of judgments in clusters."""
        clusters, k = int(cluster.max()) + 1, int(self.estimate.max()) + 1
        tables = []
        for values in (self.error, self.weight):
            table = np.zeros(clusters * k)
            for estimate, value in zip(self.estimate, values, strict=True):
                table += np.bincount(cluster * k + estimate[chosen], value[chosen], clusters * k)
            tables.append(table.reshape(clusters, k))
        return tables[0], tables[1]

    def _sums(self, cluster: Ints) -> "_Sums":
        m, clusters = len(self.estimate), int(cluster.max()) + 1
        place, keys = pd.factorize(np.tile(cluster, m) + self.estimate.ravel() * clusters)
        return _Sums(
            estimate=keys // clusters,
            place=place,
            error=_added(place, self.error.ravel(), len(keys)),
            weight=_added(place, self.weight.ravel(), len(keys)),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Sums:
    """U and w of every estimate in every cluster that has a part in it, and in which of these sums each judgment is."""

    estimate: Ints
    place: Ints
    error: Floats
    weight: Floats


def _variances(
    *,
    by_topic: Floats,
    by_worker: Floats,
    by_cell: Floats,
    taken_off: Floats,
    topic_df: Floats,
    worker_df: Floats,
) -> Variances:
    return Variances(
        by_topic=by_topic,
        by_worker=by_worker,
        people=by_worker - by_cell + taken_off * by_topic,
        topic_df=topic_df,
        worker_df=worker_df,
    )


def _added(code: Ints, values: Floats, codes: int) -> Floats:
    return np.asarray(np.bincount(code, values, codes), dtype=np.float64)


def _square(table: Floats) -> Floats:
    return np.asarray(table.T @ table)


def _numbered(first: Ints, second: Ints) -> Ints:
    """Return the number of each combination of two codes, from 0 without holes."""
    return np.asarray(pd.factorize(first * (int(second.max()) + 1) + second)[0])


def _left_of(weight: Floats, squares: Floats) -> Floats:
    """Return r of people with these weights, see the module; ``squares``: the sum of the squares of all people's weights."""
    return np.asarray(1 - 2 * weight + squares)


def _of_difference(covariance: Floats) -> Floats:
    own = np.diagonal(covariance)
    return np.asarray(own[:, None] + own[None] - 2 * covariance)


def _effective(whole: Floats, squares: Floats) -> Floats:
    """Return how many clusters of equal weight would count as much, from the sums of weights and of their squares."""
    return np.asarray(whole**2 / squares)


def _inverse_root(values: Floats) -> Floats:
    """Return 1 / sqrt of values, 0 for those that are 0: of a cluster that is alone nothing varies."""
    inverse = np.zeros_like(values)
    np.divide(1, np.sqrt(np.maximum(values, 0)), out=inverse, where=values > NO_SHARE)
    return inverse


MOST_VALUES, FEWEST_DRAWS, MOST_DRAWS = 10**8, 10_000, 50_000
"""Of the draws of all differences."""


def pointwise_level(covariance: Floats, df: float, level: float, rng: np.random.Generator) -> float:
    """Return the level of each interval of a difference at which all of them hold at once with ``level``.

    The largest standardised difference of estimates drawn from a normal distribution has this quantile. Their covariance is only
    known as well as ``df`` allows, so it is drawn towards that of estimates which have nothing in common, for which such
    intervals are the widest: with S estimates S / (S + df) of the way.

    Parameters
    ----------
    covariance : (S, S) ndarray of float
        Of the estimates, not all of them alike.
    df : float
        Degrees of freedom that it is known with.
    level : float
        With which all intervals hold.
    rng : Generator
        Source of the draws.
    """
    systems = len(covariance)
    share = systems / (systems + df)
    own = np.diagonal(covariance)
    alike = (own[:, None] + own[None] - 2 * covariance).sum() / (2 * systems * (systems - 1))
    blended = (1 - share) * covariance + share * alike * np.eye(systems)
    draws = int(np.clip(MOST_VALUES / systems**2, FEWEST_DRAWS, MOST_DRAWS))
    drawn = np.linalg.cholesky(blended + 1e-12 * alike * np.eye(systems)) @ rng.standard_normal(
        (systems, draws)
    )
    return float(2 * ndtr(np.quantile(_largest(drawn, blended), level)) - 1)


def _largest(drawn: Floats, covariance: Floats) -> Floats:
    """Return the largest standardised difference of each draw, (draws,)."""
    own = np.diagonal(covariance)
    largest = np.zeros(drawn.shape[1])
    for place in range(1, len(drawn)):
        spread = np.sqrt(own[place] + own[:place] - 2 * covariance[place, :place])
        np.maximum(largest, np.abs((drawn[place] - drawn[:place]) / spread[:, None]).max(axis=0), out=largest)
    return largest


def certainly_above(estimate: Floats, errors: Errors, each_level: float) -> Bools:
    """Return the (S, S) relation: is the estimate of the row above that of the column, beyond the reach of its interval.

    Parameters
    ----------
    estimate : (S,) ndarray of float
        The larger the better.
    errors : Errors
        Of their differences, (S, S); where nothing is known, nothing is certain.
    each_level : float
        As `pointwise_level` returns it.
    """
    reach = stdtrit(errors.df, (1 + each_level) / 2) * errors.standard_error
    return np.asarray(estimate[:, None] - estimate[None] > reach)


def rank_ranges(above: Bools) -> tuple[Ints, Ints]:
    """Return the best and the worst rank of every system that a relation allows, both (S,)."""
    return 1 + above.sum(axis=0), len(above) - above.sum(axis=1)
