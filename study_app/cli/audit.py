"""Audit lines of commands that change a study's surroundings, not its database."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from study_app.store.database import Database


def note_command(database: "Database", study: str | None, what: str, detail: str) -> None:
    """Add a line to the audit of one study or of all.

    Where that is impossible, a line on stderr says so.

    Parameters
    ----------
    database : Database
        Where the study is.
    study : str or None
        Its name; None where the command is about the whole database.
    what, detail : str
        What was done. Neither may have the id of a person.
    """
    from sqlalchemy import select
    from sqlalchemy.exc import DatabaseError

    from study_app.services.researcher.audit import add_audit_entry
    from study_app.store.database import transaction
    from study_app.store.models import LoadedStudy
    from study_app.store.tokens import utc_now

    studies = select(LoadedStudy.id).order_by(LoadedStudy.id)
    try:
        with transaction(database, write=True) as session:
            rows = studies if study is None else studies.where(LoadedStudy.name == study)
            for row in session.scalars(rows).all():
                add_audit_entry(session, row, None, what, detail, now=utc_now())
    except DatabaseError as error:
        reason = " ".join(str(error.orig).split())
        click.echo(
            f"note: the audit has no line of this, since nothing can be written into the database ({reason})",
            err=True,
        )
