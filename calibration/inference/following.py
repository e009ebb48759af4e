"""Who answers at random, told by the answers of the others.

A family says how likely each person's answers are if that person follows the others with the powers g = 0, 0.25, ..., 3: with g = 0 an
answer is drawn by lot, with 1 it follows the others as closely as their shares say. There are careless people when a share of them
with g = 0, beside one g for all the others, explains clearly more than one g for all: twice the gain in log-likelihood is above 4,
which chance exceeds in some 2 % of studies (half of it is 0 and half chi-squared with 1 degree of freedom: Self and Liang 1987).

People may also follow the others more and less without anybody answering by lot, for tastes differ. Where that is to be expected,
the class must explain more than powers that are spread over people, normal and not below 0.
"""

from collections.abc import Callable

import numpy as np

from calibration.inference.careless import CarelessClass, careless_class, largest_share
from metrics.arrays import Floats

POWERS = np.linspace(0, 3, 13)
CLEAR_GAIN = 4.0
CLEARER = 0.3
FEWEST = 5
MOST = 0.5
"""A class of a larger share is no minority: then nobody can say who answers by lot."""
_ROUNDS = 2
_SPREADS = (0.15, 0.3, 0.5, 0.8, 1.2)


def who_follows_nobody(
    logliks: Callable[[Floats], Floats], people: int, *, tastes: bool
) -> CarelessClass | None:
    """Find who answers by lot; None where nothing speaks clearly for such people.

    Parameters
    ----------
    logliks : callable
        (w,) weights with which people count for the others -> (w, 13) log-likelihoods of each person's answers by their power,
        under `POWERS`. Careless people count less the second time.
    people : int
        w.
    tastes : bool
        People may follow the others more and less.
    """
    found = _class(logliks(np.ones(people)), tastes=tastes)
    for _ in range(_ROUNDS):
        if found is None:
            return None
        found = _class(logliks(1 - found.posterior), tastes=tastes) or found
    return found


def share_left_open(logliks: Floats, drop: float) -> float:
    """Return the largest share of people who answer by lot at which no more than ``drop`` of log-likelihood is lost.

    Parameters
    ----------
    logliks : (w, 13) ndarray of float
        Of each person's answers by their power, under `POWERS`.
    drop : float
        In log-likelihood.
    """
    earnest = max(logliks.T[1:], key=lambda one: careless_class(one, logliks[:, 0]).loglik)
    return largest_share(earnest, logliks[:, 0], drop=drop)


def _class(logliks: Floats, *, tastes: bool) -> CarelessClass | None:
    if len(logliks) < FEWEST:
        return None
    classes = [careless_class(earnest, logliks[:, 0]) for earnest in logliks.T[1:]]
    best = max(classes, key=lambda one: one.loglik)
    gain = 2 * (best.loglik - float(logliks.sum(axis=0).max()))
    if gain < CLEAR_GAIN or not best.count or best.share > MOST:
        return None
    return best if not tastes or best.loglik > _spread_loglik(logliks) + CLEARER else None


def _spread_loglik(logliks: Floats) -> float:
    """Return the highest log-likelihood of powers that are spread over people."""
    highest = logliks.max(axis=1, keepdims=True)
    mean, spread = (axis.ravel() for axis in np.meshgrid(POWERS, _SPREADS))
    weight = np.exp(-0.5 * ((POWERS[:, None] - mean) / spread) ** 2)
    each = np.log(np.exp(logliks - highest) @ (weight / weight.sum(axis=0)))
    return float((each + highest).sum(axis=0).max())
