"""Lists by platform id: `prefcal reconcile` reads the platform's, `bonus` and `remind` write those that it takes."""

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

import click

from study_app.cli.output import Number, OutFile, database_option, opened

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sqlalchemy.orm import Session

    from study_app.services.researcher.reconcile import Reconciled
    from study_app.store.models import LoadedStudy


SUBMISSION_COLUMNS = ("platform_id", "submission", "status", "ended", "finding")
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
def reconcile(
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
    from study_app.services.researcher import reconcile as platform
    from study_app.services.researcher.reconcile import without_identity
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
            reconciled = platform.reconcile(session, plans, chosen, listed.submissions, now=utc_now())
            nameless = len(without_identity(session, chosen.id))
            if output is not None:
                write_whole(
                    output,
                    csv_text(
                        SUBMISSION_COLUMNS, [_submission_cells(submission) for submission in reconciled]
                    ),
                    private=True,
                )
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
    click.echo(_in_words(reconciled), nl=False)


def _states(**given: tuple[str, ...]) -> dict[str, str]:
    """Return state -> what the user says it means; one state cannot mean two things."""
    meanings: dict[str, str] = {}
    for meaning, words in given.items():
        for word in words:
            other = meanings.setdefault(word, meaning)
            if other != meaning:
                raise click.UsageError(f"--{other} and --{meaning} are given for one state: {word!r}.")
    return meanings


def _in_words(reconciled: "list[Reconciled]") -> str:
    """Say how many there are of each finding, then list those with which something is to be done."""
    from study_app.cli.output import table_text
    from study_app.services.researcher.reconcile import FINDINGS

    if not reconciled:
        return "the list is empty, and nobody has complete data\n"
    counts = {
        finding: sum(submission.finding == finding for submission in reconciled) for finding in FINDINGS
    }
    lines = [
        f"{counts[finding]:>6}  {finding}: {meaning}\n"
        for finding, meaning in FINDINGS.items()
        if counts[finding]
    ]
    rows = [_submission_cells(submission) for submission in reconciled if submission.finding not in QUIET]
    return "".join(lines) + (f"\n{table_text(SUBMISSION_COLUMNS, rows)}" if rows else "")


def _submission_cells(submission: "Reconciled") -> tuple[str, ...]:
    from study_app.cli.output import plain_cell

    return (
        plain_cell(submission.worker),
        plain_cell(submission.submission),
        plain_cell(submission.status),
        submission.ended,
        submission.finding,
    )


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
def bonus(study: str, file: str | None, each: str | None, output: str | None, database: str | None) -> None:
    """Write a line `participant_id,amount` for each worker who gets a bonus.

    FILE is a CSV with the columns worker (the pseudonym of the exported tables) and amount; with --each everybody gets the same who
    has complete data and did not withdraw. Paste the list where the platform takes bonuses in bulk. Amounts are in the study's
    currency, with two decimals.
    """
    from metrics.files import write_whole
    from study_app.services.researcher.reconcile import bonus_lines, completed, identities
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
    from metrics.readers.columns import read_csv_columns
    from study_app.services.researcher.reconcile import pseudonyms

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


REMINDER_COLUMNS = ("platform_id", "topic", "address")


@click.command()
@click.argument("study", metavar="STUDY", required=False)
@click.option(
    "-o",
    "--output",
    "file",
    type=OutFile(path_type=str),
    metavar="FILE",
    required=True,
    help="Write the list into FILE.",
)
@click.option(
    "--base",
    metavar="URL",
    required=True,
    help="The address under which workers reach the server, such as https://study.example.org.",
)
@click.option(
    "--quiet-hours",
    type=Number(min=0),
    metavar="H",
    help="Leave out who was there in the last H hours, by the stream's own clock.",
)
@database_option
def remind(study: str | None, file: str, base: str, quiet_hours: float | None, database: str | None) -> None:
    """List everybody who follows a stream of STUDY: platform id, event, and the address that leads them back.

    Send the messages by the platform's own means. Each line is recorded as a reminder of this moment, so make the list
    when you are about to send it. STUDY may be left out when only one study is loaded.
    """
    from metrics.errors import input_fault
    from metrics.files import write_whole
    from study_app.cli.output import csv_text
    from study_app.services.researcher.studies import chosen_study
    from study_app.store.database import transaction
    from study_app.store.tokens import utc_now

    if not base.startswith(("http://", "https://")):
        raise input_fault(f"not an address: {base}", cure="write --base https://HOST")
    store = opened(database)
    try:
        with transaction(store, write=True) as session:
            chosen = chosen_study(session, study)
            rows = _reminder_rows(session, chosen, base.rstrip("/"), quiet_hours, now=utc_now())
            write_whole(file, csv_text(REMINDER_COLUMNS, rows), private=True)
    finally:
        store.engine.dispose()
    click.echo(f"{chosen.name}: {len(rows)} to remind, in {file}")


def _reminder_rows(
    session: "Session", study: "LoadedStudy", base: str, quiet_hours: float | None, *, now: "datetime"
) -> list[tuple[str, str, str]]:
    """Return the lines of the list, and note that everybody on it is reminded now."""
    from study_app.cli.output import plain_cell
    from study_app.services.researcher.reconcile import remind as reminded
    from study_app.services.researcher.studies import SIGNING_KEY, setting
    from study_app.store.plan import Plans
    from study_app.store.tokens import Signer

    plan = Plans().of(session, study.id, study.version)
    signer = Signer(setting(session, SIGNING_KEY) or "")
    return [
        (
            plain_cell(follower.platform_worker),
            plain_cell(follower.title),
            f"{base}/w/{signer.worker_token(follower.worker)}/?via=reminder",
        )
        for follower in reminded(session, plan, quiet_hours=quiet_hours, now=now)
    ]
