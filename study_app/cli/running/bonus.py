"""`prefcal bonus`: a list of bonuses in the form that platforms take."""

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

import click

from study_app.cli.options import database_option, opened
from study_app.cli.places import OutFile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy.orm import Session

CENT = Decimal("0.01")


@click.command()
@click.argument("study", metavar="STUDY")
@click.argument("file", metavar="[FILE]", required=False)
@click.option("--each", metavar="AMOUNT", help="The same for everybody with complete data.")
@click.option(
    "-o",
    "--output",
    type=OutFile(path_type=str),
    metavar="LIST",
    help="Write the list into LIST, not on the terminal.",
)
@database_option
def command(study: str, file: str | None, each: str | None, output: str | None, database: str | None) -> None:
    """Write a line `participant_id,amount` for each worker who gets a bonus.

    FILE is a CSV with the columns worker (the pseudonym of the exported tables) and amount; with --each everybody gets the same who
    has complete data and did not withdraw. Paste the list where the platform takes bonuses in bulk. Amounts are in the study's
    currency, with two decimals.
    """
    from metrics.files import write_whole
    from study_app.services.researcher.bonus import bonus_lines, completed, identities
    from study_app.services.researcher.studies import chosen_study
    from study_app.store.database import transaction

    if (file is None) == (each is None):
        raise click.UsageError("name FILE or --each AMOUNT")
    store = opened(database)
    try:
        with transaction(store, write=False) as session:
            chosen = chosen_study(session, study)
            ids = identities(session, chosen.id)
            whole = completed(session, chosen.id)
            amounts = (
                {worker: _same(each) for worker in whole if worker in ids}
                if each is not None
                else _listed(session, chosen.id, str(file), ids)
            )
    finally:
        store.engine.dispose()
    if each is not None:
        _note_nameless(len(whole), len(amounts))
    lines = bonus_lines(ids, amounts)
    if output is None:
        click.echo(lines, nl=False)
    else:
        write_whole(output, lines, private=True)
    click.echo(
        f"{len(amounts)} {'bonus' if len(amounts) == 1 else 'bonuses'}, {sum(amounts.values(), Decimal(0)):.2f} in all",
        err=True,
    )


def _note_nameless(whole: int, named: int) -> None:
    """Say how many have complete data and get no line; raise `InputError` when that is everybody."""
    from metrics.errors import input_fault

    if whole and not named:
        raise input_fault(
            f"the platform ids of all {whole} workers with complete data were deleted, so nobody can get a bonus",
            cure="look into a backup made before that",
        )
    if named < whole:
        click.echo(
            f"note: {whole - named} more have complete data, but their platform ids were deleted", err=True
        )


def _same(text: str) -> Decimal:
    from metrics.errors import input_fault

    amount = _amount(text)
    if amount is None:
        raise input_fault(
            f"--each {text} is no amount", cure="write a number above 0 with two decimals at most"
        )
    return amount


def _listed(session: "Session", study: int, file: str, ids: "Mapping[str, str]") -> dict[str, Decimal]:
    """Read worker -> amount; every fault of the file at once."""
    from metrics.errors import FaultLog
    from metrics.readers.csv_columns import read_csv_columns
    from study_app.services.researcher.bonus import pseudonyms

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
