"""`prefcal withdraw`: take a worker's consent back."""

import click

from study_app.cli.options import database_option, opened


@click.command()
@click.argument("code", metavar="CODE")
@database_option
def command(code: str, database: str | None) -> None:
    """Withdraw the worker who holds CODE: no export, fit or count includes their answers from now on."""
    from metrics.errors import input_fault
    from study_app.services.worker.withdraw import withdraw
    from study_app.store.database import transaction
    from study_app.store.tokens import utc_now

    with transaction(opened(database), write=True) as session:
        done = withdraw(session, code, now=utc_now())
    if done is None:
        raise input_fault(f"nobody holds the code {code!r}", cure="ask the worker to check it")
    was = "had withdrawn already" if done.again else "has withdrawn"
    click.echo(f"{done.study}: worker {done.pseudonym} {was}")
