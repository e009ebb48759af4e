"""Correlation of times away and session lengths over people.

Who comes often has more sessions in the tables, and who never came has none. Here log A and log D are normal together with a
correlation; a worker contributes the average of both likelihoods, so that who came often counts no more than others, and who
never came counts too.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from scipy.optimize import Bounds, minimize
from scipy.special import chdtrc

from calibration.inference.results import CalibrationResult, NotIdentifiedError
from calibration.inference.uncertainty import Scale, StudentT
from calibration.models.durations.exposure import CensoredDurations, WorkerTotals
from calibration.models.durations.fit import fit_durations
from calibration.models.durations.laws import ANYWHERE, MIN_SPREAD, ExtendedModel
from calibration.models.durations.likelihood import log_likelihoods, posterior, posterior_moments
from calibration.models.durations.maximum import log_normal_values
from calibration.user_model.model import CORRELATION
from metrics.arrays import Floats

TOGETHER = "with times away"
MIN_WORKERS = 10
MAX_CORRELATION = 0.99


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JointDurationFit:
    """Sessions fitted jointly with times away, so each error includes the other's.

    Attributes
    ----------
    model : ExtendedModel
        mu, log sigma of the mean times away, the same of the sessions' means, and arctanh of the correlation; one row per worker who was watched.
    correlation : float
        Of log A and log D over people.
    p_value : float
        That there is none.
    workers : int
        Who were watched.
    """

    model: ExtendedModel
    correlation: float
    p_value: float
    workers: int


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CorrelationFit(CalibrationResult):
    """Fitted correlation of log A and log D over people."""


def fit_correlation(session: CensoredDurations) -> CorrelationFit:
    """Fit the correlation of log A and log D over people.

    Parameters
    ----------
    session : CensoredDurations
        Sessions, with the times away of the same tables.

    Raises
    ------
    NotIdentifiedError
        If there are no times away, few workers or no spread, or the likelihood has no top.
    """
    together = fit_together(session)
    if together.model.cov is None:
        raise NotIdentifiedError("the likelihood of times away and sessions together has no top")
    error = StudentT(
        centre=np.array([math.atanh(together.correlation)]),
        cov=together.model.cov[4:, 4:],
        df=together.workers - 1,
        scale=Scale.ARCTANH,
    )
    return CorrelationFit(
        parameters=MappingProxyType({CORRELATION: together.correlation}),
        unit="correlation",
        method="marginal likelihood of both",
        uncertainty=MappingProxyType({"delta": error}),
        n_workers=together.workers,
        n_rows=together.workers,
        loglik=together.model.loglik,
        n_free=5,
    )


@lru_cache(maxsize=1)
def fit_together(session: CensoredDurations) -> JointDurationFit:
    """Fit sessions and times away jointly, with a correlation of people's means.

    The parameter and the check share the result.

    L_u = INT L_away(n, T | A) L_session(n, T | D) N(log A, log D), log D given log A being normal again.

    Raises
    ------
    NotIdentifiedError
        As of `fit_correlation`.
    """
    away = session.away
    if away is None:
        raise NotIdentifiedError("times away of the same people are needed, over the same time")
    tops = away_top, session_top = fit_durations(away.totals()), fit_durations(session.totals())
    if min(away.units, session.units) < MIN_WORKERS:
        raise NotIdentifiedError(f"there are fewer than {MIN_WORKERS} workers with visits")
    if not (away_top.sigma and session_top.sigma):
        raise NotIdentifiedError("workers do not differ more than chance explains, in one of both")
    times, sessions = away.totals(), _beside(away, session)
    end, spreads = math.atanh(MAX_CORRELATION), (math.log(0.05), math.log(4.0))
    start = [value for optimum in tops for value in (optimum.mu, math.log(max(optimum.sigma, MIN_SPREAD)))]

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
        float(log_likelihoods(totals, optimum.mu, optimum.sigma).sum())
        for totals, optimum in zip((times, session.totals()), tops, strict=True)
    )
    model = ExtendedModel(
        name=TOGETHER,
        point=np.asarray(best.x, dtype=np.float64),
        loglik=-float(best.fun),
        each=lambda point: _linked(times, sessions, point).loglik,
        values=lambda point: log_normal_values(point[2], math.exp(point[3])),
        scores=lambda point: _linked(times, sessions, point).scores,
    )
    return JointDurationFit(
        model=model,
        correlation=math.tanh(float(best.x[4])),
        p_value=float(chdtrc(1, max(2 * (model.loglik - plain), 0.0))),
        workers=away.units,
    )


class _Linked(NamedTuple):
    """Joint log-likelihood of each worker's A and D, (u,), with derivatives (u, 5)."""

    loglik: Floats
    scores: Floats


def _linked(times: WorkerTotals, sessions: WorkerTotals, point: Floats) -> _Linked:
    """Return each worker's joint log-likelihood at given parameters.

    These are mu and log sigma of log A, the same of log D, and arctanh of their correlation r.

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


def _beside(away: CensoredDurations, session: CensoredDurations) -> WorkerTotals:
    """Return n and T of the sessions of every watched worker, 0 and 0 without one.

    The codes of workers differ from those of follows.
    """
    stays = session.totals()
    both = (away.follow_unit >= 0) & (session.follow_unit >= 0)
    events, seconds = np.zeros((2, away.units))
    events[away.follow_unit[both]] = stays.events[session.follow_unit[both]]
    seconds[away.follow_unit[both]] = stays.seconds[session.follow_unit[both]]
    return WorkerTotals(events=events, seconds=seconds)


def _given(sessions: WorkerTotals, at: Floats, sigma: float) -> tuple[Floats, Floats, Floats]:
    """Return the likelihood of workers' sessions at each of k log means of D, (k, u).

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
