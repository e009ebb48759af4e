"""`prefcal db`: upgrade, back up, restore, check and rekey the database."""

from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import click
from sqlalchemy import select
from sqlalchemy.exc import DatabaseError

from metrics.errors import InputError, input_fault
from study_app.cli.audit import note_command
from study_app.cli.database import database_option, named_database
from study_app.cli.options import FiniteFloat
from study_app.config import database_url
from study_app.services.researcher.access import revoke_every_key
from study_app.services.researcher.audit import add_audit_entry
from study_app.services.researcher.studies import note_backup, replace_keys
from study_app.store import tokens
from study_app.store.backups.backup import back_up
from study_app.store.backups.backup import restore as restore_database
from study_app.store.backups.postgres import refuse_when_used
from study_app.store.check import check_database
from study_app.store.database import (
    is_empty,
    known_versions,
    migrate,
    open_database,
    shown_address,
    stored_version,
    transaction,
)
from study_app.store.models import LoadedStudy
from study_app.store.tokens import secret_token
from study_app.store.writer_lock import serving_lock


@click.command(name="upgrade")
@database_option
def upgrade(database: str | None) -> None:
    """Upgrade the database's tables to this prefcal, and print both versions.

    Every command that opens a database does so too; this one does nothing else. Back up first.
    """
    opened = open_database(database_url(database))
    address = shown_address(opened.engine.url)
    if is_empty(opened):
        raise input_fault(
            f"there is nothing to upgrade in {address}",
            cure="load a study (prefcal study load FILE), or name --database",
        )
    before = stored_version(opened)
    migrate(opened)
    after = stored_version(opened)
    done = (
        f"is at version {after} already" if before == after else f"upgraded from version {before} to {after}"
    )
    click.echo(f"{address}: {done}")


@click.command(name="backup")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
@database_option
def backup(file: Path, database: str | None, *, force: bool) -> None:
    """Copy the database into FILE, while it is served or not.

    FILE holds one moment of the database; it is checked, and appears complete or not at all. It holds the
    workers' platform ids and the server's keys: keep it as you keep the database. PostgreSQL's databases are
    copied by its own program pg_dump.
    """
    opened = open_database(database_url(database))
    back_up(opened, file, force=force)
    with suppress(DatabaseError), transaction(opened, write=True) as session:  # the copy is whole either way
        note_backup(session, now=tokens.utc_now())
    if stored_version(opened) == known_versions()[-1]:
        note_command(opened, None, "back up", f"{file.stat().st_size:,} bytes")
    opened.engine.dispose()
    address = shown_address(opened.engine.url)
    click.echo(f"backed up {address} to {file.absolute()} ({file.stat().st_size:,} bytes)")


@click.command(name="restore")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Replace the studies that are in the database now.")
@database_option
def restore(file: Path, database: str | None, *, force: bool) -> None:
    """Put the backup FILE into the database, all of it or nothing.

    FILE is checked first. The database must be empty, or --force given, and must not be served.
    """
    opened = open_database(database_url(database))
    version = restore_database(opened, file, force=force)
    click.echo(f"restored {file.absolute()} to {shown_address(opened.engine.url)} (version {version})")
    newest = known_versions()[-1]
    if version == newest:
        note_command(opened, None, "restore a backup", f"of {file.stat().st_size:,} bytes")
    else:
        click.echo(f"this prefcal works with version {newest}: prefcal db upgrade")


@click.command(name="check")
@database_option
def check(database: str | None) -> None:
    """Check that the database is whole, and change nothing.

    Looks at the file (SQLite), at every reference from one row to another, at the tables and constraints of this
    prefcal, and at rules that a schema cannot hold: a finished worker has a code, and no answer comes after finishing.
    One line each on stderr and exit 1 when something is wrong.
    """
    opened = open_database(database_url(database))
    faults = check_database(opened)
    if faults:
        raise InputError(faults)
    click.echo(f"{shown_address(opened.engine.url)} is whole")


@click.command(name="rekey")
@click.option(
    "--keep-old",
    type=FiniteFloat(0, 24 * 366, min_open=True),
    metavar="HOURS",
    help="Keep the workers' old addresses valid for HOURS hours. Not when a key leaked.",
)
@database_option
def rekey(database: str | None, *, keep_old: float | None) -> None:
    """Replace the server's keys, which voids every address given out before.

    This concerns the workers' addresses and the researcher's. Every key of prefcal key new is revoked too. For when a key leaked, or a backup, which holds both. Nobody may be serving the database. No answer is touched: workers
    who come by the platform's address again go on where they were; list followers of streams anew (prefcal remind).

    To change keys without a leak, --keep-old lets people who come by an old address within that time go on, at a new one. Anybody who has the old key
    can still make addresses until then.
    """
    with named_database(database) as store:
        address = shown_address(store.engine.url)
        if not store.is_sqlite:
            refuse_when_used(store)
        with serving_lock(str(store.engine.url)), transaction(store, write=True) as session:
            until = None if keep_old is None else tokens.utc_now() + timedelta(hours=keep_old)
            replace_keys(session, new_token=secret_token, keep_until=until)
            revoke_every_key(session, now=tokens.utc_now())
            for row in session.scalars(select(LoadedStudy.id).order_by(LoadedStudy.id)).all():
                add_audit_entry(session, row, None, "make every key anew", "", now=tokens.utc_now())
    click.echo(f"{address} has new keys; prefcal serve prints the addresses that are good now")
    if until is not None:
        click.echo(f"workers' old addresses are good until {until:%Y-%m-%d %H:%M} UTC")
