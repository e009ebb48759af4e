"""The rows of a CSV file as text, and the line on which each begins. What the text means is read by `calibration.tables.files`."""

import codecs
import csv
import io
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv

from metrics.budget import check_bytes, check_columns, check_rows
from metrics.errors import FaultLog
from metrics.wording import counted

_SEPARATORS = MappingProxyType({";": "semicolons", "\t": "tabs"})


def raw_csv(path: Path, log: FaultLog) -> pd.DataFrame:
    """Read every cell as text; ragged rows and text that is not UTF-8 are faults."""
    check_bytes(path, path.stat().st_size)
    content = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    check_rows(path, max(content.count(b"\n"), content.count(b"\r")))
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        log.add("not UTF-8", line=content.count(b"\n", 0, error.start) + 1, cure="save the file as UTF-8")
        return pd.DataFrame()
    is_blank = not text or text.isspace()
    del text  # a large file lies in memory once
    if is_blank:
        log.add("the file is empty", line=1, cure="write a header line, or remove the file")
        return pd.DataFrame()
    try:
        return _parsed_csv(content, log)
    except (pa.ArrowInvalid, csv.Error) as error:
        log.add(f"not a CSV table ({error})", line=1, cure="write one header line, then one line per row")
        return pd.DataFrame()


def _parsed_csv(content: bytes, log: FaultLog) -> pd.DataFrame:
    ragged: list[pa_csv.InvalidRow] = []

    def skip(row: pa_csv.InvalidRow) -> str:
        ragged.append(row)
        return "skip"

    header = next(csv.reader(_text_of(content)))
    check_columns(log.path, len(header))
    other = next((word for char, word in _SEPARATORS.items() if len(header) == 1 and char in header[0]), None)
    if other:
        log.add(f"the columns are separated by {other}", line=1, cure="separate them by commas")
        return pd.DataFrame()
    frame: pd.DataFrame = pa_csv.read_csv(
        pa.BufferReader(content if content.endswith(b"\n") else content + b"\n"),
        read_options=pa_csv.ReadOptions(use_threads=False, block_size=len(content) + (1 << 16)),
        parse_options=pa_csv.ParseOptions(newlines_in_values=True, invalid_row_handler=skip),
        convert_options=pa_csv.ConvertOptions(
            strings_can_be_null=False, column_types={name: pa.string() for name in header}
        ),
    ).to_pandas()
    if ragged:
        _note_ragged_rows(content, log)
    return frame


def _text_of(content: bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="")


def _note_ragged_rows(content: bytes, log: FaultLog) -> None:
    reader = csv.reader(_text_of(content))
    expected = len(next(reader))
    for record in reader:
        if record and len(record) != expected:
            log.add(
                f"{counted(expected, 'field')} expected, got {len(record)}",
                line=reader.line_num - sum(cell.count("\n") for cell in record),
                cure="write one field for each header, and quote a field that has a comma in it",
            )


class LineNumbers:
    """Line of each row in its file; read only when a fault needs it, since quoted fields may span lines."""

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
    """Yield the line of each record; where Python's reader gives up (a field without end) the rest counts as a line each."""
    with path.open(encoding="utf-8-sig", newline="") as stream, suppress(csv.Error):
        reader = csv.reader(stream)
        for record in reader:
            if record:
                yield reader.line_num - sum(cell.count("\n") for cell in record)
