"""The options that name the judgments of events, and reading them."""

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from study_app.cli.score.left_out import say_left_out, say_of_runs

if TYPE_CHECKING:
    from metrics.events import EventCollection, UpdateRun
    from metrics.readers.tempsum import Lengths

F = TypeVar("F", bound=Callable[..., Any])


def event_options(command: F) -> F:
    """Add `--topics-file`, `--nuggets`, `--matches` and `--updates`, all required."""
    files = {
        "topics-file": "When each event begins and ends: the track's XML.",
        "nuggets": "The facts of each event, when they became known and how important they are.",
        "matches": "Which update tells which nugget, in which words.",
        "updates": "The sampled updates: texts, lengths, and whose copies they are.",
    }
    for name, text in reversed(files.items()):
        command = click.option(f"--{name}", required=True, metavar="F", help=text)(command)
    return command


def read_judged_events(*, topics_file: str, nuggets: str, matches: str, updates: str) -> "EventCollection":
    """Read the judgments, and say on stderr, in one line, how many matches name what is not there."""
    from metrics.readers.tempsum import read_events

    judged = read_events(topics=topics_file, nuggets=nuggets, matches=matches, updates=updates)
    skipped = judged.skipped.sentence(nuggets=nuggets, updates=updates)
    if skipped:
        sys.stderr.write(f"{matches}: {skipped}\n")
    return judged


def read_update_runs(
    paths: "Iterable[str]", judged: "EventCollection", lengths: "Lengths | None" = None
) -> "list[UpdateRun]":
    """Read the runs, and say on stderr what of the judgments and of each run takes no part."""
    from metrics.events import events_left_out, updates_left_out
    from metrics.readers.lines import read_runs
    from metrics.readers.tempsum import read_update_run

    paths = list(paths)
    runs = read_runs(paths, lambda path, name: read_update_run(path, name=name))
    say_left_out(judged.name, events_left_out(judged))
    say_of_runs(paths, runs, lambda run: updates_left_out(judged, run, lengths=lengths), lines=True)
    return runs
