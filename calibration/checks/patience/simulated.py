"""How often data drawn from a fitted law lie as far from it as those that it was fitted to."""

from collections.abc import Sequence

import numpy as np
from scipy.special import chdtrc


def chance_of_distance(observed: float, simulated: Sequence[float]) -> float:
    """Return p of a squared distance: that of a multiple of a chi-squared with the mean and variance of the simulated ones.

    A share of so many simulated distances could not be below one of so many, which no correction over several tests would let reject.
    """
    mean, variance = float(np.mean(simulated)), float(np.var(simulated, ddof=1))
    if variance == 0:
        return 1.0
    return float(chdtrc(2 * mean**2 / variance, 2 * mean * observed / variance))
