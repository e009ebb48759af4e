"""Commands `prefcal measures` and `prefcal correlate`."""

from dataclasses import dataclass
from itertools import combinations, groupby
from math import isnan
from typing import TYPE_CHECKING

import click

from metrics.errors import input_fault, join_names, printable
from metrics.results import ALL, Score
from study_app.cli.options import option, seed_option, with_options
from study_app.cli.output import Output, ScoreOutput

if TYPE_CHECKING:
    from metrics.registry import Measure

COLUMNS = ("measure", "family", "column", "parameters", "definition", "source")


@click.command("measures")
@with_options(output=Output)
def measures(*, output: Output) -> None:
    """List every measure: notation, printed name, meaning and source.

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


@dataclass(frozen=True, kw_only=True)
class CorrelateOptions:
    """Columns to correlate, and the seed of their intervals."""

    x: str | None = option(metavar="COLUMN", help="The reference ranking, for tau-AP.")
    others: tuple[str, ...] = option(
        "--y", metavar="COLUMN", help="The ranking under test, for tau-AP; repeatable."
    )
    seed: int = seed_option("Random seed of the bootstrap over topics.")


@click.command()
@click.argument("table", type=click.Path())
@with_options(choices=CorrelateOptions, output=Output)
def correlate(table: str, *, choices: CorrelateOptions, output: Output) -> None:
    """Correlate columns of scores in TABLE, a CSV with a header.

    Larger scores are better. TABLE is wide, a row per system and a column per measure (with columns run and topic: a row per system and topic), or long,
    with the columns run, metric and value, and maybe topic. Without --x all pairs of measures are correlated.

    Prints tau-b; tau-AP of Y with the reference X (with ties in Y the mean over their orders, undefined with ties
    in X); tau-AP-sym, its symmetric form for ties anywhere; and Pearson's coefficient, each with an interval of 95 %: over topics where
    the table has any, else over systems (tau-b from 10 systems on, Pearson's from 4 on). As csv or json, one X with one Y is printed
    as scores are: run, topic, metric, value, without the interval.
    """
    import numpy as np

    from metrics.agreement.correlation import MAX_SYSTEMS
    from metrics.agreement.correlation_intervals import Correlation, correlations
    from metrics.readers.lines import run_name
    from metrics.readers.score_rows import read_measure_table

    x, others = choices.x, choices.others
    if bool(others) > bool(x):
        raise click.UsageError("--y needs --x COLUMN, the reference")
    scores, notes = read_measure_table(table, [x, *others] if x and others else [])
    for note in notes:
        click.echo(f"{table}: {printable(note)}", err=True)
    if x is not None and x not in scores:
        raise input_fault(
            f"there is no column {x!r}", path=table, line=1, cure=f"name one of {', '.join(scores)}"
        )
    systems = len(next(iter(scores.values())))
    if systems > MAX_SYSTEMS:
        raise input_fault(
            f"{systems:,} systems, and every two are compared",
            path=table,
            cure=f"give at most {MAX_SYSTEMS:,}",
        )
    couples = list(combinations(scores, 2) if x is None else ((x, name) for name in scores if name != x))
    if not couples:
        raise input_fault("only one column of scores", path=table, cure="give two measures at least")
    rows = correlations(scores, couples, rng=np.random.default_rng(choices.seed))
    if output.format != "table" and len(others) == 1:
        ScoreOutput(format=output.format, file=output.file).scores(
            [Score(run_name(table), ALL, row.metric, row.value) for row in rows]
        )
    else:
        output.rows(Correlation._fields, rows)
        bare = dict.fromkeys(row.metric for row in rows if isnan(row.low) and not isnan(row.value))
        if bare:
            click.echo(
                f"{table}: no interval for {join_names(list(bare))}: {systems} systems with one score each do not tell it; "
                "give scores by topic (column topic)",
                err=True,
            )
