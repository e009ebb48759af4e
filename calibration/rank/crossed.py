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
than one topic, or nobody knows who judged, V is V_topic with T - 1. With fewer than four topics or people, or effectively fewer than
three, nothing is known.

Ranks: a system is behind another at the level of the ranks where the interval of their difference lies on one side of 0. These intervals hold all
at once, since their constant is the studentized range at the degrees of freedom of the scarcer cluster (Tukey 1953; Kramer 1956): then
every system's rank is at least 1 + those before it, and at most all less those behind it, and all ranks are right at once with the same
level (Mogstad, Romano, Shaikh and Wilhelm 2024).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import coo_array, csr_array, hstack
from scipy.special import stdtr, stdtrit
from scipy.stats import studentized_range

from calibration.inference.sides import SideAdjustment
from metrics.arrays import Bools, Floats, Ints

NOTHING = 1e-24
"""Variances below are rounding errors."""
NO_SHARE = 1e-9
"""Weights below are rounding errors."""
FEWEST, FEWEST_EFFECTIVE = 4, 3.0
"""Topics or people from which an error is known: so many, and effectively so many."""
TABLE_VALUES = 2_000_000
"""Values of a dense table that is made at once."""
GRID = 17
"""Degrees of freedom at which the studentized range is computed; between them it is interpolated over 1 / df."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Errors:
    """How far estimates may be off, arrays of one shape; NaN where nothing is known.

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

    def unknown(self) -> "Errors":
        """Return the same with nothing known."""
        nothing = np.full_like(self.standard_error, np.nan)
        return Errors(standard_error=nothing, df=nothing, scarcer_df=nothing)

    def reach(self, level: float) -> Floats:
        """Return half the width of the interval of this level."""
        return np.asarray(stdtrit(self.df, (1 + level) / 2) * self.standard_error)

    def p_values(self, estimate: Floats) -> Floats:
        """Return the two-sided p of estimates whose true value is 0."""
        return np.asarray(2 * stdtr(self.df, -np.abs(estimate) / self.standard_error))

    def simultaneous_reach(self, level: float, estimates: int) -> Floats:
        """Return half the widths of intervals of the differences of so many estimates that hold all at once with this level."""
        return np.asarray(
            _range_quantile(level, estimates, self.scarcer_df) / np.sqrt(2) * self.standard_error
        )


def _range_quantile(level: float, estimates: int, df: Floats) -> Floats:
    """Return the quantile of the studentized range at each df; NaN where df is."""
    known = df[~np.isnan(df)]
    if not known.size:
        return np.full_like(df, np.nan)
    inverse = np.linspace(1 / known.max(), 1 / known.min(), GRID if np.ptp(known) > NO_SHARE else 1)
    return np.asarray(np.interp(1 / df, inverse, studentized_range.ppf(level, estimates, 1 / inverse)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Variances:
    """The parts of V, of estimates (k,) or of any two (k, k), with degrees of freedom of the same shape.

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

    def errors(self) -> Errors:
        """Return standard errors and degrees of freedom of what these are variances of."""
        with np.errstate(divide="ignore", invalid="ignore"):
            over_topics = self.by_topic + np.maximum(self.people, 0) * (1 + 1 / self.topic_df)
            variance = np.maximum(over_topics, self.least)
            crossed = variance**2 / (self.by_topic**2 / self.topic_df + self.by_worker**2 / self.worker_df)
        scarcer = np.fmin(self.topic_df, self.worker_df)
        known = (variance > NOTHING) & ~self.is_few
        return Errors(
            standard_error=np.sqrt(np.where(known, variance, np.nan)),
            df=np.where(known, np.fmax(crossed, scarcer), np.nan),
            scarcer_df=np.where(known, scarcer, np.nan),
        )

    def of_each(self) -> "Variances":
        """Return the variances of single estimates from those of any two."""
        return Variances(
            by_topic=np.diagonal(self.by_topic),
            by_worker=np.diagonal(self.by_worker),
            people=np.diagonal(self.people),
            least=np.diagonal(self.least),
            topic_df=np.diagonal(self.topic_df),
            worker_df=np.diagonal(self.worker_df),
            is_few=np.diagonal(self.is_few),
        )

    def of_differences(self) -> "Variances":
        """Return those of the differences of any two estimates, (k, k), from those of any two."""
        return Variances(
            by_topic=_of_difference(self.by_topic),
            by_worker=_of_difference(self.by_worker),
            people=_of_difference(self.people),
            least=_of_difference(self.least),
            topic_df=self.topic_df,
            worker_df=self.worker_df,
            is_few=self.is_few,
        )

    def through(self, bread: Floats) -> "Variances":
        """Return those of bread x estimates, (r, r): from the scores of a likelihood to its first r parameters."""
        r = len(bread)
        return Variances(
            by_topic=bread @ self.by_topic @ bread.T,
            by_worker=bread @ self.by_worker @ bread.T,
            people=bread @ self.people @ bread.T,
            least=bread @ self.least @ bread.T,
            topic_df=self.topic_df[:r, :r],
            worker_df=self.worker_df[:r, :r],
            is_few=self.is_few[:r, :r],
        )


def _of_difference(covariance: Floats) -> Floats:
    own = np.diagonal(covariance)
    return np.asarray(own[:, None] + own[None] - 2 * covariance)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelPart:
    """What estimates owe to a fitted model that votes were adjusted by.

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
    """Return what estimates owe to a model whose votes they are weighted means of.

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
        gradient = gradient + _table(own, adjustment.parameter, part * adjustment.slope, shape)
    return ModelPart(adjustment=adjustment, gradient=csr_array(gradient))


@dataclass(frozen=True, kw_only=True, eq=False)
class Influence:
    """What n judgments add to the errors of k estimates, each of them to m.

    Attributes
    ----------
    estimate : (m, n) ndarray of int
        To which estimates a judgment adds, from 0.
    error, weight : (m, n) ndarray of float
        u and w; for each estimate u adds up to 0 and w to 1.
    topic : (n,) ndarray of int
        Codes from 0 without holes.
    worker : (n,) ndarray of int or None
        Likewise; None where nobody knows who judged.
    model : ModelPart or None
        What a fitted model adds to the errors.
    """

    estimate: Ints
    error: Floats
    weight: Floats
    topic: Ints
    worker: Ints | None
    model: ModelPart | None = None

    @cached_property
    def estimates(self) -> int:
        """How many estimates there are, k."""
        return int(self.estimate.max()) + 1

    def variances(self) -> Variances:
        """Return those of each estimate alone, (k,): in memory of the order of judgments."""
        by_topic = self._topics.sums.squares()
        by_worker = people = least = np.zeros(self.estimates)
        worker_df = np.full(self.estimates, np.inf)
        if self._cells is not None and self._workers is not None:
            workers, cells = self._workers.sums, self._cells
            taken_off = workers.weight_squares() - cells.weight_squares()
            by_worker, worker_df = workers.squares(), self._workers.effective - 1
            people, least = by_worker - cells.squares() + taken_off * by_topic, self._workers.least.squares()
        return Variances(
            by_topic=by_topic,
            by_worker=by_worker,
            people=people,
            least=least,
            topic_df=self._topics.effective - 1,
            worker_df=worker_df,
            is_few=self.is_few,
        )

    def covariances(self) -> Variances:
        """Return those of any two estimates, (k, k)."""
        square = (self.estimates, self.estimates)
        by_topic = self._topics.sums.products()
        by_worker = people = least = np.zeros(square)
        worker_df = np.full(square, np.inf)
        if self._cells is not None and self._workers is not None:
            workers, cells = self._workers.sums, self._cells
            taken_off = workers.weight_products() - cells.weight_products()
            by_worker, worker_df = workers.products(), _scarcer(self._workers.effective - 1)
            people, least = (
                by_worker - cells.products() + taken_off * by_topic,
                self._workers.least.products(),
            )
        return Variances(
            by_topic=by_topic,
            by_worker=by_worker,
            people=people,
            least=least,
            topic_df=_scarcer(self._topics.effective - 1),
            worker_df=worker_df,
            is_few=self.is_few[:, None] | self.is_few,
        )

    @cached_property
    def is_few(self) -> Bools:
        """(k,) whether topics or people are too few for an error."""
        few = self._topics.is_few
        return few if self._workers is None else few | self._workers.is_few

    @property
    def effective_topics(self) -> Floats:
        """(k,) how many topics of equal weight would count as much."""
        return self._topics.effective

    @property
    def effective_workers(self) -> Floats:
        """(k,) how many people of equal load would count as much; infinite where nobody knows who judged."""
        return np.full(self.estimates, np.inf) if self._workers is None else self._workers.effective

    @cached_property
    def _topics(self) -> "_Sampled":
        sums = self._sums(self.topic)
        scaled = sums.scaled(_exact_scale(sums.weight), _exact_scale(sums.overall))
        return _Sampled(
            sums=scaled, least=scaled, effective=_effective(sums.weight), is_few=_is_few(sums.weight)
        )

    @cached_property
    def _workers(self) -> "_Sampled | None":
        """Sums over people; None where nobody knows who judged."""
        if self.worker is None:
            return None
        sums = self._sums(self.worker)
        return _Sampled(
            sums=sums.scaled(_jackknife_scale(sums.weight), _jackknife_scale(sums.overall)),
            least=sums.scaled(_exact_scale(sums.weight), _exact_scale(sums.overall)),
            effective=_effective(sums.weight),
            is_few=_is_few(sums.weight),
        )

    @cached_property
    def _cells(self) -> "_ClusterSums | None":
        """Sums over what a topic and a worker share; None where the rule is over topics alone."""
        if self.worker is None:
            return None
        workers = int(self.worker.max()) + 1
        cell, keys = pd.factorize(self.topic * workers + self.worker)
        if len(keys) == workers:
            return None  # nobody judged more than one topic
        sums, of_workers = self._sums(cell), self._sums(self.worker)
        own = _of_rows(_jackknife_scale(of_workers.weight), keys % workers, sums.weight)
        return sums.scaled(own, _jackknife_scale(of_workers.overall)[keys % workers])

    def _sums(self, cluster: Ints) -> "_ClusterSums":
        """Return the sums of judgments in clusters."""
        overall = np.bincount(cluster) / len(cluster)
        shape = len(overall), self.estimates
        return _ClusterSums(
            error=_table(cluster, self.estimate, self.error, shape),
            weight=_table(cluster, self.estimate, self.weight, shape),
            overall=overall,
            scores=None if self.model is None else _model_scores(cluster, self.model.adjustment),
            model=self.model,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _ClusterSums:
    """Sums over c clusters of one kind: of what judgments add to errors, of their weights, and of their scores of a model.

    Attributes
    ----------
    error, weight : (c, k) sparse array of float
        U and w of each cluster and estimate.
    overall : (c,) ndarray of float
        Share of all judgments.
    scores : (c, p) sparse array of float or None
        Of the model, where there is one.
    model : ModelPart or None
        Where these scores lead.
    """

    error: csr_array
    weight: csr_array
    overall: Floats
    scores: csr_array | None
    model: ModelPart | None

    def scaled(self, own: csr_array, overall: Floats) -> "_ClusterSums":
        """Return the sums with those of each cluster and estimate times ``own``, scores times ``overall``."""
        scores = None if self.scores is None else csr_array(self.scores.multiply(overall[:, None]))
        return _ClusterSums(
            error=self.error.multiply(own).tocsr(),
            weight=self.weight.multiply(own).tocsr(),
            overall=self.overall,
            scores=scores,
            model=self.model,
        )

    def products(self) -> Floats:
        """Return sum_c U_c^k U_c^l of any two estimates, (k, k)."""
        own = _dense(self.error.T @ self.error)
        if self.scores is None or self.model is None:
            return own
        into = self.model.adjustment.solved(_dense(self.model.gradient.T))
        across = _dense(self.error.T @ self.scores) @ into
        return np.asarray(own - across - across.T + into.T @ _dense(self.scores.T @ self.scores) @ into)

    def squares(self) -> Floats:
        """Return sum_c U_c^2 of each estimate, (k,)."""
        own = _column_sums(self.error.power(2))
        if self.scores is None or self.model is None:
            return own
        of_scores, turned = _dense(self.scores.T @ self.scores), self.error.T.tocsr()
        for rows in _portions(*self.model.gradient.shape):
            into = self.model.adjustment.solved(_dense(self.model.gradient[rows].T)).T
            across = _dense(turned[rows] @ self.scores)
            own[rows] += ((into @ of_scores - 2 * across) * into).sum(axis=1)
        return own

    def weight_products(self) -> Floats:
        """Return sum_c w_c^k w_c^l of any two estimates, (k, k)."""
        return _dense(self.weight.T @ self.weight)

    def weight_squares(self) -> Floats:
        """Return sum_c w_c^2 of each estimate, (k,)."""
        return _column_sums(self.weight.power(2))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Sampled:
    """Sums over clusters that are a sample, and how many of them k estimates rest on.

    Attributes
    ----------
    sums, least : _ClusterSums
        Scaled for the variance, and for its lower limit.
    effective : (k,) ndarray of float
        How many clusters of equal weight would count as much.
    is_few : (k,) ndarray of bool
        Whether they are too few for an error.
    """

    sums: _ClusterSums
    least: _ClusterSums
    effective: Floats
    is_few: Bools


def _effective(weight: csr_array) -> Floats:
    """Return how many clusters of equal weight would count as much, (k,): (sum w)^2 / sum w^2."""
    return _column_sums(weight) ** 2 / _column_sums(weight.power(2))


def _is_few(weight: csr_array) -> Bools:
    """Say of which estimates the clusters are too few for an error, (k,)."""
    counted = np.bincount(weight.indices[weight.data > NO_SHARE], minlength=weight.shape[1])
    return np.asarray((counted < FEWEST) | (_effective(weight) < FEWEST_EFFECTIVE - NO_SHARE))


def _scarcer(df: Floats) -> Floats:
    """Return the smaller degrees of freedom of any two estimates, (k, k)."""
    return np.minimum(df[:, None], df)


def _portions(rows: int, columns: int) -> Iterator[slice]:
    """Yield rows of a dense table of ``TABLE_VALUES`` at most."""
    at_once = max(1, TABLE_VALUES // max(columns, 1))
    for start in range(0, rows, at_once):
        yield slice(start, start + at_once)


def _table(row: Ints, column: Ints, value: Floats, shape: tuple[int, int]) -> csr_array:
    """Return the sums of (m, n) values by row and column of a table, with (n,) rows and (m, n) columns."""
    rows, columns = shape
    if rows * columns <= TABLE_VALUES:
        dense = np.zeros(rows * columns)
        for each, values in zip(column, value, strict=True):
            dense += np.bincount(row * columns + each, values, rows * columns)
        return csr_array(dense.reshape(shape))
    everywhere = np.broadcast_to(row, column.shape)
    return csr_array(coo_array((value.ravel(), (everywhere.ravel(), column.ravel())), shape=shape))


def _model_scores(cluster: Ints, adjustment: SideAdjustment) -> csr_array:
    """Return the sums of the scores of each cluster, (c, p): of worths, and of side and log nu, which every judgment tells of."""
    systems = int(adjustment.parameter[2, 0])
    shape = int(cluster.max()) + 1, systems
    worths = _table(cluster, adjustment.parameter[:2], adjustment.score[:2], shape)
    of_all = [
        np.bincount(cluster, score) for score in adjustment.score[2 : 2 + adjustment.parameters - systems]
    ]
    return csr_array(hstack([worths, np.stack(of_all, axis=1)]))


def _exact_scale(weight: Any) -> Any:
    """Return 1 / sqrt(r) of the module for sparse (c, k) or dense (c,) weights; 0 where there is nothing to vary."""
    squares = _column_sums(weight.power(2)) if isinstance(weight, csr_array) else (weight**2).sum()
    return _mapped(weight, squares, lambda w, sums: np.sqrt(np.minimum(1 - w, 1 - 2 * w + sums)))


def _jackknife_scale(weight: Any) -> Any:
    """Return 1 / (1 - w) for sparse (c, k) or dense (c,) weights; 0 where there is nothing to vary."""
    return _mapped(weight, 0.0, lambda w, _: 1 - w)


def _mapped(weight: Any, of_column: Any, left: Any) -> Any:
    """Return 1 / left(weight, value of its column), 0 where that is 0."""
    is_sparse = isinstance(weight, csr_array)
    values = weight.data if is_sparse else weight
    sums = of_column[weight.indices] if is_sparse and np.ndim(of_column) else of_column
    with np.errstate(invalid="ignore"):
        rest = left(values, sums)
    scale = np.divide(1, rest, out=np.zeros_like(values), where=rest > NO_SHARE)
    return csr_array((scale, weight.indices, weight.indptr), shape=weight.shape) if is_sparse else scale


def _of_rows(scale: csr_array, row: Ints, pattern: csr_array) -> csr_array:
    """Return the values of ``scale`` in ``row`` of each row of ``pattern``, where the pattern has any."""
    rows = np.repeat(row, np.diff(pattern.indptr))
    values = np.asarray(scale[rows, pattern.indices]).ravel() if len(rows) else np.zeros(0)
    return csr_array((values, pattern.indices, pattern.indptr), shape=pattern.shape)


def _column_sums(table: csr_array) -> Floats:
    return np.asarray(np.bincount(table.indices, table.data, table.shape[1]), dtype=np.float64)


def _dense(table: Any) -> Floats:
    return np.asarray(table.toarray(), dtype=np.float64)


def certainly_above(estimate: Floats, reach: Floats) -> Bools:
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
