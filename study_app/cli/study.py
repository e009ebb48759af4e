"""`prefcal study`: what is done with a study file before it is served."""

import click

from study_app.cli import STUDY, LazyGroup


@click.group(cls=LazyGroup, modules=STUDY, name="study")
def command() -> None:
    """Check a study file, or load it into the database."""
