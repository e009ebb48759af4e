"""`prefcal import-visits`: visits that another tool logged become a folder of tables."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from study_app.cli.tables.import_options import (
    delimiter_option,
    folder_option,
    meanings_of,
    tell,
    time_format_option,
)

if TYPE_CHECKING:
    import pandas as pd


def _reasons() -> tuple[str, ...]:
    from calibration.tables.tables import END_REASONS

    return END_REASONS


def _moment(ctx: click.Context, param: click.Parameter, value: str | None) -> datetime | None:
    """Read a time in ISO 8601; without a zone it is UTC."""
    if value is None:
        return None
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        wrong = f"{value!r} is no time in ISO 8601, such as 2026-03-01T09:30:00Z"
        raise click.BadParameter(wrong, ctx=ctx, param=param) from None
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time


@click.command("import-visits")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--topic", metavar="COLUMN", required=True, help="The column with the stream that was visited.")
@click.option("--worker", metavar="COLUMN", required=True, help="The column with who came.")
@click.option(
    "--start", metavar="COLUMN", required=True, help="The column with the time at which a visit began."
)
@click.option("--end", metavar="COLUMN", help="The column with the time at which it ended.")
@click.option("--seconds", metavar="COLUMN", help="The column with its length in seconds, in place of --end.")
@click.option("--system", metavar="COLUMN", help="The column with the system whose stream it was.")
@click.option(
    "--visit",
    metavar="COLUMN",
    help="The column with the visit's number within worker and topic, from 1. Default: counted by time.",
)
@click.option(
    "--end-reason",
    metavar="COLUMN",
    help="The column that says why a visit ended. Default: every visit was left by its worker, and is complete.",
)
@click.option(
    "--reason",
    "reasons",
    metavar="SAID=REASON",
    callback=meanings_of(_reasons),
    multiple=True,
    help="What a reason means: left or idle for complete visits; exhausted, lost or study_end for those that were cut "
    "short. Give it once for each reason. These words are understood without it.",
)
@click.option(
    "--study-end",
    metavar="TIME",
    callback=_moment,
    help="Until when people could come back, in ISO 8601. Default: the end of anybody's last visit.",
)
@click.option(
    "--no-follows", is_flag=True, help="Do not make table follows; one that is in DIR stays as it is."
)
@click.option("--study", default="visits", show_default=True, help="What study.json shall call the study.")
@time_format_option
@delimiter_option
@folder_option
def command(
    file: Path,
    *,
    reasons: dict[str, str],
    study_end: datetime | None,
    no_follows: bool,
    study: str,
    time_format: str | None,
    delimiter: str,
    folder: Path,
    **columns: str | None,
) -> None:
    """Turn FILE, a CSV of visits from another tool, into tables visits and follows in DIR.

    FILE has a header and one row a visit; say which of its columns is what. Every row that cannot be read is named with
    its line, and then nothing is written. Other tables in DIR, and a study.json, stay as they are.
    docs/interoperability.md goes through an example.
    """
    from calibration.interchange.visit_rows import (
        VisitColumns,
        VisitRules,
        follows_of_visits,
        read_foreign_visits,
    )
    from metrics.wording import counted

    if (columns["end"] is None) == (columns["seconds"] is None):
        raise click.UsageError("give one of --end and --seconds")
    rules = VisitRules(reasons=reasons, time_format=time_format, delimiter=delimiter)
    found = read_foreign_visits(file, VisitColumns(**columns), rules)  # type: ignore[arg-type]
    end = _end(found.visits, study_end)
    follows = {} if no_follows else {"follows": follows_of_visits(found.visits, end)}
    tables = {"visits": found.visits} | follows
    _write(folder, tables, study, end)
    notes = [*found.notes, *_unknown_end(end, study_end, is_used=not no_follows)]
    tell(file, notes, found.warnings)
    made = [counted(len(table), name.removesuffix("s")) for name, table in tables.items()]
    click.echo(f"{folder}: {', '.join(made)}")


def _end(visits: "pd.DataFrame", study_end: datetime | None) -> "pd.Timestamp":
    """Return until when people were followed; raises where somebody came later."""
    import pandas as pd

    last = visits["end"].max()
    end = last if study_end is None else pd.Timestamp(study_end).tz_convert("UTC").as_unit("ms")
    if end < last:
        raise click.UsageError(f"--study-end is before the end of the last visit, {last.isoformat()}")
    return end


def _unknown_end(end: "pd.Timestamp", study_end: datetime | None, *, is_used: bool) -> list[str]:
    """Return what to say where nobody said when the study ended."""
    if study_end is not None or not is_used:
        return []
    return [
        f"everybody is followed until {end:%Y-%m-%dT%H:%M:%SZ}, the end of the last visit; --study-end says otherwise"
    ]


def _write(folder: Path, tables: "dict[str, pd.DataFrame]", study: str, end: "pd.Timestamp") -> None:
    from calibration.tables.files import write_tables
    from calibration.tables.records import renew_records
    from calibration.tables.study import STUDY_FILE, StudyRecord, write_study

    write_tables(tables, folder)
    if (folder / STUDY_FILE).exists():
        renew_records(folder, {name: len(table) for name, table in tables.items()})
        return
    begun = tables["visits"]["start"].min().to_pydatetime()
    write_study(StudyRecord(study=study, started_at=begun, ended_at=end.to_pydatetime()), folder)
