"""`prefcal check`: a folder of tables, whoever wrote it."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from study_app.cli.output import Output, output_options

if TYPE_CHECKING:
    import pandas as pd

    from calibration.study_json import StudyRecord
    from metrics.errors import Fault


@click.command("check")
@click.argument("tables", type=click.Path(path_type=Path), metavar="TABLES")
@output_options
def command(tables: Path, *, output: Output) -> None:
    """Check a folder of tables and its study.json, and say what is in it.

    Faults are named with file, line and cure: those of a file's shape first, then of cells, then of whole rows.
    docs/tables.md describes the tables.
    """
    from calibration.table_files import read_tables
    from metrics.errors import InputError

    study, faults = _study(tables)
    try:
        found = read_tables(tables)
    except InputError as error:
        raise InputError([*faults, *error.faults]) from None
    if faults:
        raise InputError(faults)
    output.rows(
        ("table", "rows", "columns", "without values"),
        [(name, len(frame), *_columns(frame)) for name, frame in found.items()],
    )
    if output.format == "table":
        name = f"study {study.study!r}" if study else "no study.json (none is needed)"
        click.echo(f"No fault in {len(found)} tables; {name}.")


def _study(folder: Path) -> "tuple[StudyRecord | None, list[Fault]]":
    from calibration.study_json import read_study
    from metrics.errors import InputError

    try:
        return read_study(folder), []
    except InputError as error:
        return None, list(error.faults)


def _columns(frame: "pd.DataFrame") -> tuple[str, str]:
    """Return how many columns hold a value, and which hold none."""
    filled = frame.notna().any() | frame.empty
    return f"{int(filled.sum())} of {len(filled)}", ", ".join(filled.index[~filled])
