"""Options and openings that several commands share."""

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from metrics.errors import input_fault
from study_app.config import DATABASE_VARIABLE, DEFAULT_FILE, database_url
from study_app.store.database import Database, is_empty, migrate, open_database, shown_address

F = TypeVar("F", bound=Callable[..., Any])


def database_option(command: F) -> F:
    """Add ``--database`` to a command, as parameter ``database``."""
    return click.option(
        "--database",
        metavar="URL",
        help="Where the studies are: a SQLite file, or a PostgreSQL server as postgresql://USER@HOST/NAME. "
        f"Default: ${DATABASE_VARIABLE}, else {DEFAULT_FILE} in this folder.",
    )(command)


def opened(given: str | None, *, create: bool = False) -> Database:
    """Open the database that an option names and say on stderr which it is.

    Raises
    ------
    InputError
        If it cannot be opened, or nothing was loaded into it and ``create`` is off.
    """
    database = open_database(database_url(given))
    address = shown_address(database.engine.url)
    if not create and is_empty(database):
        raise input_fault(
            f"no study is loaded in {address}", cure="load one (prefcal study load FILE), or name --database"
        )
    migrate(database)
    sys.stderr.write(f"database: {address}\n")
    return database
