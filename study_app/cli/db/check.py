"""`prefcal db check`: whether the database is whole."""

import click

from study_app.cli.options import database_option


@click.command(name="check")
@database_option
def command(database: str | None) -> None:
    """Check that the database is whole, and change nothing.

    Looks at the file (SQLite), at every reference from one row to another, at the tables and constraints of this
    prefcal, and at rules that a schema cannot hold: a finished worker has a code, nobody answers after finishing.
    One line each on stderr and exit 1 when something is wrong.
    """
    from metrics.errors import InputError
    from study_app.config import database_url
    from study_app.store.check.check import check_database
    from study_app.store.database import open_database, shown_address

    opened = open_database(database_url(database))
    faults = check_database(opened)
    if faults:
        raise InputError(faults)
    click.echo(f"{shown_address(opened.engine.url)} is whole")
