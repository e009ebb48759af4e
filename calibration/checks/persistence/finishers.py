"""Do some people always go to the end of the list?

A class of people who never stop, beside people with one p (McLachlan and Peel 2000); its share is on the edge of its range where there
are none, so the likelihood ratio has half a chi-squared (Self and Liang 1987).
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from calibration.checks.finding import REJECTED, Finding, edge_p
from calibration.checks.patience.without import law_without
from calibration.inference.formatting import format_p
from calibration.inference.heterogeneity import careless_class
from calibration.models.persistence import ContinuationCounts, PersistenceFit, fit_steps
from metrics.arrays import Bools

NOT_GEOMETRIC = "steps not geometric"
"""Fact that finishers, people or lists that differ, and other laws explain.

Finishers always read to the end.
"""
ROUNDS = 30
_NEVER = -1e4
"""Log-likelihood of a stop of a person who never stops."""


class Finishers(NamedTuple):
    """Class of people who always go to the end.

    Attributes
    ----------
    people : (w,) ndarray of bool
        Who is more probably in it than not.
    gain : float
        Log-likelihood that it explains beyond one p.
    p_value : float
        How often it would explain as much if there were none.
    """

    people: Bools
    gain: float
    p_value: float


@lru_cache(maxsize=1)
def finishers(steps: ContinuationCounts) -> Finishers:
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
    return Finishers(people.is_careless, gain, edge_p(2 * gain))


def steps_in_earnest(steps: ContinuationCounts) -> ContinuationCounts:
    """Return the steps without those of people who always go to the end."""
    finisher_class = finishers(steps)
    if finisher_class.p_value >= REJECTED or not finisher_class.people.any():
        return steps
    return steps.of(~finisher_class.people[steps.worker])


def check_finishers(fit: PersistenceFit, steps: ContinuationCounts) -> Finding | None:
    """Compare a class of people who always go to the end with one p."""
    rest = steps_in_earnest(steps)
    if rest is steps:
        return None
    finisher_class = finishers(steps)
    law = law_without(
        f"without {finisher_class.people.sum()} of {len(steps.people)} people", lambda: fit_steps(rest)
    )
    return Finding(
        name="always_to_the_end",
        p_value=finisher_class.p_value,
        explains=NOT_GEOMETRIC,
        gain=finisher_class.gain,
        sentence=f"{finisher_class.people.sum()} of {len(steps.people)} people always go to the end ({format_p(finisher_class.p_value)}): they are in this persistence of "
        f"{fit.estimates[0]:.3f}; {law.sentence}.",
        sensitivity=law.sensitivity(next(iter(fit.parameters))),
    )
