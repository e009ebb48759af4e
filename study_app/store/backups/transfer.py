"""Transfer of a backup into a database of the other kind.

A campaign may move from SQLite to PostgreSQL or back. The tables are made as the backup's version had them, and every row is put into them with its number, so that
addresses and tokens that workers hold stay good. Both kinds store times as whole numbers and structures as JSON;
truth and bytes they write differently.
"""

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from alembic import command
from sqlalchemy import JSON, Boolean, Connection, LargeBinary, MetaData

from study_app.store.backups import postgres, sqlite
from study_app.store.console_models import FORGET_RESULTS
from study_app.store.database import (
    Database,
    database_errors_as_input,
    migrations,
    open_database,
    schema_change,
)

Rows: TypeAlias = Callable[[Sequence[str]], Iterator[tuple[str, tuple[str, ...], Iterable[Sequence[Any]]]]]
"""Callable that yields (name, columns, rows) of the tables of some names.

They come in the order of the names where the backup leaves a choice.
"""
PORTION = 1_000
"""Rows inserted in one statement."""
TRUE = (1, "t")
HEX = "\\x"


def put_across(database: Database, version: str, rows: Rows) -> None:
    """Replace an unused database by a checked backup of the other kind.

    Either all rows are written or none.

    Parameters
    ----------
    database : Database
        Database of the other kind than the backup.
    version : str
        The schema's version in the backup, known to this prefcal.
    rows : callable
        Rows of the backup.

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
    with database_errors_as_input(database), schema_change(database) as connection:
        if not database.is_sqlite:
            connection.exec_driver_sql(postgres.drop_tables())
        tables = _made(connection, version)
        names = [table.name for table in tables.sorted_tables]
        for name, columns, values in rows(names):
            _insert(connection, tables, name, columns, values)
        connection.exec_driver_sql(FORGET_RESULTS)
        if not database.is_sqlite:
            for name in names:
                go_on_counting(connection, tables, name)


def _made(connection: Connection, version: str) -> MetaData:
    """Create and return empty tables as they were in a version of the schema."""
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
    """Return a stored value as the other kind of database takes it.

    Texts become numbers where the column is numeric.
    """
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
    """Set PostgreSQL's sequence of a table after its largest number."""
    if "id" in tables.tables[name].columns:
        connection.exec_driver_sql(
            f"SELECT setval(pg_get_serial_sequence('\"{name}\"', 'id'), max(id))"  # noqa: S608 - our own table
            f' FROM "{name}" HAVING max(id) IS NOT NULL'
        )
