"""Davidson's model of pairwise preferences with ties, fitted to many metrics at once.

For a metric difference D = M(R) - M(R') (Davidson 1970, in logistic form):

    P(R better) : P(R' better) : P(equal) = exp(b D / 2) : exp(-b D / 2) : nu

b is the slope (log odds for each unit of the metric), nu the weight of a tie. For given D the log-likelihood is
concave in (b, log nu), so Newton's method with halved steps finds its maximum from anywhere.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from calibration.inference.maximise import StoppingRule, climb
from metrics.arrays import Floats

LARGEST_SCALED_SLOPE = 40.0
"""Bound of |b| x the metric's spread: votes that follow the metric without exception have no finite slope."""
_LARGEST = np.array([LARGEST_SCALED_SLOPE, np.inf])
_RULE = StoppingRule(least_promise=1e-10, least_gain=1e-10, slack=1e-12)


@dataclass(frozen=True, slots=True, kw_only=True)
class Votes:
    """Votes of p pairs, each a (p,) ndarray of float."""

    first: Floats
    second: Floats
    ties: Floats

    @property
    def total(self) -> Floats:
        """(p,) judgments of each pair."""
        return self.first + self.second + self.ties

    def of(self, pairs: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> "Votes":
        """Return the votes of some pairs."""
        return Votes(first=self.first[pairs], second=self.second[pairs], ties=self.ties[pairs])


@dataclass(frozen=True, slots=True, kw_only=True)
class DavidsonFit:
    """Maxima of k log-likelihoods, each a (k,) ndarray of float; ``log_tie`` is -inf where nobody saw a tie."""

    slope: Floats
    log_tie: Floats
    loglik: Floats


class ChoiceShares(NamedTuple):
    """P(first better), P(second better), P(equal), and log(exp(b D / 2) + exp(-b D / 2) + nu), all of one shape."""

    first: Floats
    second: Floats
    tie: Floats
    log_total: Floats


def choice_shares(log_odds: Floats, log_tie: Floats) -> ChoiceShares:
    """Return the probabilities for b D = ``log_odds``, and what they were divided by; shapes are broadcast.

    The largest term is taken out first: `numpy.logaddexp` says the same in two to four times the time.
    """
    half = np.asarray(log_odds / 2)
    top = np.maximum(np.abs(half), log_tie)
    first, second, tie = np.exp(half - top), np.exp(-half - top), np.exp(log_tie - top)
    total = first + second + tie
    return ChoiceShares(first / total, second / total, tie / total, top + np.log(total))


def choice_probabilities(log_odds: Floats, log_tie: Floats) -> tuple[Floats, Floats, Floats]:
    """Return (P(first better), P(second better), P(equal)) for b D = ``log_odds``; shapes are broadcast."""
    shares = choice_shares(log_odds, log_tie)
    return shares.first, shares.second, shares.tie


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
    """The log-likelihoods at a point, (k,), and the probabilities there."""

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
    top = climb(
        lambda point: _place(scaled, votes, point[:, 0], point[:, 1]),
        np.stack([slope, log_tie], axis=1),
        lambda _, place: _newton_step(scaled, votes, place),
        _RULE,
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
