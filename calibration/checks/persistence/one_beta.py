"""Do people, or lists, differ in persistence?

The p of each is then Beta(a, b), and steps are beta-geometric. With t steps and s stops of a person (a list), the likelihood is B(a + t, b + s) / B(a, b), which is the geometric one as a + b grows without
end. That is an edge, so the likelihood ratio has half a chi-squared (Self and Liang 1987). Where p differs there is no single p: `rbp_p` is near the p
whose mean depth is that of these people, and above the mean of their own p, since who goes on deeper takes more steps.
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
"""Of the logit of the mean p, and of log(a + b)."""


class BetaGeometric(NamedTuple):
    """The likeliest beta-geometric law.

    Attributes
    ----------
    mean_p : float
        a / (a + b).
    p_of_mean_depth : float
        The one p with the same mean number of steps in lists as long as those read.
    gain : float
        Log-likelihood over that of one p.
    p_value : float
        How often it would explain as much if all had one p.
    """

    mean_p: float
    p_of_mean_depth: float
    gain: float
    p_value: float


def check_people(fit: PersistenceFit, steps: ContinuationCounts) -> Finding | None:
    """Test whether persistence differs between people, and say which p is given."""
    law = beta_geometric(steps, "worker")
    if law is None or law.p_value >= REJECTED:
        return None
    return _finding("patience_differs", "Persistence differs between people", "people's", fit, law)


def check_lists(fit: PersistenceFit, steps: ContinuationCounts) -> Finding | None:
    """Test whether persistence differs between lists, and say which p is given."""
    law = beta_geometric(steps, "text")
    if law is None or law.p_value >= REJECTED:
        return None
    return _finding("texts_differ", "How far a list is read differs between lists", "the lists'", fit, law)


def _finding(name: str, what: str, whose: str, fit: PersistenceFit, law: BetaGeometric) -> Finding:
    depth = OtherLaw(law="beta-geometric", estimate=law.p_of_mean_depth, explains="better")
    return Finding(
        name=name,
        p_value=law.p_value,
        explains=NOT_GEOMETRIC,
        gain=law.gain,
        sentence=f"{what} ({format_p(law.p_value)}): there is no single p. The one given, {fit.estimates[0]:.3f}, is that of all steps together, which is near "
        f"the p of the mean depth ({law.p_of_mean_depth:.3f}); the mean of {whose} own p is {law.mean_p:.3f}.",
        sensitivity={PERSISTENCE: (depth,)},
    )


@lru_cache(maxsize=4)
def beta_geometric(steps: ContinuationCounts, by: str) -> BetaGeometric | None:
    """Fit a beta-geometric law; None where there is nothing to tell it from.

    Parameters
    ----------
    steps : ContinuationCounts
        What was read.
    by : {'worker', 'text'}
        Whose p differs.
    """
    group: Ints = getattr(steps, by)
    clusters = len(np.unique(group))
    if not 2 <= clusters < len(group):
        return None
    taken, stops = (np.bincount(group, each) for each in (steps.taken, steps.stopped))

    def loss(point: Floats) -> float:
        mean, size = expit(point[0]), np.exp(point[1])
        a, b = mean * size, (1 - mean) * size
        return -float((betaln(a + taken, b + stops) - betaln(a, b)).sum())

    top = minimize(
        loss,
        np.array([logit(steps.share), 3.0]),
        method="Nelder-Mead",
        bounds=_BOUNDS,
        options={"xatol": 1e-4},
    )
    mean, size = float(expit(top.x[0])), float(np.exp(top.x[1]))
    plain = taken.sum() * np.log(steps.share) + stops.sum() * np.log1p(-steps.share)
    gain = max(-float(top.fun) - float(plain), 0.0)
    return BetaGeometric(
        mean_p=mean,
        p_of_mean_depth=_p_of_mean_depth(mean * size, (1 - mean) * size, steps.possible),
        gain=gain,
        p_value=edge_p(2 * gain),
    )


def _p_of_mean_depth(a: float, b: float, possible: Ints) -> float:
    """Return the p with E(steps) = sum_k E(p^k) in lists as long as those read."""
    k = np.arange(1, int(possible.max()) + 1)
    lists = np.array([(possible >= each).mean() for each in k])
    expected = float(lists @ np.exp(betaln(a + k, b) - betaln(a, b)))
    return float(brentq(lambda p: float(lists @ p**k) - expected, 1e-9, 1 - 1e-9))
