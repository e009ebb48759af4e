"""Output of commands: tables for people, csv or json for machines.

csv and json carry 13 significant digits. What is undefined is `nan` in csv and a table, null in json.
"""

import csv
import io
import json
import math
import re
import shutil
import sys
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import click

from metrics.errors import join_names, printable
from metrics.files import write_atomically
from metrics.results import ALL, Interval, Score, ScoreKey
from study_app.cli.options import OutPath, one_of, option

Cell: TypeAlias = str | float | int | None
WIDTH = 100
"""Columns of prose, on a terminal at most its own."""
HEADER_PADDING = 2
"""Blanks that tabulate keeps beside a header."""
SHORTEST = 16
"""Columns in which words of a table can still be read."""

LONG_FRACTION = re.compile(r"\b0\.[0-9]{5,}")


@dataclass(frozen=True, kw_only=True)
class Printed:
    """Format of a result: a table for people, csv or json for machines."""

    format: str = one_of("table", "csv", "json", help="A table for people; csv or json for machines.")

    @property
    def is_for_people(self) -> bool:
        """True if people read it."""
        return self.format == "table"

    def rows(self, columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
        """Print rows of cells under their columns."""
        self.text({"csv": csv_text, "json": json_text, "table": table_text}[self.format](columns, list(rows)))

    def text(self, text: str) -> None:
        """Print a text."""
        click.echo(text, nl=False)


@dataclass(frozen=True, kw_only=True)
class ToFile:
    """Destination of a text: ``file``, or the terminal for None and `-`."""

    file: Path | None = option(
        "-o",
        "--output",
        type=OutPath(terminal=True),
        metavar="FILE",
        help="Write into FILE, not on the terminal.",
    )

    def text(self, text: str) -> None:
        """Print a text, or write it into the file, all of it or nothing."""
        if self.file is None or str(self.file) == "-":
            click.echo(text, nl=False)
        else:
            write_atomically(self.file, text)


@dataclass(frozen=True, kw_only=True)
class Output(ToFile, Printed):
    """Format and destination of a result."""


@dataclass(frozen=True, kw_only=True)
class ScoreOutput(Output):
    """Format of scores; machines always get every topic."""

    per_topic: bool = option(
        help="Show every topic in the table, not the means alone; csv and json always have both."
    )

    def scores(self, scores: Sequence[Score], intervals: Mapping[ScoreKey, Interval] | None = None) -> None:
        """Write scores: for machines in rows, for people with a column per metric.

        People get the means only, unless they ask for more.

        Parameters
        ----------
        scores : sequence of Score
            With or without users.
        intervals : mapping of (run, topic, metric) to (low, high), optional
            Adds columns low and high; a score without an entry was not moved by any draw.
        """
        if self.is_for_people:
            shown = [score for score in scores if self.per_topic or score.topic == ALL]
            self.rows(*_wide(shown, intervals))
        else:
            self.rows(*_long(scores, intervals))


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Return rows as CSV with a header; lines end in a line feed."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(
        [_machine_number(cell) if isinstance(cell, float) else cell for cell in row] for row in rows
    )
    return text.getvalue()


def json_text(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Return rows as a JSON list of objects, one a line."""
    lines = [
        json.dumps(dict(zip(columns, map(_json_value, row), strict=True)), ensure_ascii=False) for row in rows
    ]
    return "[\n" + ",\n".join(lines) + "\n]\n" if lines else "[]\n"


def table_text(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """Format rows as a table for people, with numbers to four decimals.

    A last column of words is wrapped at the terminal's width.
    """
    from tabulate import tabulate

    shown = [[_shown(cell) for cell in row] for row in rows]
    numeric = [any(isinstance(row[column], float | int) for row in rows) for column in range(len(columns))]
    align = ["right" if is_number else "left" for is_number in numeric]
    widths = [
        max(len(columns[column]) + HEADER_PADDING, *(len(str(row[column])) for row in shown), 0)
        for column in range(len(columns))
    ]
    room = (terminal_width() or sum(widths) + 2 * len(widths)) - sum(width + 2 for width in widths[:-1])
    is_wide = bool(rows) and align[-1] == "left" and SHORTEST <= room < widths[-1]
    return (
        tabulate(
            shown,
            headers=list(columns),
            disable_numparse=True,
            colalign=align if rows else None,
            maxcolwidths=[None] * (len(columns) - 1) + [room] if is_wide else None,
        )
        + "\n"
    )


def terminal_width() -> int | None:
    """Return the columns of the terminal, at most `WIDTH`.

    It is None where the output is a file or a pipe, whose lines stay whole.
    """
    return min(WIDTH, shutil.get_terminal_size().columns) if sys.stdout.isatty() else None


def wrapped(text: str, *, indent: str = "", width: int | None = None) -> str:
    """Wrap a line of prose, by default at the terminal's width.

    A number keeps its `%`.
    """
    columns = width or terminal_width()
    if columns is None:
        return text
    kept = text.replace(" %", "\0%")
    lines = textwrap.fill(
        kept, columns, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return lines.replace("\0", " ")


def _shown(cell: Cell) -> Cell:
    if isinstance(cell, float):
        return f"{cell:.4f}"
    if isinstance(cell, int):
        return f"{cell:,}"
    return printable(cell) if isinstance(cell, str) else cell


def _long(
    scores: Sequence[Score], intervals: Mapping[ScoreKey, Interval] | None
) -> tuple[list[str], list[list[Cell]]]:
    """Return (columns, rows) with one row per score."""
    columns = ["run", "topic", "user", "metric", "value"]
    if all(score.user is None for score in scores):
        columns.remove("user")
    rows: list[list[Cell]] = [[getattr(score, column) for column in columns] for score in scores]
    if intervals is None:
        return columns, rows
    return [*columns, "low", "high"], [
        [*row, *_interval(score, intervals)] for row, score in zip(rows, scores, strict=True)
    ]


def _interval(score: Score, intervals: Mapping[ScoreKey, Interval]) -> Interval:
    return intervals.get(score[:3], (score.value, score.value))


def _wide(
    scores: Sequence[Score], intervals: Mapping[ScoreKey, Interval] | None
) -> tuple[list[str], list[list[Cell]]]:
    """Return columns and rows with one column per metric.

    There is a row per run, topic and user.
    """
    metrics = list(dict.fromkeys(score.metric for score in scores))
    keys = ["run", "topic", "user"] if any(score.user is not None for score in scores) else ["run", "topic"]
    rows: dict[tuple[Cell, ...], dict[str, Cell]] = {}
    for score in scores:
        shown: Cell = score.value
        if intervals is not None:
            low, high = _interval(score, intervals)
            shown = f"{score.value:.4f} [{low:.4f}, {high:.4f}]"
        rows.setdefault(tuple(getattr(score, key) for key in keys), {})[score.metric] = shown
    return [*keys, *_headings(metrics)], [[*row, *map(cells.get, metrics)] for row, cells in rows.items()]


def _headings(metrics: list[str]) -> list[str]:
    """Shorten fitted parameters in metric names to four digits.

    They stay whole where two names would become equal.
    """
    short = [LONG_FRACTION.sub(lambda found: f"{float(found[0]):.4g}", metric) for metric in metrics]
    return short if len(set(short)) == len(metrics) else metrics


def _machine_number(value: float) -> str:
    """Print 13 significant digits, no more than are needed."""
    return f"{value:.13g}"


def _json_value(value: Cell) -> Cell:
    """Round as csv does; JSON has no NaN and no infinity."""
    if isinstance(value, float):
        return float(_machine_number(value)) if math.isfinite(value) else None
    return value


def simulated_lines(studies: Collection[str], *, cure: str = "") -> Iterator[str]:
    """Yield a warning about the studies whose workers are simulated, if any.

    ``cure`` says how to keep real ones apart where they would come.
    """
    if studies:
        yield (
            f"the workers of {join_names(sorted(studies))} in this database are simulated"
            + (f", and real ones would be mixed with them; {cure}" if cure else "")
        )


def is_inner_command() -> bool:
    """Return whether another command runs this one, as `prefcal demo` does."""
    context = click.get_current_context(silent=True)
    return context is not None and context.find_root().obj is not None


def next_step(command: str) -> None:
    """Print the command that usually follows.

    Within another command it prints nothing, since that one prints its own.
    """
    if not is_inner_command():
        click.echo(f"Next: prefcal {command}")
