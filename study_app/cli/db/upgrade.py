"""`prefcal db upgrade`: the tables of this version of prefcal."""

import click

from study_app.cli.options import database_option


@click.command(name="upgrade")
@database_option
def command(database: str | None) -> None:
    """Bring the database's tables up to this prefcal, and say from which version to which.

    Every command that opens a database does so too; this one does nothing else. Back up first.
    """
    from metrics.errors import input_fault
    from study_app.config import database_url
    from study_app.store.database import is_empty, migrate, open_database, shown_address
    from study_app.store.schema_version import stored_version

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
