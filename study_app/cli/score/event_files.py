"""The options that name the judgments of events, and reading them."""

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from metrics.events import EventCollection, UpdateRun

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


def read_update_runs(paths: "Iterable[str]", judged: "EventCollection") -> "list[UpdateRun]":
    """Read the runs, and say on stderr, in one line a run, how many of its updates are about topics not judged."""
    from metrics.readers.run_files import named_runs, read_runs
    from metrics.readers.tempsum_runs import read_update_run, strange_updates

    paths = list(paths)
    runs = read_runs(paths, lambda path, name: read_update_run(path, name=name))
    for path, run in zip(named_runs(paths).values(), runs, strict=True):
        strange = strange_updates(path, run, judged.topics)
        if strange:
            sys.stderr.write(
                f"{path}: {strange.updates} of {len(run.topics)} updates are about topics that are not judged, "
                f"such as {strange.topic!r} (line {strange.line}), and are left out\n"
            )
    return runs
