"""Columns of large files: fields separated by white space, and chosen CSV columns.

`metrics.readers.lines.rows` reads a file of fields line by line. Here the whole file is split at once, several times as
fast, and its lines are looked at one by one only when one of them is wrong. White space is that of ASCII (blank,
tab, vertical tab, form feed), so a field may hold any other character. Lines that begin with ``#`` are comments, however many
words they have; ``#`` within a field is a character like any other.
"""

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from metrics.arrays import Ints
from metrics.errors import FaultLog, closest_name, join_names, pluralise
from metrics.file_limits import check_columns
from metrics.readers.lines import (
    NUMBER,
    PEEKED,
    WHOLE_NUMBER,
    blocks,
    byte_lines,
    check_no_json,
    decoded,
    excel_delimiter,
    lines_of,
    number,
    read_bytes,
    say_once,
    whole_number,
)

MAX_WHOLE_NUMBER = 1e18
BLANKS = np.isin(np.arange(256), list(b" \t\n\r\v\f"))
TEXT_BLANKS = (b"\x1c", b"\x1d", b"\x1e", b"\x1f")
"""Characters that split a text as white space, but not bytes."""


COMMENT = re.compile(rb"(\A|[\r\n])[ \t]*#[^\r\n]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldColumns:
    """Fields of a file, column by column.

    Attributes
    ----------
    lines : (rows,) ndarray of int64
        Line of each row in the file, from 1.
    fields : tuple of list of str
        For each column one text a row.
    header : tuple of str
        The first row where it is one of the headers that were known, which is then no row; else empty.
    """

    lines: NDArray[np.int64]
    fields: tuple[list[str], ...]
    header: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.lines)


def read_columns(
    names: Sequence[str], log: FaultLog, *, headers: Sequence[tuple[str, ...]] = ()
) -> FieldColumns:
    """Read the file ``log.path`` of fields separated by white space.

    The file may be packed; each line has one field for each of ``names``.

    Blank lines and comments are skipped. A line with another number of fields, or that is not UTF-8, is noted in the log and
    left out.

    Parameters
    ----------
    names : sequence of str
        What a line holds, for messages.
    log : FaultLog
        Has the path, and gets the faults.
    headers : sequence of tuple of str
        First rows that are headers, in small letters. One with another number of fields than ``names`` says how many all have.

    Raises
    ------
    InputError
        If the file cannot be opened, or is JSON.
    """
    data = _content(log.path)
    first = next(filter(None, map(bytes.split, byte_lines(data[:PEEKED]))), [])
    check_no_json(log.path, data[:PEEKED].decode(errors="replace"), lines_of(names, "white space"))
    header = tuple(word.decode(errors="replace").lower() for word in first)
    names = header if header in headers else names
    columns = _columns(data, names, log)
    if header not in headers or not len(columns):
        return columns
    return FieldColumns(
        lines=columns.lines[1:], fields=tuple(column[1:] for column in columns.fields), header=header
    )


def _columns(data: bytes, names: Sequence[str], log: FaultLog) -> FieldColumns:
    counts = _fields_per_line(data)
    if np.isin(counts, [0, len(names)]).all():
        try:
            texts = _split(data)
        except UnicodeDecodeError:
            return _checked(data, names, log)
        columns = tuple(texts[position :: len(names)] for position in range(len(names)))
        return FieldColumns(lines=np.flatnonzero(counts) + 1, fields=columns)
    return _checked(data, names, log)


def line_of_row(path: str | Path, row: int) -> int:
    """Return the line of a row, counted from 0, of `read_columns` on a faultless file."""
    return int(np.flatnonzero(_fields_per_line(_content(path)))[row]) + 1


def _content(path: str | Path) -> bytes:
    """Return a file with comments and Excel's line ``sep=;`` made empty lines."""
    data = read_bytes(path)
    first, end, rest = data[:PEEKED].partition(b"\n")
    if excel_delimiter(first.decode(errors="replace")) is not None:
        data = end + rest + data[PEEKED:]
    return COMMENT.sub(rb"\1", data) if b"#" in data else data


def whole_numbers(
    texts: Sequence[str], what: str, lines: NDArray[np.int64], log: FaultLog
) -> NDArray[np.int64]:
    """Read a column of whole numbers of at most 18 digits.

    Any other text is noted as a fault and becomes 0.
    """
    digits = "".join(texts)
    if digits.isascii() and digits.isdigit() and max(map(len, texts)) <= 18:
        return np.array(list(map(int, texts)), dtype=np.int64)
    numbers = [whole_number(text, what, line, log) for text, line in zip(texts, lines.tolist(), strict=True)]
    return np.array(numbers, dtype=np.int64)


def grades_of(texts: Sequence[str], lines: NDArray[np.int64], log: FaultLog) -> list[float]:
    """Read a column of grades: whole ones (``1``, ``1.0``) as int, others as float.

    A text that is no finite number is noted as a fault and becomes 0.
    """
    grade_of = {text: _grade(text) for text in dict.fromkeys(texts)}
    if None in grade_of.values():
        for text, line in zip(texts, lines.tolist(), strict=True):
            if grade_of[text] is None:
                number(text, "grade", line, log)
    return [grade_of[text] or 0 for text in texts]


def _grade(text: str) -> float | None:
    if WHOLE_NUMBER.fullmatch(text):
        return int(text)
    value = float(text) if NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(value):
        return None
    return int(value) if value.is_integer() and abs(value) < MAX_WHOLE_NUMBER else value


def _fields_per_line(data: bytes) -> NDArray[np.int64]:
    """Count the fields of every line up to the last one that has any."""
    counts = [_fields_of_block(block) for block in blocks(data)] or [np.zeros(0, dtype=np.int64)]
    return np.trim_zeros(np.concatenate(counts), "b")


def _fields_of_block(data: bytes) -> NDArray[np.int64]:
    characters = np.frombuffer(data, dtype=np.uint8)
    blank = BLANKS[characters]
    starts = ~blank
    starts[1:] &= blank[:-1]
    line_feeds, line_ends = characters == ord("\n"), characters == ord("\r")
    line_ends[:-1] &= ~line_feeds[1:]  # \r\n ends one line, not two
    line_ends |= line_feeds
    return np.bincount(np.cumsum(line_ends)[starts], minlength=int(line_ends.sum()))


def _split(data: bytes) -> list[str]:
    """Split at ASCII white space and decode all fields at once."""
    if data.isascii() and not any(character in data for character in TEXT_BLANKS):
        return data.decode().split()
    fields = data.split()
    return b"\n".join(fields).decode().split("\n") if fields else []


def _checked(data: bytes, names: Sequence[str], log: FaultLog) -> FieldColumns:
    """Read line by line, and note each faulty line."""
    lines: list[int] = []
    rows: list[list[str]] = []
    wrong: list[int] = []
    is_xml = False
    for line, content in enumerate(byte_lines(data), start=1):
        fields = content.split()
        if len(fields) != len(names) and fields:
            is_xml = is_xml or (not wrong and not rows and fields[0].startswith(b"<"))
            wrong.append(len(fields))
            expected = f"{len(names)} fields expected, got {len(fields)}"
            log.add(expected, line=line, cure=f"write {', '.join(names)}, separated by white space")
        elif fields:
            try:
                rows.append(_split(content))
                lines.append(line)
            except UnicodeDecodeError:
                log.add("the line is not UTF-8", line=line, cure="save the file as UTF-8")
    if is_xml or not rows:
        say_once(wrong, names, log, by="white space", is_xml=is_xml)
    columns = tuple([row[position] for row in rows] for position in range(len(names)))
    return FieldColumns(lines=np.array(lines, dtype=np.int64), fields=columns)


PEEKED_ROWS, BATCH = 200, 10_000
"""Rows of a CSV read first, to see what its columns hold, and then per batch."""
BREAK = re.compile("\r\n|\r|\n")
DELIMITERS = MappingProxyType({",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"})
"""Delimiters between fields, with the plural that messages use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvColumns:
    """Cells of some columns as text, and the line of each row.

    Attributes
    ----------
    lines : tuple of int
        Line of each row in the file, from 2.
    cells : dict of str to tuple of str
        Column -> one text a row, without surrounding blanks.
    is_unended : bool
        The last line has no line break behind it, so that its end may be cut off.
    """

    lines: tuple[int, ...]
    cells: dict[str, tuple[str, ...]]
    is_unended: bool = False

    def warnings(self) -> list[str]:
        """Return the warning that the end may be cut off, if the last line is not whole."""
        if not self.is_unended:
            return []
        problem = "the last line has no line break behind it: the file may be cut"
        return [f"{problem}; see whether it is whole, and end it with a line break"]

    def numbers(self, column: str, log: FaultLog) -> list[float]:
        """Read a column of finite numbers.

        Any other cell is noted as a fault and becomes NaN.
        """
        return [
            number(cell, column, line, log) for line, cell in zip(self.lines, self.cells[column], strict=True)
        ]


def read_csv_columns(
    path: str | Path,
    columns: Sequence[str] | Callable[[Sequence[str]], Sequence[str]],
    log: FaultLog,
    *,
    delimiter: str | None = None,
) -> CsvColumns:
    """Read ``columns`` of a CSV file, without others and without blank lines.

    Parameters
    ----------
    path : str or Path
        A file in UTF-8 with a header line, plain or gzip.
    columns : sequence of str, or callable
        Names in the header, or what returns them when it is given the header.
    log : FaultLog
        Where rows with another number of fields than the header are noted; they are left out.
    delimiter : str, optional
        What stands between two fields, where one can say it with --delimiter. None: a comma.

    Raises
    ------
    InputError
        If the file cannot be opened or is not UTF-8, or its header lacks a column or has it twice.
    """
    text = decoded(read_bytes(path), path)
    check_no_json(path, text[:PEEKED], "a CSV with a header")
    batches = csv_batches(io.StringIO(text, newline=""), log, delimiter=delimiter)
    rows = ((line, row) for lines, batch in batches for line, row in zip(lines.tolist(), batch, strict=True))
    header = [name.strip() for name in next(rows, (1, []))[1]]
    delimiter = delimiter or excel_delimiter(text.partition("\n")[0])
    check_columns(path, len(header))
    check_delimiter(header, delimiter, log)
    columns = columns(header) if callable(columns) else columns
    check_header(header, columns, log)
    places = [header.index(name) for name in columns]
    cells: list[list[str]] = [[] for _ in columns]
    lines, wrong, last = list[int](), list[tuple[int, int]](), 1
    for last, row in rows:
        if len(row) != len(header):
            wrong.append((last, len(row)))
            continue
        lines.append(last)
        for column, index in zip(cells, places, strict=True):
            column.append(row[index].strip())
    for line, fields in wrong:
        note_length(fields, len(header), line, log, is_last=line == last)
    return CsvColumns(
        is_unended=not text.endswith(("\n", "\r")),
        lines=tuple(lines),
        cells={name: tuple(column) for name, column in zip(columns, cells, strict=True)},
    )


def check_any_row(columns: CsvColumns, log: FaultLog) -> None:
    """Raise `InputError` if a file without any other fault has a header and no row."""
    if not columns.lines and not log.faults:
        log.add("there is no row below the header", line=1, cure="see whether this is the whole file")
        log.raise_if_any()


def csv_batches(
    text: TextIO, log: FaultLog, *, delimiter: str | None = None
) -> Iterator[tuple[Ints, list[list[str]]]]:
    """Yield the rows of a CSV with their lines: header and some, then `BATCH` each.

    Blank rows are left out; a row's line is the one on which it starts.

    A first line ``sep=;``, which Excel writes, is no row and names the delimiter where none is given; else it is a comma.
    """
    first = text.readline()
    excel = excel_delimiter(first)
    lines_of_text = text if excel is not None else chain([first], text)
    reader = csv.reader(lines_of_text, delimiter=delimiter or excel or ",")
    above, size = int(excel is not None), PEEKED_ROWS
    start = 1 + above
    while True:
        try:
            rows = list(islice(reader, size))
        except csv.Error as error:
            cure = "separate fields by commas and quote those with commas"
            log.add(f"not CSV ({error})", line=reader.line_num + above, cure=cure)
            log.raise_if_any()
        if not rows:
            return
        end = reader.line_num + 1 + above
        lines = np.arange(start, start + len(rows), dtype=np.int32)
        if end - start != len(rows):
            breaks = [sum(len(BREAK.findall(cell)) for cell in row) for row in rows]
            lines[1:] += np.cumsum(breaks[:-1], dtype=np.int32)
        blank = [
            index
            for index, row in enumerate(rows)
            if not row or not (row[0].strip() or any(map(str.strip, row)))
        ]
        if blank:
            lines = np.delete(lines, blank)
            rows = [row for index, row in enumerate(rows) if index not in set(blank)]
        if rows:
            yield lines, rows
        start, size = end, BATCH


def check_delimiter(header: Sequence[str], delimiter: str | None, log: FaultLog) -> None:
    """Raise `InputError` if another delimiter would split a header's only field."""
    others = [other for other in DELIMITERS if other != (delimiter or ",") and other in "".join(header)]
    if len(header) != 1 or not others:
        return
    expected = DELIMITERS.get(delimiter or ",", repr(delimiter))
    option = "tab" if others[0] == "\t" else f"'{others[0]}'"
    cure = f"separate them by {expected}" if delimiter is None else f"give --delimiter {option}"
    log.add(f"the columns are separated by {DELIMITERS[others[0]]}, and not by {expected}", line=1, cure=cure)
    log.raise_if_any()


def check_header(
    header: Sequence[str], columns: Sequence[str], log: FaultLog, *, of_format: bool = False
) -> None:
    """Raise `InputError` if a header lacks a column or has it twice.

    The columns are those of the file's format with ``of_format``, else the user named them.
    """
    if not header:
        log.add("the file is empty", line=1, cure=f"write a header line with {join_names(columns)}")
    counts = Counter(header)
    for name in dict.fromkeys(columns):
        if header and not counts[name]:
            near = closest_name(name, header)
            meant = f"rename {near!r}" if of_format else f"did you mean {near!r}?"
            cure = meant if near else f"the columns are {join_names(header)}"
            log.add(f"there is no column {name!r}", line=1, cure=cure)
        elif counts[name] > 1:
            log.add(f"column {name!r} stands {counts[name]} times", line=1, cure="keep one of them")
    log.raise_if_any()


def note_length(fields: int, expected: int, line: int, log: FaultLog, *, is_last: bool) -> None:
    """Note a row whose number of fields differs from the header's."""
    cure = "write one field for each header, and quote a field that has a comma in it"
    if is_last and fields < expected:
        cure = "write one field for each header; the file may be cut"
    log.add(f"{pluralise(expected, 'field')} expected, got {fields}", line=line, cure=cure)
