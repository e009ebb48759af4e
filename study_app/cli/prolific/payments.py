"""Commands `prefcal prolific sync`, `approve`, `bonus`, `message` and `pay`: submissions, money and messages."""

from collections.abc import Collection, Iterable
from decimal import Decimal
from pathlib import Path
from typing import Literal

import click

from metrics.errors import PrefcalError, input_fault, pluralise
from metrics.files import write_atomically
from study_app.cli.database import database_option, open_study
from study_app.cli.options import output_file
from study_app.cli.output import csv_text, table_text
from study_app.cli.people.platform_lists import (
    SUBMISSION_COLUMNS,
    bonus_amounts,
    findings_in_words,
    submission_cells,
)
from study_app.cli.people.remind import base_option, quiet_hours_option
from study_app.cli.prolific.opened import Opened, opened_study, say_sending, yes_option
from study_app.prolific.api import ProlificApi
from study_app.prolific.messages import personal_texts, send_messages
from study_app.prolific.sending import send_orders
from study_app.prolific.settling import confirm, release
from study_app.prolific.sync import SyncReport, add_remote_study, sync
from study_app.services.researcher.orders import (
    CONFIRMED,
    STATES,
    due_approvals,
    intend_approvals,
    intend_bonuses,
    listed_orders,
    money,
    order_counts,
    orders_of,
)
from study_app.services.researcher.reconcile import list_detail
from study_app.services.researcher.remind import due_reminders
from study_app.services.researcher.studies import SIGNING_KEY, setting
from study_app.store import tokens
from study_app.store.database import transaction
from study_app.store.platform_models import PlatformOrder
from study_app.store.tokens import Signer

ORDER_COLUMNS = ("order", "kind", "worker", "platform_id", "amount", "for", "state", "since", "note")
NOTHING_SENT = "nothing was sent; add --yes to do it"


def _synchronise(opened: Opened, api: ProlificApi) -> SyncReport:
    """Read all that Prolific says, and print what could not be read."""
    report = sync(api, opened.plans)
    opened.note(
        "read submissions from Prolific",
        f"{list_detail(report.reconciled, len(report.submissions))}; {pluralise(report.freed, 'place')} freed, "
        f"{report.confirmed} confirmed" + (", not to the end" if report.failures else ""),
    )
    for words in report.failures:
        click.echo(f"note: {words}", err=True)
    return report


@click.command(name="sync")
@click.argument("study", metavar="STUDY", required=False)
@click.option(
    "--prolific-study",
    "remote",
    metavar="ID",
    help="Add a study on Prolific that was made by hand, whose address leads here.",
)
@output_file("Write a line a submission into FILE, as CSV.", required=False)
@database_option
def sync_command(study: str | None, remote: str | None, output: Path | None, database: str | None) -> None:
    """Read every submission of STUDY from Prolific, and say whom to pay and whom to ask.

    It does what `prefcal reconcile` does with a file. Places of returned and timed-out submissions are free again, and approvals and
    bonuses that Prolific shows are confirmed. Nothing is changed there. What cannot be read is named, and the rest is used.
    """
    with opened_study(database, study) as opened, opened.api() as api:
        if remote is not None:
            add_remote_study(api, remote)
        report = _synchronise(opened, api)
    if output is not None:
        rows = [submission_cells(submission) for submission in report.reconciled]
        write_atomically(output, csv_text(SUBMISSION_COLUMNS, rows), private=True)
    click.echo(findings_in_words(report.reconciled), nl=False)
    click.echo(
        f"{pluralise(len(report.submissions), 'submission')} read, {pluralise(report.freed, 'place')} freed, "
        f"{pluralise(report.confirmed, 'order')} confirmed"
    )
    if report.failures:
        raise PrefcalError("not all of it could be read: run the same command again")


@click.command()
@click.argument("study", metavar="STUDY", required=False)
@yes_option("Approve them, which pays them")
@database_option
def approve(study: str | None, database: str | None, *, is_real: bool) -> None:
    """Approve every submission of STUDY that is to be paid, whatever code was handed in.

    It costs the reward of each, with fees. The submissions are read first. Those are approved whose worker has complete data, and no other submission for the same work.
    Nobody is rejected.
    """
    with opened_study(database, study) as opened, opened.api() as api:
        report = _synchronise(opened, api)
        with transaction(opened.database, write=False) as session:
            due = due_approvals(session, opened.study_id, read_at=report.read_at)
        if due and not is_real:
            click.echo(table_text(("worker", "submission"), due), nl=False)
        click.echo(f"{pluralise(len(due), 'submission')} to approve")
        if not is_real:
            click.echo(NOTHING_SENT, err=True)
            return
        with transaction(opened.database, write=True) as session:
            intend_approvals(session, opened.study_id, read_at=report.read_at, now=tokens.utc_now())
        _send(opened, api, "approval")


def _send(opened: Opened, api: ProlificApi, kind: Literal["approval", "bonus"]) -> None:
    """Send the intended orders of a kind, and print and audit what came of it."""
    result = send_orders(api, kind)
    noun = {"approval": "approvals", "bonus": "bonuses"}[kind]
    opened.note(f"send {noun} to Prolific", str(result))
    say_sending(result, noun)


@click.command()
@click.argument("study", metavar="STUDY")
@click.argument("file", metavar="[FILE]", required=False)
@click.option("--each", metavar="AMOUNT", help="Same amount for every worker with complete data.")
@click.option(
    "--for",
    "purpose",
    metavar="WORDS",
    required=True,
    help="What the bonus is for, such as 'all days': nobody gets two for the same.",
)
@yes_option("Pay them")
@database_option
def bonus(
    study: str, file: str | None, each: str | None, purpose: str, database: str | None, *, is_real: bool
) -> None:
    """Pay a bonus to each worker of FILE, or with --each to everybody with complete data.

    It costs the bonuses and Prolific's fee on them. FILE is a CSV with the columns worker (the pseudonym of the exported tables) and amount, in the study's currency. A worker gets one
    bonus for the same words, however often the command is run.
    """
    with opened_study(database, study) as opened:
        with transaction(opened.database, write=is_real) as session:
            _, amounts = bonus_amounts(open_study(session, opened.name), file, each)
            currency = opened.entry.currency
            cents = {worker: int(100 * amount) for worker, amount in amounts.items()}
            if is_real:
                intend_bonuses(
                    session, opened.study_id, purpose.strip(), cents, currency, now=tokens.utc_now()
                )
        total = sum(amounts.values(), Decimal(0))
        click.echo(
            f"{pluralise(len(cents), 'bonus', 'bonuses')}, {total:.2f} {currency} in all, without fees"
        )
        if not is_real:
            click.echo(NOTHING_SENT, err=True)
            return
        with opened.api() as api:
            _send(opened, api, "bonus")


@click.command()
@click.argument("study", metavar="STUDY")
@click.argument("text", metavar="TEXT.txt", type=click.Path(path_type=Path))
@base_option
@click.option(
    "--for",
    "purpose",
    metavar="WORDS",
    help="What the message is for: nobody gets two for the same. [default: reminder and today's date]",
)
@quiet_hours_option
@yes_option("Send them")
@database_option
def message(
    study: str,
    text: Path,
    base: str,
    purpose: str | None,
    quiet_hours: float | None,
    database: str | None,
    *,
    is_real: bool,
) -> None:
    """Send the followers of STUDY's streams the message in TEXT.txt.

    It costs nothing, and each of them gets a message on Prolific, which cannot be taken back. In the text {address} stands for the follower's own address, which leads back to the streams, and {topics} for what they follow.
    Each message that is sent is recorded as a reminder.
    """
    try:
        words = text.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise input_fault("cannot be read as text in UTF-8", path=text, cure="name a text file") from error
    if not base.startswith("https://"):
        raise input_fault(f"not an address with https: {base}", cure="write --base https://HOST")
    with opened_study(database, study) as opened:
        now = tokens.utc_now()
        with transaction(opened.database, write=False) as session:
            plan = open_study(session, opened.name).plan
            reminders = due_reminders(session, plan, quiet_hours=quiet_hours, now=now)
            signer = Signer(setting(session, SIGNING_KEY) or "")
        texts = personal_texts(words, reminders, base=base, signer=signer)
        click.echo(f"{pluralise(len(texts), 'follower')} to write to")
        if not is_real:
            click.echo(NOTHING_SENT, err=True)
            return
        about = (purpose or f"reminder {now:%Y-%m-%d}").strip()
        with opened.api() as api:
            result = send_messages(api, about, texts)
        opened.note("send messages by Prolific", f"{about}: {result}")
        say_sending(result, "messages")


@click.command()
@click.argument("study", metavar="STUDY", required=False)
@click.option(
    "--release",
    "released",
    metavar="ORDER",
    type=int,
    multiple=True,
    help="Let an order be sent again that is unknown or sent, after you have looked on Prolific. Repeatable.",
)
@click.option(
    "--paid",
    metavar="ORDER",
    type=int,
    multiple=True,
    help="Say of an order that is unknown or sent that you saw on Prolific that it was carried out. Repeatable.",
)
@yes_option("Send what is intended, or settle the orders that are named")
@database_option
def pay(
    study: str | None,
    released: tuple[int, ...],
    paid: tuple[int, ...],
    database: str | None,
    *,
    is_real: bool,
) -> None:
    """List every approval, bonus and message of STUDY that is not confirmed, and send what is intended.

    With --yes it costs what the listed approvals and bonuses that are intended come to, with fees; without, nothing. An order whose answer was lost is unknown, and never sent again by itself. Look on Prolific whether it was carried out: if not, name it
    with --release, which asks Prolific once more before, and with the next --yes it is sent; if so, name it with --paid.
    """
    if released and paid:
        raise click.UsageError("name orders with --release or --paid, not both")
    with opened_study(database, study) as opened:
        if paid:
            confirm(opened.database, opened.study_id, paid, now=tokens.utc_now, is_real=is_real)
            if is_real:
                opened.note("say that orders were carried out", _of_people(opened, paid))
        elif released:
            with opened.api() as api:
                done = release(api, released, is_real=is_real)
            if done.confirmed:
                click.echo(f"Prolific shows {_numbers(done.confirmed)}: confirmed, not released")
            if is_real and done.released:
                opened.note("release orders", _of_people(opened, done.released))
        elif is_real:
            with opened.api() as api:
                _send(opened, api, "approval")
                _send(opened, api, "bonus")
        _list(opened)
        if not is_real:
            click.echo(NOTHING_SENT, err=True)


def _numbers(orders: Iterable[int]) -> str:
    return f"orders {', '.join(map(str, orders))}"


def _of_people(opened: Opened, orders: Collection[int]) -> str:
    """Return numbers of orders, and how many people they concern."""
    with transaction(opened.database, write=False) as session:
        known = orders_of(opened.study_id).where(PlatformOrder.id.in_(orders))
        people = {order.worker_id for order in session.scalars(known)}
    return f"{_numbers(orders)}, of {pluralise(len(people), 'person', 'people')}"


def _list(opened: Opened) -> None:
    """Print the orders that are not confirmed, and count all by state."""
    with transaction(opened.database, write=False) as session:
        rows = listed_orders(
            session, opened.study_id, states=[state for state in STATES if state != CONFIRMED]
        )
        counts = order_counts(session, opened.study_id)
        cells = [
            (
                str(order.id),
                order.kind,
                pseudonym,
                platform_id or "deleted",
                "" if order.cents is None else money(order.cents, order.currency or ""),
                order.purpose if order.kind != "approval" else order.submission,
                order.state,
                f"{order.sent_at or order.intended_at:%Y-%m-%d %H:%M}",
                order.note,
            )
            for order, pseudonym, platform_id in rows
        ]
    if cells:
        click.echo(table_text(ORDER_COLUMNS, cells))
    for state, meaning in STATES.items():
        number = sum(count for (_, of_state), count in counts.items() if of_state == state)
        click.echo(f"{number:>6}  {state}: {meaning}")
