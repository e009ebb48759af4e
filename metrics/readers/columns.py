"""Large files of fields separated by white space, read column by column.

`metrics.readers.lines.rows` reads such a file line by line. Here the whole file is split at once, several times as
fast, and its lines are looked at one by one only when one of them is wrong. White space is that of ASCII (blank,
tab, vertical tab, form feed), so a field may hold any other character.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from metrics.errors import FaultLog
from metrics.readers.lines import read_bytes, whole_number

BLANKS = np.isin(np.arange(256), list(b" \t\n\r\v\f"))
TEXT_BLANKS = (b"\x1c", b"\x1d", b"\x1e", b"\x1f")
"""What is white space to the split of a text, but not of bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The fields of a file.

    Attributes
    ----------
    lines : (rows,) ndarray of int64
        Line of each row in the file, from 1.
    fields : tuple of list of str
        For each column one text a row.
    """

    lines: NDArray[np.int64]
    fields: tuple[list[str], ...]


def read_columns(names: Sequence[str], log: FaultLog) -> Columns:
    """Read the file ``log.path``, plain or gzip, with one field for each of ``names`` on a line.

    Blank lines are skipped. A line with another number of fields, or that is not UTF-8, is noted in the log and
    left out.

    Raises
    ------
    InputError
        If the file cannot be opened.
    """
    data = read_bytes(log.path)
    counts = _fields_per_line(data)
    if np.isin(counts, [0, len(names)]).all():
        try:
            texts = _split(data)
        except UnicodeDecodeError:
            return _checked(data, names, log)
        columns = tuple(texts[position :: len(names)] for position in range(len(names)))
        return Columns(lines=np.flatnonzero(counts) + 1, fields=columns)
    return _checked(data, names, log)


def line_of_row(path: str | Path, row: int) -> int:
    """Return the line on which a row of `read_columns` stands, counted from 0 among the rows of a faultless file."""
    return int(np.flatnonzero(_fields_per_line(read_bytes(path)))[row]) + 1


def whole_numbers(
    texts: Sequence[str], what: str, lines: NDArray[np.int64], log: FaultLog
) -> NDArray[np.int64]:
    """Read a column of whole numbers of at most 18 digits; each that is none is noted and comes back as 0."""
    digits = "".join(texts)
    if digits.isascii() and digits.isdigit() and max(map(len, texts)) <= 18:
        return np.array(list(map(int, texts)), dtype=np.int64)
    found = [whole_number(text, what, line, log) for text, line in zip(texts, lines.tolist(), strict=True)]
    return np.array(found, dtype=np.int64)


def _fields_per_line(data: bytes) -> NDArray[np.int64]:
    """Count the fields of every line up to the last one that has any."""
    characters = np.frombuffer(data, dtype=np.uint8)
    blank = BLANKS[characters]
    starts = ~blank
    starts[1:] &= blank[:-1]
    line_feeds, line_ends = characters == ord("\n"), characters == ord("\r")
    line_ends[:-1] &= ~line_feeds[1:]  # \r\n ends one line, not two
    line_ends |= line_feeds
    return np.bincount(np.cumsum(line_ends)[starts])


def _split(data: bytes) -> list[str]:
    """Split at ASCII white space and decode all fields at once."""
    if data.isascii() and not any(character in data for character in TEXT_BLANKS):
        return data.decode().split()
    fields = data.split()
    return b"\n".join(fields).decode().split("\n") if fields else []


def _checked(data: bytes, names: Sequence[str], log: FaultLog) -> Columns:
    """Read line by line, noting each wrong one."""
    lines: list[int] = []
    rows: list[list[str]] = []
    for line, content in enumerate(data.splitlines(), start=1):
        fields = content.split()
        if len(fields) != len(names) and fields:
            expected = f"{len(names)} fields expected, got {len(fields)}"
            log.add(expected, line=line, cure=f"write {', '.join(names)}, separated by white space")
        elif fields:
            try:
                rows.append(_split(content))
                lines.append(line)
            except UnicodeDecodeError:
                log.add("the line is not UTF-8", line=line, cure="save the file as UTF-8")
    columns = tuple([row[position] for row in rows] for position in range(len(names)))
    return Columns(lines=np.array(lines, dtype=np.int64), fields=columns)
