"""Commands `prefcal withdraw` and `retention`: personal data of a study."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from metrics.errors import input_fault, join_names, pluralise
from study_app.cli.database import OpenStudy, database_option, named_database, open_study
from study_app.cli.options import FiniteFloat, option, with_options
from study_app.services.researcher.find import lists_with, look_up, looking_up
from study_app.services.researcher.retention import (
    TaskCompletion,
    count_retained,
    count_rows,
    delete_rows,
    identified_before,
    identity_parts,
    unconsented_workers,
    unpaid,
    withdrawn_workers,
    worker_parts,
)
from study_app.services.worker import ends
from study_app.store import tokens
from study_app.store.database import Database, transaction
from study_app.store.pseudonym_keys import keep_pseudonym_key, pseudonym_key
from study_app.store.simulated_workers import is_simulated, record_simulated
from study_app.study.shared_pseudonyms import LINKS_BY_FILE, LINKS_STILL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy.orm import Session

    from study_app.services.researcher.find import LookUp, WorkerMatch
    from study_app.store.models import LoadedStudy

AFTER_SQLITE = "what was deleted still stands in backups made before; docs/security.md says what stays where"
AFTER_POSTGRESQL = (
    "what was deleted still stands in backups made before, and in the server's files until it is vacuumed and its logs are recycled:"
    " run VACUUM, see docs/security.md"
)


@dataclass(frozen=True, kw_only=True)
class RetentionOptions:
    """What is deleted, and of whom."""

    days: float | None = option(
        "--identities",
        type=FiniteFloat(min=0),
        metavar="DAYS",
        help="Delete the platform ids of workers without activity for DAYS days.",
    )
    all_identities: bool = option(help="Delete all platform ids, of active workers too.")
    withdrawn: bool = option(help="Delete every answer, event and id of workers who withdrew.")
    unconsented: bool = option(
        help="Delete everything of people who came a day ago or earlier and never consented."
    )
    person: str | None = option(
        "--platform-id",
        metavar="ID",
        help="Withdraw the worker whose id at the platform is ID, and delete every answer, event and id of theirs.",
    )
    shared_key: bool = option(
        help="Delete the key of shared pseudonyms here; nobody new is let in without it."
    )
    even_unpaid: bool = option(help="Include workers who are not known to be paid.")
    is_real: bool = option("--delete", help="Delete; without it only say what would be deleted.")

    def __post_init__(self) -> None:
        """Refuse options that contradict each other."""
        if self.days is not None and self.all_identities:
            raise click.UsageError("name --identities or --all-identities, not both")

    @property
    def is_asked(self) -> bool:
        """True if something is to be deleted."""
        named = (self.all_identities, self.withdrawn, self.unconsented, self.person, self.shared_key)
        return any(named) or self.days is not None


@click.command()
@click.argument("study", metavar="[STUDY]", required=False)
@with_options(choices=RetentionOptions)
@database_option
def retention(study: str | None, database: str | None, *, choices: RetentionOptions) -> None:
    """Report what STUDY holds of people, and delete what need not be kept.

    Answers, events and pseudonyms stay, but for those of workers who withdrew. Pay workers, and make lists of bonuses, before
    their platform ids are deleted: afterwards their ids are unknown, and a worker who comes again is a new
    worker. So workers with complete data, or with work handed in, are kept until a list read with `prefcal reconcile` has them as paid;
    --even-unpaid deletes them all the same. Backups made before still hold what is deleted here.
    """
    is_real = choices.is_real
    with named_database(database) as store:
        found = None if choices.person is None else search(store, choices.person, study)
        match = None if found is None else found.only()
        with transaction(store, write=is_real) as session:
            opened = open_study(session, study if match is None else match.study)
            gone, nameless = _whose(opened, choices, match)
            if not choices.even_unpaid:
                owed = unpaid(session, [*gone, *nameless], opened.complete_workers())
                _check_paid(owed, is_real=is_real)
            parts = [*(worker_parts(gone) if gone else []), *(identity_parts(nameless) if nameless else [])]
            rows = count_rows(session, parts)
            if choices.shared_key and pseudonym_key(session, opened.row.id) is not None:
                rows["key of shared pseudonyms"] = 1
            if is_real:
                if match is not None:
                    _withdraw(session, match.withdrawal_code)  # they then count as withdrawn, and not as lost
                opened.note("delete", _of_how_many(len(gone), len(nameless), rows))
                _delete(opened, store, parts, shared_key=choices.shared_key)
            retained, name = count_retained(session, opened.row.id), opened.row.name
            is_any = bool(nameless or gone or choices.shared_key)
            notes = [*_who_still_knows(session, opened.row, choices.person, is_any=is_any)]
        is_sqlite = store.is_sqlite
        if is_real:
            _empty_journal(store)
    if found is not None and match is not None:
        click.echo(f"{name}: worker {match.pseudonym}")
        _note_elsewhere(found)
    click.echo(_in_words(rows, choices))
    click.echo(
        f"{name} {'keeps' if is_real else 'holds'} {retained.workers} workers under pseudonyms, {retained.identified} "
        f"of them with a platform id, {retained.withdrawn} withdrawn"
    )
    if is_real:
        click.echo(f"note: {AFTER_SQLITE if is_sqlite else AFTER_POSTGRESQL}", err=True)
    for note in notes:
        click.echo(f"note: {note}", err=True)


def _delete(
    opened: OpenStudy, store: "Database", parts: "Sequence[TaskCompletion]", *, shared_key: bool
) -> None:
    """Delete rows of people, and the key of shared pseudonyms if that is asked; SQLite writes zeros over them."""
    session, study = opened.session, opened.row.id
    if is_simulated(session, study):
        record_simulated(session, study)
    if store.is_sqlite:
        session.connection().exec_driver_sql("PRAGMA secure_delete = ON")
    delete_rows(session, parts)
    if shared_key:
        keep_pseudonym_key(session, study, None)


def _who_still_knows(
    session: "Session", study: "LoadedStudy", person: str | None, *, is_any: bool
) -> "Iterator[str]":
    """Yield what still tells of people whose ids go, and what no longer recognises them.

    ``person`` is the id of the one person who is deleted; ``is_any`` is False where nobody's id goes.
    """
    has_key = pseudonym_key(session, study.id) is not None
    if is_any and isinstance(study.config.get("pseudonyms"), list):
        yield LINKS_STILL if has_key else LINKS_BY_FILE
    blind = looking_up(session, study.name)
    if blind and is_any and not has_key:
        yield (
            f"{join_names(blind)} keeps out who took part in {study.name}, and cannot recognise people whose id is deleted; write their "
            f"digests first (prefcal study took-part {study.name} -o FILE) and name FILE in its keep_out"
        )
    listing = [] if person is None else lists_with(session, person)
    if listing:
        yield (
            f"a list of {join_names(listing)} (ids, keep_out) has the digest of this id, by which whoever knows the id can tell; load the"
            " study with a list without it"
        )


def _whose(
    opened: OpenStudy, choices: RetentionOptions, match: "WorkerMatch | None"
) -> "tuple[Sequence[int], list[int]]":
    """Return the workers to delete, and those who lose only their platform id."""
    session, study, now = opened.session, opened.row.id, opened.now
    gone = [] if match is None else [match.worker_id]
    gone += session.scalars(withdrawn_workers(study)) if choices.withdrawn else []
    gone += session.scalars(unconsented_workers(study, now=now)) if choices.unconsented else []
    gone = [*dict.fromkeys(gone)]
    if not choices.all_identities and choices.days is None:
        return gone, []
    old = session.scalars(identified_before(study, days=choices.days, now=now)).all()
    return gone, [worker for worker in old if worker not in set(gone)]


def search(store: "Database", name: str, study: str | None) -> "LookUp":
    """Find a person by platform id; the audit has the search before anything else is done."""
    with transaction(store, write=True) as session:
        return look_up(session, name, study, now=tokens.utc_now())


def _note_elsewhere(found: "LookUp") -> None:
    if found.elsewhere:
        click.echo(
            f"note: this id stands in {join_names(found.elsewhere)} too, where nothing was changed", err=True
        )


def _withdraw(session: "Session", code: str) -> ends.Withdrawal | None:
    """Withdraw the worker who holds a code, with a line of the audit the first time; None for an unknown code."""
    done = ends.withdraw(session, code, now=tokens.utc_now())
    if done is not None and not done.again:
        open_study(session, done.study).note("withdraw", done.pseudonym)
    return done


def _of_how_many(gone: int, nameless: int, rows: dict[str, int]) -> str:
    """Say of how many people what is deleted, for the audit."""
    parts = [
        f"every answer, event and id of {pluralise(gone, 'person', 'people')}" if gone else "",
        f"the platform ids of {pluralise(nameless, 'person', 'people')}" if nameless else "",
    ]
    return f"{' and '.join(filter(None, parts)) or 'nobody'} ({_listed(rows)})"


def _check_paid(owed: int, *, is_real: bool) -> None:
    """Warn of workers who may not be paid yet.

    It raises `InputError` before anything is deleted.
    """
    if not owed:
        return
    problem = f"{owed} of these workers {'is' if owed == 1 else 'are'} not known to be paid, and afterwards they could not be identified"
    cure = "read the platform's newest list with `prefcal reconcile`, or add --even-unpaid"
    if is_real:
        raise input_fault(problem, cure=cure)
    click.echo(f"note: {problem}; {cure}", err=True)


def _in_words(rows: dict[str, int], choices: RetentionOptions) -> str:
    if not choices.is_asked:
        return "nothing was asked for: name --identities DAYS, --all-identities, --withdrawn, --shared-key or --platform-id ID"
    listed = _listed(rows)
    return f"deleted: {listed}" if choices.is_real else f"would delete: {listed}; add --delete to do it"


def _listed(rows: dict[str, int]) -> str:
    return ", ".join(f"{number} of {table}" for table, number in rows.items()) or "no row"


def _empty_journal(store: "Database") -> None:
    """Write SQLite's write-ahead log into the file, so that no older page remains.

    On a busy server the log is emptied later.
    """
    if store.is_sqlite:
        with store.engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")


@click.command()
@click.argument("code", metavar="[CODE]", required=False)
@click.option(
    "--platform-id", "name", metavar="ID", help="Withdraw the worker whose id at the platform is ID."
)
@click.option("--study", metavar="STUDY", help="The study to withdraw this id from, where several have it.")
@database_option
def withdraw(code: str | None, name: str | None, study: str | None, database: str | None) -> None:
    """Withdraw the worker who holds CODE from all later exports, fits and counts.

    Who wrote to you without the code is known by the id at the platform: --platform-id. The search stands in the audit, without the id.
    """
    if (code is None) == (name is None) or (name is None and study is not None):
        raise click.UsageError(
            "name CODE, or --platform-id ID and, where several studies have it, --study STUDY"
        )
    with named_database(database) as store:
        found = None if name is None else search(store, name, study)
        held = code if found is None else found.only().withdrawal_code
        with transaction(store, write=True) as session:
            done = _withdraw(session, str(held))
            if done is not None:
                has_key = pseudonym_key(session, open_study(session, done.study).row.id) is not None
    if done is None:
        raise input_fault(f"no worker has the code {code!r}", cure="ask the worker to check it")
    was = "had withdrawn already" if done.again else "has withdrawn"
    click.echo(f"{done.study}: worker {done.pseudonym} {was}")
    if found is not None:
        _note_elsewhere(found)
    if has_key:
        click.echo(f"note: {LINKS_STILL}; withdraw the worker there too if that is meant", err=True)
