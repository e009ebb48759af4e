"""Folder of exported tables, and the tables that come from collections alone.

The folder appears complete or not at all; tables are written piece by piece.
"""

import io
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pa_parquet

from calibration.tables.definition import Table
from calibration.tables.files import check_frame, csv_rows, csv_text
from calibration.tables.tables import TABLES
from metrics.errors import input_fault, join_names
from metrics.files import left_behind, sync, sync_names, temporary_path
from study_app.estimate.content import StudyContent
from study_app.export.moved_times import MovedTimes

OLD = "old export"
WRITTEN_AT_ONCE = 10_000
"""Rows of a CSV formatted in memory at a time."""


@contextmanager
def fresh_folder(folder: Path, *, is_ours: Callable[[str], bool]) -> Iterator[Path]:
    """Yield an empty folder that replaces ``folder`` when the block succeeds.

    When the block raises, the new folder is removed. It holds what people did, and only its owner may read
    it.

    Parameters
    ----------
    folder : Path
        Folder of the result. An existing one is replaced if it holds files of an earlier export only.
    is_ours : callable
        Return whether an earlier export may have left a file, by its name relative to the folder.

    Raises
    ------
    InputError
        If ``folder`` is a file, holds anything else, or cannot be written.
    """
    folder = folder.absolute()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _put_back(folder)
        _check_replaceable(folder, is_ours)
        with temporary_path(folder) as new:
            new.mkdir(mode=0o700)
            yield new
            for path in new.rglob("*"):
                path.chmod(0o700 if path.is_dir() else 0o600)
            sync(new)
            _exchange(folder, new)
    except OSError as error:
        raise input_fault(
            f"cannot be written ({error.strerror})",
            path=folder,
            cure="make room there, or name another folder",
        ) from error


def _exchange(folder: Path, new: Path) -> None:
    """Replace a folder by a new one; put the old one back if that fails."""
    old = new.with_name(OLD)
    if folder.exists():
        folder.rename(old)
    try:
        new.rename(folder)
    except OSError:
        if old.exists():
            old.rename(folder)
        raise
    sync_names(folder.parent)


def _put_back(folder: Path) -> None:
    """Restore the name of an earlier export that a killed command had moved away."""
    for room in left_behind(folder):
        if (room / OLD).is_dir() and not folder.exists():
            (room / OLD).rename(folder)


def _check_replaceable(folder: Path, is_ours: Callable[[str], bool]) -> None:
    if not folder.exists():
        return
    if not folder.is_dir():
        raise input_fault("this is a file", path=folder, cure="name a folder")
    others = sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if not path.is_dir() and not is_ours(path.relative_to(folder).as_posix())
    )
    if others:
        raise input_fault(
            f"the folder holds files that no export wrote: {join_names(others)}",
            path=folder,
            cure="name another folder, or move these away",
        )


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
