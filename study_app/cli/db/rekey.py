"""`prefcal db rekey`: new keys when the old ones leaked."""

import click

from study_app.cli.options import database_option, opened


@click.command(name="rekey")
@database_option
def command(database: str | None) -> None:
    """Make new keys: every address that was given out is void from then on, the workers' and the researcher's.

    For when a key leaked, or a backup, which holds both. Nobody may be serving the database. No answer is touched: workers
    who come by the platform's address again go on where they were; list followers of streams anew (prefcal remind).
    """
    from study_app.services.researcher.settings import replace_keys
    from study_app.store.backup.postgres import refuse_when_used
    from study_app.store.database import shown_address, transaction
    from study_app.store.serving_lock import serving_lock
    from study_app.store.tokens import secret_token

    store = opened(database)
    address = shown_address(store.engine.url)
    try:
        if not store.is_sqlite:
            refuse_when_used(store)
        with serving_lock(str(store.engine.url)), transaction(store, write=True) as session:
            replace_keys(session, new_token=secret_token)
    finally:
        store.engine.dispose()
    click.echo(f"{address} has new keys; prefcal serve prints the addresses that are good now")
