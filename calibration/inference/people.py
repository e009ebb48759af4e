"""People who differ: a log-normal crowd, and classes of people beside it, from what each of them did.

The likelihood of each person stands in a table over a grid of the logarithm of the own value; the crowd is a normal law on the grid,
cut off at its ends. So the law is searched over mean and spread without fitting any person, and a class whose people
have no such value (who answer by chance, who always read to the end) is a column beside the table.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from metrics.arrays import Floats

SPREADS = np.concatenate([[0.01], np.arange(1, 21) / 20, np.arange(11, 21) / 10])
"""Standard deviations of the logarithm that are tried; the first stands for none."""
STEPS = 25
_LEAST_SHARE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedCrowd:
    """The likeliest log-normal crowd, with c classes beside it.

    Attributes
    ----------
    centre, spread : float
        Mean and standard deviation of the logarithm.
    loglik : float
        Log-likelihood.
    profile : (m,) ndarray of float
        The highest log-likelihood at each of `SPREADS`.
    shares : (c,) ndarray of float
        Of people in each class.
    posterior : (people, c) ndarray of float
        How probably each person is in each class.
    """

    centre: float
    spread: float
    loglik: float
    profile: Floats
    shares: Floats
    posterior: Floats


def fit_crowd(table: Floats, grid: Floats, classes: Floats | None = None) -> FittedCrowd:
    """Fit a log-normal crowd by maximum likelihood.

    Parameters
    ----------
    table : (people, g) ndarray of float
        Log-likelihood of each person at each value.
    grid : (g,) ndarray of float
        Logarithms of the values, even and ascending.
    classes : (people, c) ndarray of float, optional
        Log-likelihood of each person as one of each class; no class by default.
    """
    beside = np.empty((len(table), 0)) if classes is None else classes
    centres = np.repeat(grid, len(SPREADS))
    weights = normal_weights(grid, centres, np.tile(SPREADS, len(grid)))
    top = table.max(axis=1)
    scaled = np.maximum(np.exp(table - top[:, None]) @ weights, 1e-300)
    shares = np.full(beside.shape[1], 0.1)
    for _ in range(STEPS if beside.size else 0):
        best = int(_logliks(scaled, top, beside, shares).argmax())
        within = np.log(scaled[:, best]) + top
        shares = np.maximum(_posterior(within, beside, shares).mean(axis=0), _LEAST_SHARE)
    total = _logliks(scaled, top, beside, shares)
    best = int(total.argmax())
    return FittedCrowd(
        centre=float(centres[best]),
        spread=float(SPREADS[best % len(SPREADS)]),
        loglik=float(total[best]),
        profile=total.reshape(len(grid), -1).max(axis=0),
        shares=shares,
        posterior=_posterior(np.log(scaled[:, best]) + top, beside, shares),
    )


def normal_weights(grid: Floats, centre: Floats, spread: Floats) -> Floats:
    """Return the weights of normal laws on a grid, (g, n), each column adding up to 1."""
    density = np.exp(-(((grid[:, None] - centre) / spread) ** 2) / 2)
    return np.asarray(density / density.sum(axis=0))


def _logliks(scaled: Floats, top: Floats, beside: Floats, shares: Floats) -> Floats:
    """Return the log-likelihood of all people under each law, (laws,); exp(top) times ``scaled`` is each person's in the crowd."""
    if not beside.size:
        return np.asarray(np.log(scaled).sum(axis=0) + top.sum())
    apart = logsumexp(beside + np.log(shares), axis=1)
    own = top + _log_rest(shares)
    largest = np.maximum(own, apart)
    mixed = scaled * np.exp(own - largest)[:, None] + np.exp(apart - largest)[:, None]
    return np.asarray(np.log(mixed).sum(axis=0) + largest.sum())


def _posterior(within: Floats, beside: Floats, shares: Floats) -> Floats:
    """Return how probably each person is in each class, given the log-likelihood within one law, (people,)."""
    own = beside + np.log(shares)
    every = np.column_stack([within + _log_rest(shares), own])
    return np.asarray(np.exp(own - logsumexp(every, axis=1, keepdims=True)))


def _log_rest(shares: Floats) -> float:
    return float(np.log(max(1 - shares.sum(), _LEAST_SHARE)))
