"""`prefcal import`: preferences collected with other tools become a folder of tables."""

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

    from calibration.interchange.preferences import Imported


def _answers() -> tuple[str, ...]:
    from calibration.interchange.preferences import ANSWERS

    return ANSWERS


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--topic", metavar="COLUMN", required=True, help="The column with the query or topic.")
@click.option("--worker", metavar="COLUMN", required=True, help="The column with who judged.")
@click.option(
    "--left", metavar="COLUMN", required=True, help="The column with the system shown on the left, or first."
)
@click.option(
    "--right",
    metavar="COLUMN",
    required=True,
    help="The column with the system shown on the right, or second.",
)
@click.option("--choice", metavar="COLUMN", required=True, help="The column with the answer.")
@click.option(
    "--answer",
    "answers",
    metavar="SAID=CHOICE",
    callback=meanings_of(_answers),
    multiple=True,
    help="What an answer means: left, right, equally_good, equally_bad, or none for no answer. Give it once for each "
    "answer. These words, the names of the two systems and an empty cell are understood without it.",
)
@click.option("--pair", metavar="COLUMN", help="The column with an id of the couple of systems.")
@click.option("--judgment", metavar="COLUMN", help="The column with an id of the row.")
@click.option("--shown-at", metavar="COLUMN", help="The column with the time at which the pair was shown.")
@click.option("--decided-at", metavar="COLUMN", help="The column with the time at which it was judged.")
@click.option(
    "--seconds",
    metavar="COLUMN",
    help="The column with the seconds from one to the other. Default: computed from both times.",
)
@click.option(
    "--visit-gap",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="Make tables follows and visits too, of when people worked: a longer pause ends a visit. Needs both times.",
)
@click.option("--task", default="preferences", show_default=True, help="What the tables shall call the task.")
@click.option("--language", type=click.Choice(["en", "ja"]), help="Language of the texts.")
@time_format_option
@delimiter_option
@folder_option
def command(
    file: Path,
    *,
    answers: dict[str, str],
    time_format: str | None,
    delimiter: str,
    visit_gap: float | None,
    task: str,
    language: str | None,
    folder: Path,
    seconds: str | None,
    **columns: str | None,
) -> None:
    """Turn FILE, a CSV of preferences from another tool, into tables in DIR.

    FILE has a header and one row a judgment; say which of its columns is what. Every row that cannot be read is named
    with its line, and then nothing is written. docs/interoperability.md goes through an example. Visits that another
    tool logged are taken over by prefcal import-visits.
    """
    from calibration.interchange.preferences import ImportRules, PreferenceColumns, read_foreign_preferences
    from metrics.wording import counted

    if visit_gap is not None and not (columns["shown_at"] and columns["decided_at"]):
        raise click.UsageError("--visit-gap needs --shown-at and --decided-at")
    named = PreferenceColumns(**columns, decision_seconds=seconds)  # type: ignore[arg-type]
    rules = ImportRules(
        answers=answers, time_format=time_format, delimiter=delimiter, task=task, language=language
    )
    found = read_foreign_preferences(file, named, rules)
    tables = {"preferences": found.preferences}
    if visit_gap is not None and found.spans is not None:
        from calibration.interchange.visits import visits_of_work

        tables |= visits_of_work(found.spans, visit_gap, stream=task)
    _write(folder, found, tables, task, visit_gap)
    tell(file, found.notes, found.warnings)
    made = [counted(len(table), name.removesuffix("s")) for name, table in tables.items()]
    unanswered = [f"{found.unanswered:,} without an answer"] if found.unanswered else []
    click.echo(f"{folder}: {', '.join([*made, *unanswered])}")


def _write(
    folder: Path, found: "Imported", tables: "dict[str, pd.DataFrame]", task: str, visit_gap: float | None
) -> None:
    from calibration.tables.files import write_tables
    from calibration.tables.study import StudyRecord, write_study

    spans = found.spans if found.spans is not None and len(found.spans) else None
    study = StudyRecord(
        study=task,
        started_at=None if spans is None else spans["start"].min().to_pydatetime(),
        ended_at=None if spans is None else spans["end"].max().to_pydatetime(),
        visit_gap_seconds=visit_gap or 0.0,
    )
    write_tables(tables, folder)
    write_study(study, folder)
