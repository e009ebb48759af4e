"""The ranks that are left open: simultaneous intervals of all differences, and what they allow.

A system is behind another for certain where the interval of their difference lies on one side of 0. With intervals that hold all at
once, every system's rank is at least 1 + those for certain before it, and at most all less those for certain behind it: all ranks right
at once with the same level (Mogstad, Romano, Shaikh and Wilhelm 2024).
"""

import numpy as np
from scipy.special import ndtr, stdtrit

from calibration.rank.crossed import Errors
from metrics.arrays import Bools, Floats, Ints

MOST_VALUES, FEWEST_DRAWS, MOST_DRAWS = 10**8, 10_000, 50_000
"""Of the draws of all differences."""


def pointwise_level(covariance: Floats, df: float, level: float, rng: np.random.Generator) -> float:
    """Return the level of each interval of a difference at which all of them hold at once with ``level``.

    The largest standardised difference of estimates drawn from a normal distribution has this quantile. Their covariance is only
    known as well as ``df`` allows, so it is drawn towards that of estimates which have nothing in common, for which such
    intervals are the widest: with S estimates S / (S + df) of the way.

    Parameters
    ----------
    covariance : (S, S) ndarray of float
        Of the estimates, not all of them alike.
    df : float
        Degrees of freedom that it is known with.
    level : float
        With which all intervals hold.
    rng : Generator
        Source of the draws.
    """
    systems = len(covariance)
    share = systems / (systems + df)
    own = np.diagonal(covariance)
    alike = (own[:, None] + own[None] - 2 * covariance).sum() / (2 * systems * (systems - 1))
    blended = (1 - share) * covariance + share * alike * np.eye(systems)
    draws = int(np.clip(MOST_VALUES / systems**2, FEWEST_DRAWS, MOST_DRAWS))
    drawn = np.linalg.cholesky(blended + 1e-12 * alike * np.eye(systems)) @ rng.standard_normal(
        (systems, draws)
    )
    return float(2 * ndtr(np.quantile(_largest(drawn, blended), level)) - 1)


def _largest(drawn: Floats, covariance: Floats) -> Floats:
    """Return the largest standardised difference of each draw, (draws,)."""
    own = np.diagonal(covariance)
    largest = np.zeros(drawn.shape[1])
    for place in range(1, len(drawn)):
        spread = np.sqrt(own[place] + own[:place] - 2 * covariance[place, :place])
        np.maximum(largest, np.abs((drawn[place] - drawn[:place]) / spread[:, None]).max(axis=0), out=largest)
    return largest


def certainly_above(estimate: Floats, errors: Errors, each_level: float) -> Bools:
    """Return the (S, S) relation: is the estimate of the row above that of the column, beyond the reach of its interval.

    Parameters
    ----------
    estimate : (S,) ndarray of float
        The larger the better.
    errors : Errors
        Of their differences, (S, S); where nothing is known, nothing is certain.
    each_level : float
        As `pointwise_level` returns it.
    """
    reach = stdtrit(errors.df, (1 + each_level) / 2) * errors.standard_error
    return np.asarray(estimate[:, None] - estimate[None] > reach)


def rank_ranges(above: Bools) -> tuple[Ints, Ints]:
    """Return the best and the worst rank of every system that a relation allows, both (S,)."""
    return 1 + above.sum(axis=0), len(above) - above.sum(axis=1)
