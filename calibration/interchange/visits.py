"""Visits of people who judged elsewhere: their stretches of work, from the times at which each judgment began and ended.

Crowd workers accept several assignments at once, so that these overlap; what is united is their time at work.
"""

from collections.abc import Iterator

import pandas as pd

from calibration.tables.files import checked
from calibration.tables.tables import TABLES


def visits_of_work(spans: pd.DataFrame, gap_seconds: float, *, stream: str) -> dict[str, pd.DataFrame]:
    """Make tables follows and visits of when people worked.

    Parameters
    ----------
    spans : DataFrame
        worker, start, end: one row a piece of work, such as an assignment.
    gap_seconds : float
        A longer pause ends a visit. A stretch lasts until the last of its pieces ends.
    stream : str
        What the tables call the work, as their topic: somebody who judges has one stream to come back to.

    Returns
    -------
    dict of str to DataFrame
        ``follows``: from a worker's first piece of work to the last that anybody ended, since whoever did not come
        back could have. ``visits``: the stretches; the first one of each worker is the enrolment.
    """
    starts = spans.groupby("worker", sort=True)["start"].min()
    follows = pd.DataFrame(
        {
            "worker": starts.index.to_list(),
            "topic": stream,
            "started_at": starts.to_list(),
            "ended_at": spans["end"].max(),
        }
    )
    rows = [
        (worker, stream, number, start, end, "left")
        for worker, of_worker in spans.groupby("worker", sort=True)
        for number, (start, end) in enumerate(_stretches(of_worker, gap_seconds), start=1)
    ]
    visits = pd.DataFrame(rows, columns=["worker", "topic", "visit", "start", "end", "end_reason"])
    return {"follows": checked(follows, TABLES["follows"]), "visits": checked(visits, TABLES["visits"])}


def _stretches(spans: pd.DataFrame, gap_seconds: float) -> Iterator[tuple[pd.Timestamp, pd.Timestamp]]:
    """Yield the union of one worker's spans, united across pauses of at most ``gap_seconds``."""
    ordered = spans.sort_values(["start", "end"])
    begun, ended = ordered["start"].iloc[0], ordered["end"].iloc[0]
    for start, end in zip(ordered["start"], ordered["end"], strict=True):
        if (start - ended).total_seconds() > gap_seconds:
            yield begun, ended
            begun = start
            ended = end
        ended = max(ended, end)
    yield begun, ended
