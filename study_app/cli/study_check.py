"""`prefcal study check`: what is wrong with a study file, or what its workers will do."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from study_app.stream_content import StreamContent
    from study_app.study_content import StudyContent, TaskContent
    from study_app.summary_content import SummaryContent

DAY_SECONDS = 86_400


@click.command(name="check")
@click.argument("file", metavar="FILE", type=click.Path())
def command(file: str) -> None:
    """Check the study file FILE and everything it names; changes nothing.

    Prints what each task asks of a worker, or every fault with file, line and cure.
    """
    from study_app.study_content import read_study_content
    from study_app.study_file import read_study_file

    content = read_study_content(read_study_file(file))
    for line in described(content):
        click.echo(line)


def described(content: "StudyContent") -> list[str]:
    """Say in a line a task what a worker does, then what the files say that no worker will see."""
    entry = content.file.entry
    tasks = [f"  task {number}, {_described(task)}" for number, task in enumerate(content.tasks, start=1)]
    return [
        f"{entry.study}: no faults; platform {entry.platform}, device {entry.device}",
        *tasks,
        *left_out(content),
    ]


def left_out(content: "StudyContent") -> list[str]:
    """Say in a line each what the files of streams say that no worker will see."""
    from study_app.stream_content import StreamContent

    return [
        f"  {task.entry.name}: {note}"
        for task in content.tasks
        if isinstance(task, StreamContent)
        for note in task.notes
    ]


def _described(task: "TaskContent") -> str:
    from study_app.stream_content import StreamContent

    entry = task.entry
    head = f"{entry.name} ({entry.kind}, {entry.language}): "
    return head + (_of_streams(task) if isinstance(task, StreamContent) else _of_queries(task))


def _of_streams(task: "StreamContent") -> str:
    entry = task.entry
    days = min(entry.days, max(event.seconds for event in task.events) / DAY_SECONDS)
    wall_seconds = days * DAY_SECONDS / entry.clock_factor
    return (
        f"{min(entry.topics_per_worker, len(task.events))} of {len(task.events)} events a worker, "
        f"each for {days:g} days of the event, which take {_duration(wall_seconds)}; "
        f"one of {len(task.systems)} systems, {_limit(entry.workers_per_stream)} each"
    )


def _duration(seconds: float) -> str:
    for unit, length in (("days", DAY_SECONDS), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.3g} seconds"


def _of_queries(task: "SummaryContent") -> str:
    from study_app.study_entries import IntentVotes

    entry = task.entry
    queries = f"{entry.queries_per_worker} of {len(task.queries)} queries"
    if isinstance(entry, IntentVotes):
        return f"{queries} a worker, {_limit(entry.votes_per_query)} a query"
    systems = len(task.systems)
    possible = systems * (systems - 1) // 2
    pairs = possible if entry.pairs == "all" else min(entry.pairs, possible)
    repeats = min(entry.validation_pairs, pairs if pairs > 1 else 0)
    search = (
        f"{max(entry.search_seconds, entry.min_search_seconds):g} s of search, "
        if entry.search_seconds
        else ""
    )
    return (
        f"{queries} a worker, {_limit(entry.workers_per_query)} a query; "
        f"{search}{pairs} pairs of {systems} systems and {repeats} repeats a query"
    )


def _limit(limit: int | None) -> str:
    return "no limit of workers" if limit is None else f"{limit} workers"
