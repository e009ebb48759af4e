"""`prefcal db`: looking after the database."""

import click

from study_app.cli import DB, LazyGroup


@click.group(cls=LazyGroup, modules=DB, name="db")
def command() -> None:
    """Upgrade, back up, restore, check or rekey the database."""
