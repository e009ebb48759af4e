"""`prefcal key`: the keys that open a study's console."""

import click

from study_app.cli.database import database_option, database_session, study_session
from study_app.cli.options import with_options
from study_app.cli.output import Output
from study_app.services.researcher.access import make_key, revoke_key, study_keys
from study_app.services.researcher.studies import chosen_study
from study_app.services.worker.entry import loaded_studies
from study_app.store.study_cache import StudyCache
from study_app.store.tokens import secret_token, utc_now

COLUMNS = ("number", "study", "role", "name", "made", "revoked")


@click.command(name="new")
@click.argument("study", metavar="STUDY")
@click.option(
    "--role",
    required=True,
    type=click.Choice(["watch", "manage"]),
    help="watch: to look. manage: to act too, and to see results.",
)
@click.option("--name", required=True, help="Name of its holder, for the audit.")
@database_option
def new(study: str, role: str, name: str, database: str | None) -> None:
    """Create a key for STUDY's console, and print the address that contains it.

    The key is printed once; the database keeps only its hash.
    """
    with study_session(database, study, write=True) as opened:
        key = make_key(
            opened.session, opened.row, role=role, name=name, now=opened.now, new_token=secret_token
        )
    click.echo(f"/r/{study}?key={key}")
    click.echo(
        "This is shown once. Keep it as you keep a password; prefcal key list shows the number to revoke it by.",
        err=True,
    )


@click.command(name="list")
@click.argument("study", metavar="[STUDY]", required=False)
@database_option
@with_options(output=Output)
def list_keys(study: str | None, database: str | None, *, output: Output) -> None:
    """List the keys of STUDY's console, or of all studies; never the keys themselves.

    The key that prefcal study load printed stands in no list: it opens every study of this installation, and
    prefcal db rekey makes a new one.
    """
    with database_session(database, write=False) as session:
        only = None if study is None else chosen_study(session, study).id
        names = {plan.id: plan.name for plan in loaded_studies(session, StudyCache())}
        rows = [
            (
                key.id,
                names[key.study_id],
                key.role,
                key.name,
                f"{key.made_at:%Y-%m-%d %H:%M}",
                "" if key.revoked_at is None else f"{key.revoked_at:%Y-%m-%d %H:%M}",
            )
            for key in study_keys(session, only)
        ]
    output.rows(COLUMNS, rows)


@click.command(name="revoke")
@click.argument("number", metavar="NUMBER", type=click.IntRange(min=1))
@database_option
def revoke(number: int, database: str | None) -> None:
    """Revoke the key of that NUMBER (prefcal key list), and sign out its users."""
    with database_session(database, write=True) as session:
        name = revoke_key(session, number, now=utc_now()).name
    click.echo(f"key {number} ({name}) is revoked")
