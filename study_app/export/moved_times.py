"""Shifted times of an export, which no list of submissions can be matched with.

A platform's list has the second at which each of its workers began and ended. With exact times in the tables,
whoever has both could match pseudonyms with ids. So the times of one worker are moved by one amount below an
hour, drawn once and stored: every difference within a worker stays exact, and so does every estimate.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import pandas as pd
from sqlalchemy import select
from sqlalchemy.orm import Session

from calibration.tables.definition import ColumnType, Table
from study_app.store.models import Worker

HOUR = timedelta(hours=1)
ROUNDED = "workers"
"""Name of the table whose times are rounded down to the hour."""
EMPTIED = "preferences"
"""Table whose times are left empty; decision_seconds and position stay."""
STREAM_TIME = "stream_at"
"""Column of times since the start of the stream, of each follower.

It reveals no time of day.
"""
BROWSER_CLOCK = "wall_ms"
"""Column of times in whole milliseconds since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedTimes:
    """Time shifts of workers, applied to tables.

    Attributes
    ----------
    by : mapping of str to timedelta
        Time from 0 to below an hour that is added to a worker's times, by pseudonym.
    """

    by: Mapping[str, timedelta]

    def move(self, frame: pd.DataFrame, table: Table) -> pd.DataFrame:
        """Return rows of a table with shifted times.

        Parameters
        ----------
        frame : DataFrame, shape (rows, columns of the table)
            With exact times, in any form that pandas reads.
        table : Table
            Whose rows they are.
        """
        times = [column.name for column in table.columns if column.kind is ColumnType.TIME]
        exact = {name: pd.to_datetime(frame[name], utc=True) for name in times if name != STREAM_TIME}
        if table.name == ROUNDED:
            return frame.assign(**{name: column.dt.floor("h") for name, column in exact.items()})
        if table.name == EMPTIED:
            return frame.assign(**dict.fromkeys(exact, pd.NaT))
        clock = BROWSER_CLOCK in table.column_names
        if frame.empty or not (exact or clock):
            return frame
        by = pd.to_timedelta(frame["worker"].astype("object").map(self.by))
        moved = {name: column + by for name, column in exact.items()}
        if clock:
            moved[BROWSER_CLOCK] = frame[BROWSER_CLOCK] + by // timedelta(milliseconds=1)
        return frame.assign(**moved)


def moved_times(session: Session, study_id: int) -> MovedTimes:
    """Return the time shifts of a study's workers."""
    stored = select(Worker.pseudonym, Worker.times_moved_ms).where(Worker.study_id == study_id)
    return MovedTimes(by={worker: timedelta(milliseconds=moved) for worker, moved in session.execute(stored)})


def hours_around(start: datetime, end: datetime) -> tuple[datetime, datetime]:
    """Return the full hours before and after a span of time."""
    begun = start.replace(minute=0, second=0, microsecond=0)
    ended = end.replace(minute=0, second=0, microsecond=0)
    return begun, ended if ended == end else ended + HOUR
