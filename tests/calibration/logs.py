"""Tables activity and follows for tests, times in seconds from the beginning."""

import pandas as pd

from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES

BEGIN = pd.Timestamp("2026-03-02T09:00:00Z")


def at(seconds: float) -> pd.Timestamp:
    return BEGIN + pd.Timedelta(seconds=seconds)


def activity(*signs: tuple[str, float, str], worker: str = "w", topic: str = "q") -> pd.DataFrame:
    """Return table activity of (page, seconds, kind)."""
    rows = [
        {"worker": worker, "topic": topic, "system": "A", "page": page, "at": at(seconds), "kind": kind}
        for page, seconds, kind in signs
    ]
    return check_frame(pd.DataFrame(rows), TABLES["activity"])


def follow(started: float, ended: float, *, worker: str = "w", topic: str = "q") -> pd.DataFrame:
    row = {"worker": worker, "topic": topic, "system": "A", "started_at": at(started), "ended_at": at(ended)}
    return check_frame(pd.DataFrame([row]), TABLES["follows"])


def stays(visits: pd.DataFrame) -> list[tuple[float, float, str]]:
    """Return (start, end, end_reason) of each visit, in seconds."""
    seconds = ((visits[name] - BEGIN).dt.total_seconds() for name in ("start", "end"))
    return list(zip(*seconds, visits["end_reason"], strict=True))
