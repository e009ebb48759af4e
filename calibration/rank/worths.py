"""Worths of systems by Davidson's model, with ties and a side effect.

Worths are those over all topics.

Of a judgment with system l on the left and r on the right (Davidson 1970; the side effect as Davidson and Beaver 1977):

    P(l better) : P(r better) : P(equal) = exp(d / 2) : exp(-d / 2) : nu,   d = w_l - w_r + side

w is a system's log worth; all of them add up to 0. `calibration.inference.choice` fits it, with a column of the design a system.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from calibration.inference.choice import ChoiceModel, maximise, separated_columns, with_side
from calibration.rank.crossed import Influence, Variances
from calibration.rank.judgments import JudgedSystems
from metrics.arrays import Floats, Ints
from metrics.errors import join_names


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Worths:
    """Fitted log worths of systems, with side and ties.

    Attributes
    ----------
    worth : (systems,) ndarray of float
        Log worth of each system.
    side : float
        Log odds of the left side over the right one between equals; NaN where it cannot be told from the worths.
    log_tie : float
        log nu; -inf where nobody saw a tie.
    covariances : Variances
        Of any two worths, (systems, systems).
    """

    worth: Floats
    side: float
    log_tie: float
    covariances: Variances

    @property
    def variances(self) -> Variances:
        """Variances of the worths, (systems,)."""
        return self.covariances.of_each()


def no_worths(judged: JudgedSystems) -> str:
    """Return why worths are not finite, or an empty string."""
    if judged.is_tie.all():
        return "nobody preferred any system"
    apart = judged.groups()
    if len(apart) > 1:
        return f"no comparison connects {_in_groups(apart)}"
    return one_sided(judged, ties=True)


def one_sided(judged: JudgedSystems, *, ties: bool) -> str:
    """Return a sentence on systems that never lose or never win, or an empty string."""
    groups = judged.one_sided(ties=ties)
    if len(groups) == 1:
        return ""
    shares = [(group, _against_others(judged, group)) for group in groups]
    never = [(group, "lose") for group, share in shares if (share > 0).all()]
    never += [(group, "win") for group, share in shares if (share < 1).all()]
    for group, verb in never:
        return f"{join_names(group, most=4)} never {verb}{'s' * (len(group) == 1)}, so no worth is finite"
    return ""


def unconnected(judged: JudgedSystems) -> str:
    """Return the names of unconnected groups of systems, or an empty string."""
    groups = judged.groups()
    return _in_groups(groups) if len(groups) > 1 else ""


def _in_groups(groups: list[list[str]]) -> str:
    return join_names([f"({join_names(group, most=4)})" for group in groups], most=4)


def _against_others(judged: JudgedSystems, group: list[str]) -> Floats:
    """Return the votes for a group in its judgments with other systems."""
    inside = np.isin(np.array(judged.systems), group)
    between = inside[judged.left] != inside[judged.right]
    return np.asarray(np.where(inside[judged.left], judged.for_left, 1 - judged.for_left)[between])


def fit_worths(judged: JudgedSystems, *, side: bool = True) -> Worths:
    """Fit the worths of systems whose worths are finite.

    `no_worths` returns no reason for them.

    Parameters
    ----------
    judged : JudgedSystems
        Of one task.
    side : bool
        Let the side matter. Where the systems always stood so that it cannot be told from the worths, it is left out.

    Raises
    ------
    ArithmeticError
        If the log-likelihood has no finite maximum.
    """
    model, kind = _model(judged)
    if side:
        beside = with_side(model.design)
        if rank_of(beside) == rank_of(model.design):
            return fit_worths(judged, side=False)
        model = replace(model, design=beside)
    systems, free = len(judged.systems), model.design[:, 1:]  # the first worth is 0 until all are centred
    maximum = maximise(free, model.vote, model.ties, times=model.times)
    if separated_columns(maximum, free):
        raise ArithmeticError(one_sided(judged, ties=False) or "the votes follow the side without exception")
    point = np.append(0.0, maximum.point)
    point[:systems] -= point[:systems].mean()
    gradient, information = model.derivatives(point)
    point += inverse(information) @ gradient  # a last step of Newton's: all digits that are printed are right
    return Worths(
        worth=point[:systems],
        side=float(point[systems]) if side else float("nan"),
        log_tie=float(point[-1]) if model.has_tie else float("-inf"),
        covariances=_covariances(judged, model, kind, point),
    )


def _model(judged: JudgedSystems) -> tuple[ChoiceModel, Ints]:
    """Return the model without a side, and the kind of each judgment.

    The model has a row for each kind of judgment.
    """
    systems = len(judged.systems)
    kind, keys = pd.factorize(
        (judged.left * systems + judged.right) * 3 + np.rint(2 * judged.for_left).astype(np.intp)
    )
    times = np.bincount(kind).astype(np.float64)
    return ChoiceModel(
        design=couple_design(keys // 3, systems), vote=keys % 3 - 1.0, ties="davidson", times=times
    ), kind


def couple_design(couple: Ints, systems: int) -> Floats:
    """Return the design, left minus right, of couples numbered left x systems + right; a column a system."""
    row = np.arange(len(couple))
    design = np.zeros((len(couple), systems))
    design[row, couple // systems] += 1
    design[row, couple % systems] -= 1
    return design


def rank_of(design: Floats) -> int:
    """Return the rank of a tall matrix of small whole numbers."""
    return int(np.linalg.matrix_rank(design.T @ design, hermitian=True))


def inverse(information: Floats) -> Floats:
    """Return the pseudoinverse, since worths are known up to a constant."""
    return np.asarray(np.linalg.pinv(information, rcond=1e-11, hermitian=True))


def _covariances(judged: JudgedSystems, model: ChoiceModel, kind: Ints, point: Floats) -> Variances:
    """Return the sandwich of the worths: scores summed by topic and worker between the information's inverses."""
    terms = model.terms(point)
    shared = [terms.by_u] * (model.design.shape[1] - len(judged.systems)) + [terms.by_t] * model.has_tie
    return sandwich(judged, kind, terms.by_u, shared, inverse(model.derivatives(point)[1]))


def sandwich(
    judged: JudgedSystems, kind: Ints, by_worth: Floats, shared: Sequence[Floats], bread: Floats
) -> Variances:
    """Return the variances of any two worths over topics, workers and both.

    Parameters
    ----------
    judged : JudgedSystems
        n judgments.
    kind : (n,) ndarray of int
        Kind of each judgment, from 0.
    by_worth : (kinds,) ndarray of float
        Slope of the log-likelihood along the worth of the left system, minus that along the worth of the right one.
    shared : sequence of (kinds,) ndarray of float
        Slopes along the parameters that all judgments share.
    bread : (p, p) ndarray of float
        Inverse of the information, worths first, then the shared parameters.
    """
    systems, everywhere = len(judged.systems), np.ones(len(kind), dtype=np.intp)
    parameters = [judged.left, judged.right, *(number * everywhere for number in range(systems, len(bread)))]
    estimate = np.array(parameters, dtype=np.int32)
    influence = Influence(
        estimate=estimate,
        error=np.array([by_worth[kind], -by_worth[kind], *(slope[kind] for slope in shared)]),
        weight=(1 / np.bincount(estimate.ravel()))[estimate],
        crossing=judged.crossing,
    )
    return influence.covariances().through(bread[:systems])
