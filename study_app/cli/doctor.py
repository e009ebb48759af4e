"""`prefcal doctor`: what an installation needs for a study, and what it lacks."""

import sys

import click

from study_app.cli.options import database_option
from study_app.cli.output import Output, output_options

COLUMNS = ("what", "state", "found", "cure")


@click.command()
@database_option
@output_options
def command(database: str | None, *, output: Output) -> None:
    """Look at what a study needs: keys, clock, disk, durability, schema, rights, HTTPS; change nothing.

    A line each: ok, warning or fault, and the cure. Exit 1 when there is a fault.
    """
    from study_app.config import database_url
    from study_app.doctor import FAULT
    from study_app.doctor_database import examine

    findings = examine(database_url(database))
    output.rows(COLUMNS, [(one.what, one.state, one.found, one.cure) for one in findings])
    if any(one.state == FAULT for one in findings):
        sys.exit(1)
