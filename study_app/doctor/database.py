"""What the doctor asks the database itself: its schema, its keys, what it promises to keep, its clock."""

import time
from pathlib import Path

from sqlalchemy import Connection, text

from metrics.errors import InputError
from study_app.doctor.doctor import (
    FAULT,
    OK,
    WARNING,
    Finding,
    clock,
    encryption,
    file_rights,
    programs,
    room,
    server_of,
)
from study_app.services.researcher.settings import KEY_LETTERS, SIGNING_KEY
from study_app.store.database import Database, is_empty, open_database, shown_address
from study_app.store.schema_version import known_versions, stored_version

SYNCHRONOUS = {0: "OFF", 1: "NORMAL", 2: "FULL", 3: "EXTRA"}
FULL = 2
CLOCK_DIFFERENCE_SECONDS = 5.0
DURABLE = {
    "fsync": ("on",),
    "synchronous_commit": ("on", "remote_write", "remote_apply", "local"),
    "full_page_writes": ("on",),
}


def examine(url: str) -> list[Finding]:
    """Look at an installation; what cannot be looked at because the database is missing is left out."""
    found = [programs(), clock(), encryption()]
    try:
        database = open_database(url)
        if is_empty(database):
            found.append(_nothing_loaded(database))
            return found
    except InputError as error:
        fault = error.faults[0]
        return [*found, Finding(what="database", state=FAULT, found=fault.problem, cure=fault.cure)]
    file = Path(database.engine.url.database or "")
    if database.is_sqlite:
        found += [room(file.parent), file_rights(file), server_of(file)]
    found += _asked(database)
    database.engine.dispose()
    return found


def _asked(database: Database) -> list[Finding]:
    version = stored_version(database)
    with database.engine.connect() as connection:
        keys = secret_key(connection)
        kept = sqlite_durability(connection) if database.is_sqlite else postgresql_durability(connection)
        clocks = [] if database.is_sqlite else [server_clock(connection)]
    return [schema(version), keys, kept, *clocks]


def _nothing_loaded(database: Database) -> Finding:
    found = f"no study is loaded in {shown_address(database.engine.url)}"
    return Finding(
        what="database", state=FAULT, found=found, cure="prefcal study load FILE, or name --database"
    )


def schema(version: str | None) -> Finding:
    """Compare the version of a database's schema with those that this prefcal knows."""
    known = known_versions()
    if version == known[-1]:
        return Finding(what="schema", state=OK, found=f"version {version}, up to date")
    if version in known:
        found = f"version {version}, not {known[-1]}"
        return Finding(
            what="schema", state=WARNING, found=found, cure="prefcal db backup FILE, prefcal db upgrade"
        )
    return Finding(
        what="schema",
        state=FAULT,
        found=f"version {version}, of a newer prefcal",
        cure="install that prefcal",
    )


def secret_key(connection: Connection) -> Finding:
    """Look whether the key that signs workers' addresses is there, and long enough; never shows it."""
    query = text("SELECT length(value) FROM setting WHERE name = :name")
    letters = connection.scalar(query, {"name": SIGNING_KEY})
    if letters is None or letters < KEY_LETTERS[SIGNING_KEY]:
        found = "is missing" if letters is None else f"has only {letters} letters"
        return Finding(
            what="secret key",
            state=FAULT,
            found=found,
            cure="restore a backup, or load the study anew (new key)",
        )
    return Finding(what="secret key", state=OK, found="is in the database, for the database's readers only")


def sqlite_durability(connection: Connection) -> Finding:
    """Look at what SQLite does before it says that something is stored."""
    journal = connection.scalar(text("PRAGMA journal_mode"))
    level = connection.scalar(text("PRAGMA synchronous")) or 0
    keys = connection.scalar(text("PRAGMA foreign_keys"))
    found = f"journal_mode {journal}, synchronous {SYNCHRONOUS.get(level, level)}, foreign_keys {keys}"
    if journal == "wal" and level >= FULL and keys:
        return Finding(what="durability", state=OK, found=found)
    cure = "put the file on a local disk: SQLite's log does not work on a network's"
    return Finding(what="durability", state=FAULT, found=found, cure=cure)


def postgresql_durability(connection: Connection) -> Finding:
    """Look at what PostgreSQL does before it says that something is stored."""
    values = {name: str(connection.scalar(text(f"SHOW {name}"))) for name in DURABLE}
    weak = [name for name, value in values.items() if value not in DURABLE[name]]
    found = ", ".join(f"{name} {value}" for name, value in values.items())
    if not weak:
        return Finding(what="durability", state=OK, found=found)
    cure = f"in postgresql.conf: {', '.join(f'{name} = on' for name in weak)}; then reload the server"
    return Finding(what="durability", state=FAULT, found=found, cure=cure)


def server_clock(connection: Connection) -> Finding:
    """Compare the clock of this machine with the database server's."""
    before = time.time()
    theirs = float(connection.scalar(text("SELECT extract(epoch FROM clock_timestamp())")) or 0.0)
    difference = theirs - (before + time.time()) / 2
    found = f"the database server's is {difference:+.1f} s from this machine's"
    is_far = abs(difference) > CLOCK_DIFFERENCE_SECONDS
    return Finding(
        what="clocks",
        state=WARNING if is_far else OK,
        found=found,
        cure="let the same time service set both: timedatectl set-ntp true" if is_far else "",
    )
