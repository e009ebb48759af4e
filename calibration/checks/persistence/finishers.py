"""Do some people always go to the end of the list?

A class of people who never stop, beside people with one p (McLachlan and Peel 2000); its share is on the edge of its range where there
are none, so the likelihood ratio has half a chi-squared (Self and Liang 1987).
"""

from functools import lru_cache

import numpy as np

from calibration.checks.finding import Finding, edge_p
from calibration.checks.patience.without import PeopleApart
from calibration.inference.heterogeneity import careless_class
from calibration.models.persistence import ContinuationCounts, PersistenceFit, fit_persistence

NOT_GEOMETRIC = "steps not geometric"
"""Fact that finishers, people or lists that differ, and other laws explain.

Finishers always read to the end.
"""
ROUNDS = 30
_NEVER = -1e4
"""Log-likelihood of a stop of a person who never stops."""


@lru_cache(maxsize=1)
def finishers(steps: ContinuationCounts) -> PeopleApart:
    """Find people who always go to the end."""
    taken, stops = (
        np.bincount(steps.worker, each, len(steps.people)) for each in (steps.taken, steps.stopped)
    )
    p, beyond = steps.share, np.where(stops > 0, _NEVER, 0.0)
    for _ in range(ROUNDS):
        people = careless_class(taken * np.log(p) + stops * np.log1p(-p), beyond)
        weight = 1 - people.posterior
        p = float(weight @ taken / (weight @ (taken + stops)))
    plain = taken.sum() * np.log(steps.share) + stops.sum() * np.log1p(-steps.share)
    gain = max(people.loglik - float(plain), 0.0)
    return PeopleApart(people.is_careless, gain, edge_p(2 * gain))


def steps_in_earnest(steps: ContinuationCounts) -> ContinuationCounts:
    """Return the steps without those of people who always go to the end."""
    apart = finishers(steps)
    return steps.of(~apart.people[steps.worker]) if apart.is_clear else steps


def check_finishers(fit: PersistenceFit, steps: ContinuationCounts) -> Finding | None:
    """Compare a class of people who always go to the end with one p."""
    rest = steps_in_earnest(steps)
    if rest is steps:
        return None
    return finishers(steps).finding(
        "always_to_the_end",
        f"always go to the end ({{}}): they are included in this persistence of {fit.estimates[0]:.3f}",
        fit,
        lambda: fit_persistence(rest),
        NOT_GEOMETRIC,
    )
