"""The error of a decay with answers clustered by worker and, where several workers were asked about one, by nugget.

    V = V_worker + (J_nugget - J_couple),    negative eigenvalues of what is in brackets set to 0

V_worker is the sandwich by worker, J_c a jackknife over clusters c, each left out by one Newton step; a couple is a worker and a nugget.
Nuggets are drawn from a larger set as workers are; what answers on one nugget share counts beside what answers of one worker share (two ways as of
Cameron, Gelbach and Miller 2011; here the second way never makes an error smaller).
"""

from typing import NamedTuple

import numpy as np

from calibration.inference.clusters import (
    between_clusters,
    jackknife_covariance,
    newton_changes,
    sandwich,
    without_negative,
)
from calibration.lateness.likelihood import LatenessCounts, scores_and_information
from metrics.arrays import Floats

DECAY, P0, FLOOR = range(3)
"""The places of the parameters."""


class ClusteredError(NamedTuple):
    """How far q parameters may be off.

    Attributes
    ----------
    cov : (q, q) ndarray of float
        Their covariance.
    df : (q,) ndarray of float
        Degrees of freedom of Student's t.
    """

    cov: Floats
    df: Floats


def clustered_error(
    decay: float,
    p0: float,
    counts: LatenessCounts,
    *,
    floor: float = 0.0,
    moving: tuple[int, ...] = (DECAY, P0),
) -> ClusteredError:
    """Return the error of those of (log L, log p0, f) that were fitted, for L > 0 and p0 < 1.

    Parameters
    ----------
    decay, p0, floor : float
        Estimates.
    counts : LatenessCounts
        What they were fitted to.
    moving : tuple of int
        Their places.
    """
    places = list(moving)

    def derivatives(of: LatenessCounts) -> tuple[Floats, Floats]:
        scores, information = scores_and_information(decay, p0, of, floor)
        return scores[:, places], information[:, places][:, :, places]

    scores, information = derivatives(counts)
    cov = sandwich(scores, information.sum(axis=0))
    df = np.full(len(cov), counts.workers - 1.0)
    by_nugget, by_couple = counts.by_nugget, counts.by_couple
    if by_nugget is None or by_couple is None or by_nugget.workers < 2:
        return ClusteredError(cov, df)
    of_nuggets, of_couples = (
        jackknife_covariance(newton_changes(*derivatives(of))) for of in (by_nugget, by_couple)
    )
    return ClusteredError(
        np.asarray(cov + without_negative(of_nuggets - of_couples)),
        np.minimum(df, _degrees(derivatives(by_nugget)[1], places.index(P0) if P0 in places else 0)),
    )


def _degrees(information: Floats, moved: int) -> Floats:
    """Return how many nuggets tell each parameter, less one: (c, q, q) -> (q,).

    A nugget whose own log p0 is moved by x moves the estimates by x y, y = I^-1 I_c e, so the degrees of freedom of Satterthwaite's kind are
    (sum y^2)^2 / sum y^4 - 1, and at least 1: updates in time of three nuggets tell p0 no better if ten others come late.
    """
    whole = information.sum(axis=0)
    y = np.linalg.solve(whole + 1e-12 * np.diag(np.diag(whole)), information[:, :, moved].T).T ** 2
    return np.asarray(np.maximum(y.sum(axis=0) ** 2 / (y**2).sum(axis=0) - 1, 1.0))


def design_effect_in_time(counts: LatenessCounts) -> float:
    """Return how many times larger the variance of the share of yeses in time is because workers or nuggets differ, at least 1.

    w / (w - 1) sum_u (s_u - n_u p)^2 / (n p (1 - p)), u the workers or, if that is larger, the nuggets. Where all answers are the same it
    cannot be told, and each worker's (nugget's) answers are taken to be worth a single one.
    """
    by_nugget = counts.by_nugget
    effects = [_effect_in_time(of) for of in (counts, by_nugget) if of is not None and of.workers > 1]
    return max(effects, default=1.0)


def _effect_in_time(counts: LatenessCounts) -> float:
    asked, useful = counts.asked[:, 0], counts.useful[:, 0]
    p = useful.sum() / asked.sum()
    if p in {0.0, 1.0}:
        return float(asked.sum() / np.count_nonzero(asked))
    residual = useful - asked * p
    return float(max(1.0, between_clusters(residual) / (asked.sum() * p * (1 - p))))
