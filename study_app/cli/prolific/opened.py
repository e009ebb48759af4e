"""What the commands of `prefcal prolific` share: the study, the client, and how they say what happened."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from metrics.errors import PrefcalError, input_fault
from study_app.cli.database import named_database, open_study
from study_app.prolific.api import ProlificApi
from study_app.prolific.sending import Sending
from study_app.services.researcher.audit import add_audit_entry
from study_app.store import tokens
from study_app.store.database import Database, transaction
from study_app.store.study_cache import StudyCache
from study_app.study.entries import StudyEntry

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A study on Prolific and its database."""

    database: Database
    study_id: int
    name: str
    entry: StudyEntry
    plans: StudyCache

    def api(self) -> ProlificApi:
        """Return a client for the study; raises `InputError` without a token."""
        return ProlificApi(self.database, self.study_id, now=tokens.utc_now)

    def note(self, what: str, detail: str) -> None:
        """Add a line to the study's audit; ``detail`` has no id of a person."""
        with transaction(self.database, write=True) as session:
            add_audit_entry(session, self.study_id, None, what, detail, now=tokens.utc_now())


@contextmanager
def opened_study(database: str | None, study: str | None) -> Iterator[Opened]:
    """Open the study that a command is about, and close its database.

    Raises
    ------
    InputError
        If its workers do not come from Prolific.
    """
    with named_database(database) as store:
        with transaction(store, write=False) as session:
            loaded = open_study(session, study)
            row, entry, plans = loaded.row, loaded.plan.entry, loaded.plans
            if entry.platform != "prolific":
                raise input_fault(
                    f"the workers of {row.name} come from platform {entry.platform}",
                    cure="name a study with platform: prolific",
                )
            opened = Opened(database=store, study_id=row.id, name=row.name, entry=entry, plans=plans)
        yield opened


def yes_option(what: str) -> Callable[[F], F]:
    """Add ``--yes`` to a command, without which nothing leaves this machine but questions."""
    return click.option(
        "--yes", "is_real", is_flag=True, help=f"{what}; without it only say what would be done."
    )


def remote_option(command: F) -> F:
    """Add ``--prolific-study`` to a command, as parameter ``remote``."""
    return click.option(
        "--prolific-study", "remote", metavar="ID", help="Study on Prolific, where several send workers here."
    )(command)


def say_sending(result: Sending, noun: str) -> None:
    """Print what was sent and what was not; raise `PrefcalError` where not all was."""
    click.echo(f"{noun}: {result.sent} sent, {result.unknown} unknown, {len(result.refused)} refused")
    for words in result.refused:
        click.echo(words, err=True)
    if result.unknown:
        click.echo(
            f"note: of {result.unknown} nobody here knows whether they were carried out. They are not sent again: prefcal prolific pay "
            "lists them, prefcal prolific sync looks for them",
            err=True,
        )
    if result.stopped_by:
        raise PrefcalError(result.stopped_by)
    if result.refused or result.unknown:
        raise PrefcalError(f"{len(result.refused) + result.unknown} of these {noun} are not known to be sent")
