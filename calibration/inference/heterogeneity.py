"""Laws of people who differ: log-normal populations, classes of careless people.

The likelihood of each person stands in a table over a grid of the logarithm of the own value; the crowd is a normal law on the grid,
cut off at its ends. So the law is searched over mean and spread without fitting any person, and a class whose people
have no such value (who answer by chance, who always read to the end) is a column beside the table.

A class of people who do not do what the task asks: a family says how likely each person's answers are under its model (earnest) and under carelessness; the share of careless people is
found by maximum likelihood, and each person's posterior follows (a mixture of two kinds of people, McLachlan and Peel 2000, 1.4).
A family that fits its model anew for each share calls this inside its own likelihood.

A person may follow the others with the powers `POWERS`: with 0 an answer is drawn by lot, with 1 it follows the others as closely as their
shares say.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit, logsumexp

from metrics.arrays import Bools, Floats

SPREADS = np.concatenate([[0.01], np.arange(1, 21) / 20, np.arange(11, 21) / 10])
"""Standard deviations of the logarithm to try; the first stands for none."""
STEPS = 25
_AT_ONCE = 100
"""Number of people whose table fits a processor's cache."""
_MIN_SHARE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedPopulation:
    """Likeliest log-normal population, with c classes beside it.

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


def fit_crowd(table: Floats, grid: Floats) -> FittedPopulation:
    """Fit a log-normal population by maximum likelihood.

    Parameters
    ----------
    table : (people, g) ndarray of float
        Log-likelihood of each person at each value.
    grid : (g,) ndarray of float
        Logarithms of the values, even and ascending.
    """
    return next(_fitted(table, grid, np.empty((len(table), 0))))


def fit_crowds(table: Floats, grid: Floats, classes: Floats) -> tuple[FittedPopulation, FittedPopulation]:
    """Fit a population without classes, and one with classes beside it.

    `fit_crowd` fits the first.

    Parameters
    ----------
    table, grid
        As for `fit_crowd`.
    classes : (people, c) ndarray of float
        Log-likelihood of each person as one of each class.
    """
    alone, beside = _fitted(table, grid, classes[:, :0], classes)
    return alone, beside


def _fitted(table: Floats, grid: Floats, *classes: Floats) -> Iterator[FittedPopulation]:
    """Yield the population with each choice of classes."""
    centres = np.repeat(grid, len(SPREADS))
    weights = normal_weights(grid, centres, np.tile(SPREADS, len(grid)))
    top = table.max(axis=1)
    scaled = np.exp(table - top[:, None]) @ weights
    np.maximum(scaled, 1e-300, out=scaled)
    for beside in classes:
        shares, total = _with_classes(scaled, top, beside)
        best = int(total.argmax())
        yield FittedPopulation(
            centre=float(centres[best]),
            spread=float(SPREADS[best % len(SPREADS)]),
            loglik=float(total[best]),
            profile=total.reshape(len(grid), -1).max(axis=0),
            shares=shares,
            posterior=_posterior(np.log(scaled[:, best]) + top, beside, shares),
        )


def _with_classes(scaled: Floats, top: Floats, beside: Floats) -> tuple[Floats, Floats]:
    """Return the likeliest class shares, (c,), and each law's log-likelihood.

    Both are over all people.
    """
    shares = np.full(beside.shape[1], 0.1)
    for step in range(STEPS if beside.size else 0):
        if step & (step - 1) == 0:  # 0, 1, 2, 4 ...: the likeliest law hardly changes later
            best = int(_logliks(scaled, top, beside, shares).argmax())
            within = np.log(scaled[:, best]) + top
        shares = np.maximum(_posterior(within, beside, shares).mean(axis=0), _MIN_SHARE)
    return shares, _logliks(scaled, top, beside, shares)


def normal_weights(grid: Floats, centre: Floats, spread: Floats) -> Floats:
    """Return the weights of normal laws on a grid, (g, n), each column adding up to 1."""
    density = np.exp(-(((grid[:, None] - centre) / spread) ** 2) / 2)
    return np.asarray(density / density.sum(axis=0))


def _logliks(scaled: Floats, top: Floats, beside: Floats, shares: Floats) -> Floats:
    """Return the log-likelihood of all people under each law, (laws,).

    exp(top) times ``scaled`` is each person's likelihood in the population.
    """
    apart = logsumexp(beside + np.log(shares), axis=1) if beside.size else np.full(len(top), -np.inf)
    own = top + _log_rest(shares)
    largest = np.maximum(own, apart)
    factor, added = np.exp(own - largest)[:, None], np.exp(apart - largest)[:, None]
    total = np.zeros(scaled.shape[1])
    for at in range(0, len(scaled), _AT_ONCE):
        few = slice(at, at + _AT_ONCE)
        mixed = scaled[few] * factor[few]
        mixed += added[few]
        total += np.log(mixed, out=mixed).sum(axis=0)
    return np.asarray(total + largest.sum())


def _posterior(within: Floats, beside: Floats, shares: Floats) -> Floats:
    """Return each person's posterior probability of each class.

    The input is the log-likelihood within one law, (people,).
    """
    own = beside + np.log(shares)
    every = np.column_stack([within + _log_rest(shares), own])
    return np.asarray(np.exp(own - logsumexp(every, axis=1, keepdims=True)))


def _log_rest(shares: Floats) -> float:
    return float(np.log(max(1 - shares.sum(), _MIN_SHARE)))


_MAX_LOG_RATIO = 500.0
"""Largest log ratio of two likelihoods, which keeps the ratio finite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CarelessClass:
    """Share of careless people, and each person's posterior.

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
    def is_careless(self) -> Bools:
        """Mask of people more likely careless than careful, (w,)."""
        return np.asarray(self.posterior > 0.5)

    def by_name(self, people: Iterable[str]) -> dict[str, float]:
        """Return each person's posterior by name."""
        return dict(zip(people, self.posterior.tolist(), strict=True))

    @property
    def count(self) -> int:
        """Number of people more likely careless than careful."""
        return int(self.is_careless.sum())


def careless_class(earnest: Floats, careless: Floats) -> CarelessClass:
    """Fit the share of careless people.

    sum_u log((1 - share) exp(earnest_u) + share exp(careless_u)) is concave in the share: its slope falls through 0 once, or the
    share is 0 or 1.

    Parameters
    ----------
    earnest, careless : (w,) ndarray of float
        Log-likelihood of each person's answers under the model, and of the same answers under carelessness.
    """
    ratio = np.exp(np.clip(careless - earnest, -_MAX_LOG_RATIO, _MAX_LOG_RATIO))

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
    """Return the largest share of careless people within a drop of log-likelihood.

    The drop is at most ``drop``; the result is at least the likeliest share.

    Parameters
    ----------
    earnest, careless : (w,) ndarray of float
        As in `careless_class`.
    drop : float
        In log-likelihood.
    """
    best = careless_class(earnest, careless)
    ratio = np.exp(np.clip(careless - earnest, -_MAX_LOG_RATIO, _MAX_LOG_RATIO))
    least = best.loglik - float(earnest.sum()) - drop

    def above(share: float) -> float:
        return float(np.log1p(share * (ratio - 1)).sum()) - least

    nearly_all = 1 - 1e-9
    return 1.0 if above(nearly_all) >= 0 else float(brentq(above, best.share, nearly_all, xtol=1e-6))


POWERS = np.linspace(0, 3, 13)
"""Powers with which a person may follow the others."""
MIN_PEOPLE = 5
"""Smallest number of people among whom answers by lot can be identified."""
MAX_MINORITY_SHARE = 0.5
"""Largest share of a class that is a minority.

In a larger class it is unclear who answers by lot.
"""


def share_left_open(logliks: Floats, answers: Floats, drop: float) -> float:
    """Return the largest share of answers by lot within a drop of log-likelihood.

    The drop is at most ``drop``; the result is at least the likeliest share of the people.

    Who answers by lot may give more answers than the others; half of the people are the most that may do so.

    Parameters
    ----------
    logliks : (w, 13) ndarray of float
        Of each person's answers by their power, under `POWERS`.
    answers : (w,) ndarray of float
        How many each person gave.
    drop : float
        In log-likelihood.
    """
    earnest = max(logliks.T[1:], key=lambda one: careless_class(one, logliks[:, 0]).loglik)
    share = min(largest_share(earnest, logliks[:, 0], drop=drop), MAX_MINORITY_SHARE)
    by_lot = expit(logliks[:, 0] - earnest + logit(share))
    if not share > 0 or not answers.any():
        return share
    each, of_others = (np.average(answers, weights=weight) for weight in (by_lot, 1 - by_lot))
    return max(share, float(share * each / (share * each + (1 - share) * of_others)))
