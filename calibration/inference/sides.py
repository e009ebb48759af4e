"""Votes adjusted for the side on which a system stood, by Davidson's model.

The model of a judgment with system l on the left and r on the right (Davidson 1970; the side effect as
Davidson and Beaver 1977) is:

    P(l better) : P(r better) : P(equal) = exp(x / 2) : exp(-x / 2) : nu,   x = w_l - w_r + side

With m(x) = P(l better) + P(equal) / 2, a vote v for the left (1, 0, or 1/2 for a tie) becomes

    v - excess,   excess = m(w_l - w_r + side) - m(w_l - w_r)

so that the mean of votes is what the model expects with a side effect of 0, and every weighted mean of votes stays a mean of what people
answered. Where sides are balanced, the excesses of the two orders nearly cancel. A couple that was seen one way round only takes the
effect from the others; where no couple was seen both ways round, or all votes for a side are for the same one, the effect cannot be told
from the worths, and votes stay as they are.

The model is fitted with a weak prior, so that it has a maximum where a system never loses. Its parameters are estimates too: what they
add to the error of a mean of adjusted votes comes with it (`SideAdjustment.influence`).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import coo_array, csc_array
from scipy.sparse.linalg import SuperLU, splu

from calibration.inference.choice import choice_probabilities
from calibration.inference.maximise import LogLikelihood, StoppingRule, maximise_newton
from metrics.arrays import Floats, Ints

WORTH_PRIOR, SIDE_PRIOR = 1 / 2.0**2, 1 / 5.0**2
"""Precisions of the normal priors of log worths and of the side effect.

They are weak beside a few votes, yet keep both finite.
"""
_RULE = StoppingRule(least_promise=1e-14, slack=1e-12)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SideAdjustment:
    """Votes adjusted for the side effect; n judgments, p parameters.

    Parameters are the systems' worths, the side effect and log nu.

    Attributes
    ----------
    side : float
        Log odds of the left side over the right one between equals; NaN where it cannot be told from the worths.
    excess : (n,) ndarray of float
        What the left place added to the expected vote for the left system; 0 where ``side`` is NaN.
    parameter : four (n,) ndarrays of int
        Parameters that a judgment tells of: worth of the left, of the right, side, log nu.
    score : four (n,) ndarrays of float
        Slope of the judgment's log-likelihood along each of these.
    slope : four (n,) ndarrays of float
        Slope of its excess along each of these.
    information : SuperLU or None
        The factorised information, (p, p); None where ``side`` is NaN.
    """

    side: float
    excess: Floats
    parameter: tuple[Ints, ...]
    score: tuple[Floats, ...]
    slope: tuple[Floats, ...]
    information: SuperLU | None

    @property
    def is_separable(self) -> bool:
        """True if some pair was seen both ways round, so that the side is identified."""
        return self.information is not None

    @property
    def parameters(self) -> int:
        """Number of parameters of the model; 0 where the votes stay as they are."""
        return 0 if self.information is None else int(self.information.shape[0])

    def influence(self, weight: Floats) -> Floats:
        """Return the influence of each judgment through the model's parameters.

        It is that on the error of sum(weight x adjusted votes).

        -s_i' H^-1 sum_j weight_j d(excess_j)/d(parameters), with the scores s_i and the information H. Add it to what the judgment's
        own vote adds.

        Parameters
        ----------
        weight : (n,) ndarray of float
            Part of each judgment's vote for its left system; negative where the vote for the right one is meant.

        Returns
        -------
        (n,) ndarray of float
            All 0 where ``is_separable`` is false.
        """
        if self.information is None:
            return np.zeros(len(self.excess))
        gradient = np.zeros(self.parameters)
        for parameter, slope in zip(self.parameter, self.slope, strict=True):
            gradient += np.bincount(parameter, weight * slope, self.parameters)
        moved = self.solved(gradient)
        influence = np.zeros(len(self.excess))
        for parameter, score in zip(self.parameter, self.score, strict=True):
            influence -= score * moved[parameter]
        return influence

    def solved(self, gradient: Floats) -> Floats:
        """Return H^-1 gradient, of one gradient (p,) or of many (p, k)."""
        if self.information is None:
            return np.zeros_like(gradient)
        return np.asarray(self.information.solve(gradient))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _OrderedCouples:
    """Votes by ordered pair of systems: c pairs of s systems.

    Attributes
    ----------
    left, right : (c,) ndarray of int
        The systems.
    for_left, for_right, ties : (c,) ndarray of float
        How many votes.
    systems : int
        Number of systems.
    """

    left: Ints
    right: Ints
    for_left: Floats
    for_right: Floats
    ties: Floats
    systems: int

    @property
    def total(self) -> Floats:
        return self.for_left + self.for_right + self.ties

    def are_both_ways(self) -> bool:
        """Return whether some pair was seen in either order."""
        forward = self.left * self.systems + self.right
        return bool(np.isin(forward, self.right * self.systems + self.left).any())

    def log_odds(self, point: Floats) -> Floats:
        return np.asarray(point[self.left] - point[self.right] + point[self.systems])


def without_side(left: Ints, right: Ints, for_left: Floats) -> SideAdjustment:
    """Fit the side effect, and return its contribution to every vote.

    Parameters
    ----------
    left, right : (n,) ndarray of int
        Codes of the systems on either side, from 0. Systems that never meet need not be connected.
    for_left : (n,) ndarray of float
        The votes: 1 where the left one was preferred, 0 where the right one was, 0.5 for a tie.

    Returns
    -------
    SideAdjustment
        ``for_left - excess`` are the adjusted votes; single ones may be below 0 or above 1, their means are shares.
    """
    systems = int(max(left.max(), right.max())) + 1
    group, keys = pd.factorize(left * systems + right)
    many = len(keys)
    couples = _OrderedCouples(
        left=keys // systems,
        right=keys % systems,
        for_left=np.bincount(group, for_left == 1, many).astype(np.float64),
        for_right=np.bincount(group, for_left == 0, many).astype(np.float64),
        ties=np.bincount(group, for_left == 0.5, many).astype(np.float64),
        systems=systems,
    )
    decided = couples.for_left.sum() + couples.for_right.sum()
    if not couples.for_left.any() or not couples.for_right.any() or not couples.are_both_ways():
        nothing = np.zeros(len(left))
        return SideAdjustment(
            side=float("nan"),
            excess=nothing,
            parameter=(nothing.astype(np.intp),) * 4,
            score=(nothing,) * 4,
            slope=(nothing,) * 4,
            information=None,
        )
    has_ties = bool(couples.ties.any())
    log_tie = float(np.log(2 * couples.ties.sum() / decided)) if has_ties else -np.inf
    start = np.append(np.zeros(systems + 1), log_tie)
    top = maximise_newton(
        lambda point: LogLikelihood(_log_posterior(couples, point)),
        start,
        lambda point, _: _step(couples, point, has_ties=has_ties),
        _RULE,
    )
    return _adjustment(couples, group, top.point, for_left, has_ties=has_ties)


def _adjustment(
    couples: _OrderedCouples, group: Ints, point: Floats, for_left: Floats, *, has_ties: bool
) -> SideAdjustment:
    odds, side = couples.log_odds(point), float(point[couples.systems])
    with_side, without = (_expected(log_odds, point[-1]) for log_odds in (odds, odds - side))
    error = for_left - with_side.vote[group]
    slope = (with_side.slope - without.slope)[group]
    tie_slope = (with_side.tie_slope - without.tie_slope)[group]
    tie_score = (for_left == 0.5) - with_side.tie[group]
    if not has_ties:  # log nu is no parameter then: its scores and slopes are 0, whatever their place
        tie_score = tie_slope = np.zeros(len(group))
    return SideAdjustment(
        side=side,
        excess=(with_side.vote - without.vote)[group],
        parameter=(
            couples.left[group],
            couples.right[group],
            *(np.broadcast_to(couples.systems + index, len(group)) for index in (0, int(has_ties))),
        ),
        score=(error, -error, error, tie_score),
        slope=(slope, -slope, with_side.slope[group], tie_slope),
        information=splu(_information(couples, point, has_ties=has_ties)),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Expected:
    """Expected vote m and P(equal) at some log odds.

    It also has the slopes of m along x and log nu.
    """

    vote: Floats
    slope: Floats
    tie_slope: Floats
    tie: Floats


def _expected(log_odds: Floats, log_tie: float) -> _Expected:
    first, second, tie = choice_probabilities(log_odds, np.asarray(log_tie))
    lead = first - second
    return _Expected(
        vote=(1 + lead) / 2, slope=(first + second - lead**2) / 4, tie_slope=-lead * tie / 2, tie=tie
    )


def _log_posterior(couples: _OrderedCouples, point: Floats) -> float:
    half = couples.log_odds(point) / 2
    log_total = np.logaddexp(np.logaddexp(half, -half), point[-1])
    ties = couples.ties.sum()
    prior = WORTH_PRIOR * (point[: couples.systems] ** 2).sum() + SIDE_PRIOR * point[couples.systems] ** 2
    return float(
        half @ (couples.for_left - couples.for_right)
        - log_total @ couples.total
        + (ties * point[-1] if ties else 0)
        - prior / 2
    )


def _step(couples: _OrderedCouples, point: Floats, *, has_ties: bool) -> tuple[Floats, float]:
    """Return Newton's step and the gain that it promises."""
    systems = couples.systems
    expected = _expected(couples.log_odds(point), point[-1])
    error = couples.for_left + couples.ties / 2 - couples.total * expected.vote
    gradient = np.zeros(systems + 2)
    gradient[:systems] = np.bincount(couples.left, error, systems) - np.bincount(
        couples.right, error, systems
    )
    gradient[:systems] -= WORTH_PRIOR * point[:systems]
    gradient[systems] = error.sum() - SIDE_PRIOR * point[systems]
    if has_ties:
        gradient[-1] = couples.ties.sum() - couples.total @ expected.tie
    free = slice(None) if has_ties else slice(-1)
    step = np.zeros(systems + 2)
    step[free] = splu(_information(couples, point, has_ties=has_ties)).solve(gradient[free])
    return step, float(gradient @ step)


def _information(couples: _OrderedCouples, point: Floats, *, has_ties: bool) -> csc_array:
    """Return the information of (w, side, log nu), with the priors.

    It omits log nu without observed ties.
    """
    systems, n = couples.systems, couples.total
    expected = _expected(couples.log_odds(point), point[-1])
    curve, across = n * expected.slope, n * expected.tie_slope
    left, right = couples.left, couples.right
    side, tie = np.full(len(n), systems), np.full(len(n), systems + 1)
    entries: list[tuple[Ints, Ints, Floats]] = [
        (left, left, curve),
        (right, right, curve),
        (left, right, -curve),
        (right, left, -curve),
        (side, side, curve),
    ]
    entries += [
        entry
        for index, sign in ((left, 1), (right, -1))
        for entry in ((index, side, sign * curve), (side, index, sign * curve))
    ]
    if has_ties:
        entries.append((tie, tie, n * expected.tie * (1 - expected.tie)))
        entries += [
            entry
            for index, sign in ((left, 1), (right, -1), (side, 1))
            for entry in ((index, tie, sign * across), (tie, index, sign * across))
        ]
    prior = np.arange(systems + 1)
    entries.append((prior, prior, np.append(np.full(systems, WORTH_PRIOR), SIDE_PRIOR)))
    rows, columns, values = (np.concatenate(part) for part in zip(*entries, strict=True))
    size = systems + 1 + has_ties
    matrix: Any = coo_array((values, (rows, columns)), shape=(size, size))
    return csc_array(matrix)
