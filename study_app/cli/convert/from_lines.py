"""`prefcal convert lines-to-tables`: plain lines of preferences become a folder of tables."""

from pathlib import Path

import click

from study_app.cli.places import OutFolder


@click.command("lines-to-tables")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--task", default="preferences", show_default=True, help="What the tables shall call the task.")
@click.option(
    "-o",
    "--output",
    "folder",
    type=OutFolder(),
    metavar="DIR",
    required=True,
    help="Folder for the tables.",
)
def command(file: Path, *, task: str, folder: Path) -> None:
    """Turn FILE, lines of topic, a, b, worker and choice, into tables in DIR.

    Fields are separated by tabs, or by blanks in a line without a tab. The choice is a, b, equally_good (or =) or
    equally_bad; a line of four fields says that a was preferred.
    """
    from calibration.interchange.lines import read_preference_lines
    from calibration.tables.files import write_tables
    from calibration.tables.study import StudyRecord, write_study
    from metrics.wording import counted

    preferences = read_preference_lines(file, task=task)
    write_tables({"preferences": preferences}, folder)
    write_study(StudyRecord(study=task), folder)
    click.echo(f"{folder}: {counted(len(preferences), 'preference')}")
