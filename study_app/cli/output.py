"""What commands print: a table for people, csv or json for machines, on the terminal or whole into a file.

csv and json carry 13 significant digits. What is undefined is `nan` in csv and a table, null in json.

And what several commands share: where they may write, which is refused while options are read, the database they open, and
who does long work.
"""

import csv
import functools
import io
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import click

from metrics.errors import input_fault, printable
from metrics.files import write_whole
from metrics.results import ALL, Interval, Place, Score
from study_app.config import DATABASE_VARIABLE, DEFAULT_FILE, database_url

if TYPE_CHECKING:
    from study_app.store.database import Database

F = TypeVar("F", bound=Callable[..., Any])
Cell: TypeAlias = str | float | int | None
FORMATS = ("table", "csv", "json")
MOST = 1_000_000
"""More people, draws or entries than this are a slip of the hand."""

LONG_FRACTION = re.compile(r"\b0\.[0-9]{5,}")


class Number(click.FloatRange):
    """A number within a range; infinity and what is no number (nan), which pass every comparison or none, are refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number, or end the command with its usage."""
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is no finite number.", param, ctx)
        return number


class OutFile(click.Path):
    """A file to write; its folder is made with it. `-` is the terminal where the command has a use for that."""

    def __init__(self, *, path_type: type[str | Path] = Path, terminal: bool = False) -> None:
        super().__init__(path_type=path_type, allow_dash=terminal)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path.

        Raises
        ------
        InputError
            If no such file can be written.
        """
        from metrics.files import check_file_place

        path = super().convert(value, param, ctx)
        if not (self.allow_dash and str(path) == "-"):
            check_file_place(str(path))
        return path


class OutFolder(click.Path):
    """A folder to write into; it is made."""

    def __init__(self, *, path_type: type[str | Path] = Path) -> None:
        super().__init__(path_type=path_type)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path.

        Raises
        ------
        InputError
            If nothing can be written there.
        """
        from metrics.files import check_folder_place

        path = super().convert(value, param, ctx)
        check_folder_place(str(path))
        return path


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Where a result goes, and in which format.

    Attributes
    ----------
    format : {'table', 'csv', 'json'}
        For people, or for machines.
    file : str, Path or None
        None or ``-``: the terminal.
    per_topic : bool
        A table of scores has a row each topic besides the means; the other formats always do.
    """

    format: str = "table"
    file: str | Path | None = None
    per_topic: bool = False

    def rows(self, columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
        """Write rows of cells under their columns."""
        self.text({"csv": csv_text, "json": json_text, "table": table_text}[self.format](columns, list(rows)))

    def scores(self, scores: Sequence[Score], intervals: Mapping[Place, Interval] | None = None) -> None:
        """Write scores: a row each for machines; for people a column each metric, and the means unless asked for more.

        Parameters
        ----------
        scores : sequence of Score
            With or without users.
        intervals : mapping of (run, topic, metric) to (low, high), optional
            Adds columns low and high; a score without an entry was not moved by any draw.
        """
        if self.format == "table":
            shown = [score for score in scores if self.per_topic or score.topic == ALL]
            self.rows(*_wide(shown, intervals))
        else:
            self.rows(*_long(scores, intervals))

    def text(self, text: str) -> None:
        """Print a text, or write it into the file, all of it or nothing."""
        if self.file is None or str(self.file) == "-":
            click.echo(text, nl=False)
        else:
            write_whole(self.file, text)


def format_option(meaning: str = "A table for people; csv or json for machines.") -> Callable[[F], F]:
    """Add `--format`, which the command gets as ``format_``."""
    return click.option(
        "--format",
        "format_",
        type=click.Choice(FORMATS),
        default="table",
        show_default=True,
        help=meaning,
    )


def same_answers_option(command: F) -> F:
    """Add `--same-answers`, which the command gets as ``same_answers``."""
    return click.option(
        "--same-answers",
        type=click.Choice(["apart", "one-cluster"]),
        default="apart",
        show_default=True,
        help="Workers who give the same answers as each other count apart, or each group of them as one person.",
    )(command)


def file_option(command: F) -> F:
    """Add `-o` for a result that may go to the terminal, which the command gets as ``file``."""
    return click.option(
        "-o",
        "--output",
        "file",
        type=OutFile(terminal=True),
        metavar="FILE",
        help="Write into FILE, not on the terminal.",
    )(command)


def folder_option(
    meaning: str,
    *,
    path_type: type[str | Path] = Path,
    name: str = "folder",
    metavar: str = "DIR",
    required: bool = True,
) -> Callable[[F], F]:
    """Add `-o` for a folder of results, which the command gets as ``name``; None where it may be left out and is."""
    return click.option(
        "-o",
        "--output",
        name,
        type=OutFolder(path_type=path_type),
        metavar=metavar,
        required=required,
        help=meaning,
    )


def output_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add `--format` and `-o` to a command, which gets them as its argument ``output``."""

    @format_option()
    @file_option
    @functools.wraps(command)
    def wrapped(*args: Any, format_: str, file: Path | None, per_topic: bool = False, **options: Any) -> None:
        command(*args, output=Output(format=format_, file=file, per_topic=per_topic), **options)

    return wrapped


def score_output_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add `--per-topic` besides what `output_options` adds."""
    per_topic = click.option(
        "--per-topic",
        is_flag=True,
        help="Show every topic in the table, not the means alone; csv and json always have both.",
    )
    return per_topic(output_options(command))


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
    """Return rows as a table for people, numbers to four decimals."""
    from tabulate import tabulate

    shown = [[_shown(cell) for cell in row] for row in rows]
    numeric = [any(isinstance(row[place], float | int) for row in rows) for place in range(len(columns))]
    align = ["right" if is_number else "left" for is_number in numeric]
    return (
        tabulate(shown, headers=list(columns), disable_numparse=True, colalign=align if rows else None) + "\n"
    )


def _shown(cell: Cell) -> Cell:
    if isinstance(cell, float):
        return f"{cell:.4f}"
    return printable(cell) if isinstance(cell, str) else cell


def _long(
    scores: Sequence[Score], intervals: Mapping[Place, Interval] | None
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


def _interval(score: Score, intervals: Mapping[Place, Interval]) -> Interval:
    return intervals.get(score[:3], (score.value, score.value))


def _wide(
    scores: Sequence[Score], intervals: Mapping[Place, Interval] | None
) -> tuple[list[str], list[list[Cell]]]:
    """Return (columns, rows) with one column per metric and one row per run, topic and user."""
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
    """Shorten fitted parameters in the names of metrics to four digits, unless two would then be called the same."""
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


def engine_options(command: F) -> F:
    """Add `--jobs` and `--scheduler`, which the command gets as ``jobs`` and ``scheduler``."""
    scheduler = click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="Work on a running Dask cluster instead, such as tcp://10.0.0.1:8786; needs prefcal[cluster].",
    )
    jobs = click.option(
        "--jobs",
        type=click.IntRange(min=1),
        default=cores,
        show_default="every core",
        metavar="N",
        help="Processes on this machine. The numbers are the same with any number of them.",
    )
    return jobs(scheduler(command))


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def typed_options(context: click.Context, values: Mapping[str, Any]) -> list[str]:
    """Return arguments and options as one would type them behind the command, defaults left out.

    Parameters
    ----------
    context : Context
        Of the command.
    values : mapping of str to value
        Name of a parameter -> its value; parameters that are not in it are left out.
    """
    words: list[str] = []
    for option in context.command.params:
        value = values.get(str(option.name))
        if isinstance(option, click.Argument) and value is not None:
            words.append(str(value))
        elif value and value != option.get_default(context):
            for given in _given(option, value):
                words += [option.opts[-1], *given]
    return words


def _given(option: click.Parameter, value: Any) -> list[list[str]]:
    """Return what stands behind an option each time that it is typed."""
    if value is True:
        return [[]]
    if isinstance(value, dict):
        return [[f"{name}={path}"] for name, path in value.items()]
    if option.multiple:
        return [[str(each)] for each in value]
    return [list(value)] if option.nargs > 1 else [[str(value)]]


def database_option(command: F) -> F:
    """Add ``--database`` to a command, as parameter ``database``."""
    return click.option(
        "--database",
        metavar="URL",
        help="Where the studies are: a SQLite file, or a PostgreSQL server as postgresql://USER@HOST/NAME. "
        f"Default: ${DATABASE_VARIABLE}, else {DEFAULT_FILE} in this folder.",
    )(command)


def opened(given: str | None, *, create: bool = False) -> "Database":
    """Open the database that an option names and say on stderr which it is.

    Raises
    ------
    InputError
        If it cannot be opened, or nothing was loaded into it and ``create`` is off.
    """
    from study_app.store.database import is_empty, migrate, open_database, shown_address

    database = open_database(database_url(given))
    address = shown_address(database.engine.url)
    if not create and is_empty(database):
        raise input_fault(
            f"no study is loaded in {address}", cure="load one (prefcal study load FILE), or name --database"
        )
    migrate(database)
    sys.stderr.write(f"database: {address}\n")
    return database
