"""Columns of lengths of time in seconds, from other tools.

Cells may be unknown, and names may state another unit.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from calibration.interchange.times import is_unknown, notes_on_unknown
from metrics.errors import FaultLog
from metrics.readers.lines import number

MAX_SECONDS = 100 * 365.25 * 86_400
_WITH_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+")
_UNITS = (
    (r"ms|msecs?|millis|milliseconds?|millisecs?", "milliseconds"),
    (r"mins?|minutes?", "minutes"),
    (r"hrs?|hours?", "hours"),
)


UNITS = ("s", "ms")
"""Units of lengths of time that are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthRules:
    """Rules to read lengths of time.

    Attributes
    ----------
    decimal : str
        The decimal point: ``.`` or ``,``.
    unit : str
        One of `UNITS`: seconds or milliseconds.
    """

    decimal: str = "."
    unit: str = "s"


class Seconds(NamedTuple):
    """Column of lengths of time.

    Attributes
    ----------
    lengths : Series of float
        NaN where nothing is known.
    notes, warnings : list of str
        Cells with a word for what is not known; a name of the column that says another unit.
    """

    lengths: "pd.Series[float]"
    notes: list[str]
    warnings: list[str]


def read_seconds(
    cells: "pd.Series[str]", column: str, lines: Sequence[int], log: FaultLog, rules: LengthRules
) -> Seconds:
    """Read a column of lengths of time in seconds; note invalid cells.

    A cell is invalid if it is no number, below 0 or above 100 years.

    Parameters
    ----------
    cells : Series of str
        An empty cell and a word such as NA or null say that nothing is known.
    column : str
        Its name, for messages.
    lines : sequence of int
        Line of each cell in its file.
    log : FaultLog
        Where faults are noted.
    rules : LengthRules
        How numbers are written, and in which unit.
    """
    unknown = is_unknown(cells)
    values = [
        np.nan if is_none else _seconds(cell, column, line, log, rules)
        for cell, is_none, line in zip(cells.tolist(), unknown.tolist(), lines, strict=True)
    ]
    unit, read_as = _unit_of_name(column), "milliseconds" if rules.unit == "ms" else "seconds"
    cure = "give --seconds-unit ms" if unit == "milliseconds" else "write seconds"
    said = [f"the name of column {column!r} says {unit}, and it is read as {read_as}; {cure}"] * (
        unit not in {None, read_as}
    )
    lengths = pd.Series(values, index=cells.index, dtype=np.float64)
    return Seconds(lengths, notes_on_unknown(cells, column), said)


def _seconds(cell: str, column: str, line: int, log: FaultLog, rules: LengthRules) -> float:
    """Parse a length; note an invalid one and return NaN."""
    if rules.decimal == ",":
        if "." in cell:
            cure = "write a decimal comma, and nothing between thousands"
            log.add(f"{column} is {cell!r}, and the decimal point is a comma", line=line, cure=cure)
            return np.nan
        cell = cell.replace(",", ".")
    elif _WITH_COMMA.fullmatch(cell):
        log.add(
            f"{column} is no number: {cell!r}", line=line, cure="give --decimal , if this is a decimal comma"
        )
        return np.nan
    value = number(cell, column, line, log) / (1000 if rules.unit == "ms" else 1)
    if np.isnan(value) or 0 <= value <= MAX_SECONDS:
        return value
    most = f"0 to {MAX_SECONDS:.0f} (100 years)" if value > 0 else "0 or more"
    log.add(f"{column} is {value:g}", line=line, cure=f"write seconds, {most}")
    return np.nan


def _unit_of_name(column: str) -> str | None:
    """Return the unit other than seconds in a column's name: `rt_ms`, `durationMs`."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|[\W_]+", " ", column).casefold().split()
    return next((unit for form, unit in _UNITS if any(re.fullmatch(form, word) for word in words)), None)
