"""What the plain model of reading leaves out: items that are hard for all, and workers who only click through.

Items as a sample beside the workers: what everybody finds hard to read makes everybody slower at once.

x_ui = theta_u + beta log(length) + b_i + e,    b_i ~ (0, s^2)

Only reads by which workers and items can be told apart take part: complete, and within 3 tau of their worker's median. s^2 is
the moment estimate of Henderson (1953, method 3): what items explain beyond workers, less what chance would. mu moves with
sum_i p_i b_i, where p_i is the share of item i in mu, so its variance grows by s^2 sum_i p_i^2.

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
from scipy.sparse import block_array, coo_array, csc_array, hstack
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import lsqr
from scipy.special import bdtrc, fdtrc, log_ndtr, stdtr

from calibration.inference.clusters import jackknife_covariance, two_way
from calibration.inference.people import CarelessClass, careless_class
from calibration.inference.results import warning
from calibration.reading.medians import MedianFit, fit_medians
from calibration.reading.mixture import MixtureTop, mixture_top
from calibration.reading.rows import TimedReads
from calibration.user_model.model import Diagnostic
from metrics.arrays import Bools, Floats, Ints, Places

FEW_CUT = 0.1
_NEAR = 3.0
LEAST_RANGE = 3.0
LEAST_SLOPE = 0.1
SIGNIFICANT = 0.01
_NOTHING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemEffects:
    """How far items differ.

    Attributes
    ----------
    items : int
        How many were read by two workers or more.
    spread : float
        s, of log speeds; 0 where items differ by no more than chance would have it.
    p_value : float
        Of no difference between items, by F; nan where it cannot be told.
    mu_variance : float
        What items add to the variance of mu.
    """

    items: int = 0
    spread: float = 0.0
    p_value: float = math.nan
    mu_variance: float = 0.0


def item_effects(data: TimedReads, medians: MedianFit, slope: float = 0.0) -> ItemEffects:
    """Tell what items explain of log speeds beside workers, with ``slope`` on log length taken out first."""
    usable = near_reads(data, medians)
    shared = usable & _read_by_several(data.item, usable)
    if not shared.any():
        return ItemEffects()
    worker, item = (np.unique(code[shared], return_inverse=True)[1] for code in (data.worker, data.item))
    residual = (data.log_speed - medians.medians[data.worker] - slope * data.log_length)[shared]
    by_worker, by_item = _dummies(worker), _dummies(item)
    read = by_worker.T @ by_item
    parts = connected_components(block_array([[None, read], [read.T, None]]), directed=False)[0]
    workers, items = by_worker.shape[1], by_item.shape[1]
    told, left = items - parts, len(item) - workers - items + parts
    if told < 1 or left < 1:
        return ItemEffects(items=items)
    alone, both = (_unexplained(residual, by) for by in (by_worker, hstack([by_worker, by_item])))
    noise = both / left
    if noise < _NOTHING:
        return ItemEffects(items=items)
    variance = max(0.0, (alone - both - told * noise) / (len(item) - workers))
    share = np.bincount(item, weights=_row_weights(data, medians, usable)[shared])
    return ItemEffects(
        items=items,
        spread=math.sqrt(variance),
        p_value=float(fdtrc(told, left, (alone - both) / told / noise)),
        mu_variance=variance * float(share @ share),
    )


def near_reads(data: TimedReads, medians: MedianFit) -> Bools:
    """Say which reads are complete and within 3 tau of their worker's median."""
    residual = data.log_speed - medians.medians[data.worker]
    return np.asarray(~data.cut & (np.abs(residual) < _NEAR * medians.tau))


def length_slope(data: TimedReads, medians: MedianFit) -> tuple[float, float]:
    """Return the slope of log speed on log length within workers, and its p-value; (nan, nan) where it cannot be told.

    Least squares on the near reads, both sides centred by worker. Zero if time is in proportion to length; positive if every
    item costs some time beside its length. Its variance is the two-way jackknife over workers and items, since an item that is
    hard for all has one length; Student's t. Where more than a tenth of the reads were interrupted it is not told: long items
    are cut more often. Nor is it where reads do not scatter around the line.
    """
    rows = near_reads(data, medians)
    if data.cut.mean() > FEW_CUT or not rows.any():
        return math.nan, math.nan
    worker, item = (np.unique(code[rows], return_inverse=True)[1] for code in (data.worker, data.item))
    df = min(worker.max(), item.max())
    x, y = (_centred(values[rows], worker) for values in (data.log_length, data.log_speed))
    square = float(x @ x)
    if square < _NOTHING or df < 1:
        return math.nan, math.nan
    slope = float(x @ y) / square
    if float(np.square(y - slope * x).mean()) < _NOTHING:  # computed times: all in proportion to each other
        return math.nan, math.nan
    both = np.unique(worker * (item.max() + 1) + item, return_inverse=True)[1]
    by_worker, by_item, by_both = (_jackknifed(x, y, code) for code in (worker, item, both))
    error = math.sqrt(max(two_way(by_worker, by_item, by_both).item(), by_both.item()))
    return slope, float(2 * stdtr(df, -abs(slope) / error))


def length_notes(data: TimedReads, medians: MedianFit) -> Iterator[Diagnostic]:
    """Warn of lengths that are too much alike, and of time that does not follow length."""
    low, high = np.exp(np.quantile(data.log_length, [0.025, 0.975]))
    if high < LEAST_RANGE * low:
        yield warning(
            "narrow_lengths",
            f"The items are of {low:.0f} to {high:.0f} words or characters: time per word cannot be told from a fixed time "
            "per item.",
        )
    elif slope := clear_slope(data, medians):
        more = "more" if slope > 0 else "less"
        yield warning(
            "time_per_item",
            f"An item of twice the length takes {2 ** (1 - slope):.2f} times as long: {more} "
            "time per item than its length explains goes into short ones, and the speed is one of items of these lengths.",
        )


def clear_slope(data: TimedReads, medians: MedianFit) -> float:
    """Return the slope of log speed on log length; 0 where it may well be none."""
    slope, p_value = length_slope(data, medians)
    return slope if p_value < SIGNIFICANT and abs(slope) > LEAST_SLOPE else 0.0


def _jackknifed(x: Floats, y: Floats, code: Ints) -> Floats:
    """Return the (1, 1) variance of a slope from leaving out one cluster at a time."""
    left = x @ x - np.bincount(code, x * x)
    without = (x @ y - np.bincount(code, x * y)) / np.maximum(left, _NOTHING)
    return jackknife_covariance(without[:, None])


def _centred(values: Floats, worker: Places) -> Floats:
    return np.asarray(values - (np.bincount(worker, values) / np.bincount(worker))[worker])


def _read_by_several(item: Places, rows: Bools) -> Bools:
    return np.asarray(np.bincount(item[rows], minlength=int(item.max()) + 1)[item] > 1)


def _dummies(code: Places) -> csc_array:
    """Return the (rows, groups) matrix that has a 1 where a row is of a group."""
    return coo_array((np.ones(len(code)), (np.arange(len(code)), code))).tocsc()


def _unexplained(y: Floats, design: csc_array) -> float:
    """Return the sum of squares that least squares leaves."""
    return float(np.square(y - design @ lsqr(design, y, atol=1e-9, btol=1e-9)[0]).sum())


def _row_weights(data: TimedReads, medians: MedianFit, rows: Bools) -> Floats:
    """Return how much of mu each usable read is: every worker counts by their precision, and their reads evenly."""
    precision = 1 / (medians.sigma**2 + medians.variances)
    reads = np.bincount(data.worker[rows], minlength=data.n_workers)
    each = np.where(reads > 0, precision / np.maximum(reads, 1), 0.0)
    return np.asarray((each / (each @ reads))[data.worker])


MOST = 0.45
"""A class of a larger share of the workers is no minority."""
FASTEST = 10.0
"""Words a second, 600 a minute; beyond 400 a minute people understand less of a text (Rayner and others 2016)."""
MANY_FAST = 0.1
"""Share of the workers faster than that from which it matters."""
USUALLY_FAST, BY_CHANCE = 0.04, 0.05
"""Share of people who are by the speeds of the MSU paper; how often as many among so few may be chance, if they are to be told."""
STRONG = 6.0
FEWEST, FEWEST_READERS = 8, 2
"""Workers below whom no class is looked for, and readers to whom a law can be fitted: where the class is everybody there is none."""
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


def click_through(data: TimedReads, medians: MedianFit, top: MixtureTop | None) -> ClickThrough | None:
    """Find who clicks through; None where the data do not speak strongly for such a class.

    Parameters
    ----------
    data, medians
        The reads, and their fit by medians.
    top : MixtureTop or None
        What `mixture_top` says of them: there is no class without it.
    """
    if data.n_workers < FEWEST or top is None:
        return None
    alone = top.value
    started = [_climbed(_Own(data, gamma), gamma, alone, guess) for gamma, guess in _guesses(data, medians)]
    best = max(started, key=lambda one: one.kind.loglik)
    if best.gain(alone) < -STRONG:
        return None
    for _ in range(_ROUNDS):
        weights = 1 - best.kind.posterior
        readers = mixture_top(data, medians, weights) if weights.sum() > FEWEST_READERS else None
        if readers is None:
            return None
        best = _climbed(_Own(data, best.gamma), best.gamma, readers.value, best.kind.posterior)
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
    sloped = mixture_top(straight, fit_medians(straight))
    return alone if sloped is None or sloped.value.sum() < alone.sum() else sloped.value


def note_on_fast(medians: MedianFit, unit: str) -> Iterator[Diagnostic]:
    """Warn of many workers who are faster than people read; of words only, since of characters no such bound is known here."""
    speeds = medians.medians[~np.isnan(medians.medians)]
    fast = speeds > math.log(FASTEST)
    count = int(fast.sum())
    few = count < MANY_FAST * len(speeds) or bdtrc(count - 1, len(speeds), USUALLY_FAST) > BY_CHANCE
    if unit != "words" or few or fast.all():
        return
    yield warning(
        "fast_workers",
        f"{count} of {len(speeds)} workers read {60 * FASTEST:.0f} words a minute or more, faster than people read: they may only have scrolled. "
        f"They are counted as readers; mu of the others is about {speeds[~fast].mean():.3g}. Look at what they answered, and publish mu with and "
        "without them.",
    )
