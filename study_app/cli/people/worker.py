"""`prefcal worker`: a person of the loaded studies, by the id at the platform."""

from typing import TYPE_CHECKING

import click

from metrics.errors import join_names, pluralise, printable
from study_app.cli.database import database_option, named_database, open_study
from study_app.cli.people.personal_data import search
from study_app.services.researcher.standing import STATES, Standing, standing_of
from study_app.store.database import transaction
from study_app.store.models import Worker
from study_app.study.shared_pseudonyms import LINKS_STILL

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from study_app.services.researcher.find import WorkerMatch


@click.command()
@click.argument("study", metavar="[STUDY]", required=False)
@click.option("--platform-id", "name", metavar="ID", required=True, help="The person's id at the platform.")
@database_option
def worker(study: str | None, name: str, database: str | None) -> None:
    """Find a person by the id at the platform, in STUDY or in every loaded study.

    It prints the pseudonym, what was done in each task, which codes were shown, what the quality checks say, and what was paid. The search stands in the audit of
    each study that was searched: that, when, and which pseudonym it found; never the id.
    """
    blocks = []
    with named_database(database) as store:
        matches = search(store, name, study).found()
        with transaction(store, write=False) as session:
            for match in matches:
                opened = open_study(session, match.study)
                person = session.get_one(Worker, match.worker_id)
                standing = standing_of(session, opened.plans, opened.plan, person, now=opened.now)
                blocks.append("\n".join(_lines(match, person, standing)))
    click.echo("\n\n".join(blocks))
    if len({match.platform for match in matches}) > 1:
        click.echo("note: the id stands on several platforms, which may be different people", err=True)
    if any(match.id_deleted for match in matches):
        click.echo(f"note: the platform id was deleted here; {LINKS_STILL}", err=True)


def _lines(match: "WorkerMatch", person: Worker, standing: Standing) -> "Iterator[str]":
    """Yield the lines about a person in one study."""
    yield f"{match.study}: worker {match.pseudonym}, from platform {match.platform}; {STATES[standing.state]}"
    consented = "never agreed" if person.consented_at is None else f"agreed {_time(person.consented_at)}"
    yield f"  came {_time(person.arrived_at)}, {consented}, last seen {_time(person.last_seen_at)}"
    if person.withdrawn_at is not None:
        yield f"  withdrew {_time(person.withdrawn_at)}; answers stand in no table any more"
    for task in standing.tasks:
        places = pluralise(task.places, "place")
        yield f"  task {task.number}, {task.name}: {task.done} of {places} done, {pluralise(task.answers, 'answer')}"
    codes = [f"{kind.replace('_', ' ')}, shown {_time(at)}" for kind, at in standing.codes]
    yield f"  code: {join_names(codes) or 'none shown'}"
    care = [flag.replace("_", " ") for flag in standing.care.flags]
    care += [f"left out of the analysis: {reason}" for reason in standing.care.excluded]
    if person.withdrawn_at is None:
        yield f"  checks: {join_names(care) or 'nothing against them'}"
    for payment in standing.payments:
        submission = f"submission {printable(payment.submission)}: " if payment.submission else ""
        yield f"  payment: {submission}{printable(payment.words)} ({_time(payment.at)})"
    if not standing.payments:
        yield "  payment: no list of the platform has them"


def _time(at: "datetime") -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
