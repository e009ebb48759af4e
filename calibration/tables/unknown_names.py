"""Columns and files that nothing reads, with the known name each may mean.

Unknown names are ignored, so that one typing error can remove a column or a table from every result.
"""

import csv
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pa_parquet

from calibration.tables.definition import Table
from calibration.tables.study_json import STUDY_FILE
from calibration.tables.tables import TABLES
from metrics.errors import closest_name

SUFFIXES = (".csv", ".parquet")
JUDGES_FILE = "judges.json"
"""What the hash of a folder's tables was before judges came beside people."""
_OTHER_SUFFIXES = frozenset(
    {".tsv", ".tab", ".txt", ".xls", ".xlsx", ".ods", ".gz", ".zip", ".json", ".feather"}
)
_ALIKE = 0.75


class Ignored(NamedTuple):
    """Column or file that nothing reads.

    Attributes
    ----------
    path : Path
        The file.
    name : str
        The column, or the file's own name.
    meant : str or None
        The known name that it is nearly; None when it is like none that is missing.
    is_file : bool
        Whether the whole file is ignored.
    """

    path: Path
    name: str
    meant: str | None
    is_file: bool

    @property
    def in_short(self) -> str:
        """Format as a clause: `column 'exclude' of workers.csv ('excluded'?)`."""
        what = self.name if self.is_file else f"column {self.name!r} of {self.path.name}"
        return f"{what} ({self.meant!r}?)" if self.meant else what

    @property
    def cure(self) -> str:
        """Return a hint with the known name that it nearly is."""
        is_form_other = self.is_file and Path(str(self.meant)).suffix != self.path.suffix
        return f"did you mean {self.meant!r}? Then {'save it in that form' if is_form_other else 'rename it'}"


def closest_known_name(name: str, known: Iterable[str], *, cutoff: float = _ALIKE) -> str | None:
    """Return the known name that ``name`` nearly is, or None.

    Case and separators do not matter.
    """
    plain = {_plain(word): word for word in known}
    near = closest_name(_plain(name), plain, cutoff=cutoff)
    return plain[near] if near else None


def ignored_columns(path: Path, table: Table) -> Iterator[Ignored]:
    """Yield the columns of a sound table file that its definition lacks."""
    there = _header(path)
    table = table.opened(there)
    missing = [name for name in table.column_names if name not in there]
    for name in there:
        if name not in table.column_names:
            yield Ignored(path, name, closest_known_name(name, missing), is_file=False)


def ignored_files(folder: Path, tables: Collection[str]) -> Iterator[Ignored]:
    """Yield the visible files of a folder that hold none of its ``tables``."""
    for path in sorted(folder.iterdir()):
        is_known = path.name in {STUDY_FILE, JUDGES_FILE} or (path.stem in TABLES and path.suffix in SUFFIXES)
        if path.is_file() and not path.name.startswith(".") and not is_known:
            yield Ignored(path, path.name, _file_meant(path, tables), is_file=True)


def _file_meant(path: Path, tables: Collection[str]) -> str | None:
    """Return the name that a file should have, if it is nearly a known one.

    The folder must lack that table, or study.json.
    """
    if path.suffix.lower() == ".json" and not path.with_name(STUDY_FILE).exists():
        near_study = closest_known_name(path.name, [STUDY_FILE])
        if near_study:
            return near_study
    suffix = path.suffix.lower()
    if suffix not in (*SUFFIXES, *_OTHER_SUFFIXES):
        return None
    near = closest_known_name(path.name.partition(".")[0], [name for name in TABLES if name not in tables])
    return f"{near}{suffix if suffix in SUFFIXES else '.csv'}" if near else None


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "_", name.strip().casefold())


def _header(path: Path) -> list[str]:
    """Return the headers of a table file that could be read."""
    if path.suffix == ".parquet":
        schema: pa.Schema = pa_parquet.read_schema(path)
        return list(schema.names)
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return next((row for row in csv.reader(stream) if row), [])
