"""Columns of tables as people have them: a CSV, JSON, a workbook of a spreadsheet, or a frame.

A file is known by its first bytes. Every cell becomes text: nothing (null, NaN, an empty cell) is an empty text, a whole number has no
point, yes and no are ``true`` and ``false``, and a time is written in ISO 8601. A row keeps the line of its file: of JSON the line on which
its object begins, of a workbook its row; of a frame as if it were written as a CSV, so that its first row has line 2. Nested members of
JSON are columns: ``responses.choice.0.value`` is member ``value`` of the first element of ``choice`` in ``responses``.
"""

import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from metrics.errors import FaultLog, InputError, input_fault, join_names, pluralise
from metrics.file_limits import check_columns, check_unfolded, check_values
from metrics.readers.columns import CsvColumns, check_header, read_csv_columns
from metrics.readers.lines import JSON_START, PEEKED, ZIP_MAGIC, decoded, read_bytes

Rows: TypeAlias = list[tuple[int, list[str]]]
"""Line and cells of each row; fewer cells than the header has stand for empty ones."""
Choose: TypeAlias = Callable[[Sequence[str]], Sequence[str]]
"""The columns to read of a header."""
INSTALL_EXCEL = "install it: pip install 'prefcal[excel]', or save the sheet as CSV"
IMPORT_ID = '{"ImportId"'
"""Start of the cells of Qualtrics' third header line."""
MAX_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRules:
    """Rules to read the rows of a table.

    Attributes
    ----------
    delimiter : str
        What stands between two fields of a CSV.
    skip_rows : int
        Rows below the header that are no data.
    where : tuple of (str, str)
        Column and value: rows are read that have, in each of these columns, one of its values.
    sheet : str or None
        The sheet of a workbook; None: the only one with cells.
    """

    delimiter: str = ","
    skip_rows: int = 0
    where: tuple[tuple[str, str], ...] = ()
    sheet: str | None = None


def read_table_columns(
    source: str | Path | pd.DataFrame, choose: Choose, log: FaultLog, rules: TableRules
) -> tuple[CsvColumns, list[str]]:
    """Read the chosen columns of the rows that rules let in, with notes.

    Parameters
    ----------
    source : str, Path or DataFrame
        A file, or a frame.
    choose : callable
        Gets the header, and returns the columns to read.
    log : FaultLog
        Where faulty rows are noted.
    rules : TableRules
        Which rows are read.

    Raises
    ------
    InputError
        If the file cannot be read, a column is missing or stands twice, a value of ``where`` stands in no row, or Qualtrics' second and
        third header lines are not skipped.
    """
    names: list[str] = []
    conditions = dict.fromkeys(column for column, _ in rules.where)

    def with_conditions(header: Sequence[str]) -> list[str]:
        names.extend(dict.fromkeys(choose(header)))
        return list(dict.fromkeys([*names, *conditions]))

    if isinstance(source, pd.DataFrame):
        columns = _picked([str(name) for name in source.columns], _frame_rows(source), with_conditions, log)
    elif (stored := _start(source)).startswith(ZIP_MAGIC) and _is_workbook(source):
        columns = _picked(*_workbook(source, rules.sheet, log), with_conditions, log)
    elif not stored.startswith(ZIP_MAGIC) and JSON_START.match(text := _text_start(source)):
        columns = _picked(*_json(source, text, log), with_conditions, log)
    else:
        columns = read_csv_columns(source, with_conditions, log, delimiter=rules.delimiter)
    columns, notes = _without_headers(columns, rules.skip_rows, log)
    keep = np.ones(len(columns.lines), dtype=bool)
    for condition in conditions:
        values = {value for column, value in rules.where if column == condition}
        keep &= _fulfilled(columns, condition, values, log)
    if conditions:
        log.raise_if_any()
        said = " and ".join(f"{column} {value}" for column, value in rules.where)
        notes.append(f"{int(keep.sum()):,} of {pluralise(len(keep), 'row')} read, those with {said}")
        if not keep.any():
            log.add(f"no row has {said}", cure="see whether the values of --where stand together in any row")
            log.raise_if_any()
    return _subset(columns, names, np.flatnonzero(keep)), notes


def _start(path: str | Path) -> bytes:
    try:
        with Path(path).open("rb") as file:
            return file.read(len(ZIP_MAGIC))
    except OSError:
        return b""  # read_bytes says why


def _text_start(path: str | Path) -> str:
    return read_bytes(path)[:PEEKED].decode(errors="replace")


def _subset(columns: CsvColumns, names: Iterable[str], rows: "np.ndarray[Any, Any]") -> CsvColumns:
    return replace(
        columns,
        lines=tuple(columns.lines[row] for row in rows),
        cells={name: tuple(columns.cells[name][row] for row in rows) for name in names},
    )


def _without_headers(columns: CsvColumns, skip: int, log: FaultLog) -> tuple[CsvColumns, list[str]]:
    """Return columns without the rows below the header that are no data, and a note on them."""
    for row, line in enumerate(columns.lines[skip : skip + 2], start=skip):
        if any(cells[row].startswith(IMPORT_ID) for cells in columns.cells.values()):
            log.add(
                "this row is Qualtrics' third header line",
                line=line,
                cure=f"give --skip-rows {row + 1}",
            )
            log.raise_if_any()
    if not skip:
        return columns, []
    if len(columns.lines) < skip:
        rows = pluralise(len(columns.lines), "row")
        log.add(
            f"{rows} below the header, and {skip} are to be skipped", line=1, cure="give fewer --skip-rows"
        )
        log.raise_if_any()
    skipped = join_names(map(str, columns.lines[:skip]))
    note = f"{pluralise(skip, 'row')} below the header skipped (line{'s' * (skip > 1)} {skipped})"
    return _subset(columns, columns.cells, np.arange(skip, len(columns.lines))), [note]


def _fulfilled(
    columns: CsvColumns, condition: str, values: set[str], log: FaultLog
) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    cells = columns.cells[condition]
    present = dict.fromkeys(cells)
    for value in sorted(values - present.keys()):
        said = join_names(map(repr, present), most=MAX_SHOWN) or "nothing"
        log.add(f"{condition} is {value!r} in no row", line=1, cure=f"its values are {said}")
    return np.fromiter((cell in values for cell in cells), dtype=bool, count=len(cells))


def _picked(header: Sequence[str], rows: Rows, choose: Choose, log: FaultLog) -> CsvColumns:
    """Pick columns by the header, which must have each of them once."""
    check_columns(log.path, len(header))
    names = choose(header)
    check_header(header, names, log)
    places = [header.index(name) for name in names]
    lines = tuple(line for line, _ in rows)
    cells = {
        name: tuple(row[place].strip() if place < len(row) else "" for _, row in rows)
        for name, place in zip(names, places, strict=True)
    }
    return CsvColumns(lines=lines, cells=cells)


def _cell_text(value: Any) -> str:
    """Return a value as the text of a cell."""
    if value is None or value is pd.NaT or value is pd.NA or (isinstance(value, float) and np.isnan(value)):
        return ""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating):
        number = float(value)
        return f"{number:.0f}" if number.is_integer() and abs(number) < 1e15 else repr(number)
    if isinstance(value, timedelta):
        return _cell_text(value.total_seconds())
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return str(value)


def _frame_rows(frame: pd.DataFrame) -> Rows:
    return [
        (line, [_cell_text(value) for value in row])
        for line, row in enumerate(frame.itertuples(index=False, name=None), start=2)
    ]


def _json(path: str | Path, start: str, log: FaultLog) -> tuple[list[str], Rows]:
    """Read a list of objects, or an object a line, with their nested members as columns."""
    text = decoded(read_bytes(path), path)
    records, values = list[tuple[int, dict[str, str]]](), 0
    for line, value in _objects(text, log, is_list=start.lstrip().startswith("[")):
        if not isinstance(value, Mapping):
            log.add(
                "this element is no object", line=line, cure="write a list of objects, or an object a line"
            )
            log.raise_if_any()
        members = dict[str, str]()
        for name, cell in _members(value, ""):
            if name in members:
                log.add(f"two members are called {name!r}", line=line, cure="rename one")
                log.raise_if_any()
            members[name] = cell
        values += len(members)
        check_values(path, values)
        records.append((line, members))
    header = list(dict.fromkeys(name for _, members in records for name in members))
    return header, [(line, [members.get(name, "") for name in header]) for line, members in records]


def _objects(text: str, log: FaultLog, *, is_list: bool) -> Iterator[tuple[int, Any]]:
    """Yield the objects of a list, or those one after the other, with the line on which each begins."""
    decoder, place, line, counted = json.JSONDecoder(), 0, 1, 0
    blanks = " \t\r\n," if is_list else " \t\r\n"
    if is_list:
        place = text.index("[") + 1
    while True:
        while place < len(text) and text[place] in blanks:
            place += 1
        line, counted = line + text.count("\n", counted, place), place
        if place == len(text) or (is_list and text[place] == "]"):
            if is_list and (place == len(text) or text[place + 1 :].strip()):
                log.add("the list does not end where the file does", line=line, cure="see whether it is cut")
                log.raise_if_any()
            return
        try:
            value, place = decoder.raw_decode(text, place)
        except (json.JSONDecodeError, RecursionError) as error:
            where = getattr(error, "lineno", line)
            log.add(
                f"not JSON ({getattr(error, 'msg', 'nested too deep')})",
                line=where,
                cure="see whether it is cut",
            )
            raise InputError(log.faults) from None
        yield line, value


def _members(value: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping | list):
        inner = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, member in inner:
            yield from _members(member, f"{name}.{key}" if name else str(key))
    else:
        yield name, _cell_text(value)


def _is_workbook(path: str | Path) -> bool:
    """Say whether a zip archive is a workbook of Excel, of at most the size that may be read."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except (OSError, zipfile.BadZipFile):
        return False
    check_unfolded(path, Path(path).stat().st_size, sum(entry.file_size for entry in entries))
    return any(entry.filename.startswith("xl/") for entry in entries)


def _workbook(path: str | Path, sheet: str | None, log: FaultLog) -> tuple[list[str], Rows]:
    """Read a sheet of a workbook by openpyxl; its first row with a cell is the header."""
    try:
        import openpyxl  # noqa: PLC0415 - an extra
    except ImportError:
        raise input_fault(
            "this is a workbook, and openpyxl reads those", path=path, cure=INSTALL_EXCEL
        ) from None
    data = Path(path).read_bytes()
    try:
        books = [openpyxl.load_workbook(io.BytesIO(data), data_only=is_value) for is_value in (True, False)]
    except Exception as error:  # noqa: BLE001 - openpyxl raises whatever its XML and zip readers raise
        raise input_fault(
            f"the workbook cannot be read ({error})", path=path, cure="save it as CSV"
        ) from None
    filled = [each.title for each in books[0].worksheets if each.max_row > 1]
    if sheet is None and len(filled) != 1:
        said = f"sheets with rows: {join_names(map(repr, filled)) or 'none'}"
        raise input_fault(said, path=path, cure="name one with --sheet NAME")
    if sheet is not None and sheet not in books[0].sheetnames:
        raise input_fault(
            f"there is no sheet {sheet!r}",
            path=path,
            cure=f"its sheets are {join_names(books[0].sheetnames)}",
        )
    header, rows = None, Rows()
    values, formulas = (book[sheet or filled[0]] for book in books)
    for line, (cells, written) in enumerate(
        zip(values.iter_rows(values_only=True), formulas.iter_rows(values_only=True), strict=True), start=1
    ):
        for cell, formula in zip(cells, written, strict=True):
            if cell is None and formula is not None:
                log.add(
                    "a formula has no stored value", line=line, cure="open the workbook in Excel and save it"
                )
                break
        texts = [_cell_text(cell) for cell in cells]
        if header is None and any(texts):
            header = [text.strip() for text in texts]
        elif any(texts):
            rows.append((line, texts))
    return header or [], rows
