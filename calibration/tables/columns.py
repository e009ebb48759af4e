"""The cells of tables: what a text means as each kind of value, and how to mend one that means nothing."""

import re
from typing import Any

import numpy as np
import pandas as pd

from calibration.tables.definition import Kind
from metrics.wording import listed, nearest

_FLAGS = {
    "true": True,
    "True": True,
    "TRUE": True,
    "1": True,
    "false": False,
    "False": False,
    "FALSE": False,
    "0": False,
}
_CURES = {
    Kind.INTEGER: "write a whole number",
    Kind.NUMBER: "write a finite number with a decimal point",
    Kind.FLAG: "write true or false",
    Kind.TIME: "write ISO 8601 with its zone, such as 2026-03-01T09:30:00.000Z",
}


_MOST = 2.0**53  # the largest whole number of a cell: beyond it floats have gaps
_WITHOUT_ZONE = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?")
_TYPO = 0.8


def misread(text: str, kind: Kind) -> tuple[str, str]:
    """Return what is wrong with the text of a cell that is no value of ``kind``, and how to mend it."""
    if kind is Kind.TIME and _WITHOUT_ZONE.fullmatch(text.strip()):
        in_utc = text.strip().replace(" ", "T") + "Z"
        return f"{text!r} has no time zone", f"write {in_utc} if it is UTC, else the offset in place of Z"
    return f"{text[:40]!r} is no {kind}", _CURES[kind]


def choice_cure(value: str, choices: tuple[str, ...]) -> str:
    """Name the choice that a mistyped value surely means; of any other value, say which there are.

    A word of somebody else's (a session that was ``closed``) may look like one of ours and mean another.
    """
    near = nearest(value.lower(), choices, cutoff=_TYPO)
    return f"did you mean {near!r}" if near else f"write one of {listed(choices)}"


def parsed(cells: "pd.Series[Any]", kind: Kind) -> "tuple[pd.Series[Any], pd.Series[bool]]":
    """Return values of ``kind`` and where a cell could not be read as one."""
    values: pd.Series[Any]
    if kind is Kind.TEXT:
        texts = cells.where(cells.isna(), cells.astype("str"))
        return texts.astype("str"), pd.Series(data=False, index=cells.index)
    if kind is Kind.FLAG:
        values = cells.astype("str").map(_FLAGS).astype("boolean")
    elif kind is Kind.TIME:
        values = _times(cells)
    else:
        readable = cells if pd.api.types.is_numeric_dtype(cells) else cells.astype("str")
        numbers = pd.to_numeric(readable, errors="coerce").astype("float64")
        fits = np.isfinite(numbers)
        if kind is Kind.INTEGER:
            fits &= (numbers == np.floor(numbers)) & (numbers.abs() <= _MOST)
        values = numbers.where(fits)
    return values, values.isna()


def _times(cells: "pd.Series[Any]") -> "pd.Series[Any]":
    if isinstance(cells.dtype, pd.DatetimeTZDtype):
        return cells.dt.tz_convert("UTC").dt.as_unit("ms")
    texts = cells.astype("str")
    zoned = texts.str.contains(r"T.*(?:Z|[+-]\d\d:?\d\d)$", regex=True, na=False)
    times = pd.to_datetime(texts.where(zoned), format="ISO8601", utc=True, errors="coerce")
    return times.dt.as_unit("ms")
