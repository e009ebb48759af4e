"""Generator for reading speeds: table reads drawn from known parameters."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration.reading.law import EXTRA_VARIANCES, OFFSETS
from calibration.tables.files import checked
from calibration.tables.tables import TABLES

_START = pd.Timestamp("2026-03-02T09:00:00", tz="UTC")


@dataclass(frozen=True, slots=True, kw_only=True)
class Readers:
    """People who read updates.

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
    readers: Readers,
    rng: np.random.Generator,
    *,
    workers: int = 100,
    items: int = 20,
    words: tuple[int, int] = (8, 40),
) -> pd.DataFrame:
    """Draw table reads: each worker reads ``items`` items one after the other, never two at once.

    Parameters
    ----------
    readers : Readers
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
    return checked(rows, TABLES["reads"])


def _visits(
    seconds: "np.ndarray[tuple[int, int], np.dtype[np.float64]]",
    mean_visit_seconds: float | None,
    rng: np.random.Generator,
) -> tuple[
    "np.ndarray[tuple[int, int], np.dtype[np.intp]]",
    "np.ndarray[tuple[int, int], np.dtype[np.float64]]",
    "np.ndarray[tuple[int, int], np.dtype[np.bool_]]",
]:
    """Return the visit of each read, its dwell time and whether the visit's end cut it.

    The end of an exponential visit has no memory, so each read is cut with a time of its own.
    """
    if mean_visit_seconds is None:
        return np.ones(seconds.shape, dtype=np.intp), seconds, np.zeros(seconds.shape, dtype=bool)
    left = rng.exponential(mean_visit_seconds, seconds.shape)
    cut = left < seconds
    before = np.concatenate([np.zeros((len(cut), 1), dtype=bool), cut[:, :-1]], axis=1)
    return 1 + np.cumsum(before, axis=1), np.minimum(seconds, left), cut
