"""Timestamps of documents, and the calendar windows that they fall into.

A timestamp is a date ``2001-09-11``, with or without a time of day in ISO 8601 (``2001-09-11T08:46:40Z``), or whole
seconds since 1970-01-01 of at least nine digits, so that no year or date is taken for one. Everything is UTC; a time of
day without an offset is taken as UTC.
"""

import re
from datetime import UTC, date, datetime, timedelta

from metrics.ranked.lists import CalendarUnit

ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9:.,]+(Z|[+-][0-9:]+)?)?")
EPOCH = re.compile(r"-?[0-9]{9,12}")
START = datetime(1970, 1, 1, tzinfo=UTC)


def calendar_window(text: str, unit: CalendarUnit) -> str | None:
    """Return the year, month, ISO week or day that a timestamp lies in; None when the text is no timestamp.

    Written ``2001``, ``2001-09``, ``2001-W37`` and ``2001-09-11``.
    """
    day = _utc_day(text)
    if day is None:
        return None
    if unit == "week":
        year, week, _ = day.isocalendar()
        return f"{year:04}-W{week:02}"
    return day.isoformat()[: {"year": 4, "month": 7, "day": 10}[unit]]


def _utc_day(text: str) -> date | None:
    """Return the UTC day of a timestamp, None when the text is none."""
    try:
        if EPOCH.fullmatch(text):
            return (START + timedelta(seconds=int(text))).date()
        if ISO.fullmatch(text):
            time = datetime.fromisoformat(text)
            return (time if time.tzinfo is None else time.astimezone(UTC)).date()
    except (ValueError, OverflowError):
        pass
    return None
