"""Likelihoods of a choice between two streams whose utilities differ by U, and their maximum.

- ``davidson``: P(left) : P(right) : P(equal) = exp(U / 2) : exp(-U / 2) : nu (Davidson 1970).
- ``rao_kupper``: P(left) = expit(U - c), P(right) = expit(-U - c), the rest is equal; c > 0: an ordered logit with
  symmetric thresholds (Rao and Kupper 1967, theta = exp(c)).
- ``half``: P(left) = expit(U), and an equal judgment is half a vote for each side.
- ``drop``: the same, without the equal judgments.

Each is concave in the weights and its tie parameter (log nu, or c), so Newton's method finds the only maximum.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit

from calibration.inference.davidson import choice_shares
from calibration.inference.maximise import StoppingRule, climb
from metrics.arrays import Floats, Ints

LARGEST_ERROR = 100.0
"""Standard error, in log odds for a typical difference of a cell, of a weight that has no finite maximum."""

Ties: TypeAlias = Literal["davidson", "rao_kupper", "half", "drop"]
TIES: tuple[Ties, ...] = get_args(Ties)

_RULE = StoppingRule(least_promise=1e-10, most_steps=60)
RIDGE = 1e-12
IMPOSSIBLE = -1e300
FLAT = 1e-5
"""The largest slope, for each judgment, at what is called a maximum."""


class Terms(NamedTuple):
    """What each judgment adds to the log-likelihood, and its derivatives in U and the tie parameter t; (n,) each."""

    loglik: Floats
    by_u: Floats
    by_t: Floats
    by_uu: Floats
    by_ut: Floats
    by_tt: Floats


def davidson_terms(u: Floats, vote: Floats, log_nu: float) -> Terms:
    """Davidson's model; t = log nu."""
    left, right, tie, log_total = choice_shares(u, np.asarray(log_nu))
    is_tie = vote == 0
    lead = left - right
    chosen = vote * u / 2 + is_tie * log_nu
    return Terms(
        loglik=chosen - log_total,
        by_u=(vote - lead) / 2,
        by_t=is_tie - tie,
        by_uu=-(left + right - lead**2) / 4,
        by_ut=lead * tie / 2,
        by_tt=-tie * (1 - tie),
    )


def rao_kupper_terms(u: Floats, vote: Floats, c: float) -> Terms:
    """Rao and Kupper's model; t = c. For c <= 0 nothing is possible."""
    is_tie = vote == 0
    if c <= 0:
        return Terms(np.full_like(u, IMPOSSIBLE), *(np.zeros_like(u) for _ in range(5)))
    side = np.where(is_tie, 1.0, vote)
    above, below = expit(u + c), expit(u - c)
    miss = expit(c - side * u)
    spread, curve = above * (1 - above), below * (1 - below)
    kept = miss * (1 - miss)
    log_tie = u + np.log(2 * np.sinh(c)) + log_expit(-u - c) + log_expit(c - u)
    return Terms(
        loglik=np.where(is_tie, log_tie, log_expit(side * u - c)),
        by_u=np.where(is_tie, 1 - above - below, side * miss),
        by_t=np.where(is_tie, 1 / np.tanh(c) - above + below, -miss),
        by_uu=np.where(is_tie, -spread - curve, -kept),
        by_ut=np.where(is_tie, curve - spread, side * kept),
        by_tt=np.where(is_tie, -1 / np.sinh(c) ** 2 - spread - curve, -kept),
    )


def binary_terms(u: Floats, vote: Floats, _: float) -> Terms:
    """Logit without ties; a vote of 0 is half a vote for each side."""
    left = expit(u)
    share = (1 + vote) / 2
    none = np.zeros_like(u)
    return Terms(
        loglik=share * log_expit(u) + (1 - share) * log_expit(-u),
        by_u=share - left,
        by_t=none,
        by_uu=-left * (1 - left),
        by_ut=none,
        by_tt=none,
    )


Law: TypeAlias = Callable[[Floats, Floats, float], Terms]
_LAWS: MappingProxyType[str, Law] = MappingProxyType(
    {"davidson": davidson_terms, "rao_kupper": rao_kupper_terms}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceMaximum:
    """Where a log-likelihood is highest.

    Attributes
    ----------
    weights : (k,) ndarray of float
        One for each column of the design.
    tie : float or None
        log nu or c; None for a model without one.
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
        """(p,) weights and tie parameter."""
        return self.weights if self.tie is None else np.append(self.weights, self.tie)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceModel:
    """A log-likelihood sum_i times_i l_i(design_i . w, t) of weights w and, with most treatments of ties, t.

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
        """Whether there is a t: not where nobody saw a tie."""
        return self.ties in _LAWS and bool((self.vote == 0).any())

    def of(self, rows: Ints) -> "ChoiceModel":
        """Return the same of some judgments."""
        return replace(self, design=self.design[rows], vote=self.vote[rows], times=self.times[rows])

    def terms(self, point: Floats) -> Terms:
        """Return the terms at (w, t)."""
        law = _LAWS[self.ties] if self.has_tie else binary_terms
        k = self.design.shape[1]
        return law(self.design @ point[:k], self.vote, float(point[-1]))

    def log_likelihood(self, point: Floats) -> float:
        """Return the log-likelihood at (w, t)."""
        return float(self.times @ self.terms(point).loglik)

    def row_derivatives(self, point: Floats) -> tuple[Floats, Floats]:
        """Return (n, p) scores and (n, p, p) information of each judgment, counted once, at (w, t)."""
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
        """Return the (p,) gradient and the (p, p) information of the whole at (w, t)."""
        return self.summed(self.terms(point))

    def summed(self, terms: Terms) -> tuple[Floats, Floats]:
        """Return `derivatives` from the terms there."""
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
        """Return no weights, and the t of the observed share of ties."""
        weights = np.zeros(self.design.shape[1])
        if not self.has_tie:
            return weights
        share = min(float(self.times @ (self.vote == 0) / self.times.sum()), 0.99)
        tie = np.log(2 * share / (1 - share)) if self.ties == "davidson" else -logit((1 - share) / 2)
        return np.append(weights, tie)


def alike(design: Floats, vote: Floats) -> tuple[Ints, Ints]:
    """Return the first judgment of each kind, and the kind of each, (n,): those with the same design and vote are of one."""
    rows = np.column_stack([design, vote])
    shadow = sum(np.pi**place * column for place, column in enumerate(rows.T))
    kind: Ints = pd.factorize(shadow)[0]
    if not np.array_equal(rows[_firsts(kind)][kind], rows):  # two kinds cast one shadow
        kind = pd.DataFrame(rows).groupby(list(range(rows.shape[1])), sort=False).ngroup().to_numpy()
    return _firsts(kind), kind


def _firsts(kind: Ints) -> Ints:
    """Return the first place of each kind, which are numbered as they come."""
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


def maximise_nonnegative(
    design: Floats, vote: Floats, ties: Ties, *, times: Floats | None = None, start: Floats | None = None
) -> ChoiceMaximum:
    """Maximise over weights that are not negative; parameters as in `maximise`.

    Raises
    ------
    ArithmeticError
        If the search finds no maximum.
    """
    free = maximise(design, vote, ties, times=times, start=start)
    if (free.weights >= 0).all():
        return free
    model, unit = _scaled(design, vote, ties, times)
    k = design.shape[1]

    def loss(point: Floats) -> tuple[float, Floats]:
        return -model.log_likelihood(point), -model.derivatives(point)[0]

    bounds: Any = [(0.0, None)] * k + [(None, None)] * (len(unit) - k)
    options: Any = {"ftol": 1e-13, "gtol": 1e-7, "maxiter": 500}
    first = free.point * unit
    first[:k] = np.maximum(first[:k], 0)
    found = minimize(
        loss,
        first,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options=options,
    )
    rise = model.derivatives(found.x)[0]
    at_zero = (np.arange(len(unit)) < k) & (found.x == 0)
    if not (np.abs(rise[~at_zero]) < FLAT * len(vote)).all() or not (rise[at_zero] < FLAT * len(vote)).all():
        raise ArithmeticError(f"no maximum found over weights that are not negative: {found.message}")
    return _maximum(model, found.x, unit)


def _scaled(design: Floats, vote: Floats, ties: Ties, times: Floats | None) -> tuple[ChoiceModel, Floats]:
    """Return the model with columns of one scale, and what its (w, t) is to be divided by."""
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
    """The log-likelihood at a point, and what each judgment adds to it there."""

    loglik: float
    terms: Terms


def _at(model: ChoiceModel, point: Floats) -> _PlaceOfTerms:
    terms = model.terms(point)
    return _PlaceOfTerms(float(model.times @ terms.loglik), terms)


def _climbed(model: ChoiceModel, start: Floats) -> Floats:
    ridge = RIDGE * model.times.sum() * np.eye(len(start))

    def step(_: Floats, here: _PlaceOfTerms) -> tuple[Floats, float]:
        gradient, information = model.summed(here.terms)
        whole = np.linalg.solve(information + ridge, gradient)
        return whole, float(gradient @ whole)

    return climb(lambda point: _at(model, point), start, step, _RULE).point


def without_maximum(maximum: ChoiceMaximum, design: Floats) -> tuple[int, ...]:
    """Return the columns whose weight grows without end, because some votes follow them without exception."""
    k = design.shape[1]
    typical = np.append(np.sqrt((design**2).mean(axis=0)), np.ones(len(maximum.point) - k))
    scaled = maximum.information / np.outer(typical, typical)
    ridge = 1e-14 * np.trace(scaled) * np.eye(len(scaled))
    errors = np.sqrt(np.abs(np.diag(np.linalg.inv(scaled + ridge)))[:k])
    return tuple(np.flatnonzero(errors > LARGEST_ERROR).tolist())
