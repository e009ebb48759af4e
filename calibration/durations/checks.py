"""Tests of the model of durations: what the design fixed, and days and hours on which people come back more.

A p-value of Kolmogorov and Smirnov for all durations together would mean nothing: parameters are fitted, and rows of one
worker belong together.

Given how often a worker came, the moments are spread evenly over the time in which they could have come, whatever the
worker's mean. How far they are not is a score for each worker; what workers have in common does not average out. Workers may
come in bursts or by habit: the variance that the model gives to the scores is corrected by what they show (Rao and Scott 1981).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import fdtrc, gammaincinv, ndtr

from calibration.durations.at_risk import Design, Exposure, Totals, total
from calibration.durations.likelihood import log_likelihoods
from calibration.durations.maximum import LEAST_LOG_SIGMA, DurationMaximum, maximum
from calibration.inference.goodness import REJECTED, anderson_darling, tested_by_simulation
from calibration.inference.results import GoodnessOfFit, NotIdentifiedError
from metrics.arrays import Floats

MOST_CUT = 0.1
"""Share of cut intervals up to which a fixed number of intervals is taken as one without cuts."""
PIT_NODES = 32


def many_cut(exposure: Exposure) -> bool:
    """Whether, of a given number of intervals, too many were cut to know how they would be spread."""
    return exposure.design == "count" and float((~exposure.event).mean()) > MOST_CUT


def within_worker_test(exposure: Exposure) -> GoodnessOfFit | None:
    """Test whether one worker's intervals are exponential, by Greenwood's statistic; no parameter is needed.

    Given n and T, the events of a worker are uniform on (0, T). Of the k spacings that they leave,
    g = sum (spacing / T)^2 has mean 2 / (k + 1) and variance 4 (k - 1) / ((k + 1)^2 (k + 2) (k + 3)). k is n + 1 where
    time was fixed, n where the count was. z = (sum g - sum E) / sqrt(sum Var) over workers; above 0 intervals are
    more uneven than exponential ones.

    Returns
    -------
    GoodnessOfFit or None
        None where many of a given number of intervals were cut, or nobody has two spacings.
    """
    if many_cut(exposure):
        return None
    greenwood, k = _greenwood(exposure)
    used = k >= 2
    if not used.any():
        return None
    k, greenwood = k[used], greenwood[used]
    variance = 4 * (k - 1) / ((k + 1) ** 2 * (k + 2) * (k + 3))
    z = float((greenwood - 2 / (k + 1)).sum() / math.sqrt(variance.sum()))
    p_value = float(2 * ndtr(-abs(z)))
    return GoodnessOfFit(
        test="within_worker",
        statistic=z,
        p_value=p_value,
        n_boot=0,
        sentence=_within_sentence(z, p_value),
    )


def _within_sentence(z: float, p_value: float) -> str:
    if p_value >= REJECTED:
        return f"Within workers the intervals are consistent with an exponential law (Greenwood z = {z:.1f}, p = {p_value:.2g})."
    how = "more uneven" if z > 0 else "more regular"
    return f"Within workers the intervals are {how} than an exponential law allows (Greenwood z = {z:.1f}, p = {p_value:.2g})."


def _greenwood(exposure: Exposure) -> tuple[Floats, Floats]:
    """Return the sum of squared shares and the number of spacings of every unit, (u,) each."""
    size, unit = exposure.units, exposure.unit
    seconds = exposure.seconds
    all_time = total(unit, seconds, size)
    before = np.concatenate([[0.0], np.cumsum(all_time)[:-1]])
    position = np.cumsum(seconds) - before[unit]
    at, whose = position[exposure.event], unit[exposure.event]
    first = np.diff(whose, prepend=-1) > 0
    spacing = np.where(first, at, np.diff(at, prepend=0.0))
    reached = np.zeros(size)
    reached[whose] = at
    n = total(whose, np.ones(len(whose)), size)
    rest = all_time - reached if exposure.design == "window" else np.zeros(size)
    whole = all_time if exposure.design == "window" else reached
    squares = total(whose, np.maximum(spacing, 0) ** 2, size) + rest**2
    k = np.where(n > 0, n + (exposure.design == "window"), 0)
    return np.divide(squares, whole**2, out=np.zeros(size), where=whole > 0), np.where(whole > 0, k, 0)


def simulate_totals(
    totals: Totals, mu: float, sigma: float, design: Design, rng: np.random.Generator
) -> Totals:
    """Draw n given T (window) or T given n (count) of everybody under the model.

    With zero truncation, whoever would not have been seen is drawn again.
    """
    if design == "count":
        theta = rng.normal(mu, sigma, len(totals))
        drawn = np.exp(theta) * rng.standard_gamma(totals.events)
        return Totals(events=totals.events, seconds=np.where(totals.events > 0, drawn, totals.seconds))
    events = _counts(totals.seconds, mu, sigma, rng)
    if totals.seen_by_seconds is not None:
        for _ in range(1000):
            unseen = (events == 0) & np.isfinite(totals.seen_by_seconds)
            if not unseen.any():
                break
            events[unseen] = _counts(totals.seconds[unseen], mu, sigma, rng)
    return Totals(events=events, seconds=totals.seconds, seen_by_seconds=totals.seen_by_seconds)


def _counts(seconds: Floats, mu: float, sigma: float, rng: np.random.Generator) -> Floats:
    rate = np.exp(-rng.normal(mu, sigma, len(seconds)))
    return rng.poisson(np.minimum(seconds * rate, 1e15)).astype(np.float64)


class Refit(NamedTuple):
    """A simulated study and its fit; None where it has none."""

    totals: Totals
    top: DurationMaximum | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Refits:
    """Studies simulated under a fit, each fitted anew; those of the test are those of the drawing.

    Attributes
    ----------
    totals, top
        n and T of each worker, and their fit.
    design : {'window', 'count'}
        What is drawn given what.
    """

    totals: Totals
    top: DurationMaximum
    design: Design
    _known: dict[tuple[int, int], tuple[Refit, ...]] = field(default_factory=dict, init=False)

    def of(self, studies: int, seed: int) -> tuple[Refit, ...]:
        """Return so many studies and their fits."""
        if (studies, seed) not in self._known:
            self._known[studies, seed] = tuple(self._made(studies, np.random.default_rng(seed)))
        return self._known[studies, seed]

    def _made(self, studies: int, rng: np.random.Generator) -> Iterator[Refit]:
        start = self.top.mu, max(self.top.log_sigma, math.log(0.1))
        for _ in range(studies):
            drawn = simulate_totals(self.totals, self.top.mu, self.top.sigma, self.design, rng)
            try:
                yield Refit(drawn, maximum(drawn, start=start))
            except NotIdentifiedError:
                yield Refit(drawn, None)


def between_worker_test(refits: Refits, *, n_boot: int, seed: int) -> GoodnessOfFit:
    """Test whether workers differ as a log-normal law says, by Anderson and Darling's statistic of mid-PIT values.

    The p-value is from data sets simulated under the fit, each fitted anew.
    """
    observed = anderson_darling(mid_pit(refits.totals, refits.top, refits.design))
    simulated = [
        anderson_darling(mid_pit(drawn, top, refits.design))
        for drawn, top in refits.of(n_boot, seed)
        if top is not None
    ]

    def sentence(p_value: float) -> str:
        verdict = (
            "Between workers the means do not follow a log-normal law, so S depends on it more than the data support"
            if p_value < REJECTED
            else "Between workers the means are consistent with a log-normal law"
        )
        return (
            f"{verdict} (Anderson-Darling {observed:.2f}, p = {p_value:.2g}, {len(simulated)} simulations)."
        )

    return tested_by_simulation("between_workers", observed, simulated, sentence)


def mid_pit(totals: Totals, top: DurationMaximum, design: Design) -> Floats:
    """Return where each person stands in the fitted distribution, between 0 and 1; people without an event are left out of the count.

    Window: (P(N <= n | T) + P(N < n | T)) / 2. Count: P(T <= t | n). With G ~ Gamma(k) and log A normal,
    P(N < k | T) = P(A G > T), an average of normal probabilities over G.
    """
    mu, sigma = top.mu, math.exp(max(top.log_sigma, LEAST_LOG_SIGMA))
    n, log_t = totals.events, np.log(totals.seconds)
    if design == "count":
        some = n > 0
        return _below(n[some], (log_t[some] - mu) / sigma, sigma)
    up_to = 1 - _below(n + 1, (log_t - mu) / sigma, sigma)
    below = np.where(n > 0, 1 - _below(np.maximum(n, 1), (log_t - mu) / sigma, sigma), 0.0)
    middle = (up_to + below) / 2
    if totals.seen_by_seconds is None:
        return middle
    none = np.where(
        np.isfinite(totals.seen_by_seconds), np.exp(log_likelihoods(_no_event(totals), mu, sigma)), 0.0
    )
    return np.asarray((middle - none) / (1 - none), dtype=np.float64)


def _no_event(totals: Totals) -> Totals:
    return Totals(events=np.zeros(len(totals)), seconds=totals.seconds)


def _below(shape: Floats, z: Floats, sigma: float) -> Floats:
    """P(A G <= T), G ~ Gamma(shape), z = (log T - mu) / sigma."""
    weights = _pit_nodes()[1]
    shapes, which = np.unique(shape, return_inverse=True)
    log_gamma = np.stack([_log_gamma(each) for each in shapes.tolist()])
    return np.asarray(ndtr(z[:, None] - log_gamma[which] / sigma) @ (weights / 2), dtype=np.float64)


@lru_cache(maxsize=10_000)
def _log_gamma(shape: float) -> Floats:
    """Return logarithms of quantiles of a Gamma law, (`PIT_NODES`,); simulated studies ask for the same shapes again."""
    return np.log(np.maximum(gammaincinv(shape, (_pit_nodes()[0] + 1) / 2), 1e-300))


@lru_cache
def _pit_nodes() -> tuple[Floats, Floats]:
    return np.polynomial.legendre.leggauss(PIT_NODES)


class Excess(NamedTuple):
    """How much more, or less, than the model says: observed, expected, and the difference in standard errors."""

    observed: float
    expected: float
    z: float


def topics_apart(exposure: Exposure) -> Excess | None:
    """Return Pearson's statistic of how a worker's events spread over topics, summed over workers; None without topics.

    Given n, they are multinomial with shares T_f / T: mean F - 1, variance 2 (F - 1) + (sum 1 / p - F^2 - 2 F + 2) / n.
    """
    events, seconds = exposure.follow_totals()
    unit, size = exposure.follow_unit, exposure.units
    used = (unit >= 0) & (seconds > 0)
    unit, events, seconds = unit[used], events[used], seconds[used]
    follows, n = total(unit, np.ones(len(unit)), size), total(unit, events, size)
    share = seconds / total(unit, seconds, size)[unit]
    several = (follows > 1) & (n > 0)
    if not several.any():
        return None
    expected = n[unit] * share
    pearson = total(
        unit, np.divide((events - expected) ** 2, expected, out=np.zeros(len(unit)), where=expected > 0), size
    )
    inverse = total(unit, 1 / share, size)
    f, n = follows[several], n[several]
    variance = 2 * (f - 1) + (inverse[several] - f**2 - 2 * f + 2) / n
    return _excess(float(pearson[several].sum()), float((f - 1).sum()), float(variance.sum()))


def _excess(observed: float, expected: float, variance: float) -> Excess:
    return Excess(observed, expected, (observed - expected) / math.sqrt(variance) if variance > 0 else 0.0)


LEAST_DAYS = 3
MOST_DAYS = 400
_LEAST_EVENTS = 5.0
"""Events a day on average below which days cannot be compared."""


class Days(NamedTuple):
    """Calendar days compared.

    Attributes
    ----------
    p_value : float
        Of days that differ otherwise than along a straight line.
    trend_p_value : float
        Of the line, against how much the days differ from it.
    low, high : float
        Events of the quietest and of the busiest tenth of the days, over what is expected.
    log_error : float
        Standard error that the draw of the days adds to the logarithm of every mean.
    n_days : int
        How many days.
    """

    p_value: float
    trend_p_value: float
    low: float
    high: float
    log_error: float
    n_days: int


def calendar(exposure: Exposure) -> tuple[Floats, Floats]:
    """Return where each interval starts and stops, in days since the midnight before the study; empty where that is not known."""
    if exposure.follow_begun is None or exposure.design == "count":
        return np.array([]), np.array([])
    begun = exposure.follow_begun[exposure.follow]
    return (begun + exposure.start) / exposure.day_seconds, (begun + exposure.stop) / exposure.day_seconds


def calendar_days(exposure: Exposure) -> range:
    """Return the calendar days on which somebody was watched, from the first to the last; none where they are not known."""
    start, stop = calendar(exposure)
    return range(int(start.min()), math.ceil(stop.max())) if len(start) else range(0)


def compare_days(exposure: Exposure) -> Days | None:
    """Compare the calendar days of a study; None where they are too few, or their start is not known."""
    edges = calendar_days(exposure)
    first, count = edges.start, len(edges)
    if not LEAST_DAYS < count <= MOST_DAYS or exposure.event.sum() < _LEAST_EVENTS * count:
        return None
    start, stop = calendar(exposure)
    watched, came = np.zeros((exposure.units, count)), np.zeros((exposure.units, count))
    for place, edge in enumerate(edges):
        inside = np.clip(np.minimum(stop, edge + 1) - np.maximum(start, edge), 0, None)
        watched[:, place] = total(exposure.unit, inside, exposure.units)
    day = np.clip(np.floor(stop[exposure.event]).astype(int) - first, 0, count - 1)
    np.add.at(came, (exposure.unit[exposure.event], day), 1)
    kept = watched.sum(axis=0) > 0
    return _days(watched[:, kept], came[:, kept])


def _days(watched: Floats, came: Floats) -> Days | None:
    n = came.sum(axis=1)
    share = watched / watched.sum(axis=1, keepdims=True)
    expected = n[:, None] * share
    each = came - expected
    model = np.diag(expected.sum(axis=0)) - (expected.T @ share)
    count = len(model)
    if count <= LEAST_DAYS:
        return None
    inverse = np.linalg.pinv(model, hermitian=True)
    score = each.sum(axis=0)
    centred = each - score / len(each)
    spread = float(np.einsum("ud,de,ue->", centred, inverse, centred)) / (count - 1)
    spread = max(spread, 0.1)
    line = np.arange(count, dtype=np.float64)
    along = float((line @ score) ** 2 / (line @ model @ line))
    rest = max(float(score @ inverse @ score) - along, 0.0)
    busy = came.sum(axis=0) / np.maximum(expected.sum(axis=0), 1e-9)
    low, high = np.quantile(busy, (0.1, 0.9))
    events = float(n.sum())
    by_day = count / (count - 1) * float((score**2).sum()) / events**2
    return Days(
        p_value=float(fdtrc(count - 2, len(each) - 1, rest / (count - 2) / spread)),
        trend_p_value=float(fdtrc(1, count - 2, along / max(rest / (count - 2), 1e-12))),
        low=float(low),
        high=float(high),
        log_error=math.sqrt(max(by_day - spread / events, 0.0)),
        n_days=count,
    )


def compare_hours(exposure: Exposure) -> tuple[float, float] | None:
    """Test whether people come more at some hours of the day, by a wave of a day.

    Returns
    -------
    (float, float) or None
        p, and how many times as often they come at the busiest hour as on average. None where nobody was watched for three days.
    """
    if exposure.follow_begun is None or exposure.design == "count":
        return None
    if exposure.follow_seconds.max() < LEAST_DAYS * exposure.day_seconds:
        return None
    begun = exposure.follow_begun[exposure.follow]
    turn = 2 * math.pi / exposure.day_seconds
    start, stop = (turn * (begun + at) for at in (exposure.start, exposure.stop))
    waves = np.stack([_came(exposure, wave(stop)) for wave in (np.cos, np.sin)])
    n, t = _came(exposure, np.ones(len(stop))), turn * total(exposure.unit, exposure.seconds, exposure.units)
    mean = np.stack(
        [_over(exposure, np.sin(stop) - np.sin(start)), _over(exposure, np.cos(start) - np.cos(stop))]
    )
    mean /= np.maximum(t, 1e-12)
    double = _over(exposure, (np.sin(2 * stop) - np.sin(2 * start)) / 2) / np.maximum(t, 1e-12)
    mixed = _over(exposure, (np.cos(2 * start) - np.cos(2 * stop)) / 2) / np.maximum(t, 1e-12)
    second = np.array([[(1 + double) / 2, mixed / 2], [mixed / 2, (1 - double) / 2]])
    model = np.einsum("u,abu->ab", n, second - mean[:, None] * mean[None])
    each = (waves - n * mean).T
    score = each.sum(axis=0)
    inverse = np.linalg.pinv(model, hermitian=True)
    centred = each - score / len(each)
    spread = max(float(np.einsum("ua,ab,ub->", centred, inverse, centred)) / 2, 0.1)
    height = 1 + float(np.hypot(*(inverse @ score)))
    return float(fdtrc(2, len(each) - 1, float(score @ inverse @ score) / 2 / spread)), height


def _came(exposure: Exposure, values: Floats) -> Floats:
    return total(exposure.unit[exposure.event], values[exposure.event], exposure.units)


def _over(exposure: Exposure, values: Floats) -> Floats:
    return total(exposure.unit, values, exposure.units)
