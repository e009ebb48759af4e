"""Stops as they are known: their survival curve, and how readers differ.

S(x) is the share of readers who go on beyond x characters. A patience L says S(x) = max(0, 1 - x / L); with a share pi
of readers who always finish, S(x) = pi + (1 - pi) max(0, 1 - x / L).

Readers may differ: who does not read, whether patience and texts differ.

A stop is known exactly, or to a screen: the reader got beyond the top of the last screen and not beyond its end. Table stops says so by
`chars_least`; without it, stops that are all multiples of one length are taken as screens of that length.
"""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from calibration.inference.clusters import chance_of_common
from calibration.inference.people import FittedCrowd, fit_crowds
from metrics.arrays import Bools, Floats, Ints

POSITIONS = 200
BENDS = 400
"""Values of kappa at which a line with finishers is tried."""


def curve_positions(read: Floats) -> Floats:
    """Return the positions at which curve and line are compared: even, up to the 99 % quantile of stops."""
    last = float(np.quantile(read, 0.99))
    return np.linspace(last / POSITIONS, last, POSITIONS)


def survival_curves(read: Floats, stopped: Bools, weights: Floats, positions: Floats) -> Floats:
    """Return Kaplan-Meier curves of weighted stops.

    S(x) = prod_{j : x_j <= x, stopped} (1 - w_j / n_j), n_j the weight of the rows from j on

    Parameters
    ----------
    read : (n,) ndarray of float
        Ascending positions; at equal ones, stops before censored rows.
    stopped : (n,) ndarray of bool
        False: censored, the text was read to its end.
    weights : (b, n) ndarray of float
        How often each row counts in each of b samples.
    positions : (g,) ndarray of float
        Where to evaluate.

    Returns
    -------
    (b, g) ndarray of float
        Share still reading beyond each position. Where nobody is left it stays as it was.
    """
    at_risk = np.cumsum(weights[:, ::-1], axis=1)[:, ::-1]
    share = np.divide(weights * stopped, at_risk, out=np.zeros_like(weights), where=at_risk > 0)
    survival = np.cumprod(1 - share, axis=1)
    before = np.searchsorted(read, positions, side="right")
    return np.concatenate([np.ones((len(weights), 1)), survival], axis=1)[:, before]


def line_fits(curves: Floats, positions: Floats) -> Floats:
    """Return the kappa = 1 / L of the line closest to each curve: argmin sum_g (S(g) - max(0, 1 - kappa g))^2.

    For each number m of positions before L, the sum is a parabola in kappa, cut to the kappa that leave m positions
    before L; the smallest of the m minima is the exact one.

    Parameters
    ----------
    curves : (b, g) ndarray of float
        S at the positions.
    positions : (g,) ndarray of float
        Ascending and positive.

    Returns
    -------
    (b,) ndarray of float
        0 where nobody ever stopped.
    """
    drop = 1 - curves
    most = 1 / positions
    least = np.append(most[1:], 0.0)
    cross, square = np.cumsum(drop * positions, axis=1), np.cumsum(positions**2)
    kappa = np.clip(cross / square, least, most)
    before = np.cumsum(drop**2, axis=1) - 2 * kappa * cross + kappa**2 * square
    after = (curves**2).sum(axis=1, keepdims=True) - np.cumsum(curves**2, axis=1)
    best = (before + after).argmin(axis=1)
    return np.asarray(kappa[np.arange(len(curves)), best])


def finisher_fits(curves: Floats, positions: Floats) -> tuple[Floats, Floats]:
    """Return kappa = 1 / L and pi of the line with finishers that is closest to each curve.

    With d(x) = max(0, 1 - kappa x) the sum of squares is a parabola in pi:
    pi = sum (S - d)(1 - d) / sum (1 - d)^2, cut to [0, 1]. kappa is searched from 1 / last position on: beyond the last
    position L and pi cannot be told apart.

    Parameters
    ----------
    curves : (b, g) ndarray of float
        S at the positions.
    positions : (g,) ndarray of float
        Ascending and positive.

    Returns
    -------
    kappa, pi : (b,) ndarray of float
    """
    kappa = np.geomspace(1 / positions[-1], 1 / positions[len(positions) // 20], BENDS)
    decay = np.maximum(0.0, 1 - np.outer(kappa, positions))
    risen = 1 - decay
    square = (risen**2).sum(axis=1)
    cross = curves @ risen.T - (decay * risen).sum(axis=1)
    pi = np.clip(cross / square, 0.0, 1.0)
    distance = (
        (curves**2).sum(axis=1, keepdims=True)
        - 2 * curves @ decay.T
        + (decay**2).sum(axis=1)
        - 2 * pi * cross
        + pi**2 * square
    )
    best = distance.argmin(axis=1)
    return kappa[best], pi[np.arange(len(curves)), best]


def closest_lines(curves: Floats, positions: Floats, *, with_finishers: bool) -> tuple[Floats, Floats]:
    """Return kappa and pi of each curve, (b,); pi is 0 without finishers."""
    if with_finishers and not (curves == 1).all():
        return finisher_fits(curves, positions)
    return line_fits(curves, positions), np.zeros(len(curves))


SHORTEST_SCREEN = 20.0
"""Counted characters; lengths below it are those of words."""
FEWEST_STOPS = 8
"""From which on multiples of a length are no accident."""
LAPSES = 0.02
"""Share of stops that follow no rule."""
PATIENCES = np.linspace(-2.4, 2.4, 81)
"""Logarithms of a person's patience over that of all."""
FIRST_LINES = 0.15
"""Share of a screen."""
CARELESS_RATIO = 12.0
"""A likelihood ratio above it says that some do not read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stops:
    """Stops of n texts, ascending, those before a text's end before ends.

    Attributes
    ----------
    people : tuple of str
        Pseudonyms.
    worker, text : (n,) ndarray of int
        Who read what; a text that nobody else can have read has an index of its own.
    low, high : (n,) ndarray of float
        Counted characters between which the reader stopped; of who reached the end, how far the reader surely came, twice.
    stopped : (n,) ndarray of bool
        Before the end.
    length : (n,) ndarray of float
        Of the longest version of each text.
    step : float or None
        The length of a screen, where it was found from the stops.
    step_is_guessed : bool
        It was, and no row says how far its reader surely came.
    """

    people: tuple[str, ...]
    worker: Ints
    text: Ints
    low: Floats
    high: Floats
    stopped: Bools
    length: Floats
    step: float | None
    step_is_guessed: bool

    def rounded(self) -> "Stops":
        """Return the stops as rounded to the nearest multiple of the step, not up."""
        half = (self.step or 0.0) / 2
        low = np.where(self.stopped, np.maximum(self.high - half, 0.0), self.low)
        return replace(self, low=low, high=np.where(self.stopped, self.high + half, self.high))

    def of(self, used: Bools) -> "Stops":
        """Return some of the rows."""
        named = ("worker", "text", "low", "high", "stopped", "length")
        return replace(self, **{name: getattr(self, name)[used] for name in named})


def read_stops(rows: pd.DataFrame) -> Stops:
    """Return the rows of table stops, with the column longest, as they are known."""
    rows = rows.sort_values(["chars_read", "reached_end", "worker"], kind="stable")
    read, stopped = rows["chars_read"].to_numpy(np.float64), ~rows["reached_end"].to_numpy(bool)
    length = rows["text_chars"].to_numpy(np.float64)
    step = screen_step(read[stopped & (read < length)])
    low = np.floor((read - 1e-6) / step) * step if step else read.copy()
    if "chars_least" in rows:
        known = rows["chars_least"].to_numpy(np.float64)
        low = np.minimum(np.where(np.isnan(known), low, known), read)
    worker, people = pd.factorize(rows["worker"], sort=True)
    own = rows["text_chars"].astype("str").where(rows["system"].isna(), "")
    text = (
        rows[["topic", "system"]].assign(own=own).groupby(["topic", "system", "own"], dropna=False).ngroup()
    )
    return Stops(
        people=tuple(people),
        worker=worker,
        text=text.to_numpy(np.intp),
        low=np.maximum(low, 0.0),
        high=np.where(stopped, read, np.maximum(low, 0.0)),
        stopped=stopped,
        length=rows["longest"].to_numpy(np.float64),
        step=step,
        step_is_guessed=bool(step) and not ("chars_least" in rows and rows["chars_least"].notna().any()),
    )


def screen_step(stops: Floats) -> float | None:
    """Return the length of which all stops are multiples; None where there is none, or there are too few."""
    places = np.unique(np.round(stops))
    places = places[places > 0]
    if len(stops) < FEWEST_STOPS or not len(places):
        return None
    step = float(np.diff(places, prepend=0.0).min())
    off = np.abs(stops - step * np.round(stops / step))
    return step if step >= SHORTEST_SCREEN and (off <= 1).all() else None


class Careless(NamedTuple):
    """Readers who do not read.

    Attributes
    ----------
    finish, quit : float
        Shares of those who always go to the end, and who never go beyond the first screen.
    people : (w,) ndarray of bool
        Who they are, more probably than not.
    """

    finish: float
    quit: float
    people: Bools


def reader_crowd(stops: Stops, patience: float, screen_chars: float) -> tuple[Careless, FittedCrowd]:
    """Return who does not read, and the log-normal patience of the others."""
    grid = math.log(patience) + PATIENCES
    table, classes = _people(stops, np.exp(grid)), _classes(stops, screen_chars)
    alone, beside = fit_crowds(table, grid, classes)
    if 2 * (beside.loglik - alone.loglik) < CARELESS_RATIO:
        return Careless(0.0, 0.0, np.zeros(len(table), dtype=np.bool_)), alone
    finish, quitting = beside.shares.tolist()
    return Careless(finish, quitting, beside.posterior.sum(axis=1) > 0.5), beside


def _people(stops: Stops, patience: Floats) -> Floats:
    """Return the log-likelihood of each person at each patience, (people, g): stops are uniform up to it."""
    within = np.minimum(stops.high[:, None], patience) - np.minimum(stops.low[:, None], patience)
    known = stops.high > stops.low
    wide = np.where(known, stops.high - stops.low, 1.0)[:, None]
    density = np.where(known[:, None], within / wide, stops.high[:, None] < patience) / patience
    share = np.where(stops.stopped[:, None], density, np.maximum(0.0, 1 - stops.low[:, None] / patience))
    rare = np.where(stops.stopped, 1 / stops.length, 0.5)[:, None]
    return _summed(stops, np.log((1 - LAPSES) * share + LAPSES * rare))


def _classes(stops: Stops, screen_chars: float) -> Floats:
    """Return the log-likelihood of each person as one who always finishes, and as one who never leaves the first screen.

    The latter's stops are even over the screen, or over its first lines: each with the chance of a half.
    """
    rare = LAPSES / stops.length
    rows = [np.where(stops.stopped, rare, 1 - LAPSES)]
    for reach in (screen_chars, FIRST_LINES * screen_chars):
        inside = stops.stopped & (stops.low < reach) & (stops.high <= screen_chars)
        rows.append(
            np.where(
                inside,
                (1 - LAPSES) / np.maximum(reach, stops.high - stops.low),
                np.where(stops.stopped, rare, LAPSES),
            )
        )
    finishes, screen, lines = _summed(stops, np.log(np.stack(rows, axis=1))).T
    return np.stack([finishes, np.logaddexp(screen, lines) - math.log(2)], axis=1)


def _summed(stops: Stops, rows: Floats) -> Floats:
    sums = np.zeros((len(stops.people), rows.shape[1]))
    np.add.at(sums, stops.worker, rows)
    return sums


def exponential_gain(stops: Stops, patience: float) -> float:
    """Return how much more likely stops are that fall exponentially than stops that are uniform up to a patience."""
    scale = patience * np.exp(PATIENCES)
    linear = _people(stops, scale).sum(axis=0).max()
    low, high = (np.exp(-ends[:, None] / scale) for ends in (stops.low, stops.high))
    known = stops.high > stops.low
    wide = np.where(known, stops.high - stops.low, 1.0)[:, None]
    share = np.where(stops.stopped[:, None], np.where(known[:, None], (low - high) / wide, high / scale), low)
    rare = np.where(stops.stopped, 1 / stops.length, 0.5)[:, None]
    return float(np.log((1 - LAPSES) * share + LAPSES * rare).sum(axis=0).max() - linear)


def chance_that_readers_alike(stops: Stops) -> float:
    """Return p of the hypothesis that what a person stops at says nothing about the person's other stops."""
    return chance_of_common(_residuals(stops), stops.worker)


def chance_that_texts_alike(stops: Stops) -> float:
    """Return p of the hypothesis that how far a text is read says nothing about its other readers."""
    return chance_of_common(_residuals(stops), stops.text)


def _residuals(stops: Stops) -> Floats:
    """Return each stop less the hazard that the reader went through (Nelson and Aalen), (n,); they add up to 0.

    Stops at one place, as the ends of screens are, went through the same hazard.
    """
    places, group = np.unique((stops.low + stops.high) / 2, return_inverse=True)
    here = np.bincount(group, stops.stopped, len(places))
    at_risk = np.bincount(group)[::-1].cumsum()[::-1]
    return np.asarray(stops.stopped - np.cumsum(here / at_risk)[group])
