"""Who only clicks through: a class of workers whose times are no reading times.

Who reads takes time in proportion to length, x = log(length / dwell) around a speed of their own: the law of
`calibration.reading.mixture`. Who clicks through takes the same time for every item, whatever is in it, or far less than anybody
reads in: z = x - gamma log(length) is normal around a value of their own,

    z_ui = d_u + e,    d_u ~ N(m, omega^2),    e ~ N(0, nu^2),

with gamma 1 (time does not follow length) or 0 (it does, but there is hardly any). The share of such workers and all parameters of
both laws are where the likelihood of all workers is highest (a mixture of two kinds of people, by EM: Dempster, Laird and Rubin
1977). There is such a class when the Bayesian information criterion speaks strongly for it (Kass and Raftery 1995), also against
readers for whom every item takes some time beside its length, and when it is a minority.

Who scrolls along a little faster than people read, in times that follow length, looks like a fast reader: the likelihood tells nothing.
What people can read is known from elsewhere, and `note_on_fast` holds the workers against it.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import log_ndtr

from calibration.inference.careless import CarelessClass, careless_class
from calibration.inference.results import warning
from calibration.reading.items import length_slope
from calibration.reading.medians import MedianFit, fit_medians
from calibration.reading.mixture import worker_logliks
from calibration.reading.rows import TimedReads
from calibration.user_model.model import Diagnostic
from metrics.arrays import Floats

MOST = 0.45
"""A class of a larger share of the workers is no minority."""
FASTEST = 10.0
"""Words a second, 600 a minute; beyond 400 a minute people understand less of a text (Rayner and others 2016)."""
MANY_FAST = 0.1
"""Share of the workers faster than that from which they are no chance: 4 % are by the speeds of the MSU paper."""
FEWEST_FAST = 4
STRONG = 6.0
FEWEST = 8
N_MORE = 4
"""What the class adds to the numbers fitted: its share, m, omega, nu."""
_LEAST_SPREAD = 0.1
_STARTED = 0.25
_STEPS, _ROUNDS = 40, 2
_ARRIVED = 1e-3
_LOG_2_PI = math.log(2 * math.pi)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClickThrough:
    """The class of those who click through.

    Attributes
    ----------
    kind : CarelessClass
        Its share, and how likely each worker is of it.
    gamma : {0, 1}
        0: their times follow length, but are far too short; 1: they do not follow it.
    typical : float
        m, the mean of their z.
    """

    kind: CarelessClass
    gamma: float
    typical: float

    @property
    def seconds(self) -> float:
        """The time that they take for an item, where it does not follow length."""
        return math.exp(-self.typical)

    def gain(self, readers: Floats) -> float:
        """Return the Bayesian information criterion with readers alone, (workers,) log-likelihoods, less that with the class."""
        return 2 * (self.kind.loglik - float(readers.sum())) - N_MORE * math.log(len(readers))

    def decisive(self, readers: Floats) -> bool:
        """Say whether the data speak strongly for such a class, and it is a minority."""
        return self.gain(readers) > STRONG and 0 < self.kind.share < MOST


class _Own:
    """Values z of workers by their number, mean and sum of squares, for their likelihood under the law of the class."""

    def __init__(self, data: TimedReads, gamma: float) -> None:
        z, whole = data.log_speed - gamma * data.log_length, ~data.cut
        worker, u = data.worker[whole], data.n_workers
        self.reads = np.bincount(worker, minlength=u).astype(np.float64)
        self.mean = np.bincount(worker, z[whole], u) / np.maximum(self.reads, 1)
        self.square = np.bincount(worker, np.square(z[whole] - self.mean[worker]), u)
        self._cut, self._cut_worker = z[data.cut], data.worker[data.cut]

    def law(self, weight: Floats) -> tuple[float, float, float]:
        """Return m, omega^2 and nu^2, likeliest for workers who count with these weights, (workers,)."""
        apart = float(weight @ np.maximum(self.reads - 1, 0))
        within = max(float(weight @ self.square) / max(apart, 1e-9), _LEAST_SPREAD**2)
        weight = np.where(self.reads > 0, weight, 0.0)
        total = max(float(weight.sum()), 1e-9)
        m = float(weight @ self.mean) / total
        between = _LEAST_SPREAD**2
        for _ in range(_STEPS):
            pull = between / (between + within / np.maximum(self.reads, 1))
            own = m + pull * (self.mean - m)
            m = float(weight @ own) / total
            spread = float(weight @ (np.square(own - m) + between * (1 - pull))) / total
            between = max(spread, _LEAST_SPREAD**2)
        return m, between, within

    def logliks(self, m: float, between: float, within: float) -> Floats:
        """(workers,) log-likelihoods; a read that was cut took longer."""
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


def click_through(data: TimedReads, medians: MedianFit) -> ClickThrough | None:
    """Find who clicks through; None where the data do not speak strongly for such a class."""
    alone = worker_logliks(data, medians, np.ones(data.n_workers))
    if data.n_workers < FEWEST or alone is None:
        return None
    started = [_climbed(_Own(data, gamma), gamma, alone, guess) for gamma, guess in _guesses(data, medians)]
    best = max(started, key=lambda one: one.kind.loglik)
    if best.gain(alone) < -STRONG:
        return None
    for _ in range(_ROUNDS):
        readers = worker_logliks(data, medians, 1 - best.kind.posterior)
        if readers is None:
            return None
        best = _climbed(_Own(data, best.gamma), best.gamma, readers, best.kind.posterior)
    return best if best.decisive(alone) and best.gain(_sloped(data, medians, alone)) > STRONG else None


def _climbed(own: _Own, gamma: float, readers: Floats, posterior: Floats) -> ClickThrough:
    """Climb to the highest likelihood over the law of the class, with that of the readers as it is."""
    for _ in range(_STEPS):
        law = own.law(posterior)
        kind = careless_class(readers, own.logliks(*law))
        moved = float(np.abs(kind.posterior - posterior).max())
        posterior = kind.posterior
        if moved < _ARRIVED:
            break
    return ClickThrough(kind=kind, gamma=gamma, typical=law[0])


def _guesses(data: TimedReads, medians: MedianFit) -> Iterator[tuple[float, Floats]]:
    """Yield gamma and who may be of the class: the fastest, and those whose reads lie furthest from their medians."""
    speed = np.where(np.isnan(medians.medians), -np.inf, medians.medians)
    apart = np.bincount(data.worker, np.abs(data.log_speed - medians.medians[data.worker]), data.n_workers)
    far = np.nan_to_num(apart / np.bincount(data.worker))
    for gamma, sign in ((1.0, speed), (1.0, far), (0.0, speed)):
        yield gamma, (sign > np.quantile(sign, 1 - _STARTED)).astype(np.float64)


def _sloped(data: TimedReads, medians: MedianFit, alone: Floats) -> Floats:
    """Return the log-likelihoods of readers for whom items take some time beside their length, where that explains more."""
    slope, _ = length_slope(data, medians)
    if math.isnan(slope):
        return alone
    straight = replace(data, log_speed=data.log_speed - slope * (data.log_length - data.log_length.mean()))
    sloped = worker_logliks(straight, fit_medians(straight), np.ones(data.n_workers))
    return alone if sloped is None or sloped.sum() < alone.sum() else sloped


def note_on_fast(medians: MedianFit, unit: str) -> Iterator[Diagnostic]:
    """Warn of many workers who are faster than people read; of words only, since of characters no such bound is known here."""
    speeds = medians.medians[~np.isnan(medians.medians)]
    fast = speeds > math.log(FASTEST)
    count = int(fast.sum())
    if unit != "words" or count < max(FEWEST_FAST, MANY_FAST * len(speeds)) or fast.all():
        return
    yield warning(
        "fast_workers",
        f"{count} of {len(speeds)} workers read {60 * FASTEST:.0f} words a minute or more, faster than people read: they may only have scrolled. "
        f"They are counted as readers; mu of the others is about {speeds[~fast].mean():.3g}. Look at what they answered, and publish mu with and "
        "without them.",
    )
