"""Worths of systems by graded answers: a cumulative-link model of how much better one side is.

`calibration.inference.ordinal` has the model; the design is that of `calibration.rank.worths`, a column a system and one for the side:

    P(y > j) = F(d - t_j),   P(y < -j) = F(-d - t_j),   d = w_l - w_r + side

y is the signed strength of a judgment with system l on the left and r on the right, F the logistic function, w the log worths, which add up to 0.
"""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from calibration.inference.choice import with_side
from calibration.inference.ordinal import OrdinalModel, fit_ordinal, grades, is_separated
from calibration.rank.judgments import JudgedSystems
from calibration.rank.worths import Worths, couple_design, inverse, one_sided, rank_of, sandwich
from metrics.arrays import Floats

WITHOUT_EXCEPTION = "the answers follow a system or the side without exception, so no worth is finite"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GradedWorths(Worths):
    """Worths by graded answers.

    Attributes
    ----------
    cuts : (m,) ndarray of float
        Cut points of the grades that were given, ascending; that between neither and slightly better first.
    """

    cuts: Floats


def fit_graded_worths(judged: JudgedSystems, *, side: bool = True) -> GradedWorths:
    """Fit the worths of systems to graded answers.

    Parameters
    ----------
    judged : JudgedSystems
        Of one task, its systems connected and its answers graded (`no_grades`).
    side : bool
        Let the side matter. Where the systems always stood so that it cannot be told from the worths, it is left out.

    Raises
    ------
    ArithmeticError
        If the log-likelihood has no finite maximum.
    """
    if judged.strength is None:
        raise ValueError("answers without strength")
    systems, grade = len(judged.systems), grades(judged.strength)
    most = int(np.abs(grade).max())
    kind, keys = pd.factorize((judged.left * systems + judged.right) * (2 * most + 1) + grade + most)
    model = OrdinalModel(
        design=couple_design(keys // (2 * most + 1), systems),
        grade=keys % (2 * most + 1) - most,
        times=np.bincount(kind).astype(np.float64),
    )
    if side:
        beside = with_side(model.design)
        if rank_of(beside) == rank_of(model.design):
            return fit_graded_worths(judged, side=False)
        model = replace(model, design=beside)
    free = replace(model, design=model.design[:, 1:])  # the first worth is 0 until all are centred
    point = fit_ordinal(free)
    if is_separated(free, point):
        raise ArithmeticError(one_sided(judged, ties=True) or WITHOUT_EXCEPTION)
    whole = np.append(0.0, point)
    whole[:systems] -= whole[:systems].mean()
    terms = model.at(whole).terms
    by_u, by_cut = model.scores(terms)
    shared = [by_u] * (model.design.shape[1] - systems) + list(by_cut.T)
    return GradedWorths(
        worth=whole[:systems],
        side=float(whole[systems]) if side else float("nan"),
        log_tie=float("nan"),
        cuts=whole[model.design.shape[1] :],
        covariances=sandwich(judged, kind, by_u, shared, inverse(model.information(terms))),
    )
