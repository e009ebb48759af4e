"""Do people, or lists, differ in persistence?

If they do, p varies between them as Beta(a, b), and steps are beta-geometric: t steps and s stops of a person (or list) have the likelihood
B(a + t, b + s) / B(a, b). The geometric law is its limit for large a + b, on the edge of the range, so the likelihood ratio has half a chi-squared
(Self and Liang 1987). If p differs there is no single p: `rbp_p` is near the p of the mean depth, and above the mean of the people's own p, because
people who read deeper take more of the steps.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import betaln, expit, logit

from calibration.checks.finding import REJECTED, Finding, edge_p
from calibration.checks.persistence.finishers import NOT_GEOMETRIC
from calibration.inference.formatting import format_p
from calibration.models.persistence import ContinuationCounts, PersistenceFit
from calibration.user_model.model import PERSISTENCE, OtherLaw
from metrics.arrays import Floats, Ints

_BOUNDS = [(-8.0, 8.0), (-3.0, 12.0)]
"""Bounds of the logit of the mean p, and of log(a + b)."""


class BetaGeometric(NamedTuple):
    """Beta-geometric law of persistence, fitted by maximum likelihood.

    Attributes
    ----------
    mean_p : float
        a / (a + b).
    p_of_mean_depth : float
        p of the geometric law with the same mean number of steps in lists as long as those read.
    gain : float
        Log-likelihood minus that of the geometric law.
    p_value : float
        p-value of the likelihood ratio against the geometric law.
    """

    mean_p: float
    p_of_mean_depth: float
    gain: float
    p_value: float


def check_people(fit: PersistenceFit, steps: ContinuationCounts) -> Finding | None:
    """Test whether persistence differs between people."""
    law = beta_geometric(steps, "worker")
    if law is None or law.p_value >= REJECTED:
        return None
    return _finding("patience_differs", "people", fit, law)


def check_lists(fit: PersistenceFit, steps: ContinuationCounts) -> Finding | None:
    """Test whether persistence differs between lists."""
    law = beta_geometric(steps, "text")
    if law is None or law.p_value >= REJECTED:
        return None
    return _finding("texts_differ", "lists", fit, law)


def _finding(name: str, population: str, fit: PersistenceFit, law: BetaGeometric) -> Finding:
    depth = OtherLaw(law="beta-geometric", estimate=law.p_of_mean_depth, explains="better")
    return Finding(
        name=name,
        p_value=law.p_value,
        explains=NOT_GEOMETRIC,
        gain=law.gain,
        sentence=f"Persistence differs between {population} ({format_p(law.p_value)}): there is no single p. The estimate, {fit.estimates[0]:.3f}, pools all "
        f"steps and is near the p of the mean depth ({law.p_of_mean_depth:.3f}); the mean p over {population} is {law.mean_p:.3f}.",
        sensitivity={PERSISTENCE: (depth,)},
    )


@lru_cache(maxsize=4)
def beta_geometric(steps: ContinuationCounts, by: str) -> BetaGeometric | None:
    """Fit a beta-geometric law of persistence.

    Parameters
    ----------
    steps : ContinuationCounts
        Steps and stops of each reading of a list.
    by : {'worker', 'text'}
        Whether p varies between people or between lists.

    Returns
    -------
    BetaGeometric or None
        None for a single person (list), or if nobody (no list) has two readings.
    """
    group: Ints = getattr(steps, by)
    clusters = len(np.unique(group))
    if not 2 <= clusters < len(group):
        return None
    taken, stops = (np.bincount(group, weights) for weights in (steps.taken, steps.stopped))

    def loss(point: Floats) -> float:
        mean, total = expit(point[0]), np.exp(point[1])
        a, b = mean * total, (1 - mean) * total
        return -float((betaln(a + taken, b + stops) - betaln(a, b)).sum())

    maximum = minimize(
        loss,
        np.array([logit(steps.share), 3.0]),
        method="Nelder-Mead",
        bounds=_BOUNDS,
        options={"xatol": 1e-4},
    )
    mean, total = float(expit(maximum.x[0])), float(np.exp(maximum.x[1]))
    geometric = taken.sum() * np.log(steps.share) + stops.sum() * np.log1p(-steps.share)
    gain = max(-float(maximum.fun) - float(geometric), 0.0)
    return BetaGeometric(
        mean_p=mean,
        p_of_mean_depth=_p_of_mean_depth(mean * total, (1 - mean) * total, steps.possible),
        gain=gain,
        p_value=edge_p(2 * gain),
    )


def _p_of_mean_depth(a: float, b: float, possible: Ints) -> float:
    """Return the p with E(steps) = sum_k E(p^k) in lists as long as those read."""
    k = np.arange(1, int(possible.max()) + 1)
    share = np.array([(possible >= step).mean() for step in k])  # of lists with a step k
    expected = float(share @ np.exp(betaln(a + k, b) - betaln(a, b)))
    return float(brentq(lambda p: float(share @ p**k) - expected, 1e-9, 1 - 1e-9))
