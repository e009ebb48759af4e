"""People who differ: a log-normal crowd, and classes of people who do not do what the task asks.

The likelihood of each person stands in a table over a grid of the logarithm of the own value; the crowd is a normal law on the grid,
cut off at its ends. So the law is searched over mean and spread without fitting any person, and a class whose people
have no such value (who answer by chance, who always read to the end) is a column beside the table.

People who do not do what the task asks, as a class: how many they are, and how likely each is one of them.

A family says how likely each person's answers are under its model (earnest) and under carelessness; the share of careless people is
found by maximum likelihood, and each person's posterior follows (a mixture of two kinds of people, McLachlan and Peel 2000, 1.4).
A family that fits its model anew for each share calls this inside its own likelihood.

Who answers at random, told by the answers of the others.

A family says how likely each person's answers are if that person follows the others with the powers g = 0, 0.25, ..., 3: with g = 0 an
answer is drawn by lot, with 1 it follows the others as closely as their shares say. There are careless people when a share of them
with g = 0, beside one g for all the others, explains clearly more than one g for all: twice the gain in log-likelihood is above 4,
which chance exceeds in some 2 % of studies (half of it is 0 and half chi-squared with 1 degree of freedom: Self and Liang 1987).

People may also follow the others more and less without anybody answering by lot, for tastes differ. Where that is to be expected,
the class must explain more than powers that are spread over people, normal and not below 0.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit, logsumexp

from metrics.arrays import Bools, Floats

SPREADS = np.concatenate([[0.01], np.arange(1, 21) / 20, np.arange(11, 21) / 10])
"""Standard deviations of the logarithm that are tried; the first stands for none."""
STEPS = 25
_AT_ONCE = 100
"""People whose table fits a processor's cache."""
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


def fit_crowd(table: Floats, grid: Floats) -> FittedCrowd:
    """Fit a log-normal crowd by maximum likelihood.

    Parameters
    ----------
    table : (people, g) ndarray of float
        Log-likelihood of each person at each value.
    grid : (g,) ndarray of float
        Logarithms of the values, even and ascending.
    """
    return next(_fitted(table, grid, np.empty((len(table), 0))))


def fit_crowds(table: Floats, grid: Floats, classes: Floats) -> tuple[FittedCrowd, FittedCrowd]:
    """Fit a crowd without classes, as `fit_crowd` does, and one with classes beside it.

    Parameters
    ----------
    table, grid
        As for `fit_crowd`.
    classes : (people, c) ndarray of float
        Log-likelihood of each person as one of each class.
    """
    alone, beside = _fitted(table, grid, classes[:, :0], classes)
    return alone, beside


def _fitted(table: Floats, grid: Floats, *classes: Floats) -> Iterator[FittedCrowd]:
    """Yield the crowd with each of some choices of classes."""
    centres = np.repeat(grid, len(SPREADS))
    weights = normal_weights(grid, centres, np.tile(SPREADS, len(grid)))
    top = table.max(axis=1)
    scaled = np.exp(table - top[:, None]) @ weights
    np.maximum(scaled, 1e-300, out=scaled)
    for beside in classes:
        shares, total = _with_classes(scaled, top, beside)
        best = int(total.argmax())
        yield FittedCrowd(
            centre=float(centres[best]),
            spread=float(SPREADS[best % len(SPREADS)]),
            loglik=float(total[best]),
            profile=total.reshape(len(grid), -1).max(axis=0),
            shares=shares,
            posterior=_posterior(np.log(scaled[:, best]) + top, beside, shares),
        )


def _with_classes(scaled: Floats, top: Floats, beside: Floats) -> tuple[Floats, Floats]:
    """Return the likeliest shares of the classes, (c,), and the log-likelihood of all people under each law."""
    shares = np.full(beside.shape[1], 0.1)
    for step in range(STEPS if beside.size else 0):
        if step & (step - 1) == 0:  # 0, 1, 2, 4 ...: the likeliest law hardly changes later
            best = int(_logliks(scaled, top, beside, shares).argmax())
            within = np.log(scaled[:, best]) + top
        shares = np.maximum(_posterior(within, beside, shares).mean(axis=0), _LEAST_SHARE)
    return shares, _logliks(scaled, top, beside, shares)


def normal_weights(grid: Floats, centre: Floats, spread: Floats) -> Floats:
    """Return the weights of normal laws on a grid, (g, n), each column adding up to 1."""
    density = np.exp(-(((grid[:, None] - centre) / spread) ** 2) / 2)
    return np.asarray(density / density.sum(axis=0))


def _logliks(scaled: Floats, top: Floats, beside: Floats, shares: Floats) -> Floats:
    """Return the log-likelihood of all people under each law, (laws,); exp(top) times ``scaled`` is each person's in the crowd."""
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
    """Return how probably each person is in each class, given the log-likelihood within one law, (people,)."""
    own = beside + np.log(shares)
    every = np.column_stack([within + _log_rest(shares), own])
    return np.asarray(np.exp(own - logsumexp(every, axis=1, keepdims=True)))


def _log_rest(shares: Floats) -> float:
    return float(np.log(max(1 - shares.sum(), _LEAST_SHARE)))


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


POWERS = np.linspace(0, 3, 13)
CLEAR_GAIN = 4.0
CLEARER = 1.5
"""Log-likelihood by which careless people must explain more than tastes."""
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


SIGNED_POWERS = np.concatenate([-POWERS[:0:-1], POWERS])
"""The powers of people who may also prefer the opposite of what the others prefer."""
CAMP_GAIN = 2.0
"""Log-likelihood by which a camp must explain more than tastes spread over people, or answers by lot."""
_TRIED = np.array([0.25, 0.5, 1.0, 1.5, 2.0, 3.0])


@dataclass(frozen=True, slots=True, kw_only=True)
class KindsOfPeople:
    """Who answers by lot, and who prefers the opposite of what the others prefer; None where nothing speaks clearly for such people."""

    careless: CarelessClass | None
    camp: CarelessClass | None


def kinds_of_people(logliks: Callable[[Floats], Floats], people: int) -> KindsOfPeople:
    """Tell people who answer by lot from a camp that prefers the opposite.

    Parameters
    ----------
    logliks : callable
        (w,) weights with which people count for the others, negative for a camp -> (w, 25) log-likelihoods of each person's answers by
        their power, under `SIGNED_POWERS`.
    people : int
        w.
    """
    zero = len(POWERS) - 1
    careless = who_follows_nobody(lambda weight: logliks(weight)[:, zero:], people, tastes=True)
    if people < FEWEST:
        return KindsOfPeople(careless=None, camp=None)
    weight = np.ones(people)
    for _ in range(_ROUNDS + 2):
        table = logliks(weight)
        camp, earnest = _likeliest_camp(table)
        weight = 1 - 2 * camp.posterior  # a camp counts the other way round
    by_lot = table[:, _column(0)]
    beside = careless_class(earnest, by_lot)
    alone = max(careless_class(table[:, _column(power)], by_lot).loglik for power in _TRIED)
    gain = max(camp.loglik, beside.loglik - CAMP_GAIN) - max(alone, _spread_loglik(table, SIGNED_POWERS))
    if not (gain > CAMP_GAIN and camp.count and camp.share <= MOST):
        is_doubtful = careless is not None and camp.loglik > alone + CAMP_GAIN / 2
        return KindsOfPeople(careless=None if is_doubtful else careless, camp=None)
    is_clear = (
        2 * (beside.loglik - float(earnest.sum())) > CLEAR_GAIN and beside.count and beside.share <= MOST
    )
    return KindsOfPeople(careless=beside if is_clear else None, camp=camp)


def _likeliest_camp(table: Floats) -> tuple[CarelessClass, Floats]:
    """Return the likeliest camp, and the log-likelihood of each person's answers as one of it or of its opponents."""
    followers, camps = (table[:, [_column(sign * power) for power in _TRIED]] for sign in (1, -1))
    own, other, camp = max(
        ((own, other, careless_class(own, other)) for own in followers.T for other in camps.T),
        key=lambda one: one[2].loglik,
    )
    share = min(max(camp.share, _LEAST_SHARE), 1 - _LEAST_SHARE)
    return camp, np.logaddexp(own + np.log1p(-share), other + np.log(share))


def _column(power: float) -> int:
    return int(np.abs(SIGNED_POWERS - power).argmin())


def share_left_open(logliks: Floats, answers: Floats, drop: float) -> float:
    """Return the largest share of answers by lot at which no more than ``drop`` of log-likelihood is lost, at least that of the people.

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
    share = min(largest_share(earnest, logliks[:, 0], drop=drop), MOST)
    by_lot = expit(logliks[:, 0] - earnest + logit(share))
    if not share > 0 or not answers.any():
        return share
    each, of_others = (np.average(answers, weights=weight) for weight in (by_lot, 1 - by_lot))
    return max(share, float(share * each / (share * each + (1 - share) * of_others)))


def _class(logliks: Floats, *, tastes: bool) -> CarelessClass | None:
    if len(logliks) < FEWEST:
        return None
    classes = [careless_class(earnest, logliks[:, 0]) for earnest in logliks.T[1:]]
    best = max(classes, key=lambda one: one.loglik)
    gain = 2 * (best.loglik - float(logliks.sum(axis=0).max()))
    if gain < CLEAR_GAIN or not best.count or best.share > MOST:
        return None
    return best if not tastes or best.loglik > _spread_loglik(logliks) + CLEARER else None


def _spread_loglik(logliks: Floats, powers: Floats = POWERS) -> float:
    """Return the highest log-likelihood of powers that are spread over people."""
    highest = logliks.max(axis=1, keepdims=True)
    mean, spread = (axis.ravel() for axis in np.meshgrid(powers, _SPREADS))
    weight = np.exp(-0.5 * ((powers[:, None] - mean) / spread) ** 2)
    each = np.log(np.exp(logliks - highest) @ (weight / weight.sum(axis=0)))
    return float((each + highest).sum(axis=0).max())
