"""`prefcal study load`: check a study and put it into the database."""

import click

from study_app.cli.options import database_option, opened


@click.command(name="load")
@click.argument("file", metavar="FILE", type=click.Path())
@database_option
def command(file: str, database: str | None) -> None:
    """Check the study file FILE and everything it names, then put it into the database.

    Loading the same file again changes nothing. A changed file says what changes; changes that would corrupt
    answers already given are refused.
    """
    from study_app.cli.study.check import left_out
    from study_app.estimate.content import read_ready_study
    from study_app.services.researcher.load import load_study
    from study_app.services.researcher.settings import create_keys
    from study_app.store.database import transaction
    from study_app.store.tokens import secret_token, utc_now

    content = read_ready_study(file)
    with transaction(opened(database, create=True), write=True) as session:
        create_keys(session, new_token=secret_token)
        report = load_study(session, content, now=utc_now())
    for change in report.changes:
        click.echo(f"  {change}")
    for line in left_out(content):
        click.echo(line)
    outcome = {
        "new": f"loaded {report.study}",
        "changed": f"loaded the changed {report.study}",
        "unchanged": f"{report.study} is loaded already; nothing changed",
    }
    click.echo(outcome[report.outcome])
