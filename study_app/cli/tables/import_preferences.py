"""`prefcal import`: preferences collected with other tools become a folder of tables."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    import pandas as pd

    from calibration.interchange.preferences import Imported


def _meanings(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Split values like SAID=CHOICE at the last equals sign."""
    from calibration.interchange.preferences import ANSWERS

    meanings = {}
    for value in values:
        said, equals, choice = value.rpartition("=")
        if not equals or choice not in ANSWERS:
            raise click.BadParameter(
                f"{value!r} is not like SAID=CHOICE, CHOICE one of {', '.join(ANSWERS)}", ctx=ctx, param=param
            )
        meanings[said] = choice
    return meanings


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
    callback=_meanings,
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
    "--time-format",
    metavar="FORMAT",
    help="How times are written, as Python's strptime says it, such as '%d/%m/%Y %H:%M'. Default: ISO 8601. Times "
    "without a zone are UTC.",
)
@click.option(
    "--visit-gap",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="Make tables follows and visits too, of when people worked: a longer pause ends a visit. Needs both times.",
)
@click.option("--task", default="preferences", show_default=True, help="What the tables shall call the task.")
@click.option("--language", type=click.Choice(["en", "ja"]), help="Language of the texts.")
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    required=True,
    help="Folder for the tables.",
)
def command(
    file: Path,
    *,
    answers: dict[str, str],
    time_format: str | None,
    visit_gap: float | None,
    task: str,
    language: str | None,
    folder: Path,
    seconds: str | None,
    **columns: str | None,
) -> None:
    """Turn FILE, a CSV of preferences from another tool, into tables in DIR.

    FILE has a header and one row a judgment; say which of its columns is what. Every row that cannot be read is named
    with its line, and then nothing is written. docs/interoperability.md goes through an example.
    """
    from calibration.interchange.preferences import ImportRules, PreferenceColumns, read_foreign_preferences

    if visit_gap is not None and not (columns["shown_at"] and columns["decided_at"]):
        raise click.UsageError("--visit-gap needs --shown-at and --decided-at")
    named = PreferenceColumns(**columns, decision_seconds=seconds)  # type: ignore[arg-type]
    rules = ImportRules(answers=answers, time_format=time_format, task=task, language=language)
    found = read_foreign_preferences(file, named, rules)
    tables = {"preferences": found.preferences}
    if visit_gap is not None and found.spans is not None:
        from calibration.interchange.visits import visits_of_work

        tables |= visits_of_work(found.spans, visit_gap, stream=task)
    _write(folder, found, tables, task, visit_gap)
    counted = {name: len(table) for name, table in tables.items()} | {"without an answer": found.unanswered}
    click.echo(f"{folder}: " + ", ".join(f"{count} {name}" for name, count in counted.items() if count))


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
