"""`prefcal plan`: one command for each question that a study may be planned for."""

import click

from study_app.cli import PLAN, LazyGroup


@click.group(cls=LazyGroup, modules=PLAN, name="plan")
def command() -> None:
    """Say how large a study must be, by simulating it.

    Each command invents studies of the size you have in mind, many times, in which the truth is what you say it is,
    and shows what such studies would print: how wide the interval, how likely the answer, and how large the study
    must be for what you want. Nothing is needed but a guess of the truth.
    """
