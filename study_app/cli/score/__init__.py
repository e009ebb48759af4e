"""`prefcal score`: one command a measure family."""

import click

from study_app.cli import SCORE, LazyGroup


@click.group(cls=LazyGroup, modules=SCORE, name="score")
def command() -> None:
    """Score runs with a measure family; needs judgments and runs, no study."""
