"""Errors of many estimates at once, where topics and people are both samples, and the ranks that they leave open.

A judgment adds u to the error of an estimate (its influence) and has a part w in it. Let U and w be their sums over a topic t, a
worker p, or the cell pt that both share. For any two estimates k and l at once:

    V_topic   = sum_t U_t^k U_t^l / sqrt(r_t^k r_t^l),   r_t = min(1 - w_t, 1 - 2 w_t + sum w_t^2)
    V_worker  = sum_p U_p^k U_p^l / ((1 - w_p^k)(1 - w_p^l))
    P         = V_worker - sum_pt U_pt^k U_pt^l / ((1 - w_p^k)(1 - w_p^l)) + c V_topic
    c         = sum_p (w_p^k w_p^l - sum_t w_pt^k w_pt^l) / ((1 - w_p^k)(1 - w_p^l))
    V_least   = sum_p U_p^k U_p^l / sqrt(r_p^k r_p^l),   r_p as r_t
    V         = max(V_topic + max(0, P) T / (T - 1), V_least),   T = 1 / sum w_t^2

the two-way clustered variance of Cameron, Gelbach and Miller (2011), never below that of either cluster, with what the mean over few
clusters takes off put back: exactly for clusters of equal weight (r), and by the jackknife for people (CR3 of MacKinnon and White
1985), whose loads may be very unequal. Student's t has Satterthwaite's degrees of freedom

    df = V^2 / (V_topic^2 / (T - 1) + V_worker^2 / (P_eff - 1)),   P_eff = 1 / sum w_p^2

and at least those of the scarcer cluster. The rule is that of the design, the same for all estimates of a task: where nobody judged more
than one topic, or nobody knows who judged, V is V_topic with T - 1. Within one topic V is V_worker with P_eff - 1. With fewer than four topics or people, or effectively fewer than
three, nothing is known.

Ranks: a system is behind another at the level of the ranks where the interval of their difference lies on one side of 0. These intervals hold all
at once by Bonferroni's inequality over all differences, each by Student's t at the degrees of freedom of the scarcer cluster,
min(T, P_eff) - 1. Every difference has a variance of its own, known with few degrees of freedom, so the studentized range, whose variance is one for
all, would be too short (measured, see docs/rank.md). Then every system's rank is at least 1 + those before it, and at most all less those
behind it, and all ranks are right at once with the same level (Mogstad, Romano, Shaikh and Wilhelm 2024).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array, diags_array
from scipy.special import stdtr, stdtrit

from calibration.inference.sides import SideAdjustment
from metrics.agreement.crossed_errors import MIN_CLUSTERS, MIN_EFFECTIVE, NOTHING
from metrics.arrays import Bools, Floats, Ints

AT_ONCE = 200_000
"""Judgments that are added up at once: a sparse table takes several times the memory of what goes into it."""
NO_SHARE = 1e-9
"""Weights below are rounding errors."""
TABLE_VALUES = 3_000_000
"""Values of a dense table, estimates by parameters of a model, that is made at once."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StandardErrors:
    """Standard errors and degrees of freedom, arrays of one shape; NaN if unknown.

    Attributes
    ----------
    standard_error, df : ndarray of float
        Of each estimate, and the degrees of freedom of its Student's t.
    scarcer_df : ndarray of float
        Degrees of freedom of the scarcer cluster.
    """

    standard_error: Floats
    df: Floats
    scarcer_df: Floats

    def unknown(self) -> "StandardErrors":
        """Return errors of the same shape, all NaN."""
        nothing = np.full_like(self.standard_error, np.nan)
        return StandardErrors(standard_error=nothing, df=nothing, scarcer_df=nothing)

    def half_width(self, level: float) -> Floats:
        """Return half the width of the interval of this level."""
        return np.asarray(stdtrit(self.df, (1 + level) / 2) * self.standard_error)

    def p_values(self, estimate: Floats) -> Floats:
        """Return the two-sided p of estimates whose true value is 0."""
        return np.asarray(2 * stdtr(self.df, -np.abs(estimate) / self.standard_error))

    def simultaneous_reach(self, level: float, estimates: int) -> Floats:
        """Return half the widths of intervals of the differences of so many estimates that hold all at once with this level."""
        pairs = max(1, estimates * (estimates - 1) // 2)
        return np.asarray(stdtrit(self.scarcer_df, 1 - (1 - level) / 2 / pairs) * self.standard_error)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Variances:
    """Parts of V for estimates (k,) or pairs of estimates (k, k).

    Attributes
    ----------
    by_topic, by_worker, people, least : ndarray of float
        V_topic, V_worker, P and V_least; all but the first are 0 where the rule is over topics alone.
    topic_df, worker_df : ndarray of float
        Effective number of topics, of people, less 1; the latter infinite where the rule is over topics alone.
    is_few : ndarray of bool
        Whether topics or people are too few for an error.
    """

    by_topic: Floats
    by_worker: Floats
    people: Floats
    least: Floats
    topic_df: Floats
    worker_df: Floats
    is_few: Bools

    def errors(self) -> StandardErrors:
        """Return standard errors and degrees of freedom of what these are variances of."""
        with np.errstate(divide="ignore", invalid="ignore"):
            over_topics = self.by_topic + np.maximum(self.people, 0) * (1 + 1 / self.topic_df)
            variance = np.maximum(over_topics, self.least)
            crossed = variance**2 / (self.by_topic**2 / self.topic_df + self.by_worker**2 / self.worker_df)
        scarcer = np.fmin(self.topic_df, self.worker_df)
        known = (variance > NOTHING) & ~self.is_few
        return StandardErrors(
            standard_error=np.sqrt(np.where(known, variance, np.nan)),
            df=np.where(known, np.fmax(crossed, scarcer), np.nan),
            scarcer_df=np.where(known, scarcer, np.nan),
        )

    def of_each(self) -> "Variances":
        """Return the variances of single estimates from those of any two."""
        return self._changed(np.diagonal, np.diagonal)

    def of_differences(self) -> "Variances":
        """Return the variances of all differences, (k, k), from those of any two estimates."""
        return self._changed(variances_of_differences, np.asarray)

    def through(self, bread: Floats) -> "Variances":
        """Return the variances of bread x estimates, (r, r)."""
        r = len(bread)
        return self._changed(lambda part: bread @ part @ bread.T, lambda table: table[:r, :r])

    def _changed(self, variance: Callable[[Floats], Floats], table: Callable[..., Any]) -> "Variances":
        """Apply a function to every part of V, and another to all other fields."""
        return Variances(
            by_topic=variance(self.by_topic),
            by_worker=variance(self.by_worker),
            people=variance(self.people),
            least=variance(self.least),
            topic_df=table(self.topic_df),
            worker_df=table(self.worker_df),
            is_few=table(self.is_few),
        )


def variances_of_differences(covariance: Floats) -> Floats:
    """Return the variances of all differences of k numbers, (k, k), from their covariances."""
    own = np.diagonal(covariance)
    return np.asarray(own[:, None] + own[None] - 2 * covariance)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelPart:
    """Dependence of estimates on a fitted model that adjusted the votes.

    Attributes
    ----------
    adjustment : SideAdjustment
        The model, with what each judgment tells of its p parameters.
    gradient : (k, p) sparse array of float
        Slopes of each estimate's adjustment along the parameters; it is subtracted from the votes.
    """

    adjustment: SideAdjustment
    gradient: csr_array


def model_part(adjustment: SideAdjustment, estimate: Ints, weight: Floats) -> ModelPart:
    """Return the dependence of weighted means of votes on the adjusting model.

    Parameters
    ----------
    adjustment : SideAdjustment
        The model.
    estimate : (m, n) ndarray of int
        To which estimates a judgment adds.
    weight : (m, n) ndarray of float
        Part of its vote for the left system; negative where it adds the vote for the right one.
    """
    shape = int(estimate.max()) + 1, adjustment.parameters
    gradient = csr_array(shape)
    for own, part in zip(estimate, weight, strict=True):
        slopes = (part * slope for slope in adjustment.slope)
        gradient = gradient + _table(own, adjustment.parameter, slopes, shape)
    return ModelPart(adjustment=adjustment, gradient=gradient)


class _Clusters(NamedTuple):
    """Judgments that share a topic, a worker or both: c clusters of n judgments.

    Attributes
    ----------
    code : (n,) ndarray of int
        Cluster of each judgment, from 0 without holes.
    parent : (c,) ndarray of int
        Row of each cluster in a table of scales: its own number, or that of its worker.
    """

    code: Ints
    parent: Ints


class CrossedClusters:
    """Which topic and which worker each of n judgments shares with others.

    Parameters
    ----------
    topic : (n,) ndarray of int
        Codes from 0 without holes.
    worker : (n,) ndarray of int or None
        Codes likewise; None where nobody knows who judged.
    is_topic_fixed : bool
        All judgments are of one topic, which is no sample: V is V_worker alone. Nothing is known then where nobody knows who judged.
    """

    def __init__(self, topic: Ints, worker: Ints | None, *, is_topic_fixed: bool = False) -> None:
        self.is_topic_fixed = is_topic_fixed
        if is_topic_fixed and worker is not None:
            topic, worker = worker, None
        self.topics = _Clusters(topic, np.arange(int(topic.max()) + 1))
        self.workers: _Clusters | None = None
        self.cells: _Clusters | None = None
        if worker is None:
            return
        people = int(worker.max()) + 1
        self.workers = _Clusters(worker, np.arange(people))
        keys, cell = np.unique(topic * people + worker, return_inverse=True)
        if len(keys) > people:  # somebody judged more than one topic
            self.cells = _Clusters(cell, keys % people)


@dataclass(frozen=True, kw_only=True, eq=False)
class Influence:
    """Influence of n judgments on k estimates; each judgment adds to m of them.

    Attributes
    ----------
    estimate : (m, n) ndarray of int
        To which estimates a judgment adds, from 0.
    error, weight : (m, n) ndarray of float
        u and w; for each estimate u adds up to 0 and w to 1.
    crossing : CrossedClusters
        Who judged what.
    model : ModelPart or None
        What a fitted model adds to the errors.
    """

    estimate: Ints
    error: Floats
    weight: Floats
    crossing: CrossedClusters
    model: ModelPart | None = None

    @cached_property
    def estimates(self) -> int:
        """Number of estimates, k."""
        return int(self.estimate.max()) + 1

    @cached_property
    def is_few(self) -> Bools:
        """(k,) whether topics or people are too few for an error."""
        few = self._topics.is_few
        return few if self._workers is None else few | self._workers.is_few

    @property
    def effective_topics(self) -> Floats:
        """Effective number of topics, (k,); infinite where the topic is fixed.

        As many topics of equal weight would count the same.
        """
        return np.full(self.estimates, np.inf) if self.crossing.is_topic_fixed else self._topics.effective

    @property
    def effective_workers(self) -> Floats:
        """Effective number of workers, (k,); infinite where unknown.

        As many workers of equal load would count the same.
        """
        workers = self._topics if self.crossing.is_topic_fixed else self._workers
        return np.full(self.estimates, np.inf) if workers is None else workers.effective

    def variances(self) -> Variances:
        """Return the variances of single estimates, (k,)."""
        return self._parts(_ScaledSums.squares)

    def covariances(self) -> Variances:
        """Return the covariances of all pairs of estimates, (k, k)."""
        return self._parts(_ScaledSums.products)

    def _parts(self, of: "Callable[[_ScaledSums], tuple[Floats, Floats]]") -> Variances:
        """Return the parts of V, from a function that sums U U and w w over clusters."""
        topics, workers, cells = self._topics, self._workers, self.crossing.cells
        by_topic, _ = of(topics.scaled(topics.jackknife if self.crossing.is_topic_fixed else topics.exact))
        by_worker = people = least = np.zeros_like(by_topic)
        worker_df = np.full(self.estimates, np.inf)
        if workers is not None and cells is not None:
            by_worker, weight = of(workers.scaled(workers.jackknife))
            least, _ = of(workers.scaled(workers.exact))
            by_cell, weight_of_cell = of(self._sums(cells).scaled(workers.jackknife))
            people = by_worker - by_cell + (weight - weight_of_cell) * by_topic
            worker_df = workers.effective - 1
        topic_df, few = topics.effective - 1, self.is_few
        if by_topic.ndim > 1:
            topic_df, worker_df = (np.minimum(df[:, None], df) for df in (topic_df, worker_df))
            few = few[:, None] | few
        return Variances(
            by_topic=by_topic,
            by_worker=by_worker,
            people=people,
            least=least,
            topic_df=topic_df,
            worker_df=worker_df,
            is_few=few,
        )

    @cached_property
    def _topics(self) -> "_ClusterSums":
        return self._sums(self.crossing.topics)

    @cached_property
    def _workers(self) -> "_ClusterSums | None":
        return None if self.crossing.workers is None else self._sums(self.crossing.workers)

    def _sums(self, clusters: _Clusters) -> "_ClusterSums":
        """Sum influences, parts and scores of the model over clusters."""
        scores = None
        if self.model is not None:
            fit = self.model.adjustment
            scores = _table(clusters.code, fit.parameter, fit.score, (len(clusters.parent), fit.parameters))
        both = (error + 1j * weight for error, weight in zip(self.error, self.weight, strict=True))
        return _ClusterSums(
            sums=_table(clusters.code, self.estimate, both, (len(clusters.parent), self.estimates)),
            share=np.bincount(clusters.code) / len(clusters.code),
            parent=clusters.parent,
            scores=scores,
            model=self.model,
        )


class _Scale(NamedTuple):
    """Factors of U for each cluster and estimate, (c, k), and of scores, (c,)."""

    own: csr_array
    overall: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class _ClusterSums:
    """Sums of judgments over c clusters.

    Attributes
    ----------
    sums : (c, k) sparse array of complex
        U + i w of every cluster and estimate.
    share : (c,) ndarray of float
        Share of all judgments.
    parent : (c,) ndarray of int
        As in `_Clusters`.
    scores : (c, p) sparse array of float, or None
        Of the model.
    model : ModelPart or None
        As in `Influence`.
    """

    sums: csr_array
    share: Floats
    parent: Ints
    scores: csr_array | None
    model: ModelPart | None

    @cached_property
    def _squares(self) -> Floats:
        """(k,) sum of w^2."""
        return _column_sums(self.sums.imag.power(2))

    @cached_property
    def effective(self) -> Floats:
        """(k,) how many clusters of equal weight would count as much."""
        return _column_sums(self.sums.imag) ** 2 / self._squares

    @cached_property
    def is_few(self) -> Bools:
        """(k,) whether they are too few for an error."""
        counted = np.bincount(self.sums.indices[self.sums.data.imag > NO_SHARE], minlength=self.sums.shape[1])
        return np.asarray((counted < MIN_CLUSTERS) | (self.effective < MIN_EFFECTIVE - NO_SHARE))

    @property
    def exact(self) -> _Scale:
        """1 / sqrt(r) of the module."""
        own = _exact(self.sums.data.imag, self._squares[self.sums.indices])
        return _Scale(_mapped(self.sums, own), _exact(self.share, (self.share**2).sum()))

    @property
    def jackknife(self) -> _Scale:
        """1 / (1 - w) of the module."""
        return _Scale(_mapped(self.sums, _inverse(1 - self.sums.data.imag)), _inverse(1 - self.share))

    def scaled(self, scale: _Scale) -> "_ScaledSums":
        """Multiply the sums of each cluster by the scale of its parent."""
        rows = np.repeat(self.parent, np.diff(self.sums.indptr))
        of_sums = np.asarray(scale.own[rows, self.sums.indices]).ravel()
        table = _mapped(self.sums, self.sums.data * of_sums)
        scores = None if self.scores is None else diags_array(scale.overall[self.parent]) @ self.scores
        return _ScaledSums(table.real, table.imag, scores, self.model)


class _ScaledSums(NamedTuple):
    """Scaled sums over clusters of influences U and parts w, (c, k), and of the scores of a model, (c, p), with which U is U - S H^-1 g'."""

    error: csr_array
    weight: csr_array
    scores: csr_array | None
    model: ModelPart | None

    def products(self) -> tuple[Floats, Floats]:
        """Return the sums over clusters of U U and of w w of any two estimates, (k, k) each."""
        errors, weights = (_dense(each.T @ each) for each in (self.error, self.weight))
        if self.scores is not None and self.model is not None:
            into = self.model.gradient @ self._inverse()
            across = (self.error.T @ self.scores) @ into.T
            errors += into @ _dense(self.scores.T @ self.scores) @ into.T - across - across.T
        return errors, weights

    def squares(self) -> tuple[Floats, Floats]:
        """Return the sums over clusters of U^2 and of w^2, (k,) each."""
        errors, weights = (_column_sums(each.power(2)) for each in (self.error, self.weight))
        if self.scores is not None and self.model is not None:
            inverse, of_scores = self._inverse(), _dense(self.scores.T @ self.scores)
            error, at_once = self.error.tocsc(), max(1, TABLE_VALUES // len(inverse))
            for start in range(0, len(errors), at_once):
                chosen = slice(start, start + at_once)
                into = self.model.gradient[chosen] @ inverse
                across = (error[:, chosen].T @ self.scores).multiply(into).sum(axis=1)
                errors[chosen] += ((into @ of_scores) * into).sum(axis=1) - 2 * np.asarray(across).ravel()
        return errors, weights

    def _inverse(self) -> Floats:
        """(p, p) inverse of the model's information."""
        adjustment = self.model.adjustment if self.model else None
        return np.zeros((0, 0)) if adjustment is None else adjustment.solved(np.eye(adjustment.parameters))


def _exact(weight: Floats, squares: Any) -> Floats:
    """Return 1 / sqrt(r), see the module; 0 of a cluster that is alone."""
    return _inverse(np.sqrt(np.maximum(np.minimum(1 - weight, 1 - 2 * weight + squares), 0)))


def _inverse(values: Floats) -> Floats:
    """Return 1 / values; 0 of a cluster that is alone."""
    return np.asarray(np.divide(1, values, out=np.zeros_like(values), where=values > NO_SHARE))


def _table(row: Ints, columns: Iterable[Ints], values: Iterable[Any], shape: tuple[int, int]) -> csr_array:
    """Return a table of the sums of values at rows (n,) and columns, (n,) each: one set of n after the other, in pieces, to save memory."""
    table = csr_array(shape)
    for column, part in zip(columns, values, strict=True):
        for start in range(0, len(row), AT_ONCE):
            some = slice(start, start + AT_ONCE)
            table = table + csr_array(coo_array((part[some], (row[some], column[some])), shape=shape))
    return table


def _mapped(pattern: csr_array, values: Floats) -> csr_array:
    """Return a table with other values at the same places."""
    return csr_array((values, pattern.indices, pattern.indptr), shape=pattern.shape)


def _column_sums(table: csr_array) -> Floats:
    return np.asarray(np.bincount(table.indices, table.data, table.shape[1]), dtype=np.float64)


def _dense(table: Any) -> Floats:
    return np.asarray(table.toarray(), dtype=np.float64)


def above_at_once(estimate: Floats, reach: Floats) -> Bools:
    """Return the (S, S) relation: is the estimate of the row above that of the column, beyond the reach of its interval.

    Parameters
    ----------
    estimate : (S,) ndarray of float
        The larger the better.
    reach : (S, S) ndarray of float
        Half the widths of the intervals of their differences; NaN where nothing is known, and then nothing is above.
    """
    return np.asarray(estimate[:, None] - estimate[None] > reach)


def rank_ranges(above: Bools) -> tuple[Ints, Ints]:
    """Return the best and the worst rank of every system that a relation allows, both (S,)."""
    return 1 + above.sum(axis=0), len(above) - above.sum(axis=1)
