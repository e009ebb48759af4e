"""`prefcal convert`: one command for each form of data that other tools read or write."""

import click

from study_app.cli import CONVERT, LazyGroup


@click.group(cls=LazyGroup, modules=CONVERT, name="convert")
def command() -> None:
    """Hand preferences and scores on to other tools, or take them over.

    prefcal import takes over preferences from a CSV with columns of any names.
    """
