"""A copy of the database in one file, and back again, whichever kind of database it is.

A backup is taken while the server writes and holds one moment: every row of it was committed, and whatever a row refers
to is in it. It appears complete and checked, or not at all. It holds the keys of the installation and the platform's
worker ids, so only its owner may read it. How it is done stands in `backup_sqlite` and `backup_postgres`; a backup of
one kind is put into the other by `backup_across`.
"""

from functools import partial
from pathlib import Path
from types import ModuleType

from sqlalchemy import select

from metrics.errors import input_fault
from study_app.store.backup import postgres as backup_postgres
from study_app.store.backup import sqlite as backup_sqlite
from study_app.store.backup.across import put_across
from study_app.store.backup.appearing_file import appearing
from study_app.store.database import Database, is_empty, shown_address, transaction
from study_app.store.models import Study
from study_app.store.schema_version import refuse_newer, stored_version

KINDS: dict[str, ModuleType] = {
    "SQLite": backup_sqlite,
    "PostgreSQL": backup_postgres,
}
MAGIC_BYTES = 16


def back_up(database: Database, file: Path, *, force: bool = False) -> None:
    """Copy a database into a file that is checked before it gets its name.

    Parameters
    ----------
    database : Database
        May be served and written to meanwhile.
    file : Path
        To be made, in a folder that exists.
    force : bool
        Replace an older file.

    Raises
    ------
    InputError
        If there is nothing to copy, the file exists, it cannot be written, or the copy fails its check.
    """
    if is_empty(database):
        raise input_fault(
            f"no study is loaded in {shown_address(database.engine.url)}", cure="name --database"
        )
    if file.exists() and not (force and file.is_file()):
        raise input_fault(
            "is there already", path=file, cure="choose another name, or replace it with --force"
        )
    with appearing(file) as part:
        KINDS[_kind_of(database)].copy_into(database, part)


def restore(database: Database, file: Path, *, force: bool = False) -> str:
    """Put a backup into a database that nobody serves, all of it or nothing; returns its schema's version.

    Raises
    ------
    InputError
        If the file is no intact backup, the database has studies and ``force`` is off, or somebody uses it.
    PrefcalError
        If the file or the database was written by a newer prefcal.
    """
    kind = _kind_of_file(file)
    if not is_empty(database):
        _refuse_to_replace(database, shown_address(database.engine.url), force=force)
    with KINDS[kind].checked(file) as (version, content):
        refuse_newer(version, str(file))
        if kind == _kind_of(database):
            KINDS[kind].put_back(database, content)
        else:
            put_across(database, version, partial(KINDS[kind].rows, content))
        return str(version)


def _refuse_to_replace(database: Database, address: str, *, force: bool) -> None:
    """Raise unless the tables that are there are prefcal's, and hold no study or may be replaced."""
    version = stored_version(database)
    refuse_newer(version, address)
    if version is None:
        raise input_fault(
            f"the tables in {address} are none of prefcal's", cure="name another database with --database"
        )
    with transaction(database, write=False) as session:
        has_studies = session.scalar(select(Study.id).limit(1)) is not None
    if has_studies and not force:
        raise input_fault(
            f"there are studies in {address} already",
            cure="name another database, or replace everything in it with --force",
        )


def _kind_of(database: Database) -> str:
    return "SQLite" if database.is_sqlite else "PostgreSQL"


def _kind_of_file(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            start = stream.read(MAGIC_BYTES)
    except OSError as error:
        raise input_fault(
            f"cannot be read ({error.strerror})", path=file, cure="check the name and who may read it"
        ) from error
    for kind, module in KINDS.items():
        if start.startswith(module.MAGIC):
            return kind
    raise input_fault("is no backup", path=file, cure="name a file that prefcal db backup made")
