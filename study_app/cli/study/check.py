"""`prefcal study check`: what is wrong with a study file, or what its workers will do, for how long, and what that costs."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from study_app.estimate.content import StudyContent


@click.command(name="check")
@click.argument("file", metavar="FILE", type=click.Path())
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Text for people; json for machines, all times in minutes.",
)
def command(file: str, format_: str) -> None:
    """Check the study file FILE and everything it names; changes nothing.

    Prints every fault with file, line and cure. Where there is none: what each task asks of a worker and for how many
    minutes, how many workers the study needs, how many answers each pair gets, and what it costs.
    """
    from study_app.cli.study.told import as_json, as_text
    from study_app.estimate.content import read_ready_study
    from study_app.estimate.estimate import estimate

    content = read_ready_study(file)
    told = as_json if format_ == "json" else as_text
    click.echo(told(content, estimate(content), left_out(content)), nl=False)


def left_out(content: "StudyContent") -> list[str]:
    """Say in a line each what the files say that no worker will see."""
    return [f"  {task.entry.name}: {note}" for task in content.tasks for note in getattr(task, "notes", ())]
