"""Reading speed by marginal likelihood, with idle and skimmed reads.

x_ui = theta_u + e_ui,  theta_u ~ N(mu, sigma^2)
e ~ mixture of read, idle and skimmed (`calibration.models.reading.law`)
L_u = INT prod_i f(x_ui - theta) prod_{i cut} F(x_ui - theta) phi(theta; mu, sigma) dtheta

with f and F density and distribution of e: a read that the end of the visit cut is slower than it looks.
Workers with nothing but cut reads take part. The integral is a sum over even nodes around each worker's
posterior mean (never around mu). The shares have a weak prior, worth twenty reads: without it they are not
told apart from tau where nobody idles.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from calibration.inference.maximise import information_at
from calibration.models.reading.law import ReadLaw
from calibration.models.reading.medians import MedianFit, fit_medians
from calibration.models.reading.rows import TimedReads
from metrics.arrays import Bools, Floats, Indices

PRIOR_READS = np.array([18.0, 1.0, 1.0])
MANY_ROWS = 50_000
NODES, REACH = 41, 10.0
"""Number of nodes, and their half-width in posterior standard deviations.

A worker's posterior has longer tails than a normal one.
"""
NODES_OF_MANY, REACH_OF_MANY = 17, 6.5
"""Number of nodes and their half-width for a worker with many reads.

The nodes are as dense as needed, and less than a millionth lies outside them.
"""
_CELLS_IN_TAU = 10
_ROWS_AT_ONCE = 1200
_WORKERS_AT_FIRST = 300
_STEP = 1e-5
_DECREMENT = 1e-4
_ROUGH, _FINE = 1e-2, 1e-4
_MIN_SIGMA = 0.02
_MIN_VARIANCE = 1e-6
_FAR = 20.0
"""Largest absolute log sigma or log tau of a maximum.

The search goes there where reads do not scatter, until numbers overflow.
"""
_LOG_ROOT_2_PI = 0.5 * math.log(2 * math.pi)

N_FREE = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class MixtureFit:
    """Fit of the mixture by marginal likelihood.

    Attributes
    ----------
    mu, sigma : float
        Mean and standard deviation of log speeds over workers.
    tau : float
        Scale of one proper read around its worker's speed.
    idle, skimmed : float
        Their shares of the reads.
    loglik : float
        Marginal log-likelihood, without the prior.
    cov : (2, 2) ndarray of float
        Of (mu, log sigma), from the observed information.
    centres : (workers,) ndarray of float
        Posterior mean of each worker's log speed.
    """

    mu: float
    sigma: float
    tau: float
    idle: float
    skimmed: float
    loglik: float
    cov: Floats
    centres: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerBlock:
    """Block of workers with all their reads."""

    workers: slice
    starts: Indices
    worker: Indices
    x: Floats
    cut: Bools
    count: Floats
    rows: slice

    @property
    def n_workers(self) -> int:
        """Number of workers."""
        return len(self.starts)


class _Rows(NamedTuple):
    """Reads with weights (n,), and whether they stand for very many."""

    data: TimedReads
    times: Floats
    many: bool


class MixtureLikelihood:
    """Marginal likelihood of the mixture, one term a worker.

    Its parameters are (mu, log sigma, log tau, a_idle, a_skimmed).

    The shares of read, idle and skimmed are (1 - 0.002) exp(0, a_idle, a_skimmed) / sum.

    Parameters
    ----------
    rows : _Rows
        Of at least one worker.
    centre, spread : (workers,) ndarray of float
        Where each worker's log speed is thought to be, and its uncertainty; the nodes reach `REACH` of it to both
        sides.
    """

    def __init__(self, rows: "_Rows", centre: Floats, spread: Floats, variances: Floats) -> None:
        self._rows, self._variances = rows, variances
        nodes, sides = (NODES_OF_MANY, REACH_OF_MANY) if rows.many else (NODES, REACH)
        reach = sides * spread
        self.nodes = centre[:, None] + reach[:, None] * np.linspace(-1, 1, nodes)
        self.log_step = np.log(2 * reach / (nodes - 1))

    @classmethod
    def around_medians(cls, data: TimedReads, start: MedianFit, *, many: bool = False) -> "MixtureLikelihood":
        """Place the nodes around the workers' medians.

        Nodes of workers without a median lie around mu; ``many`` flags very many reads.
        """
        known = np.isfinite(start.variances)
        weight = np.where(known, 1 / np.where(known, start.variances, 1.0), 0.0)
        own_weight = 1 / max(start.sigma, _MIN_SIGMA) ** 2
        medians = np.where(known, start.medians, start.mu)
        centre = (weight * medians + own_weight * start.mu) / (weight + own_weight)
        rows = _binned(data, start.tau) if many else _Rows(data, np.ones(len(data.worker)), many=False)
        return cls(rows, centre, 1 / np.sqrt(weight + own_weight), start.variances)

    def around_posterior(self, p: Floats, score: Floats) -> "MixtureLikelihood":
        """Place the nodes around posterior means at ``p``, by posterior deviations.

        Both follow from the workers' ``score`` there, (workers, 5): in mu and log sigma it is E z / sigma and E z^2 - 1 with
        z = (theta - mu) / sigma.
        """
        sigma = math.exp(p[1])
        mean = sigma * score[:, 0]
        variance = np.maximum(score[:, 1] + 1 - mean**2, _MIN_VARIANCE)
        return MixtureLikelihood(self._rows, p[0] + sigma * mean, sigma * np.sqrt(variance), self._variances)

    def covering(self, low: Floats, high: Floats) -> "MixtureLikelihood":
        """Extend the nodes to cover ``low`` to ``high`` too, (workers,) each."""
        low, high = np.minimum(low, self.nodes[:, 0]), np.maximum(high, self.nodes[:, -1])
        sides = REACH_OF_MANY if self._rows.many else REACH
        return MixtureLikelihood(self._rows, (low + high) / 2, (high - low) / (2 * sides), self._variances)

    def penalty(self, p: Floats, weights: Floats | None = None) -> tuple[float, Floats]:
        """Return the penalty of the log-likelihood, and its gradient.

        A Dirichlet prior of the shares on the scale of the a's, and, as in restricted likelihood, what is due for mu having
        been estimated: -log(sum_u w_u / (sigma^2 + s_u^2)) / 2, with the s_u^2 of the medians. Without it sigma of 30 workers
        is 2 % too small.
        """
        softmax = ReadLaw(p).softmax
        variance = math.exp(2 * p[1])
        precision = (1.0 if weights is None else weights) / (variance + self._variances)
        total = max(float(precision.sum()), 1e-300)  # 0 where nobody reads in earnest
        slope = np.zeros(N_FREE)
        slope[1] = variance * float((precision / (variance + self._variances)).sum()) / total
        slope[3:] = (PRIOR_READS - PRIOR_READS.sum() * softmax)[1:]
        return float(PRIOR_READS @ np.log(np.maximum(softmax, 1e-300))) - 0.5 * math.log(total), slope

    @property
    def n_workers(self) -> int:
        """Number of terms."""
        return len(self._variances)

    @property
    def n_reads(self) -> float:
        """Number of reads."""
        return float(self._rows.times.sum())

    def terms(self, p: Floats) -> tuple[Floats, Floats]:
        """Return each worker's log-likelihood and its gradient.

        Parameters
        ----------
        p : (5,) ndarray of float
            mu, log sigma, log tau, a_idle, a_skimmed.

        Returns
        -------
        (workers,), (workers, 5) ndarray of float
        """
        mixture = ReadLaw(p)
        value, score = np.empty(self.n_workers), np.empty((self.n_workers, N_FREE))
        sigma = math.exp(p[1])
        for block in self.blocks:
            z = (self.nodes[block.workers] - p[0]) / sigma
            prior = -0.5 * z**2 - p[1] - _LOG_ROOT_2_PI + self.log_step[block.workers, None]
            law = mixture.of(block.x - self.nodes[block.workers][block.worker], block.cut)
            log_f = np.log(law.value) * block.count[:, None]
            joint = np.add.reduceat(log_f, block.starts, axis=0) + prior
            highest = joint.max(axis=1, keepdims=True)
            weight = np.exp(joint - highest)
            total = weight.sum(axis=1, keepdims=True)
            value[block.workers] = (highest + np.log(total))[:, 0]
            weight /= total
            score[block.workers, 0] = (weight * z).sum(axis=1) / sigma
            score[block.workers, 1] = (weight * (z**2 - 1)).sum(axis=1)
            slopes = law.slopes(weight[block.worker] * block.count[:, None])
            score[block.workers, 2:] = np.add.reduceat(slopes, block.starts, axis=0)
        return value, score

    @cached_property
    def blocks(self) -> tuple[WorkerBlock, ...]:
        """Workers with their reads, in blocks."""
        return tuple(self._made_blocks())

    def _made_blocks(self) -> Iterator[WorkerBlock]:
        """Cut the rows between workers into blocks that fit a processor's cache."""
        data = self._rows.data
        begins = np.searchsorted(data.worker, np.arange(self.n_workers + 1))
        first = 0
        while first < self.n_workers:
            beyond = int(np.searchsorted(begins, begins[first] + _ROWS_AT_ONCE, side="right")) - 1
            stop = min(max(beyond, first + 1), self.n_workers)
            rows = slice(begins[first], begins[stop])
            yield WorkerBlock(
                workers=slice(first, stop),
                starts=(begins[first:stop] - begins[first]).astype(np.intp),
                worker=data.worker[rows] - first,
                x=data.log_speed[rows, None],
                cut=data.cut[rows],
                count=self._rows.times[rows],
                rows=rows,
            )
            first = stop


def _binned(data: TimedReads, tau: float) -> _Rows:
    """Merge reads of a worker whose log speeds differ by less than tau / 10."""
    cell = np.floor((data.log_speed - data.log_speed.min()) * (_CELLS_IN_TAU / tau)).astype(np.int64)
    key = (data.worker * (int(cell.max()) + 1) + cell) * 2 + data.cut
    _, first, of_row, count = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    united = data.of(first)
    mean = np.bincount(of_row, weights=data.log_speed) / count
    return _Rows(replace(united, log_speed=mean), count.astype(np.float64), many=True)


class MixtureMaximum(NamedTuple):
    """Maximum of the marginal likelihood, with each worker's term and gradient.

    It has (5,) parameters, and log-likelihoods (u,) and gradients (u, 5) of the workers.
    """

    likelihood: MixtureLikelihood
    p: Floats
    value: Floats
    score: Floats


class ReadingSample(NamedTuple):
    """Reads, their fit by medians, and the maximum of their likelihood.

    The maximum is None where there is none inside.
    """

    data: TimedReads
    medians: MedianFit
    top: MixtureMaximum | None


@lru_cache(maxsize=4)
def reading_sample(data: TimedReads) -> ReadingSample:
    """Maximise the likelihood of some reads.

    A fit and all of its checks share the result.
    """
    medians = fit_medians(data)
    return ReadingSample(data, medians, mixture_top(data, medians))


def fit_mixture(top: MixtureMaximum) -> MixtureFit | None:
    """Return the fit at the maximum of the marginal likelihood, or None.

    The result is None where the maximum is not inside.

    Parameters
    ----------
    top : MixtureMaximum
        Of at least two workers, who count once.
    """
    likelihood, p, value, score = top
    slope = score.sum(axis=0) + likelihood.penalty(p)[1]
    information = information_at(
        lambda at: likelihood.terms(at)[1].sum(axis=0) + likelihood.penalty(at)[1], p, _STEP, slope
    )
    if np.linalg.eigvalsh(information)[0] <= 0:
        return None
    inverse = np.asarray(np.linalg.inv(information), dtype=np.float64)
    if slope @ inverse @ slope > _DECREMENT:
        return None
    shares = ReadLaw(p).shares
    return MixtureFit(
        mu=float(p[0]),
        sigma=math.exp(p[1]),
        tau=math.exp(p[2]),
        idle=float(shares[1]),
        skimmed=float(shares[2]),
        loglik=float(value.sum()),
        cov=inverse[:2, :2],
        centres=p[0] + math.exp(2 * p[1]) * score[:, 0],
    )


def mixture_top(data: TimedReads, start: MedianFit, weights: Floats | None = None) -> MixtureMaximum | None:
    """Maximise the marginal likelihood; return None if the maximum is not inside.

    An example is a crowd with no spread over workers.

    It is maximised twice: the first time roughly, of very many workers with some of them, to know where the nodes belong.

    Parameters
    ----------
    data : TimedReads
        Of at least two workers.
    start : MedianFit
        The fit by medians.
    weights : (workers,) ndarray of float, optional
        How much each worker counts; once by default.
    """
    weights = np.ones(data.n_workers) if weights is None else weights
    p = np.array([start.mu, math.log(max(start.sigma, _MIN_SIGMA)), math.log(start.tau), -2.5, -2.5])
    many = len(data.worker) > MANY_ROWS
    likelihood = MixtureLikelihood.around_medians(data, start, many=many)
    every = max(1, data.n_workers // _WORKERS_AT_FIRST) if many else 1
    first = likelihood if every == 1 else _thinned(data, start, every)
    _, p, _, score = _maximised(_at(first, p), weights[::every], _ROUGH)
    if not np.isfinite(p).all() or math.exp(p[1]) < _MIN_SIGMA:
        return None
    score = score if first is likelihood else likelihood.terms(p)[1]
    top = _maximised(_at(likelihood.around_posterior(p, score), p), weights, _FINE)
    return top if np.isfinite(top.p).all() and math.exp(top.p[1]) >= _MIN_SIGMA else None


def _at(likelihood: MixtureLikelihood, p: Floats) -> MixtureMaximum:
    return MixtureMaximum(likelihood, p, *likelihood.terms(p))


def _thinned(data: TimedReads, start: MedianFit, every: int) -> MixtureLikelihood:
    """Return the likelihood of every n-th worker, from the first."""
    of_some = replace(start, medians=start.medians[::every], variances=start.variances[::every])
    return MixtureLikelihood.around_medians(data.of(data.worker % every == 0), of_some, many=True)


def _maximised(begin: MixtureMaximum, weights: Floats, slope_left: float) -> MixtureMaximum:
    """Climb by quasi-Newton steps from a start.

    The workers' outer product of scores scales the first steps.
    """
    likelihood, start, *terms = begin
    known = {start.tobytes(): tuple(terms)}

    def loss(p: Floats) -> tuple[float, Floats]:
        if np.abs(p[1:3]).max() > _FAR:
            return math.inf, np.zeros(N_FREE)
        if p.tobytes() not in known:
            known[p.tobytes()] = likelihood.terms(p)
        value, score = known[p.tobytes()]
        penalty, slope = likelihood.penalty(p, weights)
        return -float(weights @ value) - penalty, -(weights @ score) - slope

    score = begin.score
    scale = score.T * weights @ score + np.diag([1.0, 1.0, 1.0, 2.0, 2.0])
    inverse = np.linalg.inv(scale)
    # a gradient far below its own sampling error, which grows with the root of the reads
    options: Any = {
        "hess_inv0": (inverse + inverse.T) / 2,
        "gtol": slope_left * math.sqrt(likelihood.n_reads),
    }
    minimum = minimize(loss, start, jac=True, method="BFGS", options=options)
    p = np.asarray(minimum.x, dtype=np.float64)
    known_there = known.get(p.tobytes())
    return MixtureMaximum(likelihood, p, *known_there) if known_there else _at(likelihood, p)
