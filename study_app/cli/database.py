"""The database that a command opens, and the loaded study that it is about."""

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from metrics.errors import input_fault
from study_app.cli.options import F
from study_app.config import DATABASE_VARIABLE, DEFAULT_FILE, database_url

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from sqlalchemy.orm import Session

    from study_app.store.database import Database
    from study_app.store.models import LoadedStudy
    from study_app.store.study_cache import CachedStudy, StudyCache


def database_option(command: F) -> F:
    """Add ``--database`` to a command, as parameter ``database``."""
    return click.option(
        "--database",
        metavar="URL",
        help="Database of the studies: a SQLite file, or a PostgreSQL server as postgresql://USER@HOST/NAME. "
        f"Default: ${DATABASE_VARIABLE}, else {DEFAULT_FILE} in this folder.",
    )(command)


@contextmanager
def named_database(given: str | None, *, create: bool = False) -> "Iterator[Database]":
    """Open the database that an option names, say on stderr which it is, and close it.

    Raises
    ------
    InputError
        If it cannot be opened, or nothing was loaded into it and ``create`` is off.
    """
    from study_app.store.database import is_empty, migrate, open_database, shown_address

    database = open_database(database_url(given))
    try:
        address = shown_address(database.engine.url)
        if not create and is_empty(database):
            raise input_fault(
                f"no study is loaded in {address}",
                cure="load one (prefcal study load FILE), or name --database",
            )
        migrate(database)
        sys.stderr.write(f"database: {address}\n")
        yield database
    finally:
        database.engine.dispose()


@contextmanager
def database_session(given: str | None, *, write: bool, create: bool = False) -> "Iterator[Session]":
    """Open the database that an option names for one transaction, and close it."""
    from study_app.store.database import transaction

    with named_database(given, create=create) as database, transaction(database, write=write) as session:
        yield session


@dataclass(frozen=True, kw_only=True)
class OpenStudy:
    """Loaded study in a transaction of a command, at one moment.

    Attributes
    ----------
    session : Session
        The transaction.
    row : LoadedStudy
        The study there.
    plans : StudyCache
        Plans that were read, of this study and of others.
    now : datetime
        When the command began with it.
    """

    session: "Session"
    row: "LoadedStudy"
    plans: "StudyCache"
    now: "datetime"

    @property
    def plan(self) -> "CachedStudy":
        """Plan of the study."""
        return self.plans.of(self.session, self.row.id, self.row.version)

    def complete_workers(self) -> "dict[int, datetime]":
        """Return when the data of each worker (row) were complete."""
        from study_app.services.researcher.completion import complete_workers

        return complete_workers(self.session, self.plans, self.plan, now=self.now)

    def note(self, what: str, detail: str) -> None:
        """Add a line to the study's audit; ``detail`` has no id of a person."""
        from study_app.services.researcher.audit import add_audit_entry

        add_audit_entry(self.session, self.row.id, None, what, detail, now=self.now)


def open_study(session: "Session", name: str | None) -> OpenStudy:
    """Return the study of that name, or the only one when no name is given.

    Raises
    ------
    InputError
        If there is none, or several and no name.
    """
    from study_app.services.researcher.studies import chosen_study
    from study_app.store.study_cache import StudyCache
    from study_app.store.tokens import utc_now

    return OpenStudy(session=session, row=chosen_study(session, name), plans=StudyCache(), now=utc_now())


@contextmanager
def study_session(given: str | None, name: str | None, *, write: bool) -> "Iterator[OpenStudy]":
    """Open the named database for one transaction about a study, and close it."""
    with database_session(given, write=write) as session:
        yield open_study(session, name)
