"""`prefcal db restore`: a backup becomes the database."""

from pathlib import Path

import click

from study_app.cli.options import database_option


@click.command(name="restore")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Replace the studies that are in the database now.")
@database_option
def command(file: Path, database: str | None, *, force: bool) -> None:
    """Put the backup FILE into the database, all of it or nothing.

    FILE is checked first. The database must be empty, or --force given, and nobody may be serving it.
    """
    from study_app.config import database_url
    from study_app.store.backup.backup import restore
    from study_app.store.database import open_database, shown_address
    from study_app.store.schema_version import known_versions

    opened = open_database(database_url(database))
    version = restore(opened, file, force=force)
    click.echo(f"restored {file.absolute()} to {shown_address(opened.engine.url)} (version {version})")
    newest = known_versions()[-1]
    if version != newest:
        click.echo(f"this prefcal works with version {newest}: prefcal db upgrade")
