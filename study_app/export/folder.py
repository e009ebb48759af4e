"""Folders that appear complete or not at all; tables that are written piece by piece; those that come from collections alone."""

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
from calibration.tables.files import checked, csv_text
from calibration.tables.tables import TABLES
from metrics.errors import input_fault
from metrics.files import left_behind, sync, sync_names, unfinished
from metrics.wording import listed
from study_app.estimate.content import StudyContent

OLD = "old export"


@contextmanager
def fresh_folder(folder: Path, *, is_ours: Callable[[str], bool]) -> Iterator[Path]:
    """Yield an empty folder that takes the place of ``folder`` when the block ends well, and vanishes when not.

    It holds what people did, and only its owner may read it.

    Parameters
    ----------
    folder : Path
        Where the result is to stand. What stands there is replaced if it holds nothing of others.
    is_ours : callable
        Says of a file's name, relative to the folder, whether an earlier export may have left it.

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
        with unfinished(folder) as new:
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
    """Put a folder into the place of another, which is put back where that fails."""
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
    """Give an earlier export its name again, which a command took away and was killed."""
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
            f"the folder holds what no export wrote: {listed(others)}",
            path=folder,
            cure="name another folder, or move these away",
        )


class TableStream:
    """One table written as CSV and Parquet while its rows are made, so that a large one never lies in memory whole.

    Use as a context manager. Each piece is checked by itself, so a table with a key must have the worker in it, and
    each piece must hold all rows of its workers.
    """

    def __init__(self, folder: Path, table: Table) -> None:
        if table.key and "worker" not in table.key:
            raise ValueError(f"{table.name} has a key over all its rows and cannot be written in pieces")
        self.rows = 0
        self._folder, self._table = folder, table
        self._open_files = ExitStack()

    def __enter__(self) -> Self:
        """Open both files and write the header."""
        empty = self._table.empty()
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
        piece = checked(frame, self._table)
        self._csv.write(csv_text(piece).partition("\n")[2])
        self._parquet.write_table(pa.Table.from_pandas(piece, schema=self._schema, preserve_index=False))
        self.rows += len(piece)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close both files."""
        self._open_files.close()


def feature_tables(content: StudyContent) -> dict[str, pd.DataFrame]:
    """Return positions, push_cells and intents of everything a study file names, those that it has anything for."""
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
    """Return table intents from topic, intent, probability: each once, with the first probability that is known."""
    frame = pd.DataFrame(offered, columns=list(TABLES["intents"].column_names))
    return frame.groupby(["topic", "intent"], sort=False, as_index=False)["probability"].first()


def derived_tables(derived: Iterable[tuple[str, str, bytes]]) -> dict[str, pd.DataFrame]:
    """Return table -> its rows over all tasks, from (task, table, that task's part as Parquet)."""
    parts: defaultdict[str, list[pd.DataFrame]] = defaultdict(list)
    for task, table, content in derived:
        parts[table].append(pd.read_parquet(io.BytesIO(content)).assign(task=task))
    return {table: pd.concat(frames) for table, frames in parts.items()}
