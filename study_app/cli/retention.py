"""`prefcal retention`: delete who workers are, and what those left who withdrew."""

from typing import TYPE_CHECKING

import click

from study_app.cli.options import database_option, opened

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.orm import Session

    from study_app.database import Database
    from study_app.models import Study
    from study_app.services.retention import Part


@click.command()
@click.argument("study", metavar="[STUDY]", required=False)
@click.option(
    "--identities",
    "days",
    type=click.FloatRange(min=0),
    metavar="DAYS",
    help="The platform ids of workers without a sign of life for so many days.",
)
@click.option("--all-identities", is_flag=True, help="All platform ids, also of workers who are at work.")
@click.option("--withdrawn", is_flag=True, help="Every answer, event and id of workers who withdrew.")
@click.option("--delete", "is_real", is_flag=True, help="Delete; without it only say what would be deleted.")
@database_option
def command(
    study: str | None,
    days: float | None,
    database: str | None,
    *,
    all_identities: bool,
    withdrawn: bool,
    is_real: bool,
) -> None:
    """Say what STUDY holds of people, and delete what need not be kept.

    Answers, events and pseudonyms stay, but for those of workers who withdrew. Pay workers, and make lists of bonuses, before
    their platform ids are deleted: nobody can tell afterwards who they were, and somebody who comes again is then a new
    worker. Backups made before still hold what is deleted here.
    """
    from study_app.database import transaction
    from study_app.services.retention import count_rows, delete_rows, kept
    from study_app.services.studies import chosen_study
    from study_app.tokens import utc_now

    if days is not None and all_identities:
        raise click.UsageError("name --identities or --all-identities, not both")
    store = opened(database)
    try:
        with transaction(store, write=is_real) as session:
            found = chosen_study(session, study)
            parts = _parts(
                session, found, days, now=utc_now(), all_identities=all_identities, withdrawn=withdrawn
            )
            rows = count_rows(session, parts)
            if is_real:
                _overwrite(session, store)
                delete_rows(session, parts)
            held, name = kept(session, found.id), found.name
        if is_real:
            _empty_journal(store)
    finally:
        store.engine.dispose()
    click.echo(_told(rows, is_real=is_real, is_asked=bool(all_identities or withdrawn or days is not None)))
    click.echo(
        f"{name} {'keeps' if is_real else 'holds'} {held.workers} workers under pseudonyms, {held.identified} "
        f"of them with a platform id, {held.withdrawn} withdrawn"
    )


def _parts(
    session: "Session",
    study: "Study",
    days: float | None,
    *,
    now: "datetime",
    all_identities: bool,
    withdrawn: bool,
) -> "list[Part]":
    """Return what is asked for: tables with conditions, in the order in which rows can be deleted."""
    from study_app.services.retention import (
        identified_before,
        identity_parts,
        withdrawn_workers,
        worker_parts,
    )

    parts: list[Part] = []
    gone = session.scalars(withdrawn_workers(study.id)).all() if withdrawn else []
    if gone:
        parts += worker_parts(gone)
    if all_identities or days is not None:
        old = session.scalars(identified_before(study.id, days=days, now=now)).all()
        parts += identity_parts([worker for worker in old if worker not in set(gone)])
    return parts


def _told(rows: dict[str, int], *, is_real: bool, is_asked: bool) -> str:
    if not is_asked:
        return "nothing was asked for: name --identities DAYS, --all-identities or --withdrawn"
    listed = ", ".join(f"{number} of {table}" for table, number in rows.items()) or "no row"
    return f"deleted: {listed}" if is_real else f"would delete: {listed}; add --delete to do it"


def _overwrite(session: "Session", store: "Database") -> None:
    """Have SQLite write zeros over what it deletes."""
    if store.is_sqlite:
        session.connection().exec_driver_sql("PRAGMA secure_delete = ON")


def _empty_journal(store: "Database") -> None:
    """Have SQLite move its write-ahead log into the file, so that no older page stays in it; a busy server does that later."""
    if store.is_sqlite:
        with store.engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
