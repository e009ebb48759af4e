"""`prefcal study`: what is done with a study file."""

import click

from study_app.cli import STUDY, LazyGroup


@click.group(cls=LazyGroup, modules=STUDY, name="study")
def command() -> None:
    """Begin a study, check it, look at it, load it, and pause it.

    A study is one YAML file beside the collection and the runs that it names; docs/study-file.md says what stands in it. The commands
    below have the order of use; after load comes prefcal serve.
    """
