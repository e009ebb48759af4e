"""`prefcal convert tables-to-lines`: the judgments of a folder of tables as plain lines."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from study_app.cli.output import Output
from study_app.cli.places import OutFile

if TYPE_CHECKING:
    import pandas as pd


@click.command("tables-to-lines")
@click.argument("tables", type=click.Path(path_type=Path))
@click.option("--task", metavar="NAME", help="Of this task; needed where the tables have several.")
@click.option(
    "--exclude",
    type=click.Choice(["rules", "none"]),
    default="rules",
    show_default=True,
    help="Leave out the workers that the study's rules exclude, or keep them.",
)
@click.option(
    "--winner-first",
    is_flag=True,
    help="Write four fields, the preferred system first, and leave out ties: for tools that know no others.",
)
@click.option(
    "-o",
    "--output",
    "file",
    type=OutFile(terminal=True),
    metavar="FILE",
    help="Write into FILE, not on the terminal.",
)
def command(tables: Path, *, task: str | None, exclude: str, winner_first: bool, file: Path | None) -> None:
    """Write the preferences in TABLES as lines of topic, a, b, worker, choice, separated by tabs.

    a stood on the left, b on the right; the choice is a, b, equally_good or equally_bad. Repeats for validation,
    people who withdrew and people whom the study's rules exclude are left out.
    """
    from calibration.interchange.lines import preference_lines
    from metrics.wording import counted
    from study_app.cli.tables.table_notes import read_with_warnings

    read = read_with_warnings(tables)
    judged = _of_task(read.get("preferences"), task, tables)
    text = preference_lines(
        judged, workers=read.get("workers"), exclude=exclude == "rules", winner_first=winner_first
    )
    left_out = len(judged) - text.count("\n")
    if left_out:
        click.echo(f"{left_out} of {counted(len(judged), 'judgment')} left out", err=True)
    Output(file=file).text(text)


def _of_task(preferences: "pd.DataFrame | None", task: str | None, folder: Path) -> "pd.DataFrame":
    """Return the judgments of a task; raises `InputError` when there are none, or it is not said of which."""
    from metrics.errors import input_fault
    from metrics.wording import listed

    path = folder / "preferences.csv"
    if preferences is None or preferences.empty:
        raise input_fault("there are no preferences", path=path, cure="give the tables of a study of pairs")
    tasks = sorted(preferences["task"].unique())
    if (len(tasks) > 1 and task is None) or (task is not None and task not in tasks):
        problem = "there are several tasks" if task is None else f"there is no task {task!r}"
        raise input_fault(problem, path=path, cure=f"give --task, one of {listed(tasks)}")
    return preferences[preferences["task"] == (task or tasks[0])]
