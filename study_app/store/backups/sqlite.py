"""Backups of a SQLite file through SQLite's online backup, which blocks no writer.

A backup appears under its name once all of it is on the disk, readable by its owner alone.
"""

import os
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from metrics.errors import input_fault
from metrics.files import sync, sync_names, temporary_path
from study_app.store.console_models import FORGET_RESULTS
from study_app.store.database import BUSY_TIMEOUT_MS, Database
from study_app.store.writer_lock import serving_lock


@contextmanager
def appearing(file: Path) -> Iterator[Path]:
    """Yield a new, private file that is synced and renamed to ``file`` at the end.

    Raises
    ------
    InputError
        If it cannot be written; a file of that name is then left as it was.
    """
    try:
        with temporary_path(file) as part:
            part.touch(mode=0o600)
            yield part
            sync(part)
            part.replace(file)
            sync_names(file.parent)
    except OSError as error:
        problem = f"cannot be written ({error.strerror})"
        raise input_fault(problem, path=file, cure="choose another place, or make room there") from error


MAGIC = b"SQLite format 3\x00"
LOGS = ("-wal", "-shm")
"""Suffixes of SQLite's files beside a database, in use and after a crash."""


def copy_into(database: Database, part: Path) -> None:
    """Copy a database as of one moment into ``part``, and check the copy."""
    source = _path(database)
    try:
        with closing(_connected(source)) as old, closing(_connected(part)) as new:
            old.backup(new)
            new.execute("PRAGMA journal_mode = DELETE")  # one file, without a log beside it
    except sqlite3.Error as error:
        raise input_fault(
            f"cannot be copied ({error})", path=source, cure="see prefcal db check, and the room on the disk"
        ) from error
    faults = damage(part)
    if faults:
        raise input_fault(
            f"is damaged ({faults[0]}), so no backup was made", path=source, cure="restore an older backup"
        )


def damage(file: Path) -> list[str]:
    """Return the faults that SQLite finds in a file, [] for none.

    Faults are torn pages, bad indexes, and rows that refer to missing ones.
    """
    try:
        with closing(_connected(file)) as connection:
            torn = [row[0] for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
            lost = connection.execute("PRAGMA foreign_key_check").fetchall()
    except sqlite3.DatabaseError as error:
        return [str(error)]
    return torn + [
        f"row {row} of {table} refers to a row of {parent} that is not there"
        for table, row, parent, _ in lost
    ]


@contextmanager
def checked(file: Path) -> Iterator[tuple[str, Path]]:
    """Yield (schema version, checked file) of a backup."""
    faults = damage(file)
    if faults:
        raise input_fault(f"is damaged ({faults[0]})", path=file, cure="use another backup")
    with closing(_connected(file)) as connection:
        try:
            row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        except sqlite3.OperationalError:
            row = None
    if row is None:
        raise input_fault("is a database of another program", path=file, cure="use a backup of prefcal's")
    yield row[0], file


def rows(
    file: Path, names: Sequence[str]
) -> Iterator[tuple[str, tuple[str, ...], Iterator[tuple[Any, ...]]]]:
    """Yield (name, columns, rows) of a checked backup's tables, rows by number."""
    with closing(_connected(file)) as connection:
        for name in names:
            cursor = connection.execute(f'SELECT * FROM "{name}" ORDER BY rowid')  # noqa: S608 - our own tables
            yield name, tuple(column[0] for column in cursor.description), cursor


def put_back(database: Database, file: Path) -> None:
    """Replace the database's file by a copy of a checked backup.

    Results of the console's jobs are left out. No process may have the file open.
    """
    target = _path(database)
    database.engine.dispose()
    with serving_lock(str(database.engine.url)), appearing(target) as part:
        with closing(_connected(file)) as old, closing(_connected(part)) as new:
            old.backup(new)
            new.execute("PRAGMA journal_mode = DELETE")
            new.execute(FORGET_RESULTS)
            new.commit()
        if target.exists():
            _close_off(target)
            _pass_on(target, part)
        for suffix in LOGS:
            Path(f"{target}{suffix}").unlink(missing_ok=True)


def _close_off(target: Path) -> None:
    """Check that no process has a database open, and write its log back."""
    try:
        with closing(_connected(target)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")  # SQLite does so for the only user of a file
    except sqlite3.DatabaseError as error:
        raise input_fault(
            f"cannot be replaced now ({error})", path=target, cure="end every prefcal command that uses it"
        ) from error


def _pass_on(target: Path, part: Path) -> None:
    """Copy rights, and the owner where possible, from the replaced file."""
    status = target.stat()
    part.chmod(stat.S_IMODE(status.st_mode))
    if os.geteuid() == 0:
        os.chown(part, status.st_uid, status.st_gid)


def _connected(path: Path) -> sqlite3.Connection:
    """Open an existing file; never create one."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=BUSY_TIMEOUT_MS / 1000)


def _path(database: Database) -> Path:
    return Path(database.engine.url.database or "")
