"""`prefcal report`: an agreement folder as one page."""

import click


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path())
def command(folder: str) -> None:
    """Write DIR/report.html, one self-contained page, from what prefcal demo or prefcal agree wrote into DIR.

    Reads agreement.csv, comparisons.csv, curve.csv, pairs.csv, agree.json, user-model.json, truth.json and the
    folder tables; what is missing is left out of the page with a sentence.
    """
    from study_app.report.build import write_report

    click.echo(write_report(folder))
