"""A copy of the database in one file, and back again, whichever kind of database it is.

A backup is taken while the server writes and holds one moment: every row of it was committed, and whatever a row refers
to is in it. It appears complete and checked, or not at all. It holds the keys of the installation and the platform's
worker ids, so only its owner may read it. How it is done stands in `backup_sqlite` and `backup_postgres`.

A backup of one kind becomes a database of the other kind, too, for a campaign that moves: the tables are made as the
backup's version had them, and every row is put into them with its number, so that addresses and tokens that workers hold
stay good. Both kinds store times as whole numbers and structures as JSON; truth and bytes they write differently.
"""

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from alembic import command
from sqlalchemy import JSON, Boolean, Connection, LargeBinary, MetaData, select

from metrics.errors import input_fault
from study_app.store.backups import postgres, sqlite
from study_app.store.backups.sqlite import appearing
from study_app.store.console_models import FORGET_RESULTS
from study_app.store.database import (
    Database,
    faults_named,
    is_empty,
    migrations,
    open_database,
    refuse_newer,
    schema_change,
    shown_address,
    stored_version,
    transaction,
)
from study_app.store.models import LoadedStudy

Rows: TypeAlias = Callable[[Sequence[str]], Iterator[tuple[str, tuple[str, ...], Iterable[Sequence[Any]]]]]
"""Gives, for the tables of these names, in this order where the backup leaves a choice: name, columns, rows."""
PORTION = 1_000
TRUE = (1, "t")
HEX = "\\x"


def put_across(database: Database, version: str, rows: Rows) -> None:
    """Replace a database that nobody uses by the rows of a checked backup of the other kind, all of them or none.

    Parameters
    ----------
    database : Database
        Of the kind that the backup is not of.
    version : str
        The schema's version in the backup, known to this prefcal.
    rows : callable
        What is in the backup.

    Raises
    ------
    InputError
        If somebody uses the database, or it refuses a row.
    """
    if not database.is_sqlite:
        postgres.refuse_when_used(database)
        _fill(database, version, rows)
        return
    with tempfile.TemporaryDirectory(prefix="prefcal-restore-") as folder:
        file = Path(folder) / "made.sqlite3"
        made = open_database(f"sqlite:///{file}")
        try:
            _fill(made, version, rows)
        finally:
            made.engine.dispose()
        sqlite.put_back(database, file)


def _fill(database: Database, version: str, rows: Rows) -> None:
    with faults_named(database), schema_change(database) as connection:
        if not database.is_sqlite:
            connection.exec_driver_sql(postgres.drop_tables())
        tables = _made(connection, version)
        names = [table.name for table in tables.sorted_tables]
        for name, columns, values in rows(names):
            _insert(connection, tables, name, columns, values)
        if "job" in names:
            connection.exec_driver_sql(FORGET_RESULTS)
        if not database.is_sqlite:
            for name in names:
                go_on_counting(connection, tables, name)


def _made(connection: Connection, version: str) -> MetaData:
    """Make empty tables as they were in a version of the schema, and return them."""
    settings = migrations()
    settings.attributes["connection"] = connection
    command.upgrade(settings, version)
    tables = MetaData()
    tables.reflect(connection)
    tables.remove(tables.tables[postgres.VERSION_TABLE])
    return tables


def _insert(
    connection: Connection,
    tables: MetaData,
    name: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
) -> None:
    kinds = [tables.tables[name].columns[column].type for column in columns]
    mark = "?" if connection.dialect.paramstyle == "qmark" else "%s"
    quoted = ", ".join(f'"{column}"' for column in columns)
    marks = ", ".join(mark for _ in columns)
    statement = f'INSERT INTO "{name}" ({quoted}) VALUES ({marks})'  # noqa: S608 - names of our own tables
    values = (tuple(map(_value, kinds, row)) for row in rows)
    while portion := list(islice(values, PORTION)):
        connection.exec_driver_sql(statement, portion)


def _value(kind: Any, stored: Any) -> Any:
    """Return a stored value as the other database takes it; texts that are numbers become numbers by the column."""
    if stored is None:
        return None
    if isinstance(kind, Boolean):
        return stored in TRUE
    if isinstance(kind, JSON) and not isinstance(stored, str):
        return json.dumps(stored)  # SQLite keeps a bare number as one
    if isinstance(kind, LargeBinary) and isinstance(stored, str):
        return bytes.fromhex(stored.removeprefix(HEX))
    return stored


def go_on_counting(connection: Connection, tables: MetaData, name: str) -> None:
    """Let PostgreSQL number new rows after those that came with their numbers."""
    if "id" in tables.tables[name].columns:
        connection.exec_driver_sql(
            f"SELECT setval(pg_get_serial_sequence('\"{name}\"', 'id'), max(id))"  # noqa: S608 - our own table
            f' FROM "{name}" HAVING max(id) IS NOT NULL'
        )


KINDS: dict[str, ModuleType] = {
    "SQLite": sqlite,
    "PostgreSQL": postgres,
}
MAGIC_BYTES = 16
SEAL = b"\nprefcal backup, sha256 "
SEAL_BYTES = len(SEAL) + 64 + 1
PIECE_BYTES = 2**20


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
        _seal(part)


def restore(database: Database, file: Path, *, force: bool = False) -> str:
    """Put a backup into a database that nobody serves, all of it or nothing; returns its schema's version.

    Results of the console's jobs are no part of a backup: no row of it names a folder afterwards.

    Raises
    ------
    InputError
        If the file is no intact backup (its seal is that of other bytes), the database has studies and ``force`` is off, or somebody uses it.
    PrefcalError
        If the file or the database was written by a newer prefcal.
    """
    kind = _kind_of_file(file)
    _check_seal(file)
    if not is_empty(database):
        _refuse_to_replace(database, shown_address(database.engine.url), force=force)
    with KINDS[kind].checked(file) as (version, content):
        refuse_newer(version, str(file))
        if kind == _kind_of(database):
            KINDS[kind].put_back(database, content)
        else:
            put_across(database, version, partial(KINDS[kind].rows, content))
        return str(version)


def _seal(file: Path) -> None:
    """Write the checksum of a backup at its end, where neither SQLite nor PostgreSQL's programs look."""
    digest = _sha256(file, file.stat().st_size)
    with file.open("ab") as stream:
        stream.write(SEAL + digest.encode() + b"\n")


def _check_seal(file: Path) -> None:
    """Raise `InputError` if a backup has a seal and is not what was sealed."""
    content = file.stat().st_size - SEAL_BYTES
    if content < 0:
        return
    with file.open("rb") as stream:
        stream.seek(content)
        seal = stream.read()
    if seal.startswith(SEAL) and seal != SEAL + _sha256(file, content).encode() + b"\n":
        raise input_fault(
            "is not as it was written: its checksum is another one", path=file, cure="use another backup"
        )


def _sha256(file: Path, size: int) -> str:
    """Return the checksum of the first bytes of a file."""
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while size > 0 and (piece := stream.read(min(size, PIECE_BYTES))):
            digest.update(piece)
            size -= len(piece)
    return digest.hexdigest()


def _refuse_to_replace(database: Database, address: str, *, force: bool) -> None:
    """Raise unless the tables that are there are prefcal's, and hold no study or may be replaced."""
    version = stored_version(database)
    refuse_newer(version, address)
    if version is None:
        raise input_fault(
            f"the tables in {address} are not prefcal's", cure="name another database with --database"
        )
    with transaction(database, write=False) as session:
        has_studies = session.scalar(select(LoadedStudy.id).limit(1)) is not None
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
