"""`prefcal study resume`: let new workers in again."""

import click

from study_app.cli.options import database_option, opened


@click.command(name="resume")
@click.argument("study", metavar="STUDY")
@database_option
def command(study: str, database: str | None) -> None:
    """Let new workers into STUDY again."""
    from study_app.services.researcher.pause import resume
    from study_app.services.researcher.studies import chosen_study
    from study_app.store.database import transaction

    store = opened(database)
    try:
        with transaction(store, write=True) as session:
            changed = resume(session, chosen_study(session, study))
    finally:
        store.engine.dispose()
    click.echo(f"{study} {'lets new workers in again' if changed else 'was not paused'}")
