"""Simulator of table activity: what a log has of known visits.

Heartbeats, tabs and hidden pages are optional.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES
from metrics.arrays import Bools, Floats, Indices

_CLOSING = ("left", "exhausted")


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityLog:
    """Way in which a log observes visits.

    Attributes
    ----------
    heartbeat_seconds : float or None
        How often a page in sight beats; None: no heartbeats, and nothing says that a page went out of sight.
    event_gap_seconds : float
        Without heartbeats: mean of the exponential time between two events of a visit (an ``open`` each).
    second_tab : float
        Share of visits in which a second page is opened, somewhere between their ends, and closed before
        theirs.
    hidden : float
        Share of visits whose page is hidden for an even share of the time, somewhere inside.
    """

    heartbeat_seconds: float | None = 5.0
    event_gap_seconds: float = 10.0
    second_tab: float = 0.0
    hidden: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Views:
    """Page views as columns, (v,): visit, begin and end in seconds since its start."""

    visit: Indices
    name: str
    begin: Floats
    end: Floats
    closes: Bools


def simulate_activity(
    visits: pd.DataFrame, rng: np.random.Generator, log: ActivityLog | None = None
) -> pd.DataFrame:
    """Draw table activity of visits.

    Parameters
    ----------
    visits : DataFrame
        Table visits. Those that ended ``left`` or ``exhausted`` end with a page closed, of all others events
        just stop.
    rng : Generator
        Source of the draws.
    log : ActivityLog, optional
        What is logged; a heartbeat every 5 s and nothing odd by default.
    """
    log = ActivityLog() if log is None else log
    lengths = (visits["end"] - visits["start"]).dt.total_seconds().to_numpy(np.float64)
    if log.heartbeat_seconds is None:
        return _table(visits, [_events(lengths, log.event_gap_seconds, rng)])
    closes = visits["end_reason"].isin(_CLOSING).to_numpy(bool)
    every = np.arange(len(lengths), dtype=np.intp)
    first = _Views(visit=every, name="a", begin=np.zeros_like(lengths), end=lengths, closes=closes)
    pieces = [_without_hidden(_watched(first, log.heartbeat_seconds), first, log.hidden, rng)]
    twice = every[rng.random(len(lengths)) < log.second_tab]
    begin = lengths[twice] * rng.random(len(twice))
    end = begin + (lengths[twice] - begin) * rng.random(len(twice))
    second = _Views(visit=twice, name="b", begin=begin, end=end, closes=np.ones(len(twice), dtype=bool))
    return _table(visits, [*pieces, _watched(second, log.heartbeat_seconds)])


def _watched(views: _Views, heartbeat_seconds: float) -> pd.DataFrame:
    """Return opening, heartbeats and closing of page views.

    The columns are visit, page, seconds and kind.
    """
    beats = np.maximum(0, np.ceil((views.end - views.begin) / heartbeat_seconds) - 1).astype(np.intp)
    row = np.repeat(np.arange(len(beats)), beats)
    number = np.arange(len(row)) - np.repeat(np.cumsum(beats) - beats, beats) + 1
    signs = [
        _signs(views, np.arange(len(beats)), views.begin, "open"),
        _signs(views, row, views.begin[row] + number * heartbeat_seconds, "beat"),
        _signs(views, np.flatnonzero(views.closes), views.end[views.closes], "close"),
    ]
    return pd.concat(signs, ignore_index=True)


def _signs(views: _Views, row: Indices, seconds: Floats, kind: str) -> pd.DataFrame:
    return pd.DataFrame({"visit": views.visit[row], "page": views.name, "seconds": seconds, "kind": kind})


def _without_hidden(
    signs: pd.DataFrame, views: _Views, share: float, rng: np.random.Generator
) -> pd.DataFrame:
    """Hide a share of the pages between two uniform times, without heartbeats."""
    rows = np.flatnonzero(rng.random(len(views.visit)) < share)
    times = np.sort(rng.random((2, len(rows))), axis=0) * views.end[rows]
    low, high = np.full((2, len(views.visit)), np.inf)
    low[rows], high[rows] = times
    seconds, visit = signs["seconds"].to_numpy(), signs["visit"].to_numpy()
    silent = (signs["kind"] == "beat") & (low[visit] < seconds) & (seconds < high[visit])
    spells = [_signs(views, rows, at, kind) for at, kind in zip(times, ("hidden", "visible"), strict=True)]
    return pd.concat([signs[~silent], *spells], ignore_index=True)


def _events(lengths: Floats, gap_seconds: float, rng: np.random.Generator) -> pd.DataFrame:
    """Return events at the start of each visit and then at exponential gaps.

    They stop with the visit.
    """
    further = rng.poisson(lengths / gap_seconds)
    visit = np.repeat(np.arange(len(lengths)), further + 1)
    seconds = rng.random(len(visit)) * lengths[visit]
    seconds[np.cumsum(further + 1) - further - 1] = 0.0
    return pd.DataFrame({"visit": visit, "page": "a", "seconds": seconds, "kind": "open"})


def _table(visits: pd.DataFrame, pieces: list[pd.DataFrame]) -> pd.DataFrame:
    signs = pd.concat(pieces, ignore_index=True).sort_values(["visit", "seconds"], kind="stable")
    of = visits.iloc[signs["visit"].to_numpy()].reset_index(drop=True)
    stay = of["worker"] + "-" + of["topic"] + "-" + of["visit"].astype("str")
    rows = of[["worker", "topic", "system"]].assign(
        page=stay + "-" + signs["page"].to_numpy(),
        at=of["start"] + pd.to_timedelta(signs["seconds"].to_numpy().round(3), unit="s"),
        kind=signs["kind"].to_numpy(),
    )
    return check_frame(rows, TABLES["activity"])
