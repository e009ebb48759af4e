"""Database engine, transactions, free space and versions of the schema.

This is the only module that commits. Reads see one consistent state and wait for nobody. In SQLite, the
writes of this process take turns and share commits (`study_app.store.writer_lock`) instead of waiting for
SQLite's busy handler, which sleeps; the database's own lock holds other processes off. In PostgreSQL writes
run side by side and wait for each other's rows only.
"""

import atexit
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from sqlalchemy import URL, Connection, Engine, MetaData, create_engine, event, inspect
from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError
from sqlalchemy.orm import Session, sessionmaker
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection

from metrics.errors import PrefcalError, input_fault
from study_app.config import parsed_address
from study_app.store import console_models, platform_models, task_models
from study_app.store.models import Base
from study_app.store.server_connections import SOON_LOST, prepare_for_pages
from study_app.store.writer_lock import WRITES, SharedWrites, begin_for_writing, refuse_half_a_write

if TYPE_CHECKING:
    from alembic.config import Config

BUSY_TIMEOUT_MS = 10_000
DAMAGED = "malformed"
"""Word in SQLite's message about a torn file."""

DAMAGED_CURE = "see what is damaged with prefcal db check, and restore a backup from before that"
SQLITE_POOL_SIZE, POSTGRES_POOL_SIZE = 40, 20
"""Connections kept for SQLite and PostgreSQL.

SQLite has one for every thread of a server, PostgreSQL as many as a server can spare.
"""

MIGRATIONS = Path(__file__).resolve().parent / "migrations"
_MODULES = (task_models, console_models, platform_models)
METADATA: MetaData = Base.metadata


@dataclass(frozen=True, slots=True, eq=False)
class Database:
    """Open database, used through `transaction`.

    ``shared`` is this process's shared writes into a SQLite file.
    """

    engine: Engine
    readers: sessionmaker[Session]
    writers: sessionmaker[Session]
    shared: SharedWrites | None

    @property
    def is_sqlite(self) -> bool:
        """True for a SQLite file, False for a server's database."""
        return self.engine.dialect.name == "sqlite"


_OPEN: WeakSet[Engine] = WeakSet()


@atexit.register
def _close_all() -> None:
    """Close the databases that a process leaves open.

    SQLite then takes its log, FILE-wal, into the file: who copies the file alone has every answer.
    """
    for engine in list(_OPEN):
        engine.dispose()


def open_database(url: str, *, impatient: bool = False) -> Database:
    """Open a database without connecting to it; the end of the process closes it.

    Parameters
    ----------
    url : str
        Address of the database.
    impatient : bool
        For a server of pages, whose workers wait: a database server that falls silent, or a lock that somebody keeps, is an
        error after some seconds. Without it a statement may take as long as it takes.

    Raises
    ------
    InputError
        If the address names no database that can be reached from here.
    """
    try:
        engine = create_engine(
            _with_driver(url, SOON_LOST if impatient else {}),
            pool_size=SQLITE_POOL_SIZE if url.startswith("sqlite") else POSTGRES_POOL_SIZE,
            pool_pre_ping=not url.startswith("sqlite"),
            hide_parameters=True,  # they are answers and platform ids, and errors get into logs
        )
    except (ArgumentError, NoSuchModuleError, ModuleNotFoundError) as error:
        raise input_fault(
            f"not a database this installation can open: {shown_address(url)} ({error})",
            cure="write sqlite:///FILE, or install the driver that the address names",
        ) from error
    _OPEN.add(engine)
    is_sqlite = engine.dialect.name == "sqlite"
    if is_sqlite:
        event.listen(engine, "do_connect", _make_private)
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "checkin", _read_again)
        engine.dialect.do_begin = _begin_sqlite  # type: ignore[method-assign] # an engine with listeners asks them at each statement
        reading = engine
    else:
        if impatient:
            prepare_for_pages(engine)
        reading = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    return Database(
        engine=engine,
        readers=sessionmaker(reading, expire_on_commit=False),
        writers=sessionmaker(engine, expire_on_commit=False),
        shared=SharedWrites(engine) if is_sqlite else None,
    )


def _with_driver(url: str, parameters: Mapping[str, str]) -> URL:
    """Return an address with its driver, and with parameters that it lacks.

    PostgreSQL's own tools take addresses without a driver.
    """
    parsed = parsed_address(url)
    if parsed.drivername in {"postgresql", "postgres"}:
        parsed = parsed.set(drivername="postgresql+psycopg")
    if parsed.get_backend_name() != "postgresql":
        return parsed
    return parsed.update_query_dict({**parameters, **parsed.query})


@contextmanager
def transaction(database: Database, *, write: bool) -> Iterator[Session]:
    """Open a session; a writing one commits at the end of the block.

    Nothing is stored if the block raises.

    Raises
    ------
    RuntimeError
        If the block went on after the database had refused something: nothing of it would be stored.
    """
    if write:
        with database.shared.session() if database.shared else database.writers.begin() as session:
            yield session
            refuse_half_a_write(session)
    else:
        with database.readers() as session:
            yield session
            if not database.is_sqlite:
                session.commit()  # after a rollback the driver forgets which statements the server has prepared


def migrate(database: Database) -> None:
    """Bring the tables up to this version; a new database gets all of them.

    Raises
    ------
    PrefcalError
        If the database was written by a version that this one cannot read.
    InputError
        If it cannot be reached or written, or is something else.
    """
    from alembic import command  # noqa: PLC0415 - slow to import, and needed once a process
    from alembic.runtime.migration import MigrationContext  # noqa: PLC0415

    with database_errors_as_input(database), schema_change(database) as connection:
        version = MigrationContext.configure(connection).get_current_revision()
        refuse_unknown(version, shown_address(database.engine.url))
        if version != known_versions()[-1]:
            settings = migrations()
            settings.attributes["connection"] = connection
            command.upgrade(settings, "head")


@contextmanager
def schema_change(database: Database) -> Iterator[Connection]:
    """Open a connection that may create tables anew; undo it if the block raises.

    SQLite changes a table by copying it and dropping the old one, which references to it forbid: so they are
    not enforced in the block, and are all checked at its end.
    """
    alone = database.shared.alone() if database.shared else nullcontext()
    with alone, database.engine.connect() as connection:
        if database.is_sqlite:
            begin_for_writing(connection)
        _enforce_references(database, connection, "OFF")
        try:
            with connection.begin():
                yield connection
                if database.is_sqlite and connection.exec_driver_sql("PRAGMA foreign_key_check").first():
                    raise PrefcalError(f"{shown_address(database.engine.url)}: rows refer to missing rows")
        finally:
            _enforce_references(database, connection, "ON")


def _enforce_references(database: Database, connection: Connection, switch: str) -> None:
    if database.is_sqlite:
        raw: Any = connection.connection.dbapi_connection
        raw.execute(f"PRAGMA foreign_keys = {switch}")


def is_empty(database: Database) -> bool:
    """Return whether the database has no table of prefcal; creates nothing.

    Raises
    ------
    InputError
        If the database cannot be reached, or is something else.
    """
    url = database.engine.url
    if database.is_sqlite and not Path(url.database or "").exists():
        return True
    with database_errors_as_input(database):
        return not inspect(database.engine).has_table("study")


def shown_address(url: Any) -> str:
    """Return an address for messages: a SQLite file's path, or one without a password.

    Parameters added by prefcal are left out too.
    """
    parsed = parsed_address(url)
    if parsed.get_backend_name() == "sqlite" and parsed.database:
        return parsed.database
    plain = parsed.set(drivername=parsed.get_backend_name()).difference_update_query(SOON_LOST)
    return plain.render_as_string(hide_password=True).replace("%2C", ",")


@contextmanager
def database_errors_as_input(database: Database) -> Iterator[None]:
    """Turn database errors of the block into an `InputError` with the address.

    The address is without its password.
    """
    try:
        yield
    except DatabaseError as error:
        message = " ".join(str(error.orig).split())  # PostgreSQL's says more than a line
        message = message.rpartition("All failures were: - ")[2]  # of several servers: each once
        file, server = "its folder exists and may be written", "the server runs and lets you in"
        cure = f"check the address, and that {file if database.is_sqlite else server}"
        raise input_fault(
            f"the database {shown_address(database.engine.url)} cannot be used ({message})",
            cure=DAMAGED_CURE if DAMAGED in message else cure,
        ) from error


def _make_private(_dialect: object, _record: object, arguments: list[Any], _options: object) -> None:
    """Create a new file that only its owner reads: it holds platform ids and keys.

    SQLite's other files get the same rights.
    """
    name = str(arguments[0])
    if not name.startswith((":memory:", "file:")):
        with suppress(OSError):  # it is there already; or cannot be made, as SQLite then says itself
            os.close(os.open(name, os.O_CREAT | os.O_EXCL, 0o600))


def _prepare_sqlite(connection: Any, record: object) -> None:  # noqa: ARG001 - SQLAlchemy's signature
    connection.isolation_level = None  # transactions are begun by `_begin_sqlite`, not by the driver
    cursor = connection.cursor()
    for pragma in (
        f"busy_timeout = {BUSY_TIMEOUT_MS}",
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def without_waiting(database: Database) -> Database:
    """Turn off waiting for the disk in new connections to a SQLite file.

    Only simulated crowds use it: after a power cut they are simulated again.
    """
    if database.is_sqlite:
        event.listen(database.engine, "connect", lambda raw, _: raw.execute("PRAGMA synchronous = OFF"))
        database.engine.dispose()
    return database


def _begin_sqlite(dbapi_connection: PoolProxiedConnection) -> None:
    """Begin a transaction, at once as a writer where that is wanted.

    Two writers then never wait for each other's read.
    """
    raw: Any = dbapi_connection.dbapi_connection
    raw.execute("BEGIN IMMEDIATE" if WRITES in dbapi_connection.info else "BEGIN")


def _read_again(_connection: object, record: ConnectionPoolEntry) -> None:
    """Reset a returned connection so that it begins as a reader."""
    record.info.pop(WRITES, None)


LOW_BYTES, FULL_BYTES = 1 << 30, 100 << 20
"""Free bytes for a warning of the doctor, and for closing to new workers.

Workers who have begun can then still finish.
"""


def free_bytes(folder: Path) -> int:
    """Return the free bytes of a folder's disk."""
    return shutil.disk_usage(folder).free


def room_left(database: Database) -> int | None:
    """Return the free bytes of the disk of a SQLite file.

    It returns None for a database server, whose disk is out of sight.
    """
    path = database.engine.url.database
    return free_bytes(Path(path).absolute().parent) if database.is_sqlite and path is not None else None


def is_nearly_full(database: Database) -> bool:
    """Return whether there is too little disk space for more workers.

    It is False where the disk space is unknown.
    """
    room = room_left(database)
    return room is not None and room < FULL_BYTES


def migrations() -> "Config":
    """Return alembic's settings with the folder of the migrations."""
    from alembic.config import Config  # noqa: PLC0415 - slow to import, and few commands need it

    settings = Config()
    settings.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    return settings


@cache
def known_versions() -> tuple[str, ...]:
    """Return the known versions of the schema, oldest first."""
    from alembic.script import ScriptDirectory  # noqa: PLC0415

    scripts = ScriptDirectory.from_config(migrations()).walk_revisions()
    return tuple(script.revision for script in scripts)[::-1]


def stored_version(database: Database) -> str | None:
    """Return the version of a database's schema, None without one; changes nothing.

    Raises
    ------
    InputError
        If the database cannot be reached, or is something else.
    """
    with database_errors_as_input(database), database.engine.connect() as connection:
        version: str | None = _context(connection).get_current_revision()
        return version


def cure_of_unknown(version: str | None) -> tuple[str, str] | None:
    """Return ("an older" or "a newer", hint) for an unreadable schema version.

    It returns None for a version that this prefcal can read or upgrade.
    """
    known = known_versions()
    if version is None or version in known:
        return None
    if version < known[0]:
        return (
            "an older",
            "upgrade it with the prefcal before this one (prefcal db upgrade), then open it with this one",
        )
    return "a newer", "install that prefcal, or name another"


def refuse_unknown(version: str | None, place: str) -> None:
    """Raise `PrefcalError` if a version cannot be read or upgraded.

    Parameters
    ----------
    version : str or None
        As `stored_version` returns it.
    place : str
        Address or file of that version, for the message.
    """
    unknown = cure_of_unknown(version)
    if unknown is not None:
        age, cure = unknown
        raise PrefcalError(f"{place} was written by {age} prefcal (version {version}); {cure}")


def refuse_unknown_database(database: Database) -> None:
    """Raise `PrefcalError` if a database's version cannot be read or upgraded."""
    refuse_unknown(stored_version(database), shown_address(database.engine.url))


def drift(connection: Connection) -> list[str]:
    """Return one line for each difference between stored tables and models."""
    from alembic.autogenerate import compare_metadata  # noqa: PLC0415

    context = _context(connection)
    return [_described(difference) for difference in compare_metadata(context, METADATA)]


def _described(difference: Any) -> str:
    """Return the description of one difference: the migration that is missing."""
    first = difference[0] if isinstance(difference, list) else difference
    words = [getattr(part, "name", None) or str(part) for part in first[:4] if part is not None]
    return " ".join(words).replace("_", " ", 1)


def _context(connection: Connection) -> Any:
    from alembic.runtime.migration import MigrationContext  # noqa: PLC0415

    return MigrationContext.configure(connection, opts={"compare_type": True})
