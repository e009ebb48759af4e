"""`prefcal correlate`: how alike two columns of scores rank the same systems."""

import click

from study_app.cli.output import Output, output_options


@click.command()
@click.argument("table", type=click.Path())
@click.option("--x", metavar="COLUMN", required=True, help="The reference ranking, for tau-AP.")
@click.option("--y", metavar="COLUMN", required=True, help="The ranking under test, for tau-AP.")
@output_options
def command(table: str, *, x: str, y: str, output: Output) -> None:
    """Correlate two columns of TABLE, a CSV with a header and one row a system; larger scores are better.

    Prints tau-b; tau-AP of Y with the reference X (with ties in Y the mean over their orders, undefined with ties
    in X); tau-AP-sym, its symmetric form for ties anywhere; and Pearson's coefficient.
    """
    from metrics.agreement import correlate
    from metrics.errors import FaultLog
    from metrics.readers.columns import read_csv_columns
    from metrics.readers.lines import run_name
    from metrics.results import ALL, Score

    log = FaultLog(table)
    columns = read_csv_columns(table, [x, y], log)
    reference, tested = columns.numbers(x, log), columns.numbers(y, log)
    if not log.faults and len(columns.lines) < 2:
        log.add("fewer than two rows", line=1, cure="write one row a system, two at least")
    log.raise_if_any()
    output.scores(
        [Score(run_name(table), ALL, name, value) for name, value in correlate(reference, tested).items()]
    )
