"""Worths of systems: Davidson's model of preferences with ties and a side effect, over all topics.

Of a judgment with system l on the left and r on the right (Davidson 1970; the side effect as Davidson and Beaver 1977):

    P(l better) : P(r better) : P(equal) = exp(d / 2) : exp(-d / 2) : nu,   d = w_l - w_r + side

w is a system's log worth; all of them add up to 0. The log-likelihood is concave, so Newton's method with halved steps finds its
maximum from anywhere.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration.inference.davidson import choice_probabilities
from calibration.inference.maximise import Height, StoppingRule, climb
from calibration.rank.crossed import Influence, Variances
from calibration.rank.judgments import JudgedSystems
from metrics.arrays import Floats, Ints
from metrics.errors import listed

LARGEST = 25.0
"""Log odds beyond which votes follow something without exception, so that no maximum is finite."""
_RULE = StoppingRule(least_promise=1e-16, slack=1e-12)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Worths:
    """The fitted model.

    Attributes
    ----------
    worth : (systems,) ndarray of float
        Log worth of each system.
    side : float
        Log odds of the left side over the right one between equals; NaN where it cannot be told from the worths.
    log_tie : float
        log nu; -inf where nobody saw a tie.
    loglik : float
        Log-likelihood.
    variances : Variances
        Of the worths, (systems,).
    """

    worth: Floats
    side: float
    log_tie: float
    loglik: float
    variances: Variances


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Counts:
    """JudgedSystems by what was shown where: c ordered couples.

    Attributes
    ----------
    design : (c, p) ndarray of float
        What each parameter adds to d.
    left, right, ties : (c,) ndarray of float
        How many preferred the left one, the right one, or none.
    """

    design: Floats
    left: Floats
    right: Floats
    ties: Floats

    @property
    def total(self) -> Floats:
        return self.left + self.right + self.ties


def no_worths(judged: JudgedSystems) -> str:
    """Say why these judgments have no finite worths; nothing where they have."""
    if judged.is_tie.all():
        return "nobody preferred any system"
    apart = judged.groups()
    if len(apart) > 1:
        return f"no comparison connects {_in_groups(apart)}"
    return _one_sided(judged, ties=True)


def _one_sided(judged: JudgedSystems, *, ties: bool) -> str:
    """Name a group of systems that never loses to all others, else one that never wins; nothing where there is none."""
    groups = judged.one_sided(ties=ties)
    if len(groups) == 1:
        return ""
    shares = [(group, _against_others(judged, group)) for group in groups]
    never = [(group, "lose") for group, share in shares if (share > 0).all()]
    never += [(group, "win") for group, share in shares if (share < 1).all()]
    for group, verb in never:
        return f"{listed(group, most=4)} never {verb}{'s' * (len(group) == 1)}, so no worth is finite"
    return ""


def unconnected(judged: JudgedSystems) -> str:
    """Name the groups of systems that no comparison connects; nothing where all are connected."""
    groups = judged.groups()
    return _in_groups(groups) if len(groups) > 1 else ""


def _in_groups(groups: list[list[str]]) -> str:
    return listed([f"({listed(group, most=4)})" for group in groups], most=4)


def _against_others(judged: JudgedSystems, group: list[str]) -> Floats:
    """Return what each judgment between a group and the others adds to the share of the group."""
    inside = np.isin(np.array(judged.systems), group)
    between = inside[judged.left] != inside[judged.right]
    return np.asarray(np.where(inside[judged.left], judged.for_left, 1 - judged.for_left)[between])


def fit_worths(judged: JudgedSystems, *, side: bool = True) -> Worths:
    """Fit the worths of systems for which `no_worths` has nothing to say.

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
    counts, group = _counted(judged)
    columns = [counts.design, np.ones((len(counts.design), 1))] if side else [counts.design]
    design = np.hstack(columns)
    if _rank(design) < _rank(counts.design) + side:
        return fit_worths(judged, side=False)
    counts = _Counts(design=design, left=counts.left, right=counts.right, ties=counts.ties)
    parameters = design.shape[1]
    start = np.append(np.zeros(parameters), _start(counts))
    top = climb(
        lambda point: Height(_loglik(counts, point)), start, lambda point, _: _step(counts, point), _RULE
    )
    if not top.arrived or np.abs(design @ top.point[:-1]).max() > LARGEST:
        raise ArithmeticError(_one_sided(judged, ties=False) or "the votes follow the side without exception")
    systems = len(judged.systems)
    return Worths(
        worth=top.point[:systems],
        side=float(top.point[systems]) if side else float("nan"),
        log_tie=float(top.point[-1]),
        loglik=float(top.place.loglik),
        variances=_variances(judged, counts, group, top.point),
    )


def _counted(judged: JudgedSystems) -> tuple[_Counts, Ints]:
    """Count the judgments by ordered couple; return also the number of each judgment's couple."""
    systems = len(judged.systems)
    group, keys = pd.factorize(judged.left * systems + judged.right)
    design = np.zeros((len(keys), systems))
    design[np.arange(len(keys)), keys // systems] += 1
    design[np.arange(len(keys)), keys % systems] -= 1
    left, right, ties = (
        np.bincount(group, judged.for_left == value, len(keys)).astype(np.float64) for value in (1, 0, 0.5)
    )
    return _Counts(design=design, left=left, right=right, ties=ties), group


def _rank(design: Floats) -> int:
    """Return the rank of a tall matrix of small whole numbers."""
    return int(np.linalg.matrix_rank(design.T @ design, hermitian=True))


def _start(counts: _Counts) -> float:
    ties = counts.ties.sum()
    return float(np.log(2 * ties / (counts.left + counts.right).sum())) if ties else -np.inf


def _loglik(counts: _Counts, point: Floats) -> float:
    half = counts.design @ point[:-1] / 2
    log_total = np.logaddexp(np.logaddexp(half, -half), point[-1])
    ties = counts.ties.sum()
    return float(
        half @ (counts.left - counts.right) - log_total @ counts.total + (ties * point[-1] if ties else 0)
    )


def _step(counts: _Counts, point: Floats) -> tuple[Floats, float]:
    """Return Newton's step and what it promises."""
    gradient = np.append(
        counts.design.T @ _lead_over_expected(counts, point) / 2,
        counts.ties.sum() - _chances(counts, point)[2] @ counts.total,
    )
    step = _inverse_information(counts, point) @ gradient
    return step, float(gradient @ step)


def _chances(counts: _Counts, point: Floats) -> tuple[Floats, Floats, Floats]:
    return choice_probabilities(counts.design @ point[:-1], np.asarray(point[-1]))


def _lead_over_expected(counts: _Counts, point: Floats) -> Floats:
    left, right, _ = _chances(counts, point)
    return np.asarray(counts.left - counts.right - counts.total * (left - right))


def _inverse_information(counts: _Counts, point: Floats) -> Floats:
    """Return the pseudoinverse of the information of (w, side, log nu): worths are known but for a constant.

    A log nu of -inf is none of the parameters: its row and column are 0.
    """
    left, right, tie = _chances(counts, point)
    lead, n, design = left - right, counts.total, counts.design
    across = -(n * lead * tie / 2) @ design
    information = np.block(
        [
            [design.T @ (design * (n * (left + right - lead**2) / 4)[:, None]), across[:, None]],
            [across[None], np.array([[n @ (tie * (1 - tie))]])],
        ]
    )
    return np.asarray(np.linalg.pinv(information, rcond=1e-11, hermitian=True))


def _variances(judged: JudgedSystems, counts: _Counts, group: Ints, point: Floats) -> Variances:
    """Return the sandwich of the worths: scores summed by topic, worker and both, between the information's inverse."""
    systems = len(judged.systems)
    column, error = _scores(judged, counts, group, point)
    counted = np.sum([np.bincount(one, minlength=column.max() + 1) for one in column], axis=0)
    influence = Influence(
        estimate=column,
        error=error,
        weight=(1 / counted)[column],
        crossing=judged.crossing,
    )
    bread = _inverse_information(counts, point)[:systems]
    return influence.covariances().through(bread).of_each()


def _scores(judged: JudgedSystems, counts: _Counts, group: Ints, point: Floats) -> tuple[Ints, Floats]:
    """Return to which parameters every judgment adds, and its scores, both (4, n), without a side effect (3, n)."""
    systems, parameters = len(judged.systems), counts.design.shape[1]
    left, right, tie = _chances(counts, point)
    has_side = parameters > systems
    column = np.empty((3 + has_side, len(group)), dtype=np.int32)
    error = np.empty(column.shape)
    column[0], column[1], column[2], column[3:] = judged.left, judged.right, parameters, systems
    error[0] = (np.where(judged.is_tie, 0.0, 2 * judged.for_left - 1) - left[group] + right[group]) / 2
    error[1], error[2], error[3:] = -error[0], judged.is_tie - tie[group], error[0]
    return column, error
