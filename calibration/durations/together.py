"""Times away and sessions of the same people: whether those who come often stay longer, or less.

Who comes often has more sessions in the tables, and who never came has none. Where that goes with how long people stay, a fit to
the sessions alone is off. Here log A and log D are normal together with a correlation; a worker contributes the
average of both likelihoods, so that who came often counts no more than others, and who never came counts too.
"""

import math
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from scipy.special import chdtrc

from calibration.durations.extended import (
    ANYWHERE,
    Extended,
    highest,
    log_normal_population,
    log_normal_values,
)
from calibration.durations.likelihood import Exposure, Totals, log_likelihoods, posterior
from calibration.durations.maximum import DurationMaximum
from calibration.inference.clusters import sandwich
from calibration.inference.results import CalibrationResult, NotIdentifiedError, info
from calibration.inference.uncertainty import Scale, StudentT
from calibration.inference.wording import shown_p
from calibration.user_model.model import CORRELATION
from metrics.arrays import Floats

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
    error : float
        Standard error of its arctanh.
    p_value : float
        That there is none.
    workers : int
        Who were watched.
    """

    model: Extended
    correlation: float
    error: float
    p_value: float
    workers: int

    def result(self) -> CalibrationResult:
        """Return the correlation as a fit of its own."""
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
                        cov=np.array([[self.error**2]]),
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
        If there are few workers, no spread, or the likelihood has no top.
    """
    if min(away.units, session.units) < LEAST_WORKERS:
        raise NotIdentifiedError(f"there are fewer than {LEAST_WORKERS} workers with visits")
    if not (away_top.sigma and session_top.sigma):
        raise NotIdentifiedError("workers do not differ more than chance explains, in one of both")
    times, sessions = away.totals(), _beside(away, session)

    def each(point: Floats) -> Floats:
        mu, sigma, r = point[2], math.exp(point[3]), math.tanh(point[4])
        coming = posterior(times.events, times.seconds, float(point[0]), math.exp(point[1]))
        own = _given(sessions, mu + r * sigma * coming.z, sigma * math.sqrt(1 - r * r))
        most = own.max(axis=1)
        share = (coming.weights * np.exp(own - most[:, None])).sum(axis=1)
        return np.asarray(coming.loglik + np.log(share) + most)

    end, spreads = math.atanh(MOST_CORRELATION), (math.log(0.05), math.log(4.0))
    tops = away_top, session_top
    start = [value for top in tops for value in (top.mu, math.log(max(top.sigma, _LEAST_SPREAD)))]
    point, loglik = highest(each, (*start, 0.0), (ANYWHERE, spreads, ANYWHERE, spreads, (-end, end)))
    plain = sum(
        float(log_likelihoods(one, top.mu, top.sigma).sum())
        for one, top in zip((times, session.totals()), tops, strict=True)
    )
    model = Extended(
        name=TOGETHER,
        point=point,
        loglik=loglik,
        each=each,
        values=lambda point: log_normal_values(point[2], math.exp(point[3])),
        population=lambda point: log_normal_population(point[2], math.exp(point[3])),
    )
    scores, information = model.curvature()
    if not np.isfinite(information).all() or np.linalg.eigvalsh(information)[0] <= 0:
        raise NotIdentifiedError("the likelihood of times away and sessions together has no top")
    return Together(
        model=model,
        correlation=math.tanh(float(point[4])),
        error=math.sqrt(float(sandwich(scores, information)[4, 4])),
        p_value=float(chdtrc(1, max(2 * (model.loglik - plain), 0.0))),
        workers=away.units,
    )


def _beside(away: Exposure, session: Exposure) -> Totals:
    """Return n and T of the sessions of everybody who was watched, 0 and 0 without one; a worker's number differs, the follows' is the same."""
    stays = session.totals()
    both = (away.follow_unit >= 0) & (session.follow_unit >= 0)
    events, seconds = np.zeros((2, away.units))
    events[away.follow_unit[both]] = stays.events[session.follow_unit[both]]
    seconds[away.follow_unit[both]] = stays.seconds[session.follow_unit[both]]
    return Totals(events=events, seconds=seconds)


def _given(sessions: Totals, at: Floats, sigma: float) -> Floats:
    """(u, k) log-likelihood of the sessions of each worker for each of k means of log D; 0 for who has none."""
    size, nodes = at.shape
    moved = np.exp(-at) * sessions.seconds[:, None]
    own = np.zeros((size, nodes))
    some = sessions.seconds > 0
    events = np.repeat(sessions.events[some], nodes)
    flat = posterior(events, moved[some].ravel(), 0.0, sigma).loglik
    own[some] = flat.reshape(-1, nodes) - sessions.events[some, None] * at[some]
    return own
