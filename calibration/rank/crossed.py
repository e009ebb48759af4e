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
at once by Bonferroni's inequality over all differences, each by Student's t at the degrees of freedom of the scarcer cluster,
min(T, P_eff) - 1. Every difference has a variance of its own, known with few degrees of freedom, so the studentized range, whose variance is one for
all, would be too short (measured, see docs/rank.md). Then every system's rank is at least 1 + those before it, and at most all less those
behind it, and all ranks are right at once with the same level (Mogstad, Romano, Shaikh and Wilhelm 2024).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array
from scipy.special import stdtr, stdtrit

from calibration.inference.sides import SideAdjustment
from metrics.arrays import Bools, Floats, Ints

NOTHING = 1e-24
"""Variances below are rounding errors."""
NO_SHARE = 1e-9
"""Weights below are rounding errors."""
FEWEST, FEWEST_EFFECTIVE = 4, 3.0
"""Topics or people from which an error is known: so many, and effectively so many."""
TABLE_VALUES = 3_000_000
"""Values of a dense table that is made at once."""


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
        pairs = max(1, estimates * (estimates - 1) // 2)
        return np.asarray(stdtrit(self.scarcer_df, 1 - (1 - level) / 2 / pairs) * self.standard_error)


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

    def into(self) -> Floats:
        """Return H^-1 gradient', (p, k): where the scores of the model lead."""
        return self.adjustment.solved(_dense(self.gradient).T)


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
        slopes = part * adjustment.slope
        if shape[0] * shape[1] <= TABLE_VALUES:
            gradient = gradient + csr_array(
                _added(_places(own, adjustment.parameter, shape[1]), slopes, shape)
            )
        else:
            places = (np.broadcast_to(own, slopes.shape).ravel(), adjustment.parameter.ravel())
            gradient = gradient + csr_array(coo_array((slopes.ravel(), places), shape=shape))
    return ModelPart(adjustment=adjustment, gradient=csr_array(gradient))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Clusters:
    """Who or what shares judgments: c clusters of n judgments.

    Attributes
    ----------
    code : (n,) ndarray of int
        Cluster of each judgment, from 0 without holes.
    parent : (c,) ndarray of int
        Row of each cluster in a table of scales: its own number, or that of its worker.
    """

    code: Ints
    parent: Ints

    def __len__(self) -> int:
        return len(self.parent)

    @property
    def share(self) -> Floats:
        """(c,) share of all judgments."""
        return np.asarray(np.bincount(self.code) / len(self.code))

    def portions(self, columns: int) -> Iterator[tuple[slice | Ints, Ints, slice]]:
        """Yield judgments, their clusters from 0, and which clusters these are, for tables that fit the memory."""
        if len(self) * columns <= TABLE_VALUES:
            yield slice(None), self.code, slice(0, len(self))
            return
        in_order = bool((np.diff(self.code) >= 0).all())
        order = None if in_order else np.argsort(self.code, kind="stable")
        code = self.code if order is None else self.code[order]
        at_once = max(1, TABLE_VALUES // columns)
        for start in range(0, len(self), at_once):
            stop = min(start + at_once, len(self))
            first, last = (int(place) for place in np.searchsorted(code, [start, stop]))
            chosen = slice(first, last) if order is None else order[first:last]
            yield chosen, code[first:last] - start, slice(start, stop)


class CrossedClusters:
    """Which topic and which worker each of n judgments shares with others.

    Parameters
    ----------
    topic : (n,) ndarray of int
        Codes from 0 without holes. Judgments in the order of topics, and within of workers, take less time.
    worker : (n,) ndarray of int or None
        Codes likewise; None where nobody knows who judged.
    """

    def __init__(self, topic: Ints, worker: Ints | None) -> None:
        self.topics = _clusters(topic)
        self.workers: _Clusters | None = None
        self.cells: _Clusters | None = None
        if worker is None:
            return
        self.workers = _clusters(worker)
        people = len(self.workers)
        key = topic * people + worker
        order = np.argsort(key, kind="stable")
        is_new = np.diff(key[order], prepend=-1) > 0
        if is_new.sum() > people:  # somebody judged more than one topic
            cell = np.empty(len(key), dtype=np.intp)
            cell[order] = np.cumsum(is_new) - 1
            self.cells = _Clusters(code=cell, parent=key[order[is_new]] % people)


def _clusters(code: Ints) -> _Clusters:
    return _Clusters(code=code, parent=np.arange(int(code.max()) + 1))


@dataclass(frozen=True, kw_only=True, eq=False)
class Influence:
    """What n judgments add to the errors of k estimates, each of them to m.

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
        """How many estimates there are, k."""
        return int(self.estimate.max()) + 1

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

    def variances(self) -> Variances:
        """Return those of each estimate alone, (k,): in memory of the order of judgments."""
        return self._parts(self._squares)

    def covariances(self) -> Variances:
        """Return those of any two estimates, (k, k)."""
        return self._parts(self._products)

    def _parts(self, sums: "Callable[..., list[tuple[Floats, Floats]]]") -> Variances:
        """Return the parts of V from a function that sums U U and w w over clusters, for each scale that it is given."""
        topics, workers, cells = self._topics, self._workers, self.crossing.cells
        [(by_topic, _)] = sums(self.crossing.topics, topics.exact)
        by_worker = people = least = np.zeros_like(by_topic)
        worker_df = np.full(self.estimates, np.inf)
        if workers is not None and self.crossing.workers is not None and cells is not None:
            (by_worker, weight), (least, _) = sums(self.crossing.workers, workers.jackknife, workers.exact)
            [(by_cell, weight_of_cell)] = sums(cells, workers.jackknife)
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
    def _topics(self) -> "_SampledClusters":
        return self._sample(self.crossing.topics)

    @cached_property
    def _workers(self) -> "_SampledClusters | None":
        return None if self.crossing.workers is None else self._sample(self.crossing.workers)

    def _sample(self, clusters: _Clusters) -> "_SampledClusters":
        weight = self._sums(clusters).imag
        squares = _column_sums(weight.power(2))
        effective = _column_sums(weight) ** 2 / squares
        counted = np.bincount(weight.indices[weight.data > NO_SHARE], minlength=self.estimates)
        share = clusters.share
        return _SampledClusters(
            exact=_Scale(
                own=_mapped(weight, _exact(weight.data, squares[weight.indices])),
                overall=_exact(share, (share**2).sum()),
            ),
            jackknife=_Scale(own=_mapped(weight, _jackknife(weight.data)), overall=_jackknife(share)),
            effective=effective,
            is_few=(counted < FEWEST) | (effective < FEWEST_EFFECTIVE - NO_SHARE),
        )

    def _products(self, clusters: _Clusters, *scales: "_Scale") -> list[tuple[Floats, Floats]]:
        """Return the sums over clusters of U U and of w w of any two estimates, (k, k) each, for each scale."""
        k, into = self.estimates, None if self.model is None else self.model.into()
        owns = [_dense(scale.own) for scale in scales]
        sums = np.zeros((len(scales), 2, k, k))
        for chosen, code, which in clusters.portions(k):
            shape, parent = (which.stop - which.start, k), clusters.parent[which]
            place = _places(code, self.estimate[:, chosen], k)
            errors, weights = (
                _added(place, values[:, chosen], shape) for values in (self.error, self.weight)
            )
            scores = None if into is None else self._scores(chosen, code, shape[0]) @ into
            for number, (scale, own) in enumerate(zip(scales, owns, strict=True)):
                weight, error = weights * own[parent], errors * own[parent]
                if scores is not None:
                    error -= scores * scale.overall[parent, None]
                sums[number] += error.T @ error, weight.T @ weight
        return [(error, weight) for error, weight in sums]

    def _squares(self, clusters: _Clusters, *scales: "_Scale") -> list[tuple[Floats, Floats]]:
        """Return the same of each estimate alone, (k,) each, from sparse tables."""
        sums = self._sums(clusters)
        return [self._scaled_squares(clusters, sums, scale) for scale in scales]

    def _scaled_squares(self, clusters: _Clusters, sums: csr_array, scale: "_Scale") -> tuple[Floats, Floats]:
        scaled = _mapped(sums, sums.data * _of_rows(scale.own, clusters.parent, sums))
        error = scaled.real.tocsc()
        errors, weights = _column_sums(error.power(2).tocsr()), _column_sums(scaled.imag.power(2))
        if self.model is not None:
            errors += self._through_model(self.model, clusters, scale, error)
        return errors, weights

    def _through_model(
        self, model: ModelPart, clusters: _Clusters, scale: "_Scale", error: csc_array
    ) -> Floats:
        """Return what scores of the model add to the squares of the scaled errors: g' S'S g - 2 g' S'U, S the scores times H^-1."""
        p = model.adjustment.parameters
        inverse = model.adjustment.solved(np.eye(p))
        of_scores, added = np.zeros((p, p)), np.zeros(self.estimates)
        at_once = max(1, TABLE_VALUES // p)
        for judgments, code, which in clusters.portions(p):
            overall = scale.overall[clusters.parent[which], None]
            scores = self._scores(judgments, code, len(overall)) * overall @ inverse
            of_scores += scores.T @ scores
            for start in range(0, self.estimates, at_once):
                chosen = slice(start, start + at_once)
                across = error[:, chosen][which].T @ scores
                added[chosen] -= 2 * _row_sums(model.gradient[chosen].multiply(across))
        for start in range(0, self.estimates, at_once):
            chosen = slice(start, start + at_once)
            gradient = model.gradient[chosen]
            added[chosen] += _row_sums(gradient.multiply(gradient @ of_scores))
        return added

    def _scores(self, chosen: slice | Ints, code: Ints, clusters: int) -> Floats:
        """Return the sums of the model's scores over clusters of chosen judgments, (c, p)."""
        if self.model is None:
            return np.zeros((clusters, 0))
        fit = self.model.adjustment
        place = _places(code, fit.parameter[:, chosen], fit.parameters)
        return _added(place, fit.score[:, chosen], (clusters, fit.parameters))

    def _sums(self, clusters: _Clusters) -> csr_array:
        """Return U + i w of every cluster and estimate, (c, k): one sparse table of two numbers a cell."""
        shape = len(clusters), self.estimates
        if shape[0] * shape[1] <= TABLE_VALUES:
            place = _places(clusters.code, self.estimate, self.estimates)
            return csr_array(_added(place, self.error, shape) + 1j * _added(place, self.weight, shape))
        rows = np.broadcast_to(clusters.code.astype(np.int32), self.estimate.shape)
        places = (rows.ravel(), self.estimate.ravel().astype(np.int32))
        return csr_array(coo_array(((self.error + 1j * self.weight).ravel(), places), shape=shape))


class _Scale(NamedTuple):
    """What U of each cluster and estimate, (c, k), and scores of each cluster, (c,), are multiplied by."""

    own: csr_array
    overall: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _SampledClusters:
    """Clusters that are a sample, and how much of one.

    Attributes
    ----------
    exact, jackknife : _Scale
        1 / sqrt(r) and 1 / (1 - w) of the module.
    effective : (k,) ndarray of float
        How many clusters of equal weight would count as much.
    is_few : (k,) ndarray of bool
        Whether they are too few for an error.
    """

    exact: _Scale
    jackknife: _Scale
    effective: Floats
    is_few: Bools


def _exact(weight: Floats, squares: Any) -> Floats:
    """Return 1 / sqrt(r), see the module; 0 of a cluster that is alone."""
    return _inverse(np.sqrt(np.maximum(np.minimum(1 - weight, 1 - 2 * weight + squares), 0)))


def _jackknife(weight: Floats) -> Floats:
    """Return 1 / (1 - w); 0 of a cluster that is alone."""
    return _inverse(1 - weight)


def _inverse(values: Floats) -> Floats:
    return np.asarray(np.divide(1, values, out=np.zeros_like(values), where=values > NO_SHARE))


def _mapped(pattern: csr_array, values: Floats) -> csr_array:
    return csr_array((values, pattern.indices, pattern.indptr), shape=pattern.shape)


def _of_rows(scale: csr_array, row: Ints, pattern: csr_array) -> Floats:
    """Return the values of ``scale`` in ``row`` of each row of ``pattern``, where the pattern has any."""
    rows = np.repeat(row, np.diff(pattern.indptr))
    if scale.shape[0] * scale.shape[1] <= TABLE_VALUES:
        return np.asarray(_dense(scale)[rows, pattern.indices])
    return np.asarray(scale[rows, pattern.indices]).ravel()


def _places(row: Ints, column: Ints, columns: int) -> Ints:
    """Return the place of (m, n) cells in a table, with (n,) rows and (m, n) columns."""
    return np.asarray(row * columns + column)


def _added(place: Ints, value: Floats, shape: tuple[int, int]) -> Floats:
    """Return a table with the sums of (m, n) values at their places."""
    sums = np.bincount(place.ravel(), value.ravel(), shape[0] * shape[1])
    return np.asarray(sums, dtype=np.float64).reshape(shape)


def _column_sums(table: csr_array) -> Floats:
    return np.asarray(np.bincount(table.indices, table.data, table.shape[1]), dtype=np.float64)


def _row_sums(table: Any) -> Floats:
    return np.asarray(table.sum(axis=1), dtype=np.float64).ravel()


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
