"""Rows of table files as text, before their meaning is read.

Rows of a CSV file are text, with the line on which each begins; what the text means is read by `calibration.tables.files`. A Parquet
file is checked before it is unpacked, since a few kilobytes can stand for gigabytes: the same value, or the same long text, so many
million times.
"""

import codecs
import csv
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import TextIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pa_compute
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet

from calibration.tables.tables import TABLES
from metrics.errors import FaultLog, input_fault, join_names, pluralise
from metrics.file_limits import check_bytes, check_columns, check_rows, check_unfolded
from metrics.readers.lines import check_is_plain, check_no_json, excel_delimiter

_SEPARATORS = MappingProxyType({";": "semicolons", "\t": "tabs"})


_NAMES = pa.dictionary(pa.int32(), pa.string())
BLOCK_BYTES = 2**22
"""Bytes of a file in memory at once while its text is read.

The parser is slower with larger blocks.
"""


def by_name(given: Mapping[str, pd.DataFrame]) -> Mapping[str, pd.DataFrame]:
    """Return frames by name; raises `InputError` for anything else.

    The error for a frame says which table it may be.
    """
    if isinstance(given, Mapping):
        return given
    if not isinstance(given, pd.DataFrame):
        problem = f"tables are a folder or frames by name, not {type(given).__name__}"
        raise input_fault(problem, cure='give a path, or a dict such as {"preferences": frame}')
    raise input_fault("a frame was given where tables by name are wanted", cure=_frame_cure(given))


def _frame_cure(frame: pd.DataFrame) -> str:
    """Return a hint which table a frame may be, and which columns it lacks.

    The best match has the most columns in common.
    """
    columns = {*map(str, frame.columns)}

    def likeness(name: str) -> tuple[bool, int, int]:
        table = TABLES[name]
        known = len(columns.intersection(table.column_names))
        is_whole = columns >= {*table.required_names}
        return (is_whole and known > 1, known, -len(table.column_names))

    name = max(TABLES, key=likeness)
    if len(columns.intersection(TABLES[name].column_names)) < min(2, len(TABLES[name].required_names)):
        return f'give {{"preferences": frame}}, with the columns of docs/tables.md; this one has {join_names(map(str, frame.columns))}'
    missing = [repr(column) for column in TABLES[name].required_names if column not in columns]
    lack = f", with the missing column{'s' * (len(missing) > 1)} {join_names(missing)}" if missing else ""
    return f'give {{"{name}": frame}} instead of frame{lack}'


def raw_rows(path: Path) -> pd.DataFrame:
    """Return every column of a sound table file, also those that are ignored, as text."""
    return raw_table(path, FaultLog(path)).astype("str")


def raw_table(path: Path, log: FaultLog, names: Collection[str] = ()) -> pd.DataFrame:
    """Read every cell of a table file, those of a CSV as `raw_csv` does.

    It raises `InputError` for a file that is no table.
    """
    frame = raw_csv(path, log, names) if path.suffix == ".csv" else raw_parquet(path)
    log.raise_if_any()
    return frame


def raw_csv(path: Path, log: FaultLog, names: Collection[str]) -> pd.DataFrame:
    """Read every cell of a CSV as text, columns of ``names`` as categories.

    Ragged rows and text that is not UTF-8 are faults.
    """
    check_bytes(path, path.stat().st_size)
    if not _is_text(path, log):
        return pd.DataFrame()
    try:
        return _parsed_csv(path, log, names)
    except (pa.ArrowInvalid, csv.Error) as error:
        log.add(f"not a CSV table ({error})", line=1, cure="write one header line, then one line per row")
        return pd.DataFrame()


def _is_text(path: Path, log: FaultLog) -> bool:
    """Return whether a file holds UTF-8 text; note what it holds instead."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    is_blank, feeds, returns = True, 0, 0
    for number, block in enumerate(blocks(path)):
        if number == 0:
            check_is_plain(path, block)
        try:
            text = decoder.decode(block, final=not block)
            if number == 0:
                check_no_json(path, text, "a CSV table with a header")
        except UnicodeDecodeError as error:
            line = feeds + error.object.count(b"\n", 0, error.start) + 1
            log.add("not UTF-8", line=line, cure="save the file as UTF-8")
            return False
        is_blank = is_blank and (not text or text.isspace())
        feeds, returns = feeds + block.count(b"\n"), returns + block.count(b"\r")
    check_rows(path, max(feeds, returns))
    if is_blank:
        log.add("the file is empty", line=1, cure="write a header line, or remove the file")
    return not is_blank


def blocks(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file in blocks, with an empty one at its end."""
    with path.open("rb") as stream:
        while block := stream.read(BLOCK_BYTES):
            yield block
    yield b""


def _parsed_csv(path: Path, log: FaultLog, names: Collection[str]) -> pd.DataFrame:
    with _opened(path) as stream:
        first = stream.readline()
        if excel_delimiter(first) is not None:
            log.add(
                f"the first line is Excel's: {first.strip()!r}",
                line=1,
                cure="delete it, and separate columns by commas",
            )
            return pd.DataFrame()
        stream.seek(0)
        header = next(csv.reader(stream))
    check_columns(log.path, len(header))
    other = next((word for char, word in _SEPARATORS.items() if len(header) == 1 and char in header[0]), None)
    if other:
        log.add(f"the columns are separated by {other}", line=1, cure="separate them by commas")
        return pd.DataFrame()
    types = {name: _NAMES if name in names else pa.large_string() for name in header}
    try:
        table, is_ragged = _cells(path, types, BLOCK_BYTES)
    except pa.ArrowInvalid:  # also of a row that is longer than a block
        table, is_ragged = _cells(path, types, path.stat().st_size + BLOCK_BYTES)
    if is_ragged:
        _note_ragged_rows(path, log)
    return table.unify_dictionaries().to_pandas()


def _cells(path: Path, types: dict[str, pa.DataType], block_bytes: int) -> tuple[pa.Table, bool]:
    """Return the rows of a file as texts, and whether ragged ones were left out.

    A ragged row has too few or too many cells.
    """
    ragged: list[int | None] = []

    def skip(row: pa_csv.InvalidRow) -> str:
        ragged.append(row.number)
        return "skip"

    table = pa_csv.read_csv(
        path,
        read_options=pa_csv.ReadOptions(use_threads=False, block_size=block_bytes),
        parse_options=pa_csv.ParseOptions(newlines_in_values=True, invalid_row_handler=skip),
        convert_options=pa_csv.ConvertOptions(strings_can_be_null=False, column_types=types),
    )
    return table, bool(ragged)


def _opened(path: Path) -> TextIO:
    return path.open(encoding="utf-8-sig", newline="")


def _note_ragged_rows(path: Path, log: FaultLog) -> None:
    with _opened(path) as stream:
        reader = csv.reader(stream)
        expected = len(next(reader))
        for record in reader:
            if record and len(record) != expected:
                log.add(
                    f"{pluralise(expected, 'field')} expected, got {len(record)}",
                    line=reader.line_num - sum(cell.count("\n") for cell in record),
                    cure="write one field for each header, and quote a field that has a comma in it",
                )


class LineNumbers:
    """Line on which each row, from 0, begins in its file, read only when a fault needs it.

    Quoted fields may span lines. A row of a Parquet file or of a frame has the line that it would have as CSV.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path if path is not None and path.suffix == ".csv" else None
        self._starts: list[int] | None = None

    def __getitem__(self, row: np.intp | int) -> int:
        if self._path is None:
            return int(row) + 2
        if self._starts is None:
            self._starts = list(_record_starts(self._path))
        return self._starts[int(row) + 1] if int(row) + 1 < len(self._starts) else int(row) + 2


def _record_starts(path: Path) -> Iterator[int]:
    """Yield the first line of each record.

    Where Python's reader gives up (a field without end), each further line counts as a record.
    """
    with path.open(encoding="utf-8-sig", newline="") as stream, suppress(csv.Error):
        reader = csv.reader(stream)
        for record in reader:
            if record:
                yield reader.line_num - sum(cell.count("\n") for cell in record)


CELL_BYTES = 8
BATCH_ROWS = 2**16


def raw_parquet(path: Path) -> pd.DataFrame:
    """Read every column of a Parquet file, bytes as texts.

    Raises
    ------
    InputError
        If it is no Parquet file, cannot be read, or is over the limits of `metrics.file_limits`.
    """
    try:
        table = _read(path)
        as_text = [f.with_type(pa.string()) if pa.types.is_binary(f.type) else f for f in table.schema]
        frame: pd.DataFrame = table.cast(pa.schema(as_text)).to_pandas(
            ignore_metadata=True, integer_object_nulls=True
        )
    except (pa.ArrowException, OSError) as error:
        raise input_fault(
            f"not a Parquet table ({error})", path=path, cure="write it again, or use CSV"
        ) from error
    return frame


def _read(path: Path) -> pa.Table:
    size = path.stat().st_size
    check_bytes(path, size)
    with pa_parquet.ParquetFile(path) as file:
        _check_promise(path, size, file)
    with pa_parquet.ParquetFile(path, read_dictionary=_texts(path)) as file:
        unfolded = 0
        for batch in file.iter_batches(BATCH_ROWS, use_threads=False):
            unfolded += sum(map(_unfolded, batch.columns))
            check_unfolded(path, size, unfolded)
    with pa_parquet.ParquetFile(path) as file:
        return file.read()


def _check_promise(path: Path, size: int, file: pa_parquet.ParquetFile) -> None:
    """Check the size that a file declares: rows, columns, and bytes of cells."""
    footer = file.metadata
    check_rows(path, footer.num_rows)
    check_columns(path, footer.num_columns)
    widths = [max(CELL_BYTES, file.schema.column(index).length or 0) for index in range(footer.num_columns)]
    groups = map(footer.row_group, range(footer.num_row_groups))
    least = sum(
        max(group.column(index).num_values * width, group.column(index).total_uncompressed_size)
        for group in groups
        for index, width in enumerate(widths)
    )
    check_unfolded(path, size, least)


def _texts(path: Path) -> list[str]:
    """Return the columns of texts, read as dictionaries to save memory.

    Each distinct text is stored once.
    """
    columns = pa_parquet.read_metadata(path).schema
    return [
        columns.column(index).path
        for index in range(len(columns))
        if columns.column(index).physical_type == "BYTE_ARRAY"
    ]


def _unfolded(column: pa.Array) -> int:
    """Return the bytes of a column, each text as often as it occurs."""
    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    lengths = pa_compute.binary_length(column.dictionary)
    return int(pa_compute.sum(lengths.take(column.indices)).as_py() or 0) + CELL_BYTES * len(column)
