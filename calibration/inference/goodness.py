"""Anderson and Darling's distance (1952) of data from a law.

Values that should be uniform are compared with the uniform law. The published tables, and statsmodels' `normal_ad` and
`scipy.stats.anderson`, are for plain samples with a fitted mean and spread; here each value has a law of its own (its exposure, its
voters, its error), so p is by simulation with the law fitted anew each time.
"""

import numpy as np
from numpy.typing import ArrayLike

from metrics.arrays import Floats

_EDGE = 1e-12


def anderson_darling(values: ArrayLike) -> float:
    """Return A^2 of values that should be uniform on (0, 1).

    Values of 0 and 1 are moved inside by a tiny amount.
    """
    u = np.clip(np.sort(values), _EDGE, 1 - _EDGE)
    return anderson_darling_of_logs(np.log(u), np.log1p(-u))


def anderson_darling_of_logs(log_below: Floats, log_above: Floats) -> float:
    """Return A^2 from the logarithms of u_i and of 1 - u_i, u ascending, (n,) each.

    A^2 = -n - sum_i (2 i - 1) (log u_i + log(1 - u_{n + 1 - i})) / n
    """
    n = len(log_below)
    odd = 2 * np.arange(1, n + 1) - 1
    return float(-n - (odd * (log_below + log_above[::-1])).sum() / n)
