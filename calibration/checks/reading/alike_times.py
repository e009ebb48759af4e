"""Do some people take the same time for every item, whatever is in it?

Who reads takes time in proportion to length: the law of `calibration.models.reading.mixture`. Beside it stands a class of people whose
times do not follow length,

    -log(seconds)_ui = d_u + e,    d_u ~ N(m, omega^2),    e ~ N(0, nu^2).

The share of such people and all parameters of both laws are where the likelihood of all workers is highest (a mixture of two kinds of
people, by EM: Dempster, Laird and Rubin 1977). Twice the gain is held against chi-squared with 6 degrees of freedom: four numbers more,
which the data do not tell where there is no such class, so that the law of the ratio is wider than with 4 (in studies of the model as drawn
here it exceeds the limit of .05 in .03 or less). Only people who are faster than readers are taken for such a class: who is slower may have
been away (`extra_time`), and is compared there.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import chdtrc, log_ndtr

from calibration.checks.finding import REJECTED, Finding, other_laws
from calibration.inference.formatting import format_p
from calibration.inference.heterogeneity import CarelessClass, careless_class
from calibration.inference.results import NotIdentifiedError
from calibration.models.reading.fit import ReadingSpeedFit, fit_reading_speed
from calibration.models.reading.medians import MedianFit
from calibration.models.reading.mixture import mixture_top, reading_sample
from calibration.models.reading.rows import TimedReads
from metrics.arrays import Floats

NOT_READING = "times unlike reading"
"""Fact that alike times and reads with extra time both explain.

Such people's times do not follow length.
"""
DF = 6
MIN_WORKERS, MIN_READERS = 8, 2
"""Smallest numbers of workers to look for a class, and of readers beside it.

Where everybody is in the class, it has no meaning.
"""
_MIN_SPREAD = 0.1
_STARTED = 0.25
_STEPS, _ROUNDS = 40, 2
_ARRIVED = 1e-3
_HOPELESS = 2.0
"""Smallest gain of a class that is refitted with another law of readers.

The gain is with the readers' law unchanged.
"""
_LOG_2_PI = math.log(2 * math.pi)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlikeTimes:
    """Class of people whose times do not follow length.

    Attributes
    ----------
    kind : CarelessClass
        Its share, and how likely each worker is of it.
    seconds : float
        The time that they take for an item.
    ratio : float
        Twice the log-likelihood that it gains.
    """

    kind: CarelessClass
    seconds: float
    ratio: float

    @property
    def p_value(self) -> float:
        """Chance that readers alone would gain as much."""
        return float(chdtrc(DF, self.ratio))


def check_alike_times(fit: ReadingSpeedFit, data: TimedReads) -> Finding | None:
    """Compare a class of people whose times ignore length with readers alone."""
    alike = alike_times(data)
    if alike is None:
        return None
    p_value = alike.p_value
    others = _without(data, alike) if p_value < REJECTED else None
    numbers = (
        "without them there is no fit"
        if others is None
        else f"without them mu is {others.estimates[0]:.3g} and sigma {others.estimates[1]:.3g}, with all "
        f"{fit.estimates[0]:.3g} and {fit.estimates[1]:.3g}"
    )
    return Finding(
        name="alike_times",
        p_value=p_value,
        explains=NOT_READING,
        gain=alike.ratio / 2,
        sentence=f"{alike.kind.count} of {data.n_workers} workers take about {alike.seconds:.2g} s for every item, whatever its length "
        f"({format_p(p_value)}); {numbers}.",
        sensitivity={}
        if others is None
        else other_laws("without alike times", "better", others.parameters, others.conf_int().values()),
    )


def _without(data: TimedReads, alike: AlikeTimes) -> ReadingSpeedFit | None:
    """Return the fit of everybody else, or None without one."""
    try:
        return fit_reading_speed(data.of(~alike.kind.is_careless[data.worker]))
    except NotIdentifiedError:
        return None


class _OwnTimes:
    """Values -log(seconds) by worker, with mean and sum of squares.

    The likelihood under the law of the class needs them.
    """

    def __init__(self, data: TimedReads) -> None:
        z, whole = data.log_speed - data.log_length, ~data.cut
        worker, u = data.worker[whole], data.n_workers
        self.reads = np.bincount(worker, minlength=u).astype(np.float64)
        self.mean = np.bincount(worker, z[whole], u) / np.maximum(self.reads, 1)
        self.square = np.bincount(worker, np.square(z[whole] - self.mean[worker]), u)
        self._cut, self._cut_worker = z[data.cut], data.worker[data.cut]

    def law(self, weight: Floats) -> tuple[float, float, float]:
        """Return the likeliest m, omega^2 and nu^2 of weighted workers, (workers,)."""
        apart = float(weight @ np.maximum(self.reads - 1, 0))
        within = max(float(weight @ self.square) / max(apart, 1e-9), _MIN_SPREAD**2)
        weight = np.where(self.reads > 0, weight, 0.0)
        total = max(float(weight.sum()), 1e-9)
        m = float(weight @ self.mean) / total
        between = _MIN_SPREAD**2
        for _ in range(_STEPS):
            pull = between / (between + within / np.maximum(self.reads, 1))
            own = m + pull * (self.mean - m)
            m = float(weight @ own) / total
            spread = float(weight @ (np.square(own - m) + between * (1 - pull))) / total
            between = max(spread, _MIN_SPREAD**2)
        return m, between, within

    def logliks(self, m: float, between: float, within: float) -> Floats:
        """Return each worker's log-likelihood, (workers,); a cut read took longer."""
        n = self.reads
        joint = within + n * between
        value = -0.5 * (
            n * _LOG_2_PI
            + np.maximum(n - 1, 0) * math.log(within)
            + np.where(n > 0, np.log(joint), 0.0)
            + self.square / within
            + n * np.square(self.mean - m) / joint
        )
        cut = log_ndtr((self._cut - m) / math.sqrt(between + within))
        return np.asarray(value + np.bincount(self._cut_worker, cut, len(n)))


def clear_class(data: TimedReads) -> AlikeTimes | None:
    """Return the class if it explains more than chance would, else None."""
    alike = alike_times(data)
    return alike if alike is not None and alike.p_value < REJECTED else None


@lru_cache(maxsize=4)
def alike_times(data: TimedReads) -> AlikeTimes | None:
    """Find people who take the same time whatever the length, or return None.

    The result is None where there are none, or they are slower than readers.
    """
    _, medians, top = reading_sample(data)
    if data.n_workers < MIN_WORKERS or top is None:
        return None
    own, alone = _OwnTimes(data), top.value
    kind, m = max(
        (_climbed(own, alone, guess) for guess in _guesses(data, medians)), key=lambda at: at[0].loglik
    )
    for _ in range(_ROUNDS if 2 * (kind.loglik - float(alone.sum())) > _HOPELESS else 0):
        weights = 1 - kind.posterior
        readers = mixture_top(data, medians, weights) if weights.sum() > MIN_READERS else None
        if readers is None:
            return None
        kind, m = _climbed(own, readers.value, kind.posterior)
    ratio = max(0.0, 2 * (kind.loglik - float(alone.sum())))
    is_fast = m + float(np.median(data.log_length)) > float(np.average(medians_known(medians)))
    return AlikeTimes(kind=kind, seconds=math.exp(-m), ratio=ratio) if is_fast and kind.count else None


def medians_known(medians: MedianFit) -> Floats:
    """Return the medians of workers who have one."""
    return np.asarray(medians.medians[np.isfinite(medians.variances)])


def _climbed(own: _OwnTimes, readers: Floats, posterior: Floats) -> tuple[CarelessClass, float]:
    """Maximise over the law of the class, with that of the readers unchanged.

    It returns the class and m.
    """
    for _ in range(_STEPS):
        law = own.law(posterior)
        kind = careless_class(readers, own.logliks(*law))
        moved = float(np.abs(kind.posterior - posterior).max())
        posterior = kind.posterior
        if moved < _ARRIVED:
            break
    return kind, law[0]


def _guesses(data: TimedReads, medians: MedianFit) -> tuple[Floats, Floats]:
    """Return first guesses of the class.

    One is the fastest people, the other those whose reads lie furthest from their medians.
    """
    speed = np.where(np.isnan(medians.medians), -np.inf, medians.medians)
    apart = np.bincount(data.worker, np.abs(data.log_speed - medians.medians[data.worker]), data.n_workers)
    far = np.nan_to_num(apart / np.bincount(data.worker))
    first, second = ((sign > np.quantile(sign, 1 - _STARTED)).astype(np.float64) for sign in (speed, far))
    return first, second
