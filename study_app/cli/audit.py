"""`prefcal audit`, and audit lines of commands that change a study's surroundings, not its database."""

import textwrap
from collections import Counter
from typing import TYPE_CHECKING

import click

from metrics.errors import join_names, pluralise, printable
from study_app.cli.database import database_option, database_session
from study_app.cli.options import with_options
from study_app.cli.output import Cell, Output, table_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from study_app.store.console_models import AuditEntry
    from study_app.store.database import Database


def note_command(database: "Database", study: str | None, what: str, detail: str) -> None:
    """Add a line to the audit of one study or of all.

    Where that is impossible, a line on stderr says so.

    Parameters
    ----------
    database : Database
        Where the study is.
    study : str or None
        Its name; None where the command is about the whole database.
    what, detail : str
        What was done. Neither may have the id of a person.
    """
    from sqlalchemy import select
    from sqlalchemy.exc import DatabaseError

    from study_app.services.researcher.audit import add_audit_entry
    from study_app.store.database import transaction
    from study_app.store.models import LoadedStudy
    from study_app.store.tokens import utc_now

    studies = select(LoadedStudy.id).order_by(LoadedStudy.id)
    try:
        with transaction(database, write=True) as session:
            rows = studies if study is None else studies.where(LoadedStudy.name == study)
            for row in session.scalars(rows).all():
                add_audit_entry(session, row, None, what, detail, now=utc_now())
    except DatabaseError as error:
        reason = " ".join(str(error.orig).split())
        click.echo(
            f"note: the audit has no line of this, since nothing can be written into the database ({reason})",
            err=True,
        )


DETAIL_LENGTH = 72
"""Characters of a line of details in the table for people."""
COLUMNS = ("study", "number", "at", "who", "what", "people", "detail")


@click.command()
@click.argument("study", metavar="[STUDY]", required=False)
@click.option(
    "--people", "only_people", is_flag=True, help="Show only what concerns single people or their ids."
)
@database_option
@with_options(output=Output)
def audit(study: str | None, database: str | None, *, only_people: bool, output: Output) -> None:
    """Show what was done to STUDY, or to every study: when, by whom, and to how many people.

    The oldest line comes first; times are UTC. No line has the id of a person. people is empty where an act concerns nobody in particular.
    Lines are kept as a chain, so that a changed or a missing one shows; only the newest can be cut off.
    """
    from study_app.services.researcher.audit import audit_entries, people_in
    from study_app.services.researcher.studies import chosen_study
    from study_app.services.worker.entry import loaded_studies
    from study_app.store.check import broken_audit
    from study_app.store.study_cache import StudyCache

    with database_session(database, write=False) as session:
        plans = loaded_studies(session, StudyCache()) if study is None else [chosen_study(session, study)]
        faults = [fault.problem for fault in broken_audit(session.connection())]
        acts = {
            plan.name: [
                (entry, people_in(entry))
                for entry in reversed(audit_entries(session, plan.id, limit=None))
                if not only_people or people_in(entry) is not None
            ]
            for plan in plans
        }
    if output.is_for_people:
        blocks = [_study_acts(name, entries, faults).rstrip() for name, entries in acts.items()]
        output.text("\n\n".join(blocks) + "\n")
    else:
        output.rows(
            COLUMNS,
            [
                (name, entry.number, entry.at.isoformat(), entry.who, entry.what, people, entry.detail)
                for name, entries in acts.items()
                for entry, people in entries
            ],
        )


def _study_acts(name: str, acts: "Sequence[tuple[AuditEntry, int | None]]", faults: "Sequence[str]") -> str:
    """Return the audit of a study: a summary, and a table."""
    if not acts:
        return f"{name}: nothing was done yet"
    first, last = acts[0][0].at, acts[-1][0].at
    holders = [f"{person} ({number})" for person, number in Counter(entry.who for entry, _ in acts).items()]
    concerned = Counter(entry.what for entry, people in acts if people is not None)
    broken = [problem for problem in faults if problem.startswith(f"the audit of study {name}: ")]
    lines = [
        f"{name}: {pluralise(len(acts), 'act')} from {first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M} UTC, by {join_names(holders, most=50)}",
        "The chain of lines is whole." if not broken else "; ".join(broken),
    ]
    if concerned:
        named = [f"{what} ({number})" for what, number in concerned.items()]
        lines.append(f"Of single people or their ids: {join_names(named, most=50)}.")
    rows: list[tuple[Cell, ...]] = []
    for entry, people in acts:
        first_line, *more = textwrap.wrap(printable(entry.detail), DETAIL_LENGTH) or [""]
        who, at = printable(entry.who), f"{entry.at:%Y-%m-%d %H:%M}"
        rows.append((entry.number, at, who, entry.what, "" if people is None else people, first_line))
        rows += [("", "", "", "", "", line) for line in more]
    return (
        "\n".join(lines)
        + "\n\n"
        + table_text(("line", "when (UTC)", "who", "what", "people", "detail"), rows)
    )
