"""`prefcal study pause`: let nobody new in."""

import click

from study_app.cli.options import database_option, opened


@click.command(name="pause")
@click.argument("study", metavar="STUDY")
@database_option
def command(study: str, database: str | None) -> None:
    """Let nobody new into STUDY; whoever has begun goes on.

    New visitors are told so before they are asked for anything. Loading the study file again does not end a pause.
    """
    from study_app.services.researcher.pause import pause
    from study_app.services.researcher.studies import chosen_study
    from study_app.store.database import transaction
    from study_app.store.tokens import utc_now

    store = opened(database)
    try:
        with transaction(store, write=True) as session:
            changed = pause(session, chosen_study(session, study), now=utc_now())
    finally:
        store.engine.dispose()
    click.echo(
        f"{study} {'is paused: nobody new is let in, whoever has begun goes on' if changed else 'was paused already'}"
    )
