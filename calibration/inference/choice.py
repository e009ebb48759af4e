"""Davidson's model of a choice between two things, with ties and sides.

Two things have worths that differ by U (Davidson 1970, in logistic form):

- ``davidson``: P(left) : P(right) : P(equal) = exp(U / 2) : exp(-U / 2) : nu.
- ``half``: P(left) = expit(U), and an equal judgment is half a vote for each side.
- ``drop``: the same, without the equal judgments.

U = x . w for a design x, left minus right, and weights w. A side is one more column of ones (`with_side`; Davidson and Beaver 1977):
its weight is the log odds of left between equals. Each log-likelihood is concave in (w, log nu), so Newton's method with halved steps
finds the only maximum. `maximise` fits several weights to single judgments, `fit_davidson` one slope of each of many metrics to counted
votes, and `crossed_covariance` says how far weights may be off where workers and topics were sampled.
"""

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.special import expit, log_expit

from calibration.inference.clusters import couple_codes, jackknife_covariance, newton_changes, two_way
from calibration.inference.maximise import StoppingRule, maximise_newton
from metrics.arrays import Floats, Ints

MAX_ERROR = 100.0
"""Standard error above which a weight has no finite maximum.

It is in log odds for a typical difference of a cell.
"""

Ties: TypeAlias = Literal["davidson", "half", "drop"]
TIES: tuple[Ties, ...] = get_args(Ties)

_RULE = StoppingRule(least_promise=1e-10, most_steps=60)
RIDGE = 1e-12


class ChoiceShares(NamedTuple):
    """Probabilities of first, second and equal, and their log normaliser.

    The normaliser is log(exp(b D / 2) + exp(-b D / 2) + nu); all have one shape.
    """

    first: Floats
    second: Floats
    tie: Floats
    log_total: Floats


def choice_shares(log_odds: Floats, log_tie: Floats) -> ChoiceShares:
    """Return the choice probabilities for b D = ``log_odds``, with the normaliser.

    Shapes are broadcast.

    The largest term is taken out first: `numpy.logaddexp` says the same in two to four times the time.
    """
    half = np.asarray(log_odds / 2)
    top = np.maximum(np.abs(half), log_tie)
    first, second, tie = np.exp(half - top), np.exp(-half - top), np.exp(log_tie - top)
    total = first + second + tie
    return ChoiceShares(first / total, second / total, tie / total, top + np.log(total))


def choice_probabilities(log_odds: Floats, log_tie: Floats) -> tuple[Floats, Floats, Floats]:
    """Return P(first better), P(second better), P(equal) for b D = ``log_odds``.

    Shapes are broadcast.
    """
    shares = choice_shares(log_odds, log_tie)
    return shares.first, shares.second, shares.tie


class LikelihoodTerms(NamedTuple):
    """Terms of the log-likelihood by judgment, with derivatives in U and log nu.

    t = log nu; every array is (n,).
    """

    loglik: Floats
    by_u: Floats
    by_t: Floats
    by_uu: Floats
    by_ut: Floats
    by_tt: Floats


def davidson_terms(u: Floats, vote: Floats, log_nu: float) -> LikelihoodTerms:
    """Return the terms of Davidson's model; t = log nu."""
    left, right, tie, log_total = choice_shares(u, np.asarray(log_nu))
    is_tie = vote == 0
    lead = left - right
    chosen = vote * u / 2 + is_tie * log_nu
    return LikelihoodTerms(
        loglik=chosen - log_total,
        by_u=(vote - lead) / 2,
        by_t=is_tie - tie,
        by_uu=-(left + right - lead**2) / 4,
        by_ut=lead * tie / 2,
        by_tt=-tie * (1 - tie),
    )


def binary_terms(u: Floats, vote: Floats, _: float) -> LikelihoodTerms:
    """Return the terms of a logit without ties; a vote of 0 is half for each side."""
    left = expit(u)
    share = (1 + vote) / 2
    none = np.zeros_like(u)
    return LikelihoodTerms(
        loglik=share * log_expit(u) + (1 - share) * log_expit(-u),
        by_u=share - left,
        by_t=none,
        by_uu=-left * (1 - left),
        by_ut=none,
        by_tt=none,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceMaximum:
    """Maximum of a log-likelihood of choices.

    Attributes
    ----------
    weights : (k,) ndarray of float
        One for each column of the design.
    tie : float or None
        log nu; None for a model without one.
    loglik : float
        The log-likelihood there.
    information : (p, p) ndarray of float
        Minus the second derivatives there, in the weights and, when there is one, the tie parameter.
    """

    weights: Floats
    tie: float | None
    loglik: float
    information: Floats

    @property
    def point(self) -> Floats:
        """Weights and tie parameter, (p,)."""
        return self.weights if self.tie is None else np.append(self.weights, self.tie)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceModel:
    """Log-likelihood of judgments, sum_i times_i l_i(design_i . w, t).

    Parameters are weights w and, under most treatments of ties, t.

    Attributes
    ----------
    design : (n, k) ndarray of float
        Left minus right; columns independent of each other.
    vote : (n,) ndarray of float
        1, -1, or 0 for a tie; for ``drop`` without ties.
    ties : str
        One of `TIES`.
    times : (n,) ndarray of float
        How often each judgment counts.
    """

    design: Floats
    vote: Floats
    ties: Ties
    times: Floats

    @property
    def has_tie(self) -> bool:
        """True if there is a tie parameter t: some judgment is a tie."""
        return self.ties == "davidson" and bool((self.vote == 0).any())

    def of(self, rows: Ints) -> "ChoiceModel":
        """Return the model restricted to some judgments."""
        return replace(self, design=self.design[rows], vote=self.vote[rows], times=self.times[rows])

    def terms(self, point: Floats) -> LikelihoodTerms:
        """Return the terms at (w, t)."""
        law = davidson_terms if self.has_tie else binary_terms
        k = self.design.shape[1]
        return law(self.design @ point[:k], self.vote, float(point[-1]))

    def log_likelihood(self, point: Floats) -> float:
        """Return the log-likelihood at (w, t)."""
        return float(self.times @ self.terms(point).loglik)

    def row_derivatives(self, point: Floats) -> tuple[Floats, Floats]:
        """Return the scores and information of each judgment, counted once, at (w, t).

        Their shapes are (n, p) and (n, p, p).
        """
        terms = self.terms(point)
        scores = self.design * terms.by_u[:, None]
        information = np.einsum("n,ni,nj->nij", -terms.by_uu, self.design, self.design)
        if not self.has_tie:
            return scores, information
        k = self.design.shape[1]
        whole = np.empty((len(self.vote), k + 1, k + 1))
        whole[:, :k, :k] = information
        whole[:, :k, k] = whole[:, k, :k] = -self.design * terms.by_ut[:, None]
        whole[:, k, k] = -terms.by_tt
        return np.column_stack([scores, terms.by_t]), whole

    def derivatives(self, point: Floats) -> tuple[Floats, Floats]:
        """Return the gradient (p,) and the information (p, p) at (w, t)."""
        return self.summed(self.terms(point))

    def summed(self, terms: LikelihoodTerms) -> tuple[Floats, Floats]:
        """Return `derivatives` from given terms."""
        gradient = (self.times * terms.by_u) @ self.design
        information = -(self.design.T * (self.times * terms.by_uu)) @ self.design
        if not self.has_tie:
            return gradient, information
        across = -(self.times * terms.by_ut) @ self.design
        corner = np.array([[-self.times @ terms.by_tt]])
        return (
            np.append(gradient, self.times @ terms.by_t),
            np.block([[information, across[:, None]], [across[None], corner]]),
        )

    def start(self) -> Floats:
        """Return a start: no weights, and the t of the observed share of ties."""
        weights = np.zeros(self.design.shape[1])
        if not self.has_tie:
            return weights
        share = min(float(self.times @ (self.vote == 0) / self.times.sum()), 0.99)
        return np.append(weights, np.log(2 * share / (1 - share)))


def alike(design: Floats, vote: Floats) -> tuple[Ints, Ints]:
    """Return the first judgment of each kind, and the kind of each judgment, (n,).

    Judgments of one kind have the same design and vote.
    """
    rows = np.column_stack([design, vote])
    shadow = sum(np.pi**index * column for index, column in enumerate(rows.T))
    kind: Ints = pd.factorize(shadow)[0]
    if not np.array_equal(rows[_firsts(kind)][kind], rows):  # two kinds cast one shadow
        kind = pd.DataFrame(rows).groupby(list(range(rows.shape[1])), sort=False).ngroup().to_numpy()
    return _firsts(kind), kind


def _firsts(kind: Ints) -> Ints:
    """Return the first index of each kind.

    Kinds are numbered in order of occurrence.
    """
    newest = np.maximum.accumulate(kind)
    return np.flatnonzero(np.diff(newest, prepend=-1))


def maximise(
    design: Floats, vote: Floats, ties: Ties, *, times: Floats | None = None, start: Floats | None = None
) -> ChoiceMaximum:
    """Maximise a `ChoiceModel` by Newton's method with halved steps.

    Parameters
    ----------
    design, vote, ties, times
        As in `ChoiceModel`; each judgment counts once by default.
    start : (p,) ndarray of float, optional
        Weights and, when there is one, tie parameter to start from.
    """
    model, unit = _scaled(design, vote, ties, times)
    point = _climbed(model, model.start() if start is None else start * unit)
    return _maximum(model, point, unit)


def _scaled(design: Floats, vote: Floats, ties: Ties, times: Floats | None) -> tuple[ChoiceModel, Floats]:
    """Return the model with columns of one scale, and the divisor of its (w, t)."""
    scale = np.sqrt((design**2).mean(axis=0))
    scale[scale == 0] = 1.0
    counted = times
    if counted is None:
        first, kind = alike(design, vote)
        design, vote, counted = design[first], vote[first], np.bincount(kind).astype(np.float64)
    model = ChoiceModel(design=design / scale, vote=vote, ties=ties, times=counted)
    return model, np.append(scale, 1.0) if model.has_tie else scale


def _maximum(model: ChoiceModel, point: Floats, unit: Floats) -> ChoiceMaximum:
    k, here = model.design.shape[1], _at(model, point)
    return ChoiceMaximum(
        weights=point[:k] / unit[:k],
        tie=float(point[-1]) if model.has_tie else None,
        loglik=here.loglik,
        information=unit[:, None] * model.summed(here.terms)[1] * unit,
    )


class _PlaceOfTerms(NamedTuple):
    """Log-likelihood at a point, with its terms by judgment."""

    loglik: float
    terms: LikelihoodTerms


def _at(model: ChoiceModel, point: Floats) -> _PlaceOfTerms:
    terms = model.terms(point)
    return _PlaceOfTerms(float(model.times @ terms.loglik), terms)


def _climbed(model: ChoiceModel, start: Floats) -> Floats:
    ridge = RIDGE * model.times.sum() * np.eye(len(start))

    def step(_: Floats, here: _PlaceOfTerms) -> tuple[Floats, float]:
        gradient, information = model.summed(here.terms)
        whole = np.linalg.solve(information + ridge, gradient)
        return whole, float(gradient @ whole)

    return maximise_newton(lambda point: _at(model, point), start, step, _RULE).point


def separated_columns(maximum: ChoiceMaximum, design: Floats) -> tuple[int, ...]:
    """Return the columns whose weight grows without end.

    Some votes follow them without exception.
    """
    k = design.shape[1]
    typical = np.append(np.sqrt((design**2).mean(axis=0)), np.ones(len(maximum.point) - k))
    scaled = maximum.information / np.outer(typical, typical)
    ridge = 1e-14 * np.trace(scaled) * np.eye(len(scaled))
    errors = np.sqrt(np.abs(np.diag(np.linalg.inv(scaled + ridge)))[:k])
    return tuple(np.flatnonzero(errors > MAX_ERROR).tolist())


def with_side(design: Floats) -> Floats:
    """Append a column of ones, whose weight is the log odds of left between equals."""
    return np.column_stack([design, np.ones(len(design))])


def changes_without_each(model: ChoiceModel, point: Floats, cluster: Ints) -> Floats:
    """Return the Newton step from ``point`` without each cluster, (c, p).

    `newton_changes` has the formula.
    """
    first, kind = alike(model.design, model.vote)
    scores, information = model.of(first).row_derivatives(point)
    counts = csr_array((np.ones(len(kind)), (cluster, kind)))
    of_cluster: Floats = np.asarray(counts @ information.reshape(len(first), -1))
    return newton_changes(np.asarray(counts @ scores), of_cluster.reshape(-1, *information.shape[1:]))


def crossed_covariance(model: ChoiceModel, point: Floats, worker: Ints, topic: Ints) -> Floats:
    """Return the two-way clustered covariance of weights and tie parameter, (p, p).

    Workers and topics are both samples.

    With J_c the jackknife covariance over clusters c, each left out by one Newton step,

        V = J_topic + J_worker - J_both,    negative eigenvalues set to 0,

    where the clusters of J_both share worker and topic (Cameron, Gelbach and Miller 2011, with jackknifes in place of sandwiches:
    those were measured to be too small, most of all below 40 topics).

    Parameters
    ----------
    model : ChoiceModel
        With each judgment counted once.
    point : (p,) ndarray of float
        Where it is highest.
    worker, topic : (n,) ndarray of int
        Clusters of each judgment, from 0 without holes; at least two of either.
    """
    clusters = (topic, worker, couple_codes(worker, topic))
    return two_way(*(jackknife_covariance(changes_without_each(model, point, code)) for code in clusters))


MAX_SCALED_SLOPE = 40.0
"""Bound of |b| times the metric's spread.

Votes that follow the metric without exception have no finite slope.
"""
_LARGEST = np.array([MAX_SCALED_SLOPE, np.inf])
_METRICS_RULE = StoppingRule(least_promise=1e-10, least_gain=1e-10, slack=1e-12)


@dataclass(frozen=True, slots=True, kw_only=True)
class Votes:
    """Votes of p pairs, each a (p,) ndarray of float."""

    first: Floats
    second: Floats
    ties: Floats

    @property
    def total(self) -> Floats:
        """Number of judgments of each pair, (p,)."""
        return self.first + self.second + self.ties

    def of(self, pairs: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> "Votes":
        """Select the votes of some pairs."""
        return Votes(first=self.first[pairs], second=self.second[pairs], ties=self.ties[pairs])


@dataclass(frozen=True, slots=True, kw_only=True)
class DavidsonFit:
    """Maxima of k log-likelihoods of Davidson's model, (k,) arrays.

    ``log_tie`` is -inf without observed ties.
    """

    slope: Floats
    log_tie: Floats
    loglik: Floats


def log_likelihood(differences: Floats, votes: Votes, slope: Floats, log_tie: Floats) -> Floats:
    """Return the log-likelihood of k metrics.

    l = sum_pairs (v_1 - v_2) b D / 2 + t log nu - n log(exp(b D / 2) + exp(-b D / 2) + nu)

    Parameters
    ----------
    differences : (k, p) ndarray of float
        D of each metric and pair.
    votes : Votes
        Of the p pairs.
    slope, log_tie : (k,) ndarray of float
        b and log nu. A log nu of -inf needs votes without ties.

    Returns
    -------
    (k,) ndarray of float
    """
    return _place(differences, votes, slope, log_tie).loglik


class _DavidsonPlace(NamedTuple):
    """Log-likelihoods at a point, (k,), with the choice probabilities."""

    loglik: Floats
    shares: ChoiceShares


def _place(differences: Floats, votes: Votes, slope: Floats, log_tie: Floats) -> _DavidsonPlace:
    log_odds = slope[:, None] * differences
    shares = choice_shares(log_odds, log_tie[:, None])
    all_ties = votes.ties.sum()
    of_ties = all_ties * log_tie if all_ties else 0.0
    loglik = log_odds / 2 @ (votes.first - votes.second) - shares.log_total @ votes.total + of_ties
    return _DavidsonPlace(np.asarray(loglik), shares)


def fit_davidson(
    differences: Floats, votes: Votes, start: tuple[Floats, Floats] | None = None
) -> DavidsonFit:
    """Maximise the log-likelihood of each of k metrics over b and nu.

    Parameters
    ----------
    differences : (k, p) ndarray of float
        D of each metric and pair. A metric without any difference has slope 0.
    votes : Votes
        Of the p pairs; somebody must have preferred a system.
    start : ((k,), (k,)) ndarrays of float, optional
        Slope and log tie weight to start from.

    Returns
    -------
    DavidsonFit
    """
    spread = np.sqrt(differences**2 @ votes.total / votes.total.sum())
    spread[spread == 0] = 1.0
    scaled = differences / spread[:, None]
    slope, log_tie = _start(len(scaled), votes) if start is None else (start[0] * spread, start[1])
    top = maximise_newton(
        lambda point: _place(scaled, votes, point[:, 0], point[:, 1]),
        np.stack([slope, log_tie], axis=1),
        lambda _, place: _newton_step(scaled, votes, place),
        _METRICS_RULE,
        (-_LARGEST, _LARGEST),
    )
    return DavidsonFit(slope=top.point[:, 0] / spread, log_tie=top.point[:, 1], loglik=top.place.loglik)


def _start(k: int, votes: Votes) -> tuple[Floats, Floats]:
    preferred, tied = (votes.first + votes.second).sum(), votes.ties.sum()
    log_tie = np.log(2 * tied / preferred) if tied else -np.inf
    return np.zeros(k), np.full(k, log_tie)


def _newton_step(scaled: Floats, votes: Votes, here: _DavidsonPlace) -> tuple[Floats, Floats]:
    """Return the Newton step in (slope, log tie), (k, 2), and its decrement, (k,)."""
    first, second, tie, _ = here.shares
    n, lead = votes.total, first - second
    gradient_slope = (scaled / 2 * (votes.first - votes.second - n * lead)).sum(axis=1)
    gradient_tie = votes.ties.sum() - tie @ n
    curve_slope = (n * scaled**2 / 4 * (first + second - lead**2)).sum(axis=1) + 1e-12
    curve_both = -(n * scaled / 2 * lead * tie).sum(axis=1)
    curve_tie = (tie * (1 - tie)) @ n if votes.ties.any() else np.ones(len(scaled))
    determinant = curve_slope * curve_tie - curve_both**2
    determinant = np.maximum(determinant, 1e-12 * curve_slope * curve_tie)
    step_slope = (curve_tie * gradient_slope - curve_both * gradient_tie) / determinant
    step_tie = (curve_slope * gradient_tie - curve_both * gradient_slope) / determinant
    promise = gradient_slope * step_slope + gradient_tie * step_tie
    return np.stack([step_slope, step_tie], axis=1), promise
