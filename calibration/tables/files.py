"""Readers and writers of folders of tidy tables, as CSV and Parquet.

A folder may hold any of `calibration.tables.tables.TABLES`; unknown files and columns are ignored; a CSV wins
over a Parquet file of the same name. Every fault names file, line and hint.
"""

import ctypes
import hashlib
import json
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pa_parquet

from calibration.tables.definition import (
    DTYPES,
    Column,
    Table,
    cell_fault,
    choice_cure,
    converted,
    sound_names,
)
from calibration.tables.people import odd_rows
from calibration.tables.raw_files import LineNumbers, blocks, by_name, raw_table
from calibration.tables.study_json import changes, recorded_tables
from calibration.tables.tables import TABLES
from calibration.tables.unknown_names import JUDGES_FILE, SUFFIXES, closest_known_name, ignored_files
from metrics.arrays import Bools
from metrics.errors import Fault, FaultLog, InputError, input_fault, join_names
from metrics.files import write_atomically, written_whole

_LIKELY = 0.6
_TEXT = pa.large_string()
_MANY_ROWS = 50_000
_Cells = dict[Any, "pd.Series[Any]"]


def read_tables(folder: str | Path, *, compact: Collection[str] = ()) -> dict[str, pd.DataFrame]:
    """Read every table that ``folder`` holds, all faults of all files at once.

    Parameters
    ----------
    folder : str or Path
        A folder as `prefcal export` writes it, or one with tables from elsewhere.
    compact : collection of str
        Tables whose texts, but for the ids of rows, are to be ordered categories: they take an eighth of the memory.

    Returns
    -------
    dict of str to DataFrame
        Table name -> rows, every column of the definition in its type and order; a column the file lacks is all
        missing. Tables without a file are absent.

    Raises
    ------
    InputError
        If the folder does not exist, holds no table, or any file breaks its definition; before that, if study.json
        says that a table had more rows when it was exported.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> import pandas as pd
    >>> votes = pd.DataFrame({"worker": ["a", "b"], "topic": "t1", "intent": ["i1", "i2"]})
    >>> import prefcal
    >>> folder = mkdtemp()
    >>> prefcal.write_tables({"intent_votes": votes}, folder)
    >>> read_tables(folder)["intent_votes"]["intent"].tolist()
    ['i1', 'i2']
    """
    files = table_paths(folder)
    cut = [change.fault for change in changes(files, recorded_tables(folder)) if change.is_cut]
    if cut:
        raise InputError(cut)
    tables: dict[str, pd.DataFrame] = {}
    faults: list[Fault] = []
    for name, path in files.items():
        try:
            tables[name] = read_table(path, TABLES[name], compact=name in compact)
        except InputError as error:
            faults.extend(error.faults)
    lines = {name: LineNumbers(path) for name, path in files.items()}
    faults = faults or [
        Fault(problem=odd.problem, cure=odd.cure, path=str(files[odd.table]), line=lines[odd.table][odd.row])
        for odd in odd_rows(tables)
    ]
    if faults:
        raise InputError(faults)
    give_back_memory(sum(map(len, tables.values())))  # what the checks took
    return tables


def give_back_memory(rows: int) -> None:
    """Return freed memory to the system, which both allocators keep for later: 180 MB after a million rows.

    After few rows there is little, and to look for it takes longer than to read them.
    """
    if rows < _MANY_ROWS:
        return
    pa.default_memory_pool().release_unused()
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):  # glibc has it
        trim(0)


def table_paths(folder: str | Path) -> dict[str, Path]:
    """Return table name -> file of ``folder`` in alphabetical order; raises `InputError` when there is none."""
    folder = Path(folder)
    if folder.is_file():
        raise input_fault(
            "this is a file",
            path=folder,
            cure="name the folder that holds it, if it is a table; prefcal import makes tables of a CSV of preferences with any "
            "column names, import-visits of one of visits, convert lines-to-tables of lines",
        )
    if not folder.is_dir():
        raise input_fault(
            "no such folder", path=folder, cure="name a folder that holds tables such as preferences.csv"
        )
    paths = {}
    for name in sorted(TABLES):
        path = next((p for suffix in SUFFIXES if (p := folder / f"{name}{suffix}").is_file()), None)
        if path is not None:
            paths[name] = path
    if not paths:
        raise _no_table(folder)
    return paths


def _no_table(folder: Path) -> InputError:
    """Say what a folder holds instead of tables, and which of it could be meant as one."""
    others = list(ignored_files(folder, ()))
    near = [f"{file.name}: {file.cure}" for file in others if file.meant]
    inside = sorted({path.parent.name for path in folder.glob("*/*.csv") if path.stem in TABLES})
    problem = "no table in this folder" + (
        f", only {join_names(file.name for file in others)}" * bool(others)
    )
    cure = f"it may hold {join_names(sorted(TABLES), most=20)} as .csv or .parquet"
    if near:
        cure = join_names(near)
    elif inside:
        cure = f"name the folder in it that holds tables: {join_names(inside)}"
    return input_fault(problem, path=folder, cure=cure)


def tables_sha256(folder: str | Path) -> str:
    """Return the sha256 over file name, NUL and bytes of the tables of ``folder`` in alphabetical order.

    Of tables that `record_people` knows it is that of the tables without judges: these say the same of people.
    """
    now, path = _bytes_sha256(folder), Path(folder) / JUDGES_FILE
    if not path.is_file():
        return now
    with suppress(ValueError, KeyError, TypeError, OSError):
        record = json.loads(path.read_text(encoding="utf-8"))
        return str(record["people_sha256"]) if record["tables_sha256"] == now else now
    return now


def record_people(folder: str | Path, people_sha256: str) -> None:
    """Write into a folder with judges what `tables_sha256` was without them, for as long as its tables stay as they are."""
    record = {"people_sha256": people_sha256, "tables_sha256": _bytes_sha256(folder)}
    write_atomically(Path(folder) / JUDGES_FILE, f"{json.dumps(record, indent=2)}\n")


def _bytes_sha256(folder: str | Path) -> str:
    digest = hashlib.sha256()
    for path in table_paths(folder).values():
        digest.update(path.name.encode() + b"\0")
        for block in blocks(path):
            digest.update(block)
    return digest.hexdigest()


def read_table(path: Path, table: Table, *, compact: bool = False) -> pd.DataFrame:
    """Read and check one table file, see `read_tables`; raises `InputError` with every fault found in it."""
    log, names = FaultLog(path), table.text_names if compact else ()
    frame = _typed(raw_table(path, log, names), table, log, LineNumbers(path), compact=compact)
    log.faults.sort(key=lambda fault: fault.line or 0)
    log.raise_if_any()
    return frame


def _typed(
    raw: pd.DataFrame, table: Table, log: FaultLog, lines: LineNumbers, *, compact: bool = False
) -> pd.DataFrame:
    """Return rows with the columns of a table in their types, and note each fault; raise where columns are missing."""
    table = table.opened(raw.columns)
    _check_header(raw, table, log)
    log.raise_if_any()
    raw = raw.reset_index(drop=True)
    index, cells, columns = raw.index, dict(raw.items()), {}
    del raw
    for column in table.columns:
        values = _converted(cells, index, column, log, lines, compact=compact)
        columns[column.name] = _compact(values, table.key) if compact else values
        if compact:
            give_back_memory(len(index))  # what the column was read into
    frame = pd.DataFrame(columns, index=index)
    if not log.faults:
        for name, values in _derived(frame, table):
            frame[name] = _compact(values, table.key) if compact else values
        _check_rows(frame, table, log, lines)
    return frame


def _derived(frame: pd.DataFrame, table: Table) -> Iterator[tuple[str, "pd.Series[Any]"]]:
    """Yield name and values of each column that the rows lack and that the others tell."""
    for column in table.columns:
        if column.derived is not None and len(frame) and frame[column.name].isna().all():
            yield column.name, column.derived(frame).astype(DTYPES[column.kind])


def _compact(values: "pd.Series[Any]", key: Collection[str]) -> "pd.Series[Any]":
    """Return texts as ordered categories, ids in one piece: nothing stays of what the file was read into."""
    if not isinstance(values.dtype, pd.StringDtype):
        return values
    if values.name not in key:
        return values.astype(pd.CategoricalDtype(ordered=True))
    whole = pa.table({"ids": values}).combine_chunks()["ids"]
    return whole.to_pandas().astype("str").set_axis(values.index)


def check_frame(frame: pd.DataFrame, table: Table) -> pd.DataFrame:
    """Return ``frame`` with exactly the columns and types of ``table``.

    It raises `InputError` as reading would. The fault's path is the table's name and its line the row's line
    in a CSV.
    """
    log = FaultLog(table.name)
    typed = _typed(frame, table, log, LineNumbers(None))
    log.raise_if_any()
    return typed


def checked_tables(tables: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return plain frames as `read_tables` returns files: checked, all faults of all tables at once, unknown names too."""
    checked: dict[str, pd.DataFrame] = {}
    faults: list[Fault] = []
    for name, frame in by_name(tables).items():
        if name not in TABLES:
            known = f"use one of {join_names(sorted(TABLES), most=20)}"
            faults.append(Fault(problem="no such table", cure=known, path=str(name)))
            continue
        if not isinstance(frame, pd.DataFrame):
            faults.append(
                Fault(
                    problem=f"this is no frame, but {type(frame).__name__}",
                    cure="give a DataFrame",
                    path=name,
                )
            )
            continue
        try:
            checked[name] = check_frame(frame, TABLES[name])
        except InputError as error:
            faults.extend(error.faults)
    faults = faults or [
        Fault(problem=odd.problem, cure=odd.cure, path=odd.table, line=odd.row + 2)
        for odd in odd_rows(checked)
    ]
    if faults:
        raise InputError(faults)
    return checked


WRITTEN_AT_ONCE = 50_000
"""Rows that are formatted in memory at a time."""
PARQUET_ROWS = 100_000
"""From so many rows on a table stands beside its CSV as Parquet too, which is read faster."""


def write_tables(tables: Mapping[str, pd.DataFrame], folder: str | Path, *, parquet: bool = False) -> None:
    """Check ``tables`` and write each as a CSV into ``folder``.

    Nothing is written if a table has a fault. Each file appears whole or not at all. A table of `PARQUET_ROWS` rows or more is
    written as Parquet too.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        Table name -> rows.
    folder : str or Path
        Made where it does not exist.
    parquet : bool
        Write every table as Parquet too.

    Raises
    ------
    InputError
        With every fault of every table, or if a file cannot be written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> import pandas as pd
    >>> votes = pd.DataFrame({"worker": ["a", "b"], "topic": "t1", "intent": ["i1", "i2"]})
    >>> folder = mkdtemp()
    >>> write_tables({"intent_votes": votes}, folder)
    >>> sorted(path.name for path in Path(folder).iterdir())
    ['intent_votes.csv']
    """
    folder = Path(folder)
    frames = checked_tables(tables)
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in frames.items():
        write_table(frame, TABLES[name], folder, parquet=parquet)


def write_table(frame: pd.DataFrame, table: Table, folder: Path, *, parquet: bool = False) -> None:
    """Write a checked table, texts also as categories, as `write_tables` does; never all of its text is in memory."""
    table = table.opened(frame.columns)
    rows = _without_unknown(frame, table)
    texts = {column.name: DTYPES[column.kind] for column in table.columns if column.name in rows}
    pieces = [slice(at, at + WRITTEN_AT_ONCE) for at in range(0, max(1, len(rows)), WRITTEN_AT_ONCE)]
    path = folder / f"{table.name}.csv"
    with written_whole(path) as stream:
        stream.write(f"{','.join(rows.columns)}\n".encode())
        for piece in pieces:
            stream.write(csv_rows(rows[piece]).encode())
    path = path.with_suffix(".parquet")
    if not (parquet or len(rows) >= PARQUET_ROWS):
        path.unlink(missing_ok=True)  # of the table that stood here before
        return
    schema = pa.Schema.from_pandas(rows[:0].astype(texts), preserve_index=False)
    with written_whole(path) as stream, pa_parquet.ParquetWriter(stream, schema) as writer:
        for piece in pieces:
            plain = rows[piece].astype(texts)
            writer.write_table(pa.Table.from_pandas(plain, schema=schema, preserve_index=False))


def _without_unknown(frame: pd.DataFrame, table: Table) -> pd.DataFrame:
    """Drop optional columns that are empty in all rows."""
    unknown = [
        column.name
        for column in table.columns
        if (column.sparse or (column.all_or_none and not frame.empty)) and frame[column.name].isna().all()
    ]
    return frame.drop(columns=unknown)


def csv_text(frame: pd.DataFrame) -> str:
    """Return a checked table as CSV: UTC times with milliseconds, true and false, empty where missing."""
    return ",".join(frame.columns) + "\n" + csv_rows(frame)


def csv_rows(frame: pd.DataFrame) -> str:
    """Return the rows of a checked table as in `csv_text`, without the header."""
    rows = _joined(*(_csv_cells(frame[name]) for name in frame.columns), separator=",")
    return "".join(f"{row}\n" for row in rows.to_pylist())


def _csv_cells(column: "pd.Series[Any]") -> pa.Array:
    """Return the cells of a column as they stand in a CSV, null where missing."""
    if column.dtype == np.float64:
        return pa.array(list(map(repr, column.tolist())), _TEXT, mask=column.isna().to_numpy())
    values = pa.array(column, from_pandas=True)
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        naive = values.cast(pa.timestamp("ms"), safe=False).cast(_TEXT)
        return _joined(pc.replace_substring(naive, " ", "T"), "Z")
    cells = values.cast(_TEXT)
    if pd.api.types.is_numeric_dtype(column):
        return cells
    if not _has_special(cells):
        return cells
    quoted = _joined('"', pc.replace_substring(cells, '"', '""'), '"')
    return pc.if_else(pc.match_substring_regex(cells, '[",\r\n]'), quoted, cells)


def _has_special(cells: pa.Array | pa.ChunkedArray) -> bool:
    """Say whether a mark that must be quoted may stand in a column: all its bytes are looked at together, which takes no time."""
    chunks = cells.chunks if isinstance(cells, pa.ChunkedArray) else [cells]
    written = [bytes(buffer) for chunk in chunks if (buffer := chunk.buffers()[-1]) is not None]
    return any(mark in part for part in written for mark in (b'"', b",", b"\r", b"\n"))


def _joined(*cells: pa.Array | str, separator: str = "") -> pa.Array:
    """Join texts row by row; a missing one is empty where others stand beside it in a row of a table."""
    texts = [pa.scalar(one, _TEXT) if isinstance(one, str) else one for one in (*cells, separator)]
    missing = "replace" if separator else "emit_null"
    return pc.binary_join_element_wise(*texts, null_handling=missing)


def _check_header(raw: pd.DataFrame, table: Table, log: FaultLog) -> None:
    names = list(raw.columns)
    for name in sorted({name for name in names if names.count(name) > 1}):
        log.add(f"duplicate column {name!r}", line=1, cure="keep one of them")
    missing = [name for name in table.required_names if name not in names]
    if missing:
        columns = f"column {missing[0]!r} is" if len(missing) == 1 else f"columns {_quoted(missing)} are"
        log.add(
            f"{columns} missing; found: {join_names(names, most=20) or 'none'}",
            line=1,
            cure=_missing_cure(missing, names, table),
        )
    others = [name for name in names if name not in table.column_names]
    for column in table.columns:
        near = closest_known_name(column.name, others, cutoff=_LIKELY) if column.all_or_none else None
        if near and column.name not in names:
            log.add(
                f"column {column.name!r} is missing, and column {near!r} looks like it",
                line=1,
                cure=f"rename it to {column.name!r}, or give it another name if it says something else",
            )


def _missing_cure(missing: list[str], names: list[str], table: Table) -> str:
    """Say which columns to rename; where that does not give all that are missing, which ones a table needs."""
    others = [name for name in names if name not in table.column_names]
    cures = []
    for name in missing:
        near = closest_known_name(name, others, cutoff=_LIKELY)
        if near:
            others.remove(near)
            cures.append(f"did you mean {name!r} by {near!r}? Then rename it")
    if len(cures) < len(missing):
        cures.append(f"a {table.name} table needs {join_names(table.required_names, most=20)}")
    return "; ".join(cures)


def _quoted(names: Iterable[str]) -> str:
    return join_names((repr(name) for name in names), most=20)


def _converted(
    raw: _Cells, index: pd.Index, column: Column, log: FaultLog, lines: LineNumbers, *, compact: bool = False
) -> "pd.Series[Any]":
    """Take one column out of ``raw`` and return it in its type; cells that do not fit are faults."""
    if column.name not in raw:
        return pd.Series(None, index=index, dtype=DTYPES[column.kind])
    cells = raw.pop(column.name)
    if isinstance(cells.dtype, pd.CategoricalDtype):
        if compact and (names := sound_names(cells, column)) is not None:
            return names
        cells = cells.astype(object)
    values, blank, bad = converted(cells, column.kind)
    for row in np.flatnonzero(bad):
        problem, cure = cell_fault(str(cells[row]), column.kind)
        log.add(f"{column.name}: {problem}", line=lines[row], cure=cure)
    if column.is_filled and not (column.derived and blank.all()):
        for row in np.flatnonzero(blank):
            log.add(f"{column.name} is empty", line=lines[row], cure="fill it in, or remove the row")
    _check_values(values, column, ~blank & ~bad, log, lines)
    return values.astype(DTYPES[column.kind])


def _check_values(
    values: "pd.Series[Any]", column: Column, present: Bools, log: FaultLog, lines: LineNumbers
) -> None:
    if column.choices:
        known = (*column.choices, *column.judge_choices)
        unknown = values[present & ~values.isin(known).to_numpy(bool)]
        cures = {value: choice_cure(str(value), column.choices) for value in unknown.unique()}
        for row, value in unknown.items():
            log.add(f"{column.name}: {value!r} is not known", line=lines[row], cure=cures[value])
    for bound, outside, word in ((column.low, np.less, "at least"), (column.high, np.greater, "at most")):
        if bound is None:
            continue
        numbers = values.to_numpy(np.float64, na_value=np.nan)
        for row in np.flatnonzero(outside(numbers, bound)):
            log.add(
                f"{column.name}: {numbers[row]:g} is out of range",
                line=lines[row],
                cure=f"write {word} {bound:g}",
            )


def check_rows(frame: pd.DataFrame, table: Table) -> None:
    """Raise `InputError` with the rows of a typed table that break its key or rules, as reading would."""
    log = FaultLog(table.name)
    _check_rows(frame, table, log, LineNumbers(None))
    log.raise_if_any()


def _check_rows(frame: pd.DataFrame, table: Table, log: FaultLog, lines: LineNumbers) -> None:
    key = [name for name in table.key if frame[name].notna().any()]
    if key:
        _check_key(frame[key], log, lines)
    for rule in table.rules:
        for row in np.flatnonzero(rule.broken(frame).to_numpy(bool)):
            log.add(rule.problem, line=lines[row], cure=rule.cure)


def _is_repeated(ids: "pd.Series[Any]") -> bool:
    """Return whether a value stands twice, found by sorting: pandas takes three times the memory for as many texts."""
    values = pa.array(ids)
    ordered = values.take(pc.sort_indices(values))
    return bool(pc.any(pc.equal(ordered[1:], ordered[:-1])).as_py())


def _check_key(key: pd.DataFrame, log: FaultLog, lines: LineNumbers) -> None:
    if not (_is_repeated(key.iloc[:, 0]) if len(key.columns) == 1 else key.duplicated().any()):
        return
    rows = pd.Series(key.index, index=key.index)
    first = rows.groupby([key[name] for name in key], dropna=False).transform("min")
    twice = (first != rows) & key.notna().any(axis="columns")
    for row in np.flatnonzero(twice.to_numpy(bool)):
        log.add(
            f"the same {', '.join(key)} as line {lines[first[row]]}",
            line=lines[row],
            cure="keep one of the two rows",
        )
