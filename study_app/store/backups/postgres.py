"""Backups of a PostgreSQL database, made by PostgreSQL's own programs.

They must be on the PATH, in a version not older than the server's. A password reaches them in their
environment only, where no list of processes shows it.
"""

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from psycopg.conninfo import make_conninfo
from sqlalchemy import text
from sqlalchemy.engine import make_url

from metrics.errors import input_fault
from study_app.store.console_models import FORGET_RESULTS
from study_app.store.database import METADATA, Database, database_errors_as_input, shown_address

MAGIC = b"PGDMP"
VERSION_TABLE = "alembic_version"
OTHERS = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    " AND backend_type = 'client backend'"  # the server's own vacuum gives way
)
PLAIN = ("--no-owner", "--no-privileges")
COPY = re.compile(r"COPY \S+\.(\w+) \((.+)\) FROM stdin;\n")
END_OF_COPY = "\\.\n"
CLOSING_SECONDS, AGAIN_SECONDS = 1.0, 0.1
"""Longest wait for closed connections to vanish, and pause between checks."""
NULL = "\\N"
ESCAPED = re.compile(r"\\(.)")
CONTROLS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def copy_into(database: Database, part: Path) -> None:
    """Dump a database as of one moment into ``part``, and read the dump once."""
    _run("pg_dump", "--format=custom", "--encoding=UTF8", *PLAIN, f"--file={part}", database=database)
    _run("pg_restore", f"--file={os.devnull}", str(part))


@contextmanager
def checked(file: Path) -> Iterator[tuple[str, Path]]:
    """Yield (schema version, unpacked dump) of a checked dump."""
    with tempfile.TemporaryDirectory(prefix="prefcal-restore-") as folder:
        script = Path(folder) / "restore.sql"
        _run("pg_restore", *PLAIN, f"--file={script}", str(file))
        yield _version_in(script, file), script


def rows(
    script: Path, names: Sequence[str]
) -> Iterator[tuple[str, tuple[str, ...], Iterator[list[str | None]]]]:
    """Yield (name, columns, rows) of the tables of an unpacked dump, with text values.

    Tables come in the dump's order.
    """
    with script.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            if (match := COPY.fullmatch(line)) and match[1] in names:
                yield match[1], tuple(column.strip('"') for column in match[2].split(", ")), _copied(lines)


def _copied(lines: Iterator[str]) -> Iterator[list[str | None]]:
    for line in lines:
        if line == END_OF_COPY:
            return
        yield [
            None if field == NULL else ESCAPED.sub(lambda found: CONTROLS.get(found[1], found[1]), field)
            for field in line.removesuffix("\n").split("\t")
        ]


def drop_tables() -> str:
    """Return the statement that drops all tables of prefcal."""
    tables = ", ".join([*(f'"{name}"' for name in METADATA.tables), VERSION_TABLE])
    return f"DROP TABLE IF EXISTS {tables} CASCADE"


def put_back(database: Database, script: Path) -> None:
    """Replace the tables by those of an unpacked dump, in one transaction.

    Results of the console's jobs are left out. No other process may use the database.
    """
    refuse_when_used(database)
    _run(
        "psql",
        "--no-psqlrc",
        "--quiet",
        "--set=ON_ERROR_STOP=1",
        "--single-transaction",
        f"--command={drop_tables()}",
        f"--file={script}",
        "--command=RESET search_path",  # a dump leaves none
        f"--command={FORGET_RESULTS}",
        database=database,
    )


def _version_in(script: Path, file: Path) -> str:
    """Return the row of the version table, the line after its COPY."""
    with script.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.startswith("COPY ") and f".{VERSION_TABLE} " in line:
                return next(lines, "").strip()
    raise input_fault("is a dump of another program's database", path=file, cure="use a backup of prefcal's")


def refuse_when_used(database: Database) -> None:
    """Raise `InputError` if another client is connected to a database."""
    database.engine.dispose()
    end = time.monotonic() + CLOSING_SECONDS
    with database_errors_as_input(database), database.engine.connect() as connection:
        while (others := connection.scalar(text(OTHERS))) and time.monotonic() < end:
            connection.rollback()  # a transaction would be told the same again
            time.sleep(AGAIN_SECONDS)
    database.engine.dispose()
    if others:
        raise input_fault(
            f"{shown_address(database.engine.url)} is in use ({others} connections)",
            cure="stop prefcal serve and whatever else uses it",
        )


def _run(program: str, *arguments: str, database: Database | None = None) -> None:
    """Run a program of PostgreSQL.

    Raises
    ------
    InputError
        If it is not installed, or fails; with the line that says why.
    """
    program_path = shutil.which(program)
    if program_path is None:
        raise input_fault(
            f"{program} is not installed here",
            cure="install PostgreSQL's client programs (postgresql-client), in the server's version or a later one",
        )
    connection, secret = ([], {}) if database is None else _connection(database)
    done = subprocess.run(  # noqa: S603 - a program found by name, and arguments of our own
        [program_path, *arguments, *connection],
        env=os.environ | secret,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",  # it quotes the file, which may hold anything
        check=False,
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        message = next((line for line in lines if "error" in line.lower()), lines[0])
        raise input_fault(
            f"{program} failed ({message.removeprefix(f'{program}: ')})",
            cure="see that the server is up and the file is whole; nothing was changed",
        )


def _connection(database: Database) -> tuple[list[str], dict[str, str]]:
    """Return the (arguments, environment) that connect PostgreSQL's programs."""
    _, given = database.engine.dialect.create_connect_args(make_url(database.engine.url))
    password = given.pop("password", None)
    given.pop("context", None)  # the driver's, not the server's
    return [f"--dbname={make_conninfo(**given)}"], {} if password is None else {"PGPASSWORD": str(password)}
