"""Law of one read's log speed around its worker's, and a simulator of reads.

A read is read, idle, skimmed, or arbitrary.

e ~ sum_k p_k N(m_k, tau^2 + d_k^2):  read  m = 0, d = 0;  idle  m = -1.6, d = 0.9;  skimmed  m = 1.6, d = 0.5;
    anything  m = 0, d = 3 with a fixed share of 0.002, so that a single absurd time has little say
"""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import ndtr

from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES
from metrics.arrays import Bools, Floats

OFFSETS = np.array([0.0, -1.6, 1.6, 0.0])
EXTRA_VARIANCES = np.array([0.0, 0.9, 0.5, 3.0]) ** 2
ANYTHING = 0.002
_TINY = 1e-300
_START = pd.Timestamp("2026-03-02T09:00:00", tz="UTC")


class ReadLaw:
    """Law of one residual at given parameters.

    They are (mu, log sigma,) log tau, a_idle and a_skimmed.
    """

    def __init__(self, p: Floats) -> None:
        odds = np.exp(np.array([0.0, p[3], p[4]]) - max(0.0, p[3], p[4]))
        self.softmax = odds / odds.sum()
        self.shares = np.append((1 - ANYTHING) * self.softmax, ANYTHING)
        variance = math.exp(2 * p[2]) + EXTRA_VARIANCES
        self.sd = np.sqrt(variance)
        self.pull = math.exp(2 * p[2]) / variance

    def of(self, e: Floats, cut: Bools) -> "LawValues":
        """Return f (F where cut) of residuals.

        Parameters
        ----------
        e : (n, k) ndarray of float
            Residuals at k nodes.
        cut : (n,) ndarray of bool
            Which rows are left-censored.
        """
        parts, tau_slope, censored = [], np.zeros_like(e), np.flatnonzero(cut)
        for share, offset, sd, pull in zip(self.shares, OFFSETS, self.sd, self.pull, strict=True):
            square = e - offset
            square *= square
            part = square * (-0.5 / sd**2)
            np.exp(part, out=part)
            part *= share / (math.sqrt(2 * math.pi) * sd)
            square *= pull / sd**2
            square -= pull
            square *= part
            if len(censored):
                z = (e[censored] - offset) / sd
                square[censored] = -pull * sd * z * part[censored]
                part[censored] = share * ndtr(z)
            tau_slope += square
            parts.append(part)
        density = parts[0] + parts[1] + parts[2]
        value = np.maximum(density + parts[3], _TINY)
        return LawValues(
            value=value,
            told=density,
            idle=parts[1],
            skimmed=parts[2],
            tau_slope=tau_slope,
            softmax=self.softmax,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LawValues:
    """Density of some residuals, its parts, and its slope in log tau; (n, k) each.

    Cut reads have F in place of f.
    """

    value: Floats
    told: Floats
    idle: Floats
    skimmed: Floats
    tau_slope: Floats
    softmax: Floats

    def slopes(self, weight: Floats) -> Floats:
        """Return the slopes of log f in log tau, a_idle and a_skimmed, (n, 3).

        They are summed over nodes with (n, k) weights.
        """
        relative = weight / self.value
        tau, idle, skimmed, density = (
            np.einsum("nk,nk->n", part, relative)
            for part in (self.tau_slope, self.idle, self.skimmed, self.told)
        )
        return np.stack([tau, idle - self.softmax[1] * density, skimmed - self.softmax[2] * density], axis=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedReaders:
    """Simulated readers of updates.

    Attributes
    ----------
    mu, sigma : float
        Mean and standard deviation of log words per second over workers.
    tau : float
        Standard deviation of one read's log speed around its worker's.
    idle, skimmed : float
        Shares of reads with a long pause in them, and of reads that are only skimmed.
    overhead_seconds : float
        What every item takes beside its words.
    mean_visit_seconds : float or None
        Visits end at exponential times of this mean, whatever is being read; None: workers read each page to
        its end.
    """

    mu: float = 1.290
    sigma: float = 0.558
    tau: float = 0.5
    idle: float = 0.0
    skimmed: float = 0.0
    overhead_seconds: float = 0.0
    mean_visit_seconds: float | None = None


def simulate_reads(
    readers: SimulatedReaders,
    rng: np.random.Generator,
    *,
    workers: int = 100,
    items: int = 20,
    words: tuple[int, int] = (8, 40),
) -> pd.DataFrame:
    """Draw table reads: each worker reads ``items`` items, never two at once.

    Parameters
    ----------
    readers : SimulatedReaders
        Who reads.
    rng : Generator
        Source of the draws.
    workers, items : int
        How much is on offer. With visits that end, an item cut at the end of one is not offered again.
    words : (int, int)
        Shortest and longest item; lengths are uniform between them.

    Returns
    -------
    DataFrame
        Column interrupted is false for everybody when visits do not end.
    """
    length = rng.integers(words[0], words[1] + 1, (workers, items))
    own = rng.normal(readers.mu, readers.sigma, (workers, 1))
    law = rng.choice(
        3, p=[1 - readers.idle - readers.skimmed, readers.idle, readers.skimmed], size=(workers, items)
    )
    spread = np.sqrt(readers.tau**2 + EXTRA_VARIANCES[law])
    log_speed = own + OFFSETS[law] + spread * rng.normal(size=(workers, items))
    seconds = length * np.exp(-log_speed) + readers.overhead_seconds
    visit, dwell, interrupted = _visits(seconds, readers.mean_visit_seconds, rng)
    shown_at = np.cumsum(dwell, axis=1) - dwell + (visit - 1) * 86_400.0
    number = np.tile(np.arange(items), workers)
    names = np.repeat([f"W{u}" for u in range(workers)], items)
    rows = pd.DataFrame(
        {
            "worker": names,
            "topic": "Q000",
            "system": "A",
            "page": [f"{name}-{page}" for name, page in zip(names, visit.ravel(), strict=True)],
            "visit": visit.ravel(),
            "item": [f"U{i}" for i in number],
            "kind": "update",
            "words": length.ravel(),
            "first_seen": _START + pd.to_timedelta(shown_at.ravel(), unit="s"),
            "dwell_seconds": dwell.ravel(),
            "fully_seen": ~interrupted.ravel(),
            "interrupted": interrupted.ravel(),
            "language": "en",
        }
    )
    return check_frame(rows, TABLES["reads"])


def _visits(
    seconds: "np.ndarray[tuple[int, int], np.dtype[np.float64]]",
    mean_visit_seconds: float | None,
    rng: np.random.Generator,
) -> tuple[
    "np.ndarray[tuple[int, int], np.dtype[np.intp]]",
    "np.ndarray[tuple[int, int], np.dtype[np.float64]]",
    "np.ndarray[tuple[int, int], np.dtype[np.bool_]]",
]:
    """Return the visit of each read, its dwell time and whether it was cut.

    A read is cut by the visit's end.

    The end of an exponential visit has no memory, so each read is cut with a time of its own.
    """
    if mean_visit_seconds is None:
        return np.ones(seconds.shape, dtype=np.intp), seconds, np.zeros(seconds.shape, dtype=bool)
    left = rng.exponential(mean_visit_seconds, seconds.shape)
    cut = left < seconds
    before = np.concatenate([np.zeros((len(cut), 1), dtype=bool), cut[:, :-1]], axis=1)
    return 1 + np.cumsum(before, axis=1), np.minimum(seconds, left), cut
