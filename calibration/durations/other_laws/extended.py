"""Models of durations with more parameters than the plain one, and that of times away and sessions together.

Errors are those of the sandwich over workers, so they hold also where the law within workers is another. Derivatives are
by differences: there are three or four parameters.

Times away and sessions of the same people: whether those who come often stay longer, or less.

Who comes often has more sessions in the tables, and who never came has none. Where that goes with how long people stay, a fit to
the sessions alone is off. Here log A and log D are normal together with a correlation; a worker contributes the
average of both likelihoods, so that who came often counts no more than others, and who never came counts too.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.optimize import Bounds, minimize
from scipy.special import chdtrc

from calibration.durations.at_risk import Exposure, Totals
from calibration.durations.likelihood import log_likelihoods, posterior, posterior_moments
from calibration.durations.maximum import QUANTILES, DurationMaximum
from calibration.inference.clusters import sandwich
from calibration.inference.results import CalibrationResult, NotIdentifiedError, info
from calibration.inference.uncertainty import Scale, StudentT
from calibration.inference.wording import shown_p
from calibration.user_model.model import CORRELATION
from metrics.arrays import Floats

_QUARTILES = (0.5, 0.25, 0.75)
_STEP = 1e-4
POPULATION_NODES = 201
ANYWHERE = (-1e3, 1e3)
"""Bounds of the logarithm of a time."""
Population: TypeAlias = tuple[Floats, Floats]
"""Logs of means (g,), the share of people there (g,)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Extended:
    """One model at its maximum.

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
    population : callable
        (p,) -> the law of the workers' means.
    scores : callable or None
        (p,) -> (u, p) exact derivatives of ``each``; None: they are taken by differences.
    """

    name: str
    point: Floats
    loglik: float
    each: Callable[[Floats], Floats]
    values: Callable[[Floats], Floats]
    population: Callable[[Floats], Population]
    scores: Callable[[Floats], Floats] | None = None

    @property
    def n_free(self) -> int:
        """How many numbers were fitted."""
        return len(self.point)

    @property
    def aic(self) -> float:
        """2 n_free - 2 loglik."""
        return 2 * self.n_free - 2 * self.loglik

    def error(self, most_df: float = math.inf) -> StudentT | None:
        """Return the errors of the logarithms of its values; None where they cannot be told.

        Parameters
        ----------
        most_df : float
            They have no more degrees of freedom than this, and than workers - 1.
        """
        centre, own = self.values(self.point), self.cov
        if own is None:
            return None
        slopes = by_difference(self.values, self.point)
        cov = slopes @ own @ slopes.T
        if not (np.isfinite(centre).all() and np.isfinite(cov).all()):
            return None
        df = min(len(self.each(self.point)) - 1, most_df)
        return StudentT(centre=centre, cov=cov, df=df, scale=Scale.LOG)

    @cached_property
    def cov(self) -> Floats | None:
        """The (p, p) covariance of its own parameters, by the sandwich over workers; None where the likelihood has no top."""
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


def highest(
    each: Callable[[Floats], Floats],
    start: Sequence[float],
    bounds: Sequence[tuple[float, float]],
    rising: Callable[[Floats], tuple[Floats, Floats]] | None = None,
) -> tuple[Floats, float]:
    """Return where the sum of log-likelihoods is highest, and how high.

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
    """(k, p) derivatives of k values, by central differences."""
    steps = _STEP * np.eye(len(point))
    return np.stack([(of(point + step) - of(point - step)) / (2 * _STEP) for step in steps], axis=1)


def log_normal_values(mu: float, sigma: float) -> Floats:
    """(5,) logarithms of M, S, median and quartiles of a log-normal law; that of S is -inf without spread."""
    variance = min(sigma * sigma, 700.0)
    log_mean = mu + variance / 2
    log_sd = log_mean + math.log(math.expm1(variance)) / 2 if variance else -math.inf
    return np.array([log_mean, log_sd, *(mu + place * sigma for place in QUANTILES)])


def log_normal_population(mu: float, sigma: float) -> Population:
    """Return a log-normal law on a grid that holds all but a ten-millionth of it."""
    z = np.linspace(-6.0, 6.0, POPULATION_NODES)
    share = np.exp(-z * z / 2)
    return mu + sigma * z, share / share.sum()


def law_values(log_mean: Floats, share: Floats) -> Floats:
    """(5,) logarithms of M, S, median and quartiles of a law on a grid."""
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


TOGETHER = "log-normal means that go with those of times away, exponential"
LINKED = 0.05
"""A p-value below it has the sessions fitted together with the times away."""
LEAST_WORKERS = 10
MOST_CORRELATION = 0.99
_LEAST_SPREAD = 0.2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Together:
    """Sessions fitted together with times away.

    Attributes
    ----------
    model : Extended
        mu, log sigma of the mean times away, the same of the sessions' means, and arctanh of the correlation; one row per worker who was watched.
    correlation : float
        Of log A and log D over people.
    p_value : float
        That there is none.
    workers : int
        Who were watched.
    """

    model: Extended
    correlation: float
    p_value: float
    workers: int

    @property
    def is_linked(self) -> bool:
        """Whether both go together, and how far the numbers may be off can be told."""
        return self.p_value < LINKED and self.model.cov is not None

    def result(self) -> CalibrationResult:
        """Return the correlation as a fit of its own; raises `NotIdentifiedError` where the likelihood has no top."""
        if self.model.cov is None:
            raise NotIdentifiedError("the likelihood of times away and sessions together has no top")
        centre = np.array([math.atanh(self.correlation)])
        how = "longer" if self.correlation < 0 else "shorter"
        note = info(
            "away_and_session",
            f"Who comes more often stays {how} (correlation of the logarithms of both means {self.correlation:.2f}, "
            f"{shown_p(self.p_value)} that there is none).",
        )
        return CalibrationResult(
            parameters=MappingProxyType({CORRELATION: self.correlation}),
            unit="correlation",
            method="marginal likelihood of both",
            uncertainty=MappingProxyType(
                {
                    "delta": StudentT(
                        centre=centre,
                        cov=self.model.cov[4:, 4:],
                        df=self.workers - 1,
                        scale=Scale.ARCTANH,
                    )
                }
            ),
            n_workers=self.workers,
            n_rows=self.workers,
            loglik=self.model.loglik,
            n_free=5,
            diagnostics=(note,),
        )


def fit_together(
    away: Exposure, away_top: DurationMaximum, session: Exposure, session_top: DurationMaximum
) -> Together:
    """Fit sessions and times away with a correlation between people's means; the error of one is then in the other.

    L_u = INT L_away(n, T | A) L_session(n, T | D) N(log A, log D), log D given log A being normal again.

    Parameters
    ----------
    away, session : Exposure
        Of the same tables.
    away_top, session_top : DurationMaximum
        The plain fits of them, in seconds.

    Raises
    ------
    NotIdentifiedError
        If there are few workers, or no spread.
    """
    if min(away.units, session.units) < LEAST_WORKERS:
        raise NotIdentifiedError(f"there are fewer than {LEAST_WORKERS} workers with visits")
    if not (away_top.sigma and session_top.sigma):
        raise NotIdentifiedError("workers do not differ more than chance explains, in one of both")
    times, sessions = away.totals(), _beside(away, session)
    end, spreads = math.atanh(MOST_CORRELATION), (math.log(0.05), math.log(4.0))
    tops = away_top, session_top
    start = [value for top in tops for value in (top.mu, math.log(max(top.sigma, _LEAST_SPREAD)))]

    def loss(point: Floats) -> tuple[float, Floats]:
        own = _linked(times, sessions, point)
        return -float(own.loglik.sum()), -own.scores.sum(axis=0)

    bounds = np.array([ANYWHERE, spreads, ANYWHERE, spreads, (-end, end)])
    best = minimize(
        loss,
        np.array([*start, 0.0]),
        jac=True,
        method="L-BFGS-B",
        bounds=Bounds(*bounds.T),
        options={"ftol": 1e-12},
    )
    plain = sum(
        float(log_likelihoods(one, top.mu, top.sigma).sum())
        for one, top in zip((times, session.totals()), tops, strict=True)
    )
    model = Extended(
        name=TOGETHER,
        point=np.asarray(best.x, dtype=np.float64),
        loglik=-float(best.fun),
        each=lambda point: _linked(times, sessions, point).loglik,
        values=lambda point: log_normal_values(point[2], math.exp(point[3])),
        population=lambda point: log_normal_population(point[2], math.exp(point[3])),
        scores=lambda point: _linked(times, sessions, point).scores,
    )
    return Together(
        model=model,
        correlation=math.tanh(float(best.x[4])),
        p_value=float(chdtrc(1, max(2 * (model.loglik - plain), 0.0))),
        workers=away.units,
    )


class _Linked(NamedTuple):
    """Log-likelihood of both of each worker (u,), and its derivatives (u, 5)."""

    loglik: Floats
    scores: Floats


def _linked(times: Totals, sessions: Totals, point: Floats) -> _Linked:
    """Return what each worker says at mu, log sigma of log A, the same of log D, and arctanh of their correlation r.

    With x and y, log A and log D standardised, the derivatives are posterior means of those of the bivariate normal law
    (Fisher's identity). Given x, y = r x + c w, c^2 = 1 - r^2, where w is standard normal before the sessions are seen.
    """
    spread, sigma, r = math.exp(point[1]), math.exp(point[3]), math.tanh(point[4])
    square = 1 - r * r
    coming = posterior(times.events, times.seconds, float(point[0]), spread)
    x, c = coming.z, math.sqrt(square)
    own, w, ww = _given(sessions, point[2] + r * sigma * x, sigma * c)
    most = own.max(axis=0)
    weights = coming.weights * np.exp(own - most)
    share = weights.sum(axis=0)
    weights /= share
    y = r * x + c * w
    yy = r * x * (y + c * w) + square * ww
    mean_x, mean_y, xx, xy, yy = ((weights * of).sum(axis=0) for of in (x, y, x * x, x * y, yy))
    scores = [
        (mean_x - r * mean_y) / (spread * square),
        (xx - r * xy) / square - 1,
        (mean_y - r * mean_x) / (sigma * square),
        (yy - r * xy) / square - 1,
        (r * square + (1 + r * r) * xy - r * (xx + yy)) / square,
    ]
    return _Linked(coming.loglik + np.log(share) + most, np.stack(scores, axis=1))


def _beside(away: Exposure, session: Exposure) -> Totals:
    """Return n and T of the sessions of everybody who was watched, 0 and 0 without one; a worker's number differs, the follows' is the same."""
    stays = session.totals()
    both = (away.follow_unit >= 0) & (session.follow_unit >= 0)
    events, seconds = np.zeros((2, away.units))
    events[away.follow_unit[both]] = stays.events[session.follow_unit[both]]
    seconds[away.follow_unit[both]] = stays.seconds[session.follow_unit[both]]
    return Totals(events=events, seconds=seconds)


def _given(sessions: Totals, at: Floats, sigma: float) -> tuple[Floats, Floats, Floats]:
    """Return what the sessions of each worker say for each of k means of log D, (k, u) each.

    Log-likelihood, and posterior means of w and w^2, w = (log D - mean) / sigma; 0, 0 and 1 for who has none.
    """
    own, w, ww = np.zeros(at.shape), np.zeros(at.shape), np.ones(at.shape)
    some = sessions.seconds > 0
    events, seconds = sessions.events[some], sessions.seconds[some]
    for node, mean in enumerate(at[:, some]):
        there = posterior_moments(events, np.exp(-mean) * seconds, 0.0, sigma, 2)
        own[node, some] = there.loglik - events * mean
        w[node, some], ww[node, some] = there.mean, there.square
    return own, w, ww
