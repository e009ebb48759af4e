"""`prefcal db backup`: the whole database in one file."""

from pathlib import Path

import click

from study_app.cli.options import database_option


@click.command(name="backup")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
@database_option
def command(file: Path, database: str | None, *, force: bool) -> None:
    """Copy the database into FILE, while it is served or not.

    FILE holds one moment of the database; it is checked, and appears complete or not at all. It holds the
    workers' platform ids and the server's keys: keep it as you keep the database. PostgreSQL's databases are
    copied by its own program pg_dump.
    """
    from study_app.config import database_url
    from study_app.store.backup.backup import back_up
    from study_app.store.database import open_database, shown_address

    opened = open_database(database_url(database))
    back_up(opened, file, force=force)
    address = shown_address(opened.engine.url)
    click.echo(f"backed up {address} to {file.absolute()} ({file.stat().st_size:,} bytes)")
