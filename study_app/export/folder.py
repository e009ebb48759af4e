"""Folders that appear complete or not at all; tables that are written piece by piece; those that come from collections alone."""

import io
import os
import shutil
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
from metrics.wording import listed
from study_app.estimate.content import StudyContent


@contextmanager
def fresh_folder(folder: Path, *, is_ours: Callable[[str], bool]) -> Iterator[Path]:
    """Yield an empty folder that takes the place of ``folder`` when the block ends well, and vanishes when not.

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
    _check_replaceable(folder, is_ours)
    new, old = (folder.with_name(f".{folder.name}.{word}-{os.getpid()}") for word in ("new", "old"))
    try:
        new.mkdir(parents=True)
        yield new
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
    except OSError as error:
        raise input_fault(
            f"cannot be written ({error.strerror})",
            path=folder,
            cure="make room there, or name another folder",
        ) from error
    finally:
        if old.exists() and not folder.exists():
            old.rename(folder)
        shutil.rmtree(new, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


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
        if (table.key or table.rules) and "worker" not in table.key:
            raise ValueError(f"{table.name} has rules over all its rows and cannot be written in pieces")
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
