"""Command `prefcal doctor`: checks of an installation before workers come.

Each check is a function that returns a finding about the machine, the database (schema, keys, durability, clock) or the workers'
address (HTTPS, and the headers that a proxy passes on).
"""

import os
import platform
import re
import sqlite3
import stat
import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

import click
import httpx
from filelock import FileLock, Timeout
from sqlalchemy import Connection, text

from metrics.errors import InputError, input_fault
from study_app.cli.database import database_option
from study_app.cli.health_check import FAULT, NOTE, OK, WARNING, HealthCheck, State, link_of, standby_of
from study_app.cli.options import with_options
from study_app.cli.output import Output, table_text
from study_app.services.researcher.studies import KEY_LETTERS, SIGNING_KEY
from study_app.store.database import (
    FULL_BYTES,
    LOW_BYTES,
    Database,
    cure_of_unknown,
    free_bytes,
    is_empty,
    known_versions,
    open_database,
    shown_address,
    stored_version,
)
from study_app.store.writer_lock import LOCK_SUFFIX, lock_path

EARLIEST_YEAR, LATEST_YEAR = 2025, 2100
CLOCK_SAMPLE_SECONDS = 0.05
CLOCK_STEP_SECONDS = 0.5
OLDEST_SQLITE = (3, 35, 0)


@click.command()
@click.option(
    "--address",
    metavar="URL",
    help="Check the served study at the workers' address too, such as https://study.example.org: HTTPS, proxy headers.",
)
@database_option
@with_options(output=Output)
def doctor(database: str | None, address: str | None, *, output: Output) -> None:
    """Check what a study needs, and change nothing.

    It looks at keys, clock, disk, durability, schema, rights and HTTPS, and prints a line each: ok, note, warning or fault,
    with a hint below. Exit 1 when there is a fault.
    """
    from study_app.config import database_url

    checks = examine(database_url(database))
    if address is not None:
        if not re.fullmatch(r"https?://[^/?#@\s]+", address.rstrip("/")):
            raise input_fault(
                f"not the address of a host: {address.rstrip('/')}", cure="write --address https://HOST"
            )
        checks += examine_address(address.rstrip("/"))
    if output.is_for_people:
        output.text(_for_people(checks))
    else:
        output.rows(HealthCheck._fields, checks)
    if any(check.state == FAULT for check in checks):
        sys.exit(1)


def _for_people(checks: "list[HealthCheck]") -> str:
    """Return the checks, the gravest last, each with its hint below it.

    A long table would otherwise push the last one out of sight.
    """
    observed = table_text(HealthCheck._fields[:-1], [check[:-1] for check in checks])
    gravest_last = sorted(checks, key=lambda check: (OK, NOTE, WARNING, FAULT).index(check.state))
    cures = [
        f"{check.state}: {check.what}: {check.found}; {check.cure}\n" for check in gravest_last if check.cure
    ]
    return "\n".join([observed, "".join(cures)]) if cures else observed


def clock(
    wall: Callable[[], float] = time.time,
    monotonic: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> HealthCheck:
    """Compare the machine's clock with its stopwatch and with plausible years."""
    before = wall() - monotonic()
    sleep(CLOCK_SAMPLE_SECONDS)
    step = abs(wall() - monotonic() - before)
    now = datetime.fromtimestamp(wall()).astimezone()
    observed = f"{now:%Y-%m-%d %H:%M:%S}, UTC{now:%z} (stored times are UTC, whatever the zone)"
    if not EARLIEST_YEAR <= now.year <= LATEST_YEAR:
        return HealthCheck("clock", FAULT, observed, "set the clock: timedatectl set-ntp true")
    if step > CLOCK_STEP_SECONDS:
        return HealthCheck(
            "clock",
            WARNING,
            f"{observed}; it jumped by {step:.1f} s while it was looked at",
            "let one time service keep it, slowly: timedatectl set-ntp true",
        )
    return HealthCheck("clock", OK, observed)


def disk_space(folder: Path, free_bytes: Callable[[Path], int] = free_bytes) -> HealthCheck:
    """Check the free disk space of the database's folder."""
    free = free_bytes(folder)
    observed = f"{free / (1 << 30):,.1f} GiB free in {folder}"
    state: State = FAULT if free < FULL_BYTES else WARNING if free < LOW_BYTES else OK
    return HealthCheck("disk", state, observed, "" if state == OK else "make room: 1 GiB or more")


def file_rights(file: Path) -> HealthCheck:
    """Check who may read and write the SQLite file.

    It holds platform ids and the keys.
    """
    mode = stat.S_IMODE(file.stat().st_mode)
    observed = f"{file} has mode {mode:04o}"
    if not (os.access(file, os.R_OK | os.W_OK) and os.access(file.parent, os.W_OK)):
        cure = "let the server's user own the file, and write into its folder"
        return HealthCheck("file", FAULT, f"{observed}; it or its folder cannot be written", cure)
    if mode & 0o077 and file.parent.stat().st_mode & 0o077:
        cure = f"chmod 600 {file}, or chmod 700 {file.parent}"
        return HealthCheck("file", WARNING, f"{observed}: others may read keys and ids", cure)
    return HealthCheck("file", OK, observed)


def server_of(file: Path) -> HealthCheck:
    """Report whether a server has the SQLite file open."""
    lock = Path(lock_path(str(file), LOCK_SUFFIX))
    is_served = False
    if lock.exists():
        try:
            with FileLock(lock, timeout=0):
                pass
        except Timeout:
            is_served = True
    observed = "this file is being served now" if is_served else "nobody serves this file now"
    return HealthCheck("server", OK, observed)


def programs() -> HealthCheck:
    """Report the versions of Python and SQLite."""
    observed = f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        cure = f"use SQLite {'.'.join(map(str, OLDEST_SQLITE))} or later"
        return HealthCheck("programs", FAULT, observed, cure)
    return HealthCheck("programs", OK, observed)


def encryption() -> HealthCheck:
    """Report the encryption that the server leaves to others."""
    return HealthCheck(
        "HTTPS",
        NOTE,
        "prefcal serve speaks plain HTTP",
        "on the open net: a reverse proxy with HTTPS (docs/deploy.md); look at it with --address https://HOST",
    )


SYNCHRONOUS = {0: "OFF", 1: "NORMAL", 2: "FULL", 3: "EXTRA"}

FULL = 2

CLOCK_DIFFERENCE_SECONDS = 5.0

DURABLE = {
    "fsync": ("on",),
    "synchronous_commit": ("on", "remote_write", "remote_apply", "local"),
    "full_page_writes": ("on",),
}


def examine(url: str) -> list[HealthCheck]:
    """Run all checks of an installation.

    Without a database, the checks that need one are left out.
    """
    findings = [programs(), clock(), encryption()]
    try:
        database = open_database(url)
        if is_empty(database):
            observed = f"no study is loaded in {shown_address(database.engine.url)}"
            return [
                *findings,
                HealthCheck("database", FAULT, observed, "prefcal study load FILE, or name --database"),
            ]
    except InputError as error:
        fault = error.faults[0]
        return [*findings, HealthCheck("database", FAULT, fault.problem, fault.cure)]
    file = Path(database.engine.url.database or "")
    if database.is_sqlite:
        findings += [disk_space(file.parent), file_rights(file), server_of(file)]
    findings += _examine_database(database)
    database.engine.dispose()
    return findings


def _examine_database(database: Database) -> list[HealthCheck]:
    version = stored_version(database)
    with database.engine.connect() as connection:
        keys = secret_key(connection)
        durability = (
            sqlite_durability(connection) if database.is_sqlite else postgresql_durability(connection)
        )
        of_server = (
            []
            if database.is_sqlite
            else [server_clock(connection), link_of(connection), *standby_of(connection)]
        )
    return [schema(version), keys, durability, *of_server]


def schema(version: str | None) -> HealthCheck:
    """Compare the version of the database's schema with the known ones."""
    newest, unknown = known_versions()[-1], cure_of_unknown(version)
    if unknown is not None:
        observed = f"version {version}, of {unknown[0]} prefcal"
        return HealthCheck("schema", FAULT, observed, unknown[1])
    if version == newest:
        return HealthCheck("schema", OK, f"version {version}, up to date")
    return HealthCheck(
        "schema", WARNING, f"version {version}, not {newest}", "prefcal db backup FILE, prefcal db upgrade"
    )


def secret_key(connection: Connection) -> HealthCheck:
    """Check that the key that signs addresses exists and is long enough.

    The key itself is never displayed.
    """
    query = text("SELECT length(value) FROM setting WHERE name = :name")
    letters = connection.scalar(query, {"name": SIGNING_KEY})
    if letters is None or letters < KEY_LETTERS[SIGNING_KEY]:
        observed = "is missing" if letters is None else f"has only {letters} letters"
        return HealthCheck(
            "secret key", FAULT, observed, "restore a backup, or load the study anew (new key)"
        )
    return HealthCheck("secret key", OK, "is in the database, for the database's readers only")


def sqlite_durability(connection: Connection) -> HealthCheck:
    """Check the settings by which SQLite keeps what it has acknowledged."""
    journal = connection.scalar(text("PRAGMA journal_mode"))
    level = connection.scalar(text("PRAGMA synchronous")) or 0
    keys = connection.scalar(text("PRAGMA foreign_keys"))
    observed = f"journal_mode {journal}, synchronous {SYNCHRONOUS.get(level, level)}, foreign_keys {keys}"
    if journal == "wal" and level >= FULL and keys:
        return HealthCheck("durability", OK, observed)
    cure = "put the file on a local disk: SQLite's log does not work on a network's"
    return HealthCheck("durability", FAULT, observed, cure)


def postgresql_durability(connection: Connection) -> HealthCheck:
    """Check the settings by which PostgreSQL keeps what it has acknowledged."""
    values = {name: str(connection.scalar(text(f"SHOW {name}"))) for name in DURABLE}
    weak = [name for name, value in values.items() if value not in DURABLE[name]]
    observed = ", ".join(f"{name} {value}" for name, value in values.items())
    if not weak:
        return HealthCheck("durability", OK, observed)
    cure = f"in postgresql.conf: {', '.join(f'{name} = on' for name in weak)}; then reload the server"
    return HealthCheck("durability", FAULT, observed, cure)


def server_clock(connection: Connection) -> HealthCheck:
    """Compare the clock of this machine with the database server's."""
    before = time.time()
    theirs = float(connection.scalar(text("SELECT extract(epoch FROM clock_timestamp())")) or 0.0)
    difference = theirs - (before + time.time()) / 2
    observed = f"the database server's is {difference:+.1f} s from this machine's"
    is_far = abs(difference) > CLOCK_DIFFERENCE_SECONDS
    return HealthCheck(
        "clocks",
        WARNING if is_far else OK,
        observed,
        "let the same time service set both: timedatectl set-ntp true" if is_far else "",
    )


TIMEOUT_SECONDS = 15.0

UNASKED = (httpx.RequestError, httpx.InvalidURL)

NGINX = {
    "X-Forwarded-Proto": "proxy_set_header X-Forwarded-Proto $scheme;",
    "Host": "proxy_set_header Host $server_name;",
}


def examine_address(address: str, http: httpx.Client | None = None) -> list[HealthCheck]:
    """Check a served study through the address that workers use.

    Parameters
    ----------
    address : str
        Where workers reach the server: ``https://study.example.org``, nothing behind the host.
    http : httpx.Client, optional
        Client for the requests; by default one that trusts the machine's certificates and follows no redirect.
    """
    with http or httpx.Client(timeout=TIMEOUT_SECONDS) as client:
        try:
            answer = client.get(f"{address}/healthz")
        except UNASKED as error:
            cure = "look at the proxy's configuration, its certificate, and whether its port is open"
            observed = f"{address} cannot be asked ({error})"
            return [HealthCheck("address", FAULT, observed, cure)]
        link = _standing_link(answer)
        if link is None:
            observed = f"{address}/healthz answers {answer.status_code}, and not as prefcal does"
            cure = "let the proxy pass the whole host on to prefcal serve; is that running?"
            return [HealthCheck("address", FAULT, observed, cure)]
        return [_encryption(address, client), _headers(address, link)]


def _standing_link(answer: httpx.Response) -> str | None:
    """Return the link that the server would give a worker.

    The result is None when the server that answers is not prefcal.
    """
    try:
        health = answer.json()
    except ValueError:
        return None
    link = health.get("standing_link") if isinstance(health, dict) else None
    return link if answer.is_success and isinstance(link, str) else None


def _encryption(address: str, client: httpx.Client) -> HealthCheck:
    """Check that workers can only come by HTTPS."""
    if not address.startswith("https:"):
        cure = "on the open net: a reverse proxy with HTTPS (docs/deploy.md)"
        observed = f"{address} is not encrypted: everybody on the way can read along"
        return HealthCheck("address", WARNING, observed, cure)
    plain = f"http://{urlsplit(address).hostname}"
    try:
        is_plain = _standing_link(client.get(f"{plain}/healthz")) is not None
    except UNASKED:
        is_plain = False
    if is_plain:
        cure = "let port 80 only lead to https (docs/deploy.md)"
        observed = f"{address} answers, but {plain} shows the pages too, unencrypted"
        return HealthCheck("address", WARNING, observed, cure)
    return HealthCheck("address", OK, f"{address} answers; nothing is shown without HTTPS")


def _headers(address: str, link: str) -> HealthCheck:
    """Compare the link that the server would show with the requested address."""
    asked, shown = urlsplit(address), urlsplit(link)
    lost = [
        name
        for name, differs in (
            ("X-Forwarded-Proto", asked.scheme != shown.scheme),
            ("Host", asked.netloc.lower() != shown.netloc.lower()),
        )
        if differs
    ]
    observed = f"the server shows workers links like {link}"
    if not lost:
        return HealthCheck("proxy headers", OK, observed)
    cure = f"let the proxy pass on {' and '.join(lost)}; nginx: {' '.join(NGINX[name] for name in lost)}"
    return HealthCheck("proxy headers", FAULT, observed, cure)
