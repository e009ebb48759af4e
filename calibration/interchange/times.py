"""Times of other tools: ISO 8601, a format that one names, or seconds or milliseconds since 1970.

Numbers are recognised only where a whole column can be nothing else, and it is said how they were read.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import TypeAlias

import pandas as pd

from metrics.errors import FaultLog

Times: TypeAlias = "pd.Series[pd.Timestamp]"

EPOCHS = MappingProxyType({"epoch-s": 1000.0, "epoch-ms": 1.0})
"""Words for `time_format` -> milliseconds in a unit of such a number."""
_WORDS = MappingProxyType({"epoch-s": "seconds", "epoch-ms": "milliseconds"})
_NUMBER = re.compile(r"\d+(\.\d+)?")
_COMPACT_DATE = re.compile(r"\d{8}")
_NEARLY_ALL = 0.9
"""Share of a column's numbers in one unit from which on the others are the fault, and not the column."""
_YEAR_2000_MS = 946_684_800_000
_YEAR_2100_MS = 4_102_444_800_000


def read_times(
    cells: "pd.Series[str]",
    column: str,
    time_format: str | None,
    lines: Sequence[int],
    log: FaultLog,
) -> tuple[Times, str | None]:
    """Read a column of times; each cell that is none is noted as a fault.

    Parameters
    ----------
    cells : Series of str
        Empty where nothing is known.
    column : str
        Its name, for messages.
    time_format : str or None
        One of `EPOCHS`, or as for `datetime.strptime`. None: ISO 8601, or numbers that all lie between the years 2000 and
        2100 in one of `EPOCHS`; in both they cannot.
    lines : sequence of int
        Line of each cell in its file.
    log : FaultLog
        Where faults are noted.

    Returns
    -------
    Series of Timestamp
        In UTC, a time without a zone is taken for UTC; to the millisecond.
    str or None
        How numbers were read, a sentence without a full stop; None where there were none.
    """
    epoch = time_format if time_format in EPOCHS else _recognised(cells) if time_format is None else None
    usual = _nearly_recognised(cells) if time_format is None and epoch is None else None
    values = []
    for line, cell in zip(lines, cells, strict=True):
        time = _since_1970(cell, epoch) if epoch else _time(cell, time_format)
        if usual and cell:
            if not _in_unit(cell, usual):
                problem = (
                    f"{column} {cell!r} is not a time like the others, which are {_WORDS[usual]} since 1970"
                )
                log.add(problem, line=line, cure="mend it; is the file cut?")
        elif cell and time is None:
            log.add(f"{column} {cell!r} is not a time", line=line, cure=_cure(cell, time_format))
        values.append(time)
    times = pd.Series(values, dtype="datetime64[ms, UTC]", index=cells.index)
    return times, _said(times, column, epoch, is_guess=time_format is None) if epoch else None


def _recognised(cells: "pd.Series[str]") -> str | None:
    """Return in which unit all of a column's numbers lie in this century; None where they do not, or are no numbers."""
    known = cells[cells != ""]
    fitting = (epoch for epoch in EPOCHS if all(_in_unit(cell, epoch) for cell in known))
    return None if known.empty else next(fitting, None)


def _nearly_recognised(cells: "pd.Series[str]") -> str | None:
    """Return in which unit nearly all of a column's cells lie in this century; None where there is none."""
    known = cells[cells != ""]
    counts = {epoch: sum(_in_unit(cell, epoch) for cell in known) for epoch in EPOCHS}
    return next(
        (epoch for epoch, count in counts.items() if count and count >= _NEARLY_ALL * len(known)), None
    )


def _in_unit(cell: str, epoch: str) -> bool:
    """Say whether a cell is a number of a unit, and of this century."""
    return (
        _NUMBER.fullmatch(cell) is not None and _YEAR_2000_MS <= float(cell) * EPOCHS[epoch] <= _YEAR_2100_MS
    )


def strange_years(cells: "pd.Series[str]", times: Times, column: str, time_format: str | None) -> str | None:
    """Return the warning of times outside the years 2000 to 2100 that a time format gives; None where there are none.

    Parameters
    ----------
    cells, times : Series
        What `read_times` was given and returned.
    column : str
        Its name.
    time_format : str or None
        What was said about it; without it no such time is read from a number.
    """
    known = times.dropna()
    outside = int((~known.dt.year.between(2000, 2099)).sum())
    if time_format is None or not outside:
        return None
    meant = _recognised(cells)
    asked = (
        f"these look like {_WORDS[meant]}: --time-format {meant}"
        if meant
        else "see whether --time-format is right"
    )
    rows = "1 time" if outside == 1 else f"{outside:,} times"
    return f"{column}: {rows} before 2000 or after 2100, from {known.min().year} on; {asked}"


def _since_1970(cell: str, epoch: str) -> datetime | None:
    if not _NUMBER.fullmatch(cell):
        return None
    milliseconds = round(float(cell) * EPOCHS[epoch])
    if milliseconds > _YEAR_2100_MS:
        return None
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)


def _time(cell: str, time_format: str | None) -> datetime | None:
    if time_format is None and _NUMBER.fullmatch(cell) and not _COMPACT_DATE.fullmatch(cell):
        return None
    try:
        time = datetime.fromisoformat(cell) if time_format is None else datetime.strptime(cell, time_format)  # noqa: DTZ007 - next line
    except ValueError:
        return None
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def _cure(cell: str, time_format: str | None) -> str:
    is_number = _NUMBER.fullmatch(cell) is not None
    if time_format is not None and time_format in EPOCHS:
        other = next(epoch for epoch in EPOCHS if epoch != time_format)
        asked = f"; are these {_WORDS[other]}? Then give --time-format {other}" if is_number else ""
        return f"write {_WORDS[time_format]} since 1970, before the year 2100{asked}"
    if time_format is None and is_number:
        return "say with --time-format what the numbers of this column are: epoch-s, epoch-ms, or a form such as %Y%m%d%H%M"
    form = time_format or "ISO 8601, such as 2026-03-01T09:30:00Z"
    return f"write it as {form}, or give --time-format"


def _said(times: Times, column: str, epoch: str, *, is_guess: bool) -> str | None:
    """Say how numbers were read, and between which times they lie then."""
    known = times.dropna()
    if known.empty:
        return None
    first, last = (f"{time:%Y-%m-%dT%H:%M:%SZ}" for time in (known.min(), known.max()))
    wrong = "; if that is wrong, give --time-format" if is_guess else ""
    return f"{column} read as {_WORDS[epoch]} since 1970, from {first} to {last}{wrong}"
