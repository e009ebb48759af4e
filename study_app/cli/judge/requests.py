"""`prefcal judge requests`: a study file becomes a file of requests to a judge."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click

from metrics.files import written_whole
from study_app.cli.options import one_of, option, output_file, with_options


@dataclass(frozen=True, kw_only=True)
class RequestOptions:
    """Pairs that a judge is asked about, and how."""

    pairs: str = one_of(
        "all", "judged", help="All pairs of the study file, or those that people judged in --tables."
    )
    tables: str | None = option(
        type=click.Path(), metavar="TABLES", help="Folder of tables, for --pairs judged."
    )
    orders: Literal["both", "one"] = one_of(
        "both",
        "one",
        help="Ask about each pair in both orders of its sides, or in one that is drawn by lot.",
    )
    samples: int = option(
        type=click.IntRange(min=1), default=1, metavar="K", help="How often each of these is asked."
    )
    prompt: Path | None = option(
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="A prompt of your own, in Jinja; default: prefcal's of the kind of task and its language.",
    )

    def __post_init__(self) -> None:
        """Refuse one of two options that go together."""
        if (self.pairs == "judged") != (self.tables is not None):
            raise click.UsageError("--pairs judged and --tables go together")


@click.command(name="requests")
@click.argument("study", metavar="STUDY", type=click.Path())
@output_file("File of requests, one JSON object a line.")
@with_options(choices=RequestOptions)
def requests(study: str, output: Path, *, choices: RequestOptions) -> None:
    """Write requests to a judge about the pairs of the study file STUDY.

    A request shows what people see of a pair, with sides A and B and no name of a system, and asks for one of the choices that they have, and for
    one about each criterion that they are asked about.
    At the end it says how much is asked. Next: prefcal judge run.
    """
    from calibration.tables.files import read_tables
    from study_app.estimate.content import read_whole_study
    from study_app.judges.requests import (
        MEANINGS,
        RequestSize,
        judged_couples,
        make_requests,
        request_line,
    )
    from study_app.study.entries import JudgingTask

    judged = None
    if choices.tables is not None:
        place = str(Path(choices.tables) / "preferences.csv")
        judged = judged_couples(read_tables(choices.tables), place=place)
    content = read_whole_study(study)
    lines = make_requests(
        content, judged=judged, orders=choices.orders, samples=choices.samples, prompt=choices.prompt
    )
    size, asked = RequestSize(), dict[str, tuple[list[str], list[str]]]()
    with written_whole(output) as file:
        for request in lines:
            size.add(request["messages"])
            asked[request["task"]] = request["choices"], request.get("criteria", [])
            file.write(request_line(request))
    click.echo(f"{output}: {size}")
    for task in content.tasks:
        if isinstance(task.entry, JudgingTask) and task.entry.name in asked:
            offered, criteria = asked[task.entry.name]
            named = [*["choices"] * (offered != [*MEANINGS[task.entry.choices]])]
            named += ["asked"] * (len(criteria) < len(task.entry.asked_criteria))
            if named:
                click.echo(
                    f"note: {choices.prompt} does not name {' and '.join(named)}: a judge of {task.entry.name} is not asked for"
                    f" {' and '.join({'choices': 'grades', 'asked': 'criteria'}[name] for name in named)}, as people are",
                    err=True,
                )
