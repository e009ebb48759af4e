"""Other laws of the workers' means on a grid, their maxima, and gamma rates.

Errors are those of the sandwich over workers, so they hold also where the law within workers is another. Derivatives are
by differences: there are two to four parameters.

On the grid a worker with n complete intervals and T seconds contributes SUM_g w_g A_g^-n exp(-T / A_g), w the law's mass at the
grid of log A. The grid reaches from well below the shortest mean that anybody shows to far above everybody's time, so that who
never came back may have any mean; what a law has beyond it stands at its ends.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np
from scipy.optimize import Bounds, minimize
from scipy.special import gammaincinv, gammaln

from calibration.inference.clusters import sandwich
from calibration.inference.uncertainty import Interval, Scale, StudentT, Uncertainty, finite_or_none
from calibration.models.durations.exposure import WorkerTotals
from calibration.models.durations.maximum import DurationMaximum
from metrics.arrays import Floats

_QUARTILES = (0.5, 0.25, 0.75)
_STEP = 1e-4
ANYWHERE = (-1e3, 1e3)
"""Bounds of the logarithm of a time."""
SPREADS = (math.log(0.1), math.log(4.0))
"""Bounds of log sigma."""
MIN_SPREAD = 0.2
"""Smallest sigma at which a search begins."""
MeanGrid: TypeAlias = tuple[Floats, Floats]
"""Logs of means (g,), and the share of people at each (g,)."""
Density: TypeAlias = Callable[[Floats, Floats], Floats]
"""Log density of log means (g,) at parameters (p,), up to a constant."""
GAMMA = "gamma"
_FINEST, _COARSEST, _MAX_NODES = 0.03, 0.1, 400
_BELOW, _ABOVE = 3.0, 7.0
TINY = 1e-300
_GAMMA_SHAPE = (math.log(0.3), math.log(100.0))
_GAMMA_DRAWS = 20_000


@dataclass(frozen=True, kw_only=True, eq=False)
class ExtendedModel:
    """Model at its maximum of likelihood.

    Attributes
    ----------
    name : str
        Law between workers, law within.
    point : (p,) ndarray of float
        The estimates of its own parameters.
    loglik : float
        Log-likelihood there, on the data of the plain model.
    each : callable
        (p,) -> (u,) log-likelihood of each worker.
    values : callable
        (p,) -> (5,) logarithms of M, S, the median, the lower and the upper quartile of the workers' means.
    scores : callable or None
        (p,) -> (u, p) exact derivatives of ``each``; None: they are taken by differences.
    """

    name: str
    point: Floats
    loglik: float
    each: Callable[[Floats], Floats]
    values: Callable[[Floats], Floats]
    scores: Callable[[Floats], Floats] | None = None

    @property
    def n_free(self) -> int:
        """Number of fitted parameters."""
        return len(self.point)

    @property
    def aic(self) -> float:
        """Akaike's criterion, 2 n_free - 2 loglik."""
        return 2 * self.n_free - 2 * self.loglik

    def error(self, most_df: float = math.inf) -> Uncertainty | None:
        """Return the errors of the logarithms of its values, or None.

        The result is None where they are not identified.

        Parameters
        ----------
        most_df : float
            They have no more degrees of freedom than this, and than workers - 1.
        """
        centre, own = self.values(self.point), self.cov
        if own is None:
            return None
        if self.name == GAMMA:
            return GammaError(point=self.point, own_cov=own, df=len(self.each(self.point)) - 1)
        slopes = by_difference(self.values, self.point)
        cov = slopes @ own @ slopes.T
        if not (np.isfinite(centre).all() and np.isfinite(cov).all()):
            return None
        df = min(len(self.each(self.point)) - 1, most_df)
        return StudentT(centre=centre, cov=cov, df=df, scale=Scale.LOG)

    @cached_property
    def cov(self) -> Floats | None:
        """Covariance of its own parameters by the sandwich over workers, (p, p).

        It is None where the likelihood has no maximum inside.
        """
        scores = self.scores or self._scores_by_difference()
        second = -by_difference(lambda at: scores(at).sum(axis=0), self.point)
        information = (second + second.T) / 2
        if not np.isfinite(information).all() or np.linalg.eigvalsh(information)[0] <= 0:
            return None
        return sandwich(scores(self.point), information)

    def _scores_by_difference(self) -> Callable[[Floats], Floats]:
        known: dict[bytes, Floats] = {}

        def each(point: Floats) -> Floats:
            # a step in one parameter, then in another, leads where the two lead in the other order
            key = point.tobytes()
            if key not in known:
                known[key] = self.each(point)
            return known[key]

        return lambda point: by_difference(each, point)


def maximise_log_likelihood(
    each: Callable[[Floats], Floats],
    start: Sequence[float],
    bounds: Sequence[tuple[float, float]],
    rising: Callable[[Floats], tuple[Floats, Floats]] | None = None,
) -> tuple[Floats, float]:
    """Return the maximum of a sum of log-likelihoods, and its value.

    Parameters
    ----------
    each : callable
        (p,) -> (u,) log-likelihood of each worker.
    start : (p,) sequence of float
        Where the search begins.
    bounds : (p,) sequence of (float, float)
        Where it stays.
    rising : callable, optional
        (p,) -> what ``each`` says, and the (p,) derivatives of its sum; by default these are taken by differences.
    """
    begin: Floats = np.array(start, dtype=np.float64)
    there = each(begin)

    def loss(point: Floats) -> float:
        # from the start on: the search ends at a share of what it looks at, which must not grow with the study
        return float((there - each(point)).sum())

    def sloping(point: Floats, rising: Callable[[Floats], tuple[Floats, Floats]]) -> tuple[float, Floats]:
        here, slope = rising(point)
        return float((there - here).sum()), -slope

    how: Any = {"fun": loss} if rising is None else {"fun": partial(sloping, rising=rising), "jac": True}
    best = minimize(
        **how,
        x0=begin,
        method="L-BFGS-B",
        bounds=Bounds(*np.array(bounds).T),
        options={"ftol": 1e-7},
    )
    return np.asarray(best.x, dtype=np.float64), float(there.sum()) - float(best.fun)


def by_difference(of: Callable[[Floats], Floats], point: Floats) -> Floats:
    """Return derivatives of k values by central differences, (k, p)."""
    steps = _STEP * np.eye(len(point))
    return np.stack([(of(point + step) - of(point - step)) / (2 * _STEP) for step in steps], axis=1)


def law_values(log_mean: Floats, share: Floats) -> Floats:
    """Return log M, S, median and quartiles of a law on a grid, (5,)."""
    mean = np.exp(log_mean)
    first = float(share @ mean)
    second = float(share @ (mean / first - 1) ** 2)
    middle = np.cumsum(share) - share / 2
    return np.array(
        [
            math.log(first),
            math.log(first) + math.log(max(second, 1e-12)) / 2,
            *np.interp(_QUARTILES, middle, log_mean),
        ]
    )


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Logs of means (g,), with each worker's relative likelihood there (u, g).

    Each likelihood is divided by its largest (log: (u,)).
    """

    log_mean: Floats
    kernel: Floats
    log_most: Floats

    @classmethod
    def of(cls, totals: WorkerTotals) -> "Grid":
        """Make a grid that suits n and T, fine enough for the most frequent worker."""
        log_mean = grid_points(totals)
        exponent = -totals.events[:, None] * log_mean - totals.seconds[:, None] * np.exp(-log_mean)
        most = exponent.max(axis=1)
        return cls(log_mean, np.exp(exponent - most[:, None]), most)

    def log_likelihoods(self, density: Density, point: Floats) -> Floats:
        """Return each worker's log-likelihood, (u,)."""
        return np.log(np.maximum(self.kernel @ masses(self.log_mean, density, point), TINY)) + self.log_most

    def rising(self, density: Density, point: Floats) -> tuple[Floats, Floats]:
        """Return `log_likelihoods`, and the derivatives of their sum, (p,).

        Differences are taken of the masses, which are few.
        """
        likelihood = np.maximum(self.kernel @ masses(self.log_mean, density, point), TINY)
        slopes = by_difference(lambda at: masses(self.log_mean, density, at), point)
        return np.log(likelihood) + self.log_most, (1 / likelihood) @ self.kernel @ slopes


def grid_points(totals: WorkerTotals) -> Floats:
    """Return logs of means that span the data, (g,).

    They run from below the shortest observed mean to far above the longest time.
    """
    low = float(np.log(totals.seconds / (totals.events + 1)).min()) - _BELOW
    high = float(np.log(totals.seconds).max()) + _ABOVE
    apart = min(max(1.2 / math.sqrt(max(float(totals.events.max()), 1.0)), _FINEST), _COARSEST)
    return np.linspace(low, high, min(int((high - low) / apart) + 1, _MAX_NODES))


def masses(log_mean: Floats, density: Density, point: Floats) -> Floats:
    """Return masses on the grid that add up to 1, (g,)."""
    logs = density(log_mean, point)
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def fit_on_grid(
    name: str,
    grid: Grid,
    density: Density,
    start: Sequence[float],
    bounds: Sequence[tuple[float, float]],
    near: Floats | float = 1.0,
) -> ExtendedModel:
    """Fit a law of the workers' means, with the values of its part ``near``.

    ``near``, (g,), is 0 or 1.
    """
    each = partial(grid.log_likelihoods, density)
    point, loglik = maximise_log_likelihood(each, start, bounds, partial(grid.rising, density))

    def values(point: Floats) -> Floats:
        share = masses(grid.log_mean, density, point) * near
        return law_values(grid.log_mean, share / share.sum())

    return ExtendedModel(name=name, point=point, loglik=loglik, each=each, values=values)


def gamma_log_likelihoods(totals: WorkerTotals, log_rate: float, shape: float) -> Floats:
    """Return log-likelihoods for gamma rates of return, (u,), in closed form.

    1 / A ~ Gamma(a, rate b seconds), so events have a negative binomial law.

    l = a log b + lgamma(a + n) - lgamma(a) - (a + n) log(b + T),    less log(1 - (b / (b + tau))^a) where one event must be seen
    """
    n, tau = totals.events, totals.seen_by_seconds
    rest = (shape + n) * np.logaddexp(log_rate, np.log(totals.seconds))
    logliks = shape * log_rate + gammaln(shape + n) - gammaln(shape) - rest
    if tau is not None:
        logliks = logliks - np.log(np.maximum(-np.expm1(-shape * np.log1p(tau / math.exp(log_rate))), TINY))
    return np.asarray(logliks)


def gamma_values(point: Floats) -> Floats:
    """Return log M, S, median and quartiles of means under gamma rates, (..., 5).

    The input is (..., 2): log b, log a.

    M = b / (a - 1), infinite up to a = 1; S = M / sqrt(a - 2), infinite up to a = 2.
    """
    log_rate, a = point[..., 0], np.exp(point[..., 1])
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(a > 1, log_rate - np.log(a - 1), np.inf)
        sd = np.where(a > 2, mean - np.log(a - 2) / 2, np.inf)
        quantiles = [log_rate - np.log(gammaincinv(a, 1 - level)) for level in _QUARTILES]
    return np.stack([mean, sd, *quantiles], axis=-1)


def gamma_rates(totals: WorkerTotals, optimum: DurationMaximum) -> ExtendedModel:
    """Fit gamma rates log b and log a, so that the means have a power tail.

    The search begins at ``optimum``.
    """

    def each(point: Floats) -> Floats:
        return gamma_log_likelihoods(totals, float(point[0]), math.exp(point[1]))

    shape = max(optimum.sigma, MIN_SPREAD) ** -2 + 0.5
    point, loglik = maximise_log_likelihood(
        each, (optimum.mu + math.log(shape), math.log(shape)), (ANYWHERE, _GAMMA_SHAPE)
    )
    return ExtendedModel(name=GAMMA, point=point, loglik=loglik, each=each, values=gamma_values)


@dataclass(frozen=True, kw_only=True)
class GammaError:
    """Uncertainty of M, S and quantiles under gamma rates, from draws.

    It takes percentiles over draws of (log b, log a).

    M and S go to infinity within the draws, where no symmetric error says anything; an end there is open.

    Attributes
    ----------
    point, own_cov : (2,) and (2, 2) ndarray of float
        log b and log a, and their covariance.
    df : float
        Degrees of freedom of Student's t.
    """

    point: Floats
    own_cov: Floats
    df: float
    scale: Scale = Scale.LOG

    @property
    def cov(self) -> Floats:
        """Covariance of the logarithms by the delta method, (5, 5).

        Entries of infinite parameters are nan.
        """
        with np.errstate(invalid="ignore"):
            slopes = by_difference(gamma_values, self.point)
            return np.asarray(slopes @ self.own_cov @ slopes.T)

    def intervals(self, level: float) -> tuple[Interval, ...]:
        """Return percentiles of the draws."""
        tail = (1 - level) / 2
        ends = np.quantile(self._sample, [tail, 1 - tail], axis=0, method="inverted_cdf")
        return tuple((finite_or_none(low), finite_or_none(high)) for low, high in ends.T.tolist())

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw multivariate t values of the law's own parameters, (n, 5)."""
        wide = np.sqrt(self.df / rng.chisquare(self.df, n))[:, None]
        own = self.point + wide * rng.multivariate_normal(np.zeros(2), self.own_cov, size=n)
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(gamma_values(own)))

    @cached_property
    def _sample(self) -> Floats:
        return self.draws(_GAMMA_DRAWS, np.random.default_rng(1))
