"""A folder of tables, whoever wrote it: `prefcal check`, and what other commands warn of when they read one."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from study_app.cli.output import Output, output_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd

    from calibration.tables.study import StudyRecord
    from metrics.arrays import Bools
    from metrics.errors import Fault


@click.command("check")
@click.argument("tables", type=click.Path(path_type=Path), metavar="TABLES")
@output_options
def check(tables: Path, *, output: Output) -> None:
    """Check a folder of tables and its study.json, and say what is in it.

    Faults are named with file, line and cure: tables that were cut after their export first, then those of a file's
    shape, of cells, and of whole rows. What is legal but suspicious is a warning: names that are nearly known ones,
    rows that stand twice, tables that were changed.
    docs/tables.md describes the tables.
    """
    from calibration.tables.files import read_tables
    from calibration.tables.suspicions import in_no_result, suspicions
    from metrics.errors import InputError
    from metrics.wording import counted

    study, faults = _study(tables)
    try:
        frames = read_tables(tables)
    except InputError as error:
        raise InputError([*faults, *error.faults]) from None
    warnings = [*suspicions(tables, frames), *_of_visits(tables, frames, faults)]
    if faults:
        raise InputError(faults)
    output.rows(
        ("table", "rows", "columns", "without values"),
        [(name, len(frame), *_columns(frame)) for name, frame in frames.items()],
    )
    if output.format == "table":
        name = f"study {study.study!r}" if study else "no study.json (none is needed)"
        click.echo(f"No fault in {counted(len(frames), 'table')}; {name}.")
    notes = [f"note: {line}" for line in in_no_result(tables, frames)]
    for line in [*notes, *(f"warning: {line}" for line in warnings)]:
        click.echo(line, err=output.format != "table")


def _study(folder: Path) -> "tuple[StudyRecord | None, list[Fault]]":
    from calibration.tables.study import read_study
    from metrics.errors import InputError

    try:
        return read_study(folder), []
    except InputError as error:
        return None, list(error.faults)


def _of_visits(
    folder: Path, frames: "Mapping[str, pd.DataFrame]", faults: "list[Fault]"
) -> "Iterator[Fault | str]":
    """Yield warnings of visits and follows that do not fit together; add a fault where most visits do not."""
    from calibration.tables.files import table_paths
    from calibration.visits.stays import FAULTY_ORPHANS, ends, orphans, orphans_in_words

    if "visits" not in frames or "follows" not in frames or frames["visits"].empty:
        return
    visits, files = frames["visits"], table_paths(folder)
    strange = orphans(visits, frames["follows"])
    if strange.any():
        fault = _orphan_fault(visits, strange, files["visits"], orphans_in_words(strange.sum(), len(visits)))
        if strange.mean() > FAULTY_ORPHANS:
            faults.append(fault)
        else:
            yield fault
    last = ends(visits, frames["follows"])
    if last.is_suspicious:
        yield f"{files['follows']}: {last}; ended_at must be the end of the study, or times away come out too short"


def _orphan_fault(visits: "pd.DataFrame", strange: "Bools", file: Path, count: str) -> "Fault":
    """Return the fault of the visits without a follow, at the first of them, with the first three names."""
    from calibration.tables.files import line_of
    from metrics.errors import Fault

    names = visits.loc[strange, ["worker", "topic"]].drop_duplicates()
    shown = [
        f"worker {worker!r} topic {topic!r} on line {line_of(file, row)}"
        for row, worker, topic in names[:3].itertuples(name=None)
    ]
    more = ", ..." if len(names) > len(shown) else ""
    return Fault(
        problem=f"{count} ({', '.join(shown)}{more})",
        cure="write worker and topic as in table follows, or add the follows that are missing",
        path=str(file),
        line=line_of(file, names.index[0]),
    )


def _columns(frame: "pd.DataFrame") -> tuple[str, str]:
    """Return how many columns hold a value, and which hold none."""
    filled = frame.notna().any() | frame.empty
    return f"{int(filled.sum())} of {len(filled)}", ", ".join(filled.index[~filled])


def read_with_warnings(folder: str | Path) -> "dict[str, pd.DataFrame]":
    """Read a folder of tables, and warn of misspelt names, of changed tables and of ends that may be cut off.

    Raises
    ------
    InputError
        As `calibration.tables.files.read_tables` does.
    """
    from calibration.tables.files import read_tables
    from calibration.tables.suspicions import suspicions_in_short

    tables = read_tables(folder)
    for line in suspicions_in_short(folder, tables):
        click.echo(f"warning: {line}", err=True)
    return tables
