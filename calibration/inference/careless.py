"""People who do not do what the task asks, as a class: how many they are, and how likely each is one of them.

A family says how likely each person's answers are under its model (earnest) and under carelessness; the share of careless people is
found by maximum likelihood, and each person's posterior follows (a mixture of two kinds of people, McLachlan and Peel 2000, 1.4).
A family that fits its model anew for each share calls this inside its own likelihood.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from metrics.arrays import Bools, Floats

_LARGEST_LOG_RATIO = 500.0
"""Keeps the ratio of two likelihoods finite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CarelessClass:
    """How many people are careless, and who.

    Attributes
    ----------
    share : float in [0, 1]
        Of the people.
    posterior : (w,) ndarray of float
        How likely each of them is careless, given the answers.
    loglik : float
        Log-likelihood of all answers.
    """

    share: float
    posterior: Floats
    loglik: float

    @property
    def is_one(self) -> Bools:
        """Who is more likely careless than earnest, (w,)."""
        return np.asarray(self.posterior > 0.5)

    def by_name(self, people: Iterable[str]) -> dict[str, float]:
        """Return each person's posterior by name."""
        return dict(zip(people, self.posterior.tolist(), strict=True))

    @property
    def count(self) -> int:
        """How many are more likely careless than earnest."""
        return int(self.is_one.sum())


def careless_class(earnest: Floats, careless: Floats) -> CarelessClass:
    """Find the share of careless people.

    sum_u log((1 - share) exp(earnest_u) + share exp(careless_u)) is concave in the share: its slope falls through 0 once, or the
    share is 0 or 1.

    Parameters
    ----------
    earnest, careless : (w,) ndarray of float
        Log-likelihood of each person's answers under the model, and of the same answers under carelessness.
    """
    ratio = np.exp(np.clip(careless - earnest, -_LARGEST_LOG_RATIO, _LARGEST_LOG_RATIO))

    def slope(share: float) -> float:
        return float(((ratio - 1) / (1 - share + share * ratio)).sum())

    if slope(0.0) <= 0:
        share = 0.0
    elif slope(1.0) >= 0:
        share = 1.0
    else:
        share = float(brentq(slope, 0.0, 1.0, xtol=1e-10))
    mixed = 1 - share + share * ratio
    return CarelessClass(
        share=share, posterior=share * ratio / mixed, loglik=float(earnest.sum() + np.log(mixed).sum())
    )


def largest_share(earnest: Floats, careless: Floats, *, drop: float) -> float:
    """Return the largest share of careless people whose log-likelihood is at most ``drop`` below the highest, at least that of the best.

    Parameters
    ----------
    earnest, careless : (w,) ndarray of float
        As in `careless_class`.
    drop : float
        In log-likelihood.
    """
    best = careless_class(earnest, careless)
    ratio = np.exp(np.clip(careless - earnest, -_LARGEST_LOG_RATIO, _LARGEST_LOG_RATIO))
    least = best.loglik - float(earnest.sum()) - drop

    def above(share: float) -> float:
        return float(np.log1p(share * (ratio - 1)).sum()) - least

    nearly_all = 1 - 1e-9
    return 1.0 if above(nearly_all) >= 0 else float(brentq(above, best.share, nearly_all, xtol=1e-6))
