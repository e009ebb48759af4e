"""Parquet of strangers: how much a file would unfold to, found out before it is unfolded.

A few kilobytes can stand for gigabytes: the same value, or the same long text, so many million times.
"""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pa_compute
import pyarrow.parquet as pa_parquet

from metrics.budget import check_bytes, check_columns, check_rows, check_unfolded
from metrics.errors import input_fault

CELL_BYTES = 8
BATCH_ROWS = 2**16


def raw_parquet(path: Path) -> pd.DataFrame:
    """Read every column of a Parquet file, bytes as texts.

    Raises
    ------
    InputError
        If it is no Parquet file, cannot be read, or is over the budget of `metrics.budget`.
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
    """Look at what the file says of itself: rows, columns, and the least room that its cells take."""
    footer = file.metadata
    check_rows(path, footer.num_rows)
    check_columns(path, footer.num_columns)
    widths = [max(CELL_BYTES, file.schema.column(place).length or 0) for place in range(footer.num_columns)]
    groups = map(footer.row_group, range(footer.num_row_groups))
    least = sum(
        max(group.column(place).num_values * width, group.column(place).total_uncompressed_size)
        for group in groups
        for place, width in enumerate(widths)
    )
    check_unfolded(path, size, least)


def _texts(path: Path) -> list[str]:
    """Return the columns of texts: read as dictionaries, each different text stands in the memory once."""
    columns = pa_parquet.read_metadata(path).schema
    return [
        columns.column(place).path
        for place in range(len(columns))
        if columns.column(place).physical_type == "BYTE_ARRAY"
    ]


def _unfolded(column: pa.Array) -> int:
    """Return the bytes of a column, of a text as often as it stands there."""
    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    lengths = pa_compute.binary_length(column.dictionary)
    return int(pa_compute.sum(lengths.take(column.indices)).as_py() or 0) + CELL_BYTES * len(column)
