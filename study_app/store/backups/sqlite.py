"""Backups of a SQLite file, through SQLite's own online backup, which waits for no writer and holds off none.

A backup appears under its name when all of it is on the disk, for its owner alone; or not at all.
"""

import os
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from metrics.errors import input_fault
from metrics.files import sync, sync_names, unfinished
from study_app.store.console_models import FORGET_RESULTS
from study_app.store.database import BUSY_TIMEOUT_MS, Database
from study_app.store.file_turns import serving_lock


@contextmanager
def appearing(file: Path) -> Iterator[Path]:
    """Give a new, empty file that only its owner may read; when the block ends it is synced and renamed to ``file``.

    Raises
    ------
    InputError
        If it cannot be written; what stood under the name is then as it was.
    """
    try:
        with unfinished(file) as part:
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
"""What SQLite keeps beside a file while it is used, and leaves there after a crash."""


def copy_into(database: Database, part: Path) -> None:
    """Copy the database as it is at one moment into ``part``, and check the copy."""
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
    """Return what SQLite finds wrong with a file: torn pages, bad indexes, rows that refer to nothing; [] if sound."""
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
    """Check a backup and give (version of its schema, what to put back) while the block lasts."""
    faults = damage(file)
    if faults:
        raise input_fault(f"is damaged ({faults[0]})", path=file, cure="use another backup")
    with closing(_connected(file)) as connection:
        try:
            row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        except sqlite3.OperationalError:
            row = None
    if row is None:
        raise input_fault("is a database, but none of prefcal's", path=file, cure="use a backup of prefcal's")
    yield row[0], file


def rows(
    file: Path, names: Sequence[str]
) -> Iterator[tuple[str, tuple[str, ...], Iterator[tuple[Any, ...]]]]:
    """Give the rows of a checked backup's tables in the order of their numbers: name, columns, rows."""
    with closing(_connected(file)) as connection:
        for name in names:
            cursor = connection.execute(f'SELECT * FROM "{name}" ORDER BY rowid')  # noqa: S608 - our own tables
            yield name, tuple(column[0] for column in cursor.description), cursor


def put_back(database: Database, file: Path) -> None:
    """Replace the database's file by a copy of a checked one without its jobs' results; nobody may have it open."""
    target = _path(database)
    database.engine.dispose()
    with serving_lock(str(database.engine.url)), appearing(target) as part:
        with closing(_connected(file)) as old, closing(_connected(part)) as new:
            old.backup(new)
            new.execute("PRAGMA journal_mode = DELETE")
            if new.execute("SELECT 1 FROM sqlite_master WHERE name = 'job'").fetchone():
                new.execute(FORGET_RESULTS)
                new.commit()
        if target.exists():
            _close_off(target)
            _pass_on(target, part)
        for suffix in LOGS:
            Path(f"{target}{suffix}").unlink(missing_ok=True)


def _close_off(target: Path) -> None:
    """Make sure that nobody has a database open, and bring what stands in its log home."""
    try:
        with closing(_connected(target)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")  # SQLite does so for the only user of a file
    except sqlite3.DatabaseError as error:
        raise input_fault(
            f"cannot be replaced now ({error})", path=target, cure="end every prefcal command that uses it"
        ) from error


def _pass_on(target: Path, part: Path) -> None:
    """Give a file the rights of the one that it replaces, and its owner where that is possible."""
    status = target.stat()
    part.chmod(stat.S_IMODE(status.st_mode))
    if os.geteuid() == 0:
        os.chown(part, status.st_uid, status.st_gid)


def _connected(path: Path) -> sqlite3.Connection:
    """Open a file that exists; makes none."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=BUSY_TIMEOUT_MS / 1000)


def _path(database: Database) -> Path:
    return Path(database.engine.url.database or "")
