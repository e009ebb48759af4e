"""`prefcal remind`: whom to remind of a stream, by platform id."""

from pathlib import Path

import click

from metrics.errors import escape_spreadsheet_cell, input_fault, pluralise
from metrics.files import write_atomically
from study_app.cli.database import OpenStudy, database_option, study_session
from study_app.cli.options import F, FiniteFloat, output_file
from study_app.cli.output import csv_text
from study_app.services.researcher.remind import remind as reminded
from study_app.services.researcher.studies import SIGNING_KEY, setting
from study_app.store.tokens import Signer

REMINDER_COLUMNS = ("platform_id", "topic", "address")


def base_option(command: F) -> F:
    """Add ``--base`` to a command."""
    return click.option(
        "--base",
        metavar="URL",
        required=True,
        help="The address under which workers reach the server, such as https://study.example.org.",
    )(command)


def quiet_hours_option(command: F) -> F:
    """Add ``--quiet-hours`` to a command."""
    return click.option(
        "--quiet-hours",
        type=FiniteFloat(min=0),
        metavar="H",
        help="Leave out followers who came in the last H hours, by the stream's own clock.",
    )(command)


@click.command()
@click.argument("study", metavar="STUDY", required=False)
@output_file("Write the list into FILE.")
@base_option
@quiet_hours_option
@database_option
def remind(
    study: str | None, output: Path, base: str, quiet_hours: float | None, database: str | None
) -> None:
    """List the followers of STUDY's streams: platform id, event and address.

    The address leads a worker back to the stream. Send the messages by the platform's own means. Each line is recorded as a reminder of this moment, so make the list
    when you are about to send it. STUDY may be left out when only one study is loaded.
    """
    if not base.startswith(("http://", "https://")):
        raise input_fault(f"not an address: {base}", cure="write --base https://HOST")
    with study_session(database, study, write=True) as opened:
        rows = _reminder_rows(opened, base.rstrip("/"), quiet_hours)
        people = pluralise(len({name for name, _, _ in rows}), "person", "people")
        opened.note(
            "list whom to remind", f"{pluralise(len(rows), 'reminder')}, with platform ids of {people}"
        )
        write_atomically(output, csv_text(REMINDER_COLUMNS, rows), private=True)
    click.echo(f"{opened.row.name}: {len(rows)} to remind, in {output}")


def _reminder_rows(opened: OpenStudy, base: str, quiet_hours: float | None) -> list[tuple[str, str, str]]:
    """Return the lines of the list, and note that everybody on it is reminded now."""
    signer = Signer(setting(opened.session, SIGNING_KEY) or "")
    return [
        (
            escape_spreadsheet_cell(follower.platform_worker),
            escape_spreadsheet_cell(follower.title),
            f"{base}/w/{signer.worker_token(follower.worker)}/?via=reminder",
        )
        for follower in reminded(opened.session, opened.plan, quiet_hours=quiet_hours, now=opened.now)
    ]
