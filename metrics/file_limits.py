"""Limits of the size of files read.

A reader checks the limits before it reads, by the size that the file declares, and while it reads, since a file may lie. The
numbers are those of docs/security.md; the environment variable `VARIABLE` raises them.
"""

import math
import os
from pathlib import Path
from typing import BinaryIO

from metrics.errors import InputError, input_fault

VARIABLE = "PREFCAL_BUDGET"
"""Environment variable that multiplies the limits below: ``PREFCAL_BUDGET=4``."""
MAX_BYTES = 4 * 2**30
"""Largest file in bytes, packed or unpacked."""
SMALL_BYTES, MAX_UNPACKED_RATIO = 256 * 2**20, 200
"""Unpacked bytes always allowed, and the largest unpacked ratio beyond."""
MAX_ROWS = 40_000_000
MAX_COLUMNS = 10_000
MAX_VALUES = 10_000_000
"""Largest number of values of a JSON file, or elements of an XML file.

Each value takes several hundred bytes of memory.
"""
MAX_DOCUMENT_BYTES = 16 * 2**20
"""Largest size in bytes of a file written by hand, such as a study file."""
CHUNK = 2**20


def factor() -> float:
    """Return the environment's multiple of the budget, 1 without it.

    It raises `InputError` if the variable is no number from 1.
    """
    given = os.environ.get(VARIABLE, "1")
    try:
        number = float(given)
    except ValueError:
        number = math.nan
    if not 1 <= number < math.inf:
        raise input_fault(
            f"{VARIABLE} is {given!r}", cure="write how many times the budget you need, such as 4"
        )
    return number


def check_bytes(path: str | Path, size: int, *, most: int = MAX_BYTES) -> None:
    """Raise `InputError` if a file of ``size`` bytes is larger than allowed."""
    if size > most * factor():
        raise budget_error(path, f"the file has {_bytes(size)}, and {_bytes(most * factor())} may be read")


def check_rows(path: str | Path, rows: int) -> None:
    """Raise `InputError` if a file has more rows, or lines, than allowed."""
    if rows > MAX_ROWS * factor():
        raise budget_error(path, f"there are {rows:,} rows, and {MAX_ROWS * factor():,.0f} may be read")


def check_columns(path: str | Path, columns: int) -> None:
    """Raise `InputError` if a table has more columns than allowed."""
    if columns > MAX_COLUMNS * factor():
        raise budget_error(
            path, f"there are {columns:,} columns, and {MAX_COLUMNS * factor():,.0f} may be read"
        )


def check_values(path: str | Path, values: int) -> None:
    """Raise `InputError` if a JSON or XML file holds more values than allowed."""
    if values > MAX_VALUES * factor():
        raise budget_error(path, f"there are {values:,} values, and {MAX_VALUES * factor():,.0f} may be read")


def check_unfolded(path: str | Path, packed: int, unfolded: int) -> None:
    """Raise `InputError` if ``packed`` bytes unfold to more than allowed."""
    most = most_unfolded(packed)
    if unfolded > most:
        raise budget_error(
            path, f"its {_bytes(packed)} unfold to more than the {_bytes(most)} that may be read"
        )


def most_unfolded(packed: int) -> int:
    """Return the largest allowed unpacked size of this many packed bytes."""
    return int(min(MAX_BYTES, max(SMALL_BYTES, MAX_UNPACKED_RATIO * packed)) * factor())


def read_within(stream: BinaryIO, most: int) -> bytes:
    """Read a stream to its end, or to one byte more than ``most``."""
    chunks, left = list[bytes](), most + 1
    while left > 0 and (chunk := stream.read(min(left, CHUNK))):
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)


def budget_error(path: str | Path, problem: str) -> InputError:
    """Return the error of a file that is over its budget."""
    cure = f"see whether it is the right file; if you trust it, set {VARIABLE}=4, four times as much, or what it needs"
    return input_fault(problem, path=path, cure=cure)


def _bytes(size: float) -> str:
    return f"{size / 2**20:,.1f} MiB" if size >= 2**20 else f"{size / 2**10:,.1f} KiB"
