"""`prefcal measures`, every measure there is, and `prefcal correlate`, how alike two columns of scores rank the same systems."""

from itertools import groupby
from typing import TYPE_CHECKING

import click

from study_app.cli.output import Output, output_options

if TYPE_CHECKING:
    from metrics.registry import Measure

COLUMNS = ("measure", "family", "column", "parameters", "definition", "source")


@click.command("measures")
@output_options
def measures(*, output: Output) -> None:
    """List every measure: how it is written, what it is printed as, what it computes, and where it comes from.

    Parameters are shown with their defaults. Write a measure with those you want to change, for example
    MMeasure(patience=840, layers='first').
    """
    from metrics.registry import all_measures

    rows = [_row(cls) for cls in all_measures().values()]
    if output.format == "table":
        output.text("\n".join(_for_people(rows)))
    else:
        output.rows(COLUMNS, rows)


def _row(cls: "type[Measure]") -> tuple[str, ...]:
    """Describe one measure."""
    from metrics.registry import shown_value

    parameters = ", ".join(f"{name}={shown_value(value)}" for name, value in cls.defaults().items())
    return cls.__name__, cls.family, cls().column, parameters, cls.definition, cls.source


def _for_people(rows: list[tuple[str, ...]]) -> list[str]:
    """Return one paragraph a measure, under the command of its family."""
    lines = []
    for family, of_family in groupby(rows, key=lambda row: row[1]):
        lines.append(f"prefcal score {family}\n")
        measures = list(of_family)
        width = max(len(column) for _, _, column, *_ in measures)
        margin = " " * (width + 4)
        for measure, _, column, parameters, definition, source in measures:
            head = f"  {column:<{width}}  {measure}({parameters})"
            lines.append(f"{head}\n{margin}{definition}\n{margin}{source}\n")
    return lines


@click.command()
@click.argument("table", type=click.Path())
@click.option("--x", metavar="COLUMN", required=True, help="The reference ranking, for tau-AP.")
@click.option("--y", metavar="COLUMN", required=True, help="The ranking under test, for tau-AP.")
@output_options
def correlate(table: str, *, x: str, y: str, output: Output) -> None:
    """Correlate two columns of TABLE, a CSV with a header and one row a system; larger scores are better.

    Prints tau-b; tau-AP of Y with the reference X (with ties in Y the mean over their orders, undefined with ties
    in X); tau-AP-sym, its symmetric form for ties anywhere; and Pearson's coefficient.
    """
    from metrics.agreement.correlation import MAX_SYSTEMS, correlate
    from metrics.errors import FaultLog
    from metrics.readers.columns import read_csv_columns
    from metrics.readers.lines import run_name
    from metrics.results import ALL, Score

    log = FaultLog(table)
    columns = read_csv_columns(table, [x, y], log)
    reference, tested = columns.numbers(x, log), columns.numbers(y, log)
    if not log.faults and len(columns.lines) < 2:
        log.add("fewer than two rows", line=1, cure="write one row a system, two at least")
    if len(columns.lines) > MAX_SYSTEMS:
        problem = f"there are {len(columns.lines):,} rows, and {MAX_SYSTEMS:,} systems can be correlated"
        log.add(problem, line=1, cure="write one row a system, its mean over topics")
    log.raise_if_any()
    output.scores(
        [Score(run_name(table), ALL, name, value) for name, value in correlate(reference, tested).items()]
    )
