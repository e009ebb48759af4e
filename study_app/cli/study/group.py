"""`prefcal study`: what is done with a study file."""

import click

from study_app.cli import STUDY, LazyGroup


@click.group(cls=LazyGroup, modules=STUDY, name="study")
def command() -> None:
    """Begin a study, check it, look at it, load it, and pause it."""
