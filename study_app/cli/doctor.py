"""`prefcal doctor`: what an installation needs for a study, and what it lacks."""

import re
import sys
from typing import TYPE_CHECKING

import click

from study_app.cli.options import database_option
from study_app.cli.output import Output, output_options, table_text

if TYPE_CHECKING:
    from study_app.doctor.doctor import Finding

COLUMNS = ("what", "state", "found", "cure")


@click.command()
@click.option(
    "--address",
    metavar="URL",
    help="Also ask the served study by the workers' address, such as https://study.example.org: HTTPS, proxy headers.",
)
@database_option
@output_options
def doctor(database: str | None, address: str | None, *, output: Output) -> None:
    """Look at what a study needs: keys, clock, disk, durability, schema, rights, HTTPS; change nothing.

    A line each: ok, note, warning or fault, and below what to do. Exit 1 when there is a fault.
    """
    from study_app.config import database_url
    from study_app.doctor.doctor import FAULT, examine

    findings = examine(database_url(database))
    if address is not None:
        findings += _asked(address.rstrip("/"))
    if output.format == "table":
        output.text(_for_people(findings))
    else:
        output.rows(COLUMNS, [(one.what, one.state, one.found, one.cure) for one in findings])
    if any(finding.state == FAULT for finding in findings):
        sys.exit(1)


def _for_people(findings: "list[Finding]") -> str:
    """Return what there is, and below it what to do, the gravest last: a long table hides it."""
    from study_app.doctor.doctor import FAULT, NOTE, OK, WARNING

    found = table_text(COLUMNS[:-1], [(one.what, one.state, one.found) for one in findings])
    gravest_last = sorted(findings, key=lambda one: (OK, NOTE, WARNING, FAULT).index(one.state))
    cures = [f"{one.state}: {one.what}: {one.found}; {one.cure}\n" for one in gravest_last if one.cure]
    return "\n".join([found, "".join(cures)]) if cures else found


def _asked(address: str) -> "list[Finding]":
    from metrics.errors import input_fault
    from study_app.doctor.doctor import examine_address

    if not re.fullmatch(r"https?://[^/?#@\s]+", address):
        raise input_fault(f"not the address of a host: {address}", cure="write --address https://HOST")
    return examine_address(address)
