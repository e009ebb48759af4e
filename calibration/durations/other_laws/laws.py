"""Laws of durations other than the plain one: of the workers' means, and of people who lose interest.

The workers' means may follow another law than the log-normal one, by the same likelihood on a grid of log A.

A worker with n complete intervals and T seconds contributes SUM_g w_g A_g^-n exp(-T / A_g), w the law's mass at the grid. The
grid reaches from well below the shortest mean that anybody shows to far above everybody's time, so that who never came
back may have any mean; what a law has beyond it stands at its ends.

People may lose interest: all of them by and by, or some of them for good at once.

Fading: everybody's rate of coming back falls by exp(-b t) in t days of their follow. Drop-outs: a follow ends for good, without a
sign, at a constant hazard d (Schmittlein, Morrison and Colombo 1987, with log-normal means). Either has one parameter more
than the plain model, and both make times away look longer.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, gammaincinv, gammaln

from calibration.durations.at_risk import LEAST_SECONDS, Exposure, Totals, total
from calibration.durations.maximum import DurationMaximum, maximum
from calibration.durations.other_laws.extended import (
    ANYWHERE,
    Extended,
    Population,
    by_difference,
    highest,
    law_values,
    log_normal_population,
    log_normal_values,
)
from calibration.inference.results import NotIdentifiedError
from metrics.arrays import Floats, Places

Density: TypeAlias = Callable[[Floats, Floats], Floats]
"""Logs of means (g,), parameters (p,) -> logarithm of the density there, up to a constant."""
GENERALISED_GAMMA = "generalised gamma means, exponential"
TWO_KINDS = "two kinds of means, exponential"
LOG_T = "log t means, exponential"
GAMMA = "gamma rates, exponential"
_FINEST, _COARSEST, _MOST_NODES = 0.03, 0.1, 400
_BELOW, _ABOVE = 3.0, 7.0
_TINY = 1e-300
_LEAST_SPREAD = 0.2
_NEARLY_ZERO = 1e-4
_SIGMA = (math.log(0.1), math.log(4.0))
_GAMMA_SHAPE = (math.log(0.3), math.log(100.0))
_LEAST_SHAPE = 2.0
"""At this shape of gamma rates, and below, the means have no standard deviation."""
_LEAST_EXCESS = 0.1
"""Least that a shape is taken to be beyond the one at which a moment ends, so that every number is finite."""
FURTHEST_MEAN = math.log(100.0)
"""A heavy tail has no mean of its own: it ends at a hundred times the median."""


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Logs of means (g,), and for each worker the likelihood there (u, g), divided by its largest (log: (u,))."""

    log_mean: Floats
    kernel: Floats
    log_most: Floats

    @classmethod
    def of(cls, totals: Totals) -> "Grid":
        """Make the grid that suits n and T: fine enough for whoever came most often."""
        log_mean = grid_points(totals)
        exponent = -totals.events[:, None] * log_mean - totals.seconds[:, None] * np.exp(-log_mean)
        most = exponent.max(axis=1)
        return cls(log_mean, np.exp(exponent - most[:, None]), most)

    def each(self, density: Density, point: Floats) -> Floats:
        """(u,) log-likelihoods."""
        return np.log(np.maximum(self.kernel @ masses(self.log_mean, density, point), _TINY)) + self.log_most

    def rising(self, density: Density, point: Floats) -> tuple[Floats, Floats]:
        """Return `each`, and the (p,) derivatives of its sum: differences are taken of the masses, which are few."""
        likelihood = np.maximum(self.kernel @ masses(self.log_mean, density, point), _TINY)
        slopes = by_difference(lambda at: masses(self.log_mean, density, at), point)
        return np.log(likelihood) + self.log_most, (1 / likelihood) @ self.kernel @ slopes


def grid_points(totals: Totals) -> Floats:
    """(g,) logs of means: from below the shortest mean that anybody shows to far above the longest time."""
    low = float(np.log(totals.seconds / (totals.events + 1)).min()) - _BELOW
    high = float(np.log(totals.seconds).max()) + _ABOVE
    apart = min(max(1.2 / math.sqrt(max(float(totals.events.max()), 1.0)), _FINEST), _COARSEST)
    return np.linspace(low, high, min(int((high - low) / apart) + 1, _MOST_NODES))


def masses(log_mean: Floats, density: Density, point: Floats) -> Floats:
    """(g,) masses that add up to 1."""
    logs = density(log_mean, point)
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def generalised_gamma(log_mean: Floats, point: Floats) -> Floats:
    """Stacy's law (1962) in Prentice's form (1974): mu, log sigma, q.

    q = 0 is log-normal, q = sigma gamma, q = 1 Weibull, q = -sigma inverse gamma.
    """
    mu, log_sigma, q = point
    z = (log_mean - mu) / math.exp(log_sigma)
    if abs(q) < _NEARLY_ZERO:
        return np.asarray(-z * z / 2)
    return np.asarray((q * z - np.expm1(np.clip(q * z, None, 700.0))) / q**2)


def two_kinds(log_mean: Floats, point: Floats) -> Floats:
    """Mix two log-normal laws of one sigma: mu of the first, log sigma, log of what the second is further, logit of the first's share."""
    mu, log_sigma, log_apart, logit_share = point
    sigma, share = math.exp(log_sigma), float(expit(logit_share))
    first = math.log(share) - ((log_mean - mu) / sigma) ** 2 / 2
    second = math.log1p(-share) - ((log_mean - mu - math.exp(log_apart)) / sigma) ** 2 / 2
    return np.asarray(np.logaddexp(first, second), dtype=np.float64)


def log_t(log_mean: Floats, point: Floats) -> Floats:
    """Student's t of log A, heavier at both ends than the log-normal law; it has no mean: mu, log sigma, log (degrees of freedom - 2)."""
    mu, log_sigma, log_more = point
    df = 2 + math.exp(log_more)
    return np.asarray(-(df + 1) / 2 * np.log1p(((log_mean - mu) / math.exp(log_sigma)) ** 2 / df))


def population_laws(totals: Totals, top: DurationMaximum) -> Iterator[Extended]:
    """Fit every other law between workers: those that hold the log-normal one as a special or limiting case, and gamma rates."""
    grid = Grid.of(totals)
    sigma = max(top.sigma, _LEAST_SPREAD)
    start = (top.mu, math.log(sigma))
    free = (ANYWHERE, _SIGMA)
    yield max(
        (
            _fitted(
                GENERALISED_GAMMA,
                grid,
                generalised_gamma,
                (*start, q),
                (*free, (-2.5, 4.0)),
                _near(grid, top),
            )
            for q in (0.5, -0.3)
        ),
        key=lambda one: one.loglik,
    )
    apart = (top.mu - 0.7 * sigma, math.log(0.6 * sigma), math.log(1.5 * sigma), 0.0)
    yield _fitted(TWO_KINDS, grid, two_kinds, apart, (*free, _SIGMA, (-4.0, 4.0)))
    yield _fitted(LOG_T, grid, log_t, (*start, 1.0), (*free, (-3.0, 4.0)), _near(grid, top))
    yield gamma_rates(totals, top, grid.log_mean)


def gamma_log_likelihoods(totals: Totals, log_rate: float, shape: float) -> Floats:
    """(u,) log-likelihoods where 1 / A ~ Gamma(a, rate b seconds), in closed form: a negative binomial number of events.

    l = a log b + lgamma(a + n) - lgamma(a) - (a + n) log(b + T),    less log(1 - (b / (b + tau))^a) where one event must be seen
    """
    n, tau = totals.events, totals.seen_by_seconds
    rest = (shape + n) * np.logaddexp(log_rate, np.log(totals.seconds))
    found = shape * log_rate + gammaln(shape + n) - gammaln(shape) - rest
    if tau is not None:
        found = found - np.log(np.maximum(-np.expm1(-shape * np.log1p(tau / math.exp(log_rate))), _TINY))
    return np.asarray(found)


def gamma_rates(totals: Totals, top: DurationMaximum, log_mean: Floats) -> Extended:
    """Fit gamma rates, so that the means have a power tail: log b, log a."""

    def each(point: Floats) -> Floats:
        return gamma_log_likelihoods(totals, float(point[0]), math.exp(point[1]))

    def values(point: Floats) -> Floats:
        a = math.exp(point[1])
        first, second = (max(a - order, _LEAST_EXCESS) for order in (1, 2))
        quantiles = -np.log(gammaincinv(a, (0.5, 0.75, 0.25)))
        log_first = point[0] - math.log(first)
        return np.array([log_first, log_first - math.log(second) / 2, *(point[0] + quantiles)])

    def population(point: Floats) -> Population:
        above = log_mean - point[0]
        logs = -math.exp(point[1]) * above - np.exp(-above)
        share = np.exp(logs - logs.max())
        return log_mean, share / share.sum()

    shape = max(top.sigma, _LEAST_SPREAD) ** -2 + 0.5
    point, loglik = highest(each, (top.mu + math.log(shape), math.log(shape)), (ANYWHERE, _GAMMA_SHAPE))
    return Extended(name=GAMMA, point=point, loglik=loglik, each=each, values=values, population=population)


def may_lack_sd(model: Extended) -> bool:
    """Whether the data allow a tail so heavy that S has no upper end: log t, or gamma rates of a shape that may be 2."""
    if model.name != GAMMA:
        return model.name == LOG_T
    cov = model.cov
    return cov is None or bool(model.point[1] - 2 * math.sqrt(cov[1, 1]) <= math.log(_LEAST_SHAPE))


def heavy_tail(totals: Totals, top: DurationMaximum) -> Extended:
    """Fit Student's t of log A with 3 degrees of freedom: a tail as heavy as people have, of which few people show nothing."""
    grid = Grid.of(totals)
    start = (top.mu, math.log(max(0.75 * top.sigma, _LEAST_SPREAD)))
    return _fitted(LOG_T, grid, _log_t_of_three, start, (ANYWHERE, _SIGMA), _near(grid, top))


def _log_t_of_three(log_mean: Floats, point: Floats) -> Floats:
    return log_t(log_mean, np.array([*point, 0.0]))


def _near(grid: Grid, top: DurationMaximum) -> Floats:
    return (np.abs(grid.log_mean - top.mu) <= FURTHEST_MEAN).astype(np.float64)


def _fitted(
    name: str,
    grid: Grid,
    density: Density,
    start: tuple[float, ...],
    bounds: Sequence[tuple[float, float]],
    near: Floats | float = 1.0,
) -> Extended:
    """Find a law's maximum; its population is what is ``near`` of it, (g,) 0 or 1."""
    each = partial(grid.each, density)
    point, loglik = highest(each, start, bounds, partial(grid.rising, density))

    def population(point: Floats) -> Population:
        share = masses(grid.log_mean, density, point) * near
        return grid.log_mean, share / share.sum()

    return Extended(
        name=name,
        point=point,
        loglik=loglik,
        each=each,
        values=lambda point: law_values(*population(point)),
        population=population,
    )


DROP_OUTS = "log-normal means, exponential, drop-outs"
MOST_FOLLOWS = 5000
"""Follows up to which the law of drop-outs is fitted: a matrix of follows and means is needed."""
_STEEPEST = 3.0
"""Most that the logarithm of a rate may change over the longest follow."""


class Fade(NamedTuple):
    """How fast interest fades: exp(-slope) a day; M on the first day and on the last; the log-likelihood."""

    slope: float
    first: float
    last: float
    loglik: float


def fade(exposure: Exposure, top: DurationMaximum) -> Fade | None:
    """Fit a rate that falls, or rises, exponentially in the time since the follow began; None where it cannot be fitted.

    l(b) = l_plain(n, SUM INT exp(-b t) dt) - b SUM t_events, t in days.
    """
    start, stop = exposure.start / exposure.day_seconds, exposure.stop / exposure.day_seconds
    longest = float(stop.max(initial=0.0))
    of_events = float(stop[exposure.event].sum())
    events = total(exposure.unit, exposure.event, exposure.units)
    if not longest:
        return None

    def fitted(slope: float) -> DurationMaximum:
        watched = (np.exp(-slope * start) - np.exp(-slope * stop)) / slope * exposure.day_seconds
        seconds = np.maximum(total(exposure.unit, watched, exposure.units), LEAST_SECONDS)
        scale = math.exp(float(np.log(seconds).mean()))
        found = maximum(Totals(events=events, seconds=seconds).in_units_of(scale), start=_start(top, scale))
        moved = found.top.loglik - float(events.sum()) * math.log(scale) - slope * of_events
        return DurationMaximum(
            mu=found.mu + math.log(scale), log_sigma=found.log_sigma, top=found.top._replace(loglik=moved)
        )

    try:
        best = minimize_scalar(
            lambda at: -fitted(_off_zero(at)).top.loglik,
            bounds=(-_STEEPEST / longest, _STEEPEST / longest),
            method="bounded",
            options={"xatol": 1e-3 / longest},
        )
        slope = _off_zero(float(best.x))
        found = fitted(slope)
    except NotIdentifiedError:
        return None
    return Fade(slope, found.mean, found.mean * math.exp(slope * longest), found.top.loglik)


def _start(top: DurationMaximum, scale: float) -> tuple[float, float]:
    return top.mu - math.log(scale), max(top.log_sigma, math.log(0.1))


def _off_zero(slope: float) -> float:
    return slope if abs(slope) > 1e-9 else 1e-9


class _Tails(NamedTuple):
    """n (u,) and T (u,) up to the last events; of each follow its unit, when its last event was, what was watched after it."""

    events: Floats
    seconds: Floats
    unit: Places
    alive: Floats
    after: Floats


def _tails(exposure: Exposure) -> _Tails:
    size = len(exposure.follow_unit)
    alive = np.zeros(size)
    np.maximum.at(alive, exposure.follow[exposure.event], exposure.stop[exposure.event])
    silent = exposure.start >= alive[exposure.follow]
    after = total(exposure.follow, np.where(silent & ~exposure.event, exposure.seconds, 0.0), size)
    before = np.where(silent & ~exposure.event, 0.0, exposure.seconds)
    used = exposure.follow_unit >= 0
    order = np.flatnonzero(used)[np.argsort(exposure.follow_unit[used], kind="stable")]
    return _Tails(
        total(exposure.unit, exposure.event, exposure.units),
        total(exposure.unit, before, exposure.units),
        exposure.follow_unit[order],
        alive[order],
        after[order],
    )


def drop_outs(exposure: Exposure, top: DurationMaximum) -> tuple[Extended, float] | None:
    """Fit log-normal means with people who leave for good; with it comes the share of follows that did so by their end.

    A follow that was last seen after t and then watched for r adds
    exp(-d t) (exp(-(a + d) r) + d / (a + d) (1 - exp(-(a + d) r))) to a person's likelihood, a = 1 / A.

    Returns
    -------
    (Extended, float) or None
        None where nobody seems to have left, or follows are too many.
    """
    if int((exposure.follow_unit >= 0).sum()) > MOST_FOLLOWS:
        return None
    tails = _tails(exposure)
    day = exposure.day_seconds
    log_mean = grid_points(exposure.totals())
    rate = np.exp(-log_mean)
    plain = -tails.events[:, None] * log_mean - tails.seconds[:, None] * rate
    firsts = np.flatnonzero(np.diff(tails.unit, prepend=-1) > 0)

    def each(point: Floats) -> Floats:
        hazard = math.exp(point[2]) / day
        ends = rate + hazard
        survived = np.exp(-tails.after[:, None] * ends)
        tail = (
            np.log(np.maximum(survived + hazard / ends * (1 - survived), _TINY))
            - hazard * tails.alive[:, None]
        )
        exponent = plain + np.add.reduceat(tail, firsts, axis=0)
        most = exponent.max(axis=1)
        share = masses(log_mean, _normal, point)
        return np.asarray(np.log(np.maximum(np.exp(exponent - most[:, None]) @ share, _TINY)) + most)

    sigma = max(top.sigma, _LEAST_SPREAD)
    watched = float(exposure.follow_seconds.max()) / day
    point, loglik = highest(
        each,
        (top.mu, math.log(sigma), math.log(0.1 / watched)),
        (ANYWHERE, _SIGMA, (math.log(1e-4 / watched), math.log(10 / watched))),
    )
    law = Extended(
        name=DROP_OUTS,
        point=point,
        loglik=loglik,
        each=each,
        values=lambda point: log_normal_values(point[0], math.exp(point[1])),
        population=lambda point: log_normal_population(point[0], math.exp(point[1])),
    )
    hazard = math.exp(float(point[2])) / day
    return law, float(-np.expm1(-hazard * exposure.follow_seconds[exposure.follow_unit >= 0]).mean())


def _normal(log_mean: Floats, point: Floats) -> Floats:
    return np.asarray(-(((log_mean - point[0]) / math.exp(point[1])) ** 2) / 2)
