"""Tables written piece by piece, and the tables that come from collections alone."""

import io
from collections import defaultdict
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pa_parquet

from calibration.tables.definition import Table
from calibration.tables.files import check_frame, csv_rows, csv_text
from calibration.tables.tables import TABLES
from study_app.estimate.content import StudyContent
from study_app.export.moved_times import MovedTimes

WRITTEN_AT_ONCE = 10_000
"""Rows of a CSV formatted in memory at a time."""


class TableStream:
    """Table written as CSV and Parquet piece by piece, never whole in memory.

    Use as a context manager. ``moved`` shifts the times of the rows. Each piece is checked by itself, so a table with a
    key must have the worker in it, and each piece must hold all rows of its workers.
    """

    def __init__(self, folder: Path, table: Table, moved: MovedTimes | None = None) -> None:
        if table.key and "worker" not in table.key:
            raise ValueError(f"{table.name} has a key over all its rows and cannot be written in pieces")
        self.rows = 0
        self._folder, self._table, self._moved = folder, table, moved
        self._open_files = ExitStack()

    def __enter__(self) -> Self:
        """Open both files and write the header."""
        empty = self._table.empty()[list(self._table.usual_names)]
        stem = self._folder / self._table.name
        self._csv = self._open_files.enter_context(
            stem.with_suffix(".csv").open("w", encoding="utf-8", newline="")
        )
        self._csv.write(csv_text(empty))
        self._schema = pa.Schema.from_pandas(empty, preserve_index=False)
        self._parquet = self._open_files.enter_context(
            pa_parquet.ParquetWriter(stem.with_suffix(".parquet"), self._schema)
        )
        return self

    def append(self, frame: pd.DataFrame) -> None:
        """Check some rows and write them; raises `InputError` as `checked` does."""
        if frame.empty:
            return
        piece = check_frame(
            frame if self._moved is None else self._moved.move(frame, self._table), self._table
        )[list(self._table.usual_names)]
        for at in range(0, len(piece), WRITTEN_AT_ONCE):
            self._csv.write(csv_rows(piece[at : at + WRITTEN_AT_ONCE]))
        self._parquet.write_table(pa.Table.from_pandas(piece, schema=self._schema, preserve_index=False))
        self.rows += len(piece)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close both files."""
        self._open_files.close()


def open_tables(
    files: ExitStack, folder: Path, tables: Iterable[Table], moved: MovedTimes | None
) -> dict[str, TableStream]:
    """Begin to write tables, which ``files`` closes."""
    return {table.name: files.enter_context(TableStream(folder, table, moved)) for table in tables}


def feature_tables(content: StudyContent) -> dict[str, pd.DataFrame]:
    """Return tables positions, push_cells and intents of the files of a study.

    Tables without rows are left out.
    """
    derived = [
        (str(task.entry.name), table, rows) for task in content.tasks for table, rows in task.tables.items()
    ]
    offered = [
        (topic.id, intent, topic.probability(intent))
        for task in content.tasks
        for topic in task.topics
        for intent in topic.intents
    ]
    intents = {"intents": intents_table(offered)} if offered else {}
    return intents | derived_tables(derived)


def intents_table(offered: Iterable[tuple[str, str, float | None]]) -> pd.DataFrame:
    """Return table intents, each intent once, with its first known probability."""
    frame = pd.DataFrame(offered, columns=list(TABLES["intents"].column_names))
    return frame.groupby(["topic", "intent"], sort=False, as_index=False)["probability"].first()


def derived_tables(derived: Iterable[tuple[str, str, bytes]]) -> dict[str, pd.DataFrame]:
    """Return the derived tables by name, each over all tasks.

    ``derived`` has (task, table, that task's part as Parquet).
    """
    parts: defaultdict[str, list[pd.DataFrame]] = defaultdict(list)
    for task, table, content in derived:
        parts[table].append(pd.read_parquet(io.BytesIO(content)).assign(task=task))
    return {table: pd.concat(frames) for table, frames in parts.items()}
