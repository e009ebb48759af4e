"""Other laws of durations on the same data, compared by AIC.

Differences below about 10 decide nothing: with 100 workers the log-normal and the gamma law of means differ by about 6
when one of them is true. The pooled laws take all intervals for one person's.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import chdtrc, gamma, gammaln, log_ndtr

from calibration.durations.at_risk import LEAST_SECONDS, Exposure, Totals
from calibration.durations.likelihood import log_likelihoods
from calibration.durations.maximum import DurationMaximum, maximum
from calibration.durations.other_laws.extended import Extended, log_normal_population, log_normal_values
from calibration.durations.other_laws.laws import GAMMA, gamma_log_likelihoods
from calibration.inference.goodness import REJECTED
from calibration.inference.results import GoodnessOfFit, NotIdentifiedError
from metrics.arrays import Bools, Floats, Places

COMPOUND = "log-normal means, exponential"
FRAILTY = "log-normal means, Weibull"
POOLED_EXPONENTIAL = "pooled exponential"
POOLED_WEIBULL = "pooled Weibull"
POOLED_LOG_NORMAL = "pooled log-normal"
TINY = 1e-300
_LEAST_SPREAD = 0.05
_SHAPES = (math.log(0.15), math.log(6.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """One law.

    Attributes
    ----------
    name : str
        Law between workers, law within; or pooled.
    loglik, aic : float
        Of the same intervals for all laws.
    n_free : int
        Parameters.
    mean, sd : float
        M and S of the workers' means; of the intervals themselves for a pooled law. inf where the law has none.
    shape : float
        Of a Weibull law; 1 is exponential, below 1 short and long intervals are both more frequent.
    """

    name: str
    loglik: float
    n_free: int
    mean: float
    sd: float
    shape: float = 1.0

    @property
    def aic(self) -> float:
        """2 n_free - 2 loglik."""
        return 2 * self.n_free - 2 * self.loglik


class _Pieces(NamedTuple):
    """Durations (p,) in units of ``scale``, whether each is complete, whose it is."""

    x: Floats
    event: Bools
    unit: Places
    units: int
    scale: float

    @property
    def n(self) -> int:
        return int(self.event.sum())

    @property
    def log_sum(self) -> float:
        """Sum of the logarithms of complete durations."""
        return float(np.log(self.x[self.event]).sum())

    def totals(self, shape: float) -> Totals:
        """N and sum of x^shape of everybody."""
        return Totals(
            events=np.bincount(self.unit, self.event, minlength=self.units).astype(np.float64),
            seconds=np.maximum(np.bincount(self.unit, self.x**shape, minlength=self.units), TINY),
        )


def alternatives(
    exposure: Exposure, top: DurationMaximum, others: Iterable[Extended] = ()
) -> tuple[Alternative, ...]:
    """Fit every law, best first. With zero truncation only those whose truncation is known: the first two.

    Parameters
    ----------
    exposure : Exposure
        The data.
    top : DurationMaximum
        The compound fit of them, in seconds.
    others : iterable of Extended
        Models that were fitted already.
    """
    totals = exposure.totals()
    laws = [
        *(_summary(one) for one in others if one.name != GAMMA),
        Alternative(name=COMPOUND, loglik=top.top.loglik, n_free=2, mean=top.mean, sd=top.sd),
        _gamma_rates(totals),
    ]
    if exposure.seen_by_seconds is None:
        pieces = _pieces(exposure)
        laws += [
            *_frailty(pieces, top),
            _pooled_exponential(pieces),
            _pooled_weibull(pieces),
            _pooled_log_normal(pieces),
        ]
    return tuple(sorted(laws, key=lambda law: law.aic))


def _summary(model: Extended) -> Alternative:
    mean, sd = np.exp(model.values(model.point)[:2]).tolist()
    return Alternative(name=model.name, loglik=model.loglik, n_free=model.n_free, mean=mean, sd=sd)


def _pieces(exposure: Exposure) -> _Pieces:
    scale = float(np.exp(np.log(exposure.totals().seconds).mean()))
    x = np.maximum(exposure.seconds, LEAST_SECONDS) / scale
    return _Pieces(x, exposure.event, exposure.unit, exposure.units, scale)


def weibull_model(exposure: Exposure, law: Alternative) -> Extended:
    """Return the law of Weibull intervals as a model with errors: mu, log sigma and log shape of the scales of x^shape.

    Parameters
    ----------
    exposure : Exposure
        The data.
    law : Alternative
        Their fit by this law, `FRAILTY`.
    """
    pieces = _pieces(exposure)
    logs = np.log(pieces.x)
    events = pieces.totals(1.0).events
    of_events = np.bincount(pieces.unit, np.where(pieces.event, logs, 0.0), minlength=pieces.units)

    def each(point: Floats) -> Floats:
        k = math.exp(point[2])
        own = events * (point[2] - math.log(pieces.scale)) + (k - 1) * of_events
        return np.asarray(log_likelihoods(pieces.totals(k), point[0], math.exp(point[1])) + own)

    def place(point: Floats) -> tuple[float, float]:
        k = math.exp(point[2])
        shift = math.log(pieces.scale) + float(gammaln(1 + 1 / k))
        return point[0] / k + shift, math.exp(point[1]) / k

    found = maximum(pieces.totals(law.shape))
    return Extended(
        name=FRAILTY,
        point=np.array([found.mu, max(found.log_sigma, math.log(_LEAST_SPREAD)), math.log(law.shape)]),
        loglik=law.loglik,
        each=each,
        values=lambda point: log_normal_values(*place(point)),
        population=lambda point: log_normal_population(*place(point)),
    )


def _gamma_rates(totals: Totals) -> Alternative:
    """With the moments that it has: a tail may be so heavy that there is no S, or no mean."""
    scale = float(np.exp(np.log(totals.seconds).mean()))
    scaled = totals.in_units_of(scale)

    def loss(at: Floats) -> float:
        return -float(gamma_log_likelihoods(scaled, float(at[1]), math.exp(at[0])).sum())

    rate = scaled.events.sum() / scaled.seconds.sum()
    best = minimize(
        loss, np.array([0.0, -math.log(rate)]), method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-9}
    )
    a, b = np.exp(best.x)
    return Alternative(
        name=GAMMA,
        loglik=-float(best.fun) - float(totals.events.sum()) * math.log(scale),
        n_free=2,
        mean=scale * b / (a - 1) if a > 1 else math.inf,
        sd=scale * b / ((a - 1) * math.sqrt(a - 2)) if a > 2 else math.inf,
    )


def _frailty(pieces: _Pieces, top: DurationMaximum) -> Iterator[Alternative]:
    """P(X > x | B) = exp(-x^k / B), log B normal: the compound likelihood of (n, sum x^k), with a Jacobian.

    l(k) = l_compound(n, sum x^k) + N log k + (k - 1) sum log x
    """
    start = (top.mu - math.log(pieces.scale), max(top.log_sigma, math.log(0.1)))

    def fit(log_shape: float) -> tuple[float, DurationMaximum]:
        k = math.exp(log_shape)
        found = maximum(pieces.totals(k), start=(k * start[0], start[1] + log_shape))
        return found.top.loglik + _jacobian(pieces, k), found

    try:
        log_shape = _highest(lambda at: fit(at)[0])
        loglik, found = fit(log_shape)
    except NotIdentifiedError:
        return
    k = math.exp(log_shape)
    mean = pieces.scale * float(gamma(1 + 1 / k)) * math.exp(found.mu / k + (found.sigma / k) ** 2 / 2)
    yield Alternative(
        name=FRAILTY,
        loglik=loglik,
        n_free=3,
        mean=mean,
        sd=mean * math.sqrt(math.expm1(min((found.sigma / k) ** 2, 700))),
        shape=k,
    )


def _jacobian(pieces: _Pieces, k: float) -> float:
    """N log k + (k - 1) sum log x, and what the unit of time adds."""
    return pieces.n * math.log(k) + (k - 1) * pieces.log_sum - pieces.n * math.log(pieces.scale)


def _highest(value: Callable[[float], float]) -> float:
    return float(
        minimize_scalar(lambda at: -value(at), bounds=_SHAPES, method="bounded", options={"xatol": 1e-4}).x
    )


def _pooled_exponential(pieces: _Pieces) -> Alternative:
    mean = pieces.x.sum() / pieces.n
    loglik = -pieces.n * (math.log(mean) + 1) + _jacobian(pieces, 1.0)
    return Alternative(
        name=POOLED_EXPONENTIAL, loglik=loglik, n_free=1, mean=mean * pieces.scale, sd=mean * pieces.scale
    )


def _pooled_weibull(pieces: _Pieces) -> Alternative:
    def power_mean(k: float) -> float:
        return float((pieces.x**k).sum()) / pieces.n

    def loglik(log_shape: float) -> float:
        k = math.exp(log_shape)
        return -pieces.n * (math.log(power_mean(k)) + 1) + _jacobian(pieces, k)

    log_shape = _highest(loglik)
    k = math.exp(log_shape)
    scale = pieces.scale * power_mean(k) ** (1 / k)
    first, second = float(gamma(1 + 1 / k)), float(gamma(1 + 2 / k))
    return Alternative(
        name=POOLED_WEIBULL,
        loglik=loglik(log_shape),
        n_free=2,
        mean=scale * first,
        sd=scale * math.sqrt(second - first**2),
        shape=k,
    )


def _pooled_log_normal(pieces: _Pieces) -> Alternative:
    log_x, event = np.log(pieces.x), pieces.event

    def loss(at: Floats) -> tuple[float, Floats]:
        z = (log_x - at[0]) / math.exp(at[1])
        above = log_ndtr(-z[~event])
        hazard = np.exp(-(z[~event] ** 2) / 2 - above) / math.sqrt(2 * math.pi)
        value = (z[event] ** 2).sum() / 2 + pieces.n * at[1] - above.sum()
        by_mean = -(z[event].sum() + hazard.sum()) * math.exp(-at[1])
        by_scale = pieces.n - (z[event] ** 2).sum() - (hazard * z[~event]).sum()
        return float(value), np.array([by_mean, by_scale])

    start = np.array([log_x.mean(), math.log(max(log_x.std(), 0.1))])
    best = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(None, None), (-5.0, 5.0)])
    m, s = best.x[0], math.exp(best.x[1])
    constant = pieces.n * (math.log(2 * math.pi) / 2 + math.log(pieces.scale)) + pieces.log_sum
    mean = pieces.scale * math.exp(m + s * s / 2)
    return Alternative(
        name=POOLED_LOG_NORMAL,
        loglik=-float(best.fun) - constant,
        n_free=2,
        mean=mean,
        sd=mean * math.sqrt(math.expm1(s * s)),
    )


def weibull_test(laws: tuple[Alternative, ...]) -> GoodnessOfFit | None:
    """Test whether one worker's intervals are exponential by the likelihood ratio against a Weibull law.

    For designs that Greenwood's statistic cannot judge. None where the Weibull law was not fitted.
    """
    by_name = {law.name: law for law in laws}
    if FRAILTY not in by_name:
        return None
    ratio = max(2 * (by_name[FRAILTY].loglik - by_name[COMPOUND].loglik), 0.0)
    p_value, shape = float(chdtrc(1, ratio)), by_name[FRAILTY].shape
    verdict = "are consistent with an exponential law" if p_value >= REJECTED else "are not exponential"
    return GoodnessOfFit(
        test="within_worker",
        statistic=ratio,
        p_value=p_value,
        n_boot=0,
        sentence=f"Within workers the intervals {verdict} (Weibull shape {shape:.2f}, likelihood ratio {ratio:.1f}, "
        f"p = {p_value:.2g}).",
    )
