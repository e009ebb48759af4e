"""Tests of a squared distance from a fitted law, against simulated distances."""

from collections.abc import Sequence

import numpy as np
from scipy.special import chdtrc


def chance_of_distance(observed: float, simulated: Sequence[float]) -> float:
    """Return p of a squared distance against simulated ones.

    It is that of a multiple of a chi-squared with their mean and variance. A share of n simulated distances
    could not be below 1 / n, so that no correction over several tests could reject.
    """
    mean, variance = float(np.mean(simulated)), float(np.var(simulated, ddof=1))
    if variance == 0:
        return 1.0
    return float(chdtrc(2 * mean**2 / variance, 2 * mean * observed / variance))
