"""`prefcal study resume`: let new workers in again."""

import click

from study_app.cli.options import database_option, opened


@click.command(name="resume")
@click.argument("study", metavar="STUDY")
@database_option
def command(study: str, database: str | None) -> None:
    """Let new workers into STUDY again."""
    from study_app.database import transaction
    from study_app.services.pause import resume
    from study_app.services.studies import chosen_study

    with transaction(opened(database), write=True) as session:
        found = chosen_study(session, study)
        changed = resume(session, found)
    click.echo(f"{study} {'lets new workers in again' if changed else 'was not paused'}")
