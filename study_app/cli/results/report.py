"""`prefcal report`: an agreement folder as one page, its figures and tables as files."""

from functools import partial

import click


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path())
@click.option(
    "--style",
    metavar="FILE",
    type=click.Path(),
    help="Colours, fonts and settings of matplotlib, in YAML; see docs/report.md.",
)
def command(folder: str, *, style: str | None) -> None:
    """Write DIR/report.html, one self-contained page, from what prefcal demo or prefcal agree wrote into DIR.

    Every figure is written into DIR/figures too, as SVG and PDF, and every table into DIR/report-tables, as CSV and LaTeX.

    Reads agreement.csv, comparisons.csv, curve.csv, pairs.csv, disagreements.csv, agree.json, user-model.json,
    truth.json and the folder tables; what is missing is left out of the page with a sentence.
    """
    from study_app.report.build import write_report

    look = None
    if style is not None:
        from study_app.report.drawing.style_file import read_look

        look = read_look(style)
    click.echo(write_report(folder, look=look, tell=partial(click.echo, err=True)))
