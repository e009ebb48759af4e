"""`prefcal reconcile`: compare what a platform lists with what is stored."""

from typing import TYPE_CHECKING

import click

from study_app.cli.options import database_option, opened
from study_app.cli.places import OutFile

if TYPE_CHECKING:
    from study_app.services.researcher.reconcile import Reconciled

COLUMNS = ("platform_id", "submission", "status", "ended", "finding")
QUIET = {"paid", "open"}
"""Findings with which nothing is to be done."""


@click.command()
@click.argument("study", metavar="STUDY")
@click.argument("file", metavar="PLATFORM.csv", type=click.Path())
@click.option("--id-column", metavar="NAME", help="The column with the workers' ids.")
@click.option("--submission-column", metavar="NAME", help="The column with the ids of submissions.")
@click.option("--status-column", metavar="NAME", help="The column with the states of submissions.")
@click.option("--code-column", metavar="NAME", help="The column with the codes that were handed in.")
@click.option("--paid", metavar="STATE", multiple=True, help="A further state that means: paid. Repeatable.")
@click.option(
    "--confirmed",
    metavar="STATE",
    multiple=True,
    help="A further state that means: handed in, not paid. Repeatable.",
)
@click.option(
    "--open",
    "open_",
    metavar="STATE",
    multiple=True,
    help="A further state that means: not handed in. Repeatable.",
)
@click.option(
    "-o",
    "--output",
    type=OutFile(path_type=str),
    metavar="FILE",
    help="Write a line a submission into FILE, as CSV.",
)
@database_option
def command(
    study: str,
    file: str,
    output: str | None,
    database: str | None,
    paid: tuple[str, ...],
    confirmed: tuple[str, ...],
    open_: tuple[str, ...],
    **columns: str | None,
) -> None:
    """Read the platform's own list of submissions and say whom to pay and whom to ask.

    Workers are found by their platform id, never by their code: a missing or wrong code is no ground for rejecting somebody
    whose data are complete. What the list says of each is stored, for `prefcal status`; read a newer one at any time.
    """
    from metrics.files import write_whole
    from study_app.cli.output import csv_text
    from study_app.services.researcher.bonus import without_identity
    from study_app.services.researcher.reconcile import reconcile
    from study_app.services.researcher.studies import chosen_study
    from study_app.store.database import transaction
    from study_app.store.plan import Plans
    from study_app.store.tokens import utc_now
    from study_app.study.platform_list import read_platform_list
    from study_app.study.platforms import platform_of

    states = _states(paid=paid, confirmed=confirmed, open=open_)
    named = {key.removesuffix("_column"): name for key, name in columns.items() if name is not None}
    store = opened(database)
    try:
        with transaction(store, write=True) as session:
            chosen = chosen_study(session, study)
            plans = Plans()
            plan = plans.of(session, chosen.id, chosen.version)
            listed = read_platform_list(file, platform_of(plan.entry), named=named, states=states)
            found = reconcile(session, plans, chosen, listed.submissions, now=utc_now())
            nameless = len(without_identity(session, chosen.id))
            if output is not None:
                write_whole(output, csv_text(COLUMNS, [_cells(one) for one in found]), private=True)
    finally:
        store.engine.dispose()
    for word in listed.unknown:
        click.echo(
            f"note: the state {word!r} is not known, so nothing is advised there; say what it means with --paid, "
            f"--confirmed (handed in, not paid) or --open (not handed in) {word!r}",
            err=True,
        )
    if nameless:
        click.echo(
            f"note: the platform ids of {nameless} workers of this study were deleted; the list cannot be compared with them",
            err=True,
        )
    click.echo(_told(found), nl=False)


def _states(**given: tuple[str, ...]) -> dict[str, str]:
    """Return state -> what the user says it means; one state cannot mean two things."""
    meanings: dict[str, str] = {}
    for meaning, words in given.items():
        for word in words:
            other = meanings.setdefault(word, meaning)
            if other != meaning:
                raise click.UsageError(f"--{other} and --{meaning} are given for one state: {word!r}.")
    return meanings


def _told(found: "list[Reconciled]") -> str:
    """Say how many there are of each finding, then list those with which something is to be done."""
    from study_app.cli.output import table_text
    from study_app.services.researcher.reconcile import FINDINGS

    if not found:
        return "the list is empty, and nobody has complete data\n"
    counts = {finding: sum(one.finding == finding for one in found) for finding in FINDINGS}
    lines = [
        f"{counts[finding]:>6}  {finding}: {meaning}\n"
        for finding, meaning in FINDINGS.items()
        if counts[finding]
    ]
    rows = [_cells(one) for one in found if one.finding not in QUIET]
    return "".join(lines) + (f"\n{table_text(COLUMNS, rows)}" if rows else "")


def _cells(one: "Reconciled") -> tuple[str, ...]:
    from study_app.cli.output import plain_cell

    return (
        plain_cell(one.worker),
        plain_cell(one.submission),
        plain_cell(one.status),
        one.ended,
        one.finding,
    )
