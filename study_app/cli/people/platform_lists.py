"""Commands `prefcal reconcile` and `bonus`: lists by platform id."""

import csv
import io
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING

import click

from metrics.errors import FaultLog, escape_spreadsheet_cell, input_fault, pluralise
from metrics.files import write_atomically
from metrics.readers.columns import read_csv_columns
from study_app.cli.audit import note_command
from study_app.cli.database import OpenStudy, database_option, named_database, open_study, study_session
from study_app.cli.options import output_file
from study_app.cli.output import csv_text, table_text
from study_app.services.researcher import reconcile as platform
from study_app.services.researcher.reconcile import (
    SUBMISSION_STATES,
    ReconciledSubmission,
    completed,
    identities,
    in_a_list,
    list_detail,
    pseudonyms,
    without_identity,
)
from study_app.store.database import transaction
from study_app.study.platform_list import read_platform_list
from study_app.study.platforms import platform_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy.orm import Session

    from study_app.store.models import LoadedStudy

SUBMISSION_COLUMNS = ("platform_id", "submission", "status", "ended", "finding", "worker")
QUIET = {"paid", "marked_paid", "open"}
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
@output_file("Write a line a submission into FILE, as CSV.", required=False)
@database_option
def reconcile(
    study: str,
    file: str,
    output: Path | None,
    database: str | None,
    paid: tuple[str, ...],
    confirmed: tuple[str, ...],
    open_: tuple[str, ...],
    **columns: str | None,
) -> None:
    """Read the platform's own list of submissions and say whom to pay and whom to ask.

    Workers are found by their platform id, never by their code: a missing or wrong code is no reason to reject a worker
    whose data are complete. What the list says of each is stored, for `prefcal status`; read a newer one at any time. Column worker
    has the pseudonym of the exported tables: whoever has FILE and the tables knows whose answers are whose, so keep them apart.
    """
    states = _states(paid=paid, confirmed=confirmed, open=open_)
    named = {key.removesuffix("_column"): name for key, name in columns.items() if name is not None}
    with study_session(database, study, write=True) as opened:
        listed = read_platform_list(file, platform_of(opened.plan.entry), named=named, states=states)
        reconciled = platform.reconcile(
            opened.session, opened.plans, opened.row, listed.submissions, now=opened.now
        )
        nameless = len(without_identity(opened.session, opened.row.id))
        opened.note("read the platform's list", list_detail(reconciled, len(listed.submissions)))
        if output is not None:
            write_atomically(
                output,
                csv_text(SUBMISSION_COLUMNS, [submission_cells(submission) for submission in reconciled]),
                private=True,
            )
    for word in listed.unknown:
        click.echo(
            f"note: unknown state {word!r}, so those submissions get no advice; give its meaning with --paid, "
            f"--confirmed (handed in, not paid) or --open (not handed in) {word!r}",
            err=True,
        )
    if nameless:
        click.echo(
            f"note: the platform ids of {nameless} workers of this study were deleted; the list cannot be compared with them",
            err=True,
        )
    click.echo(findings_in_words(reconciled), nl=False)


def _states(**given: tuple[str, ...]) -> dict[str, str]:
    """Return the meaning of each state that the user named.

    A state cannot have two meanings.
    """
    meanings: dict[str, str] = {}
    for meaning, words in given.items():
        for word in words:
            other = meanings.setdefault(word, meaning)
            if other != meaning:
                raise click.UsageError(f"--{other} and --{meaning} are given for one state: {word!r}.")
    return meanings


def findings_in_words(reconciled: "list[ReconciledSubmission]") -> str:
    """Count the workers of each finding, then list those that need an action."""
    if not reconciled:
        return "the list is empty, and no worker has complete data\n"
    counts = {
        finding: sum(submission.finding == finding for submission in reconciled)
        for finding in SUBMISSION_STATES
    }
    lines = [
        f"{counts[finding]:>6}  {finding}: {meaning}\n"
        for finding, meaning in SUBMISSION_STATES.items()
        if counts[finding]
    ]
    rows = [submission_cells(submission) for submission in reconciled if submission.finding not in QUIET]
    return "".join(lines) + (f"\n{table_text(SUBMISSION_COLUMNS, rows)}" if rows else "")


def submission_cells(submission: "ReconciledSubmission") -> tuple[str, ...]:
    """Return the cells of a submission, as `SUBMISSION_COLUMNS` names them."""
    return (
        escape_spreadsheet_cell(submission.worker),
        escape_spreadsheet_cell(submission.submission),
        escape_spreadsheet_cell(submission.status),
        submission.ended,
        submission.finding,
        submission.pseudonym,
    )


CENT = Decimal("0.01")


@click.command()
@click.argument("study", metavar="STUDY")
@click.argument("file", metavar="[FILE]", required=False)
@click.option("--each", metavar="AMOUNT", help="Same amount for every worker with complete data.")
@output_file("Write the list into LIST, not on the terminal.", metavar="LIST", required=False)
@click.option(
    "--even-unlisted",
    is_flag=True,
    help="Include ids that are on no list from the platform; they may be made up.",
)
@database_option
def bonus(
    study: str,
    file: str | None,
    each: str | None,
    output: Path | None,
    database: str | None,
    *,
    even_unlisted: bool,
) -> None:
    """Write a line `participant_id,amount` for each worker who gets a bonus.

    FILE is a CSV with the columns worker (the pseudonym of the exported tables) and amount; with --each every worker gets the same
    who has complete data (every required answer is stored, the last button pressed or not) and did not withdraw. Only workers on a
    list from the platform get one: read a list with `prefcal reconcile` before.
    On platform generic, which may have no list, this rule holds as soon as one was read. Paste the list where the platform takes bonuses in
    bulk. Amounts are in the study's currency, with two decimals.
    """
    with named_database(database) as store:
        with transaction(store, write=False) as session:
            opened = open_study(session, study)
            ids, amounts = bonus_amounts(opened, file, each, even_unlisted=even_unlisted)
            name = opened.row.name
        lines = bonus_lines(ids, amounts)
        if output is None:
            click.echo(lines, nl=False)
        else:
            write_atomically(output, lines, private=True)
        note_command(
            store, name, "list bonuses", f"platform ids of {pluralise(len(amounts), 'person', 'people')}"
        )
    click.echo(
        f"{len(amounts)} {'bonus' if len(amounts) == 1 else 'bonuses'}, {sum(amounts.values(), Decimal(0)):.2f} in all",
        err=True,
    )


def bonus_amounts(
    opened: OpenStudy, file: str | None, each: str | None, *, even_unlisted: bool = False
) -> tuple[dict[str, str], dict[str, Decimal]]:
    """Return platform ids and amounts by pseudonym, of a file or the same for everybody with complete data.

    It says on stderr who is left out and why.
    """
    if (file is None) == (each is None):
        raise click.UsageError("name FILE or --each AMOUNT")
    session, study = opened.session, opened.row
    ids = identities(session, study.id)
    unlisted = set() if even_unlisted else _unlisted(session, study, ids)
    if each is None:
        return ids, _listed(session, study.id, str(file), ids, unlisted)
    whole = completed(session, opened.plans, opened.plan, now=opened.now)
    amounts = {worker: _same(each) for worker in whole if worker in ids}
    _note_nameless(len(whole), len(amounts))
    return ids, _without_unlisted(amounts, unlisted)


def bonus_lines(ids: "Mapping[str, str]", amounts: "Mapping[str, Decimal]") -> str:
    """Return a line ``participant_id,amount`` for each worker.

    Ids and amounts are given by pseudonym.

    Ids stand as the platform gave them, in quotes where they hold a comma: on the generic platform anybody can choose one.
    """
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerows((ids[worker], f"{amount:.2f}") for worker, amount in amounts.items())
    return lines.getvalue()


def _unlisted(session: "Session", study: "LoadedStudy", ids: "Mapping[str, str]") -> set[str]:
    """Return the workers whose id no list of the platform has.

    The result is empty where the platform may have no list and none was read.
    """
    known = in_a_list(session, study.id)
    return ids.keys() - known if known or study.config["platform"] != "generic" else set()


def _without_unlisted(amounts: dict[str, Decimal], unlisted: set[str]) -> dict[str, Decimal]:
    """Drop workers whose id no list has, and report their number.

    It raises `InputError` when that is every worker.
    """
    left = {worker: amount for worker, amount in amounts.items() if worker not in unlisted}
    if amounts and not left:
        raise input_fault(
            "none of the platform lists read so far has a worker with complete data",
            cure="read one (prefcal reconcile STUDY LIST), or give --even-unlisted",
        )
    if len(left) < len(amounts):
        click.echo(
            f"note: {len(amounts) - len(left)} more have complete data, but no list of the platform has their ids, which may be "
            "made up; ask the platform before you give --even-unlisted",
            err=True,
        )
    return left


def _note_nameless(whole: int, named: int) -> None:
    """Report the number of complete workers without a platform id.

    It raises `InputError` when that is every worker.
    """
    if whole and not named:
        raise input_fault(
            f"the platform ids of all {whole} workers with complete data were deleted, so no bonus can be paid",
            cure="look into a backup made before that",
        )
    if named < whole:
        click.echo(
            f"note: {whole - named} more have complete data, but their platform ids were deleted", err=True
        )


def _same(text: str) -> Decimal:

    amount = _amount(text)
    if amount is None:
        raise input_fault(
            f"--each {text} is no amount", cure="write a number above 0 with two decimals at most"
        )
    return amount


def _listed(
    session: "Session", study: int, file: str, ids: "Mapping[str, str]", unlisted: set[str]
) -> dict[str, Decimal]:
    """Read the amount of each worker, with every fault of the file."""
    log = FaultLog(file)
    read = read_csv_columns(file, ("worker", "amount"), log)
    everybody = pseudonyms(session, study)
    amounts: dict[str, Decimal] = {}
    for line, worker, text in zip(read.lines, read.cells["worker"], read.cells["amount"], strict=True):
        amount = _amount(text)
        if worker not in everybody:
            log.add(
                f"no worker {worker!r} in this study",
                line=line,
                cure="write a pseudonym of its table workers",
            )
        elif worker not in ids:
            log.add(f"the platform id of {worker} was deleted", line=line, cure="remove the line")
        elif worker in unlisted:
            log.add(
                f"none of the platform lists read so far has the id of {worker}",
                line=line,
                cure="ask the platform, then read a newer list (prefcal reconcile) or give --even-unlisted",
            )
        elif worker in amounts:
            log.add(f"worker {worker} stands here twice", line=line, cure="add the amounts up in one line")
        if amount is None:
            log.add(
                f"{text!r} is no amount", line=line, cure="write a number above 0 with two decimals at most"
            )
        amounts[worker] = amount or CENT
    log.raise_if_any()
    return amounts


def _amount(text: str) -> Decimal | None:
    """Return an amount above 0 of whole cents, None for anything else."""
    try:
        amount = Decimal(text.strip())
        is_money = amount.is_finite() and amount > 0 and amount == amount.quantize(CENT)
    except InvalidOperation:
        return None
    return amount if is_money else None
