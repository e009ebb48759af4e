"""The options that name the judgments of events, and reading them."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from metrics.events import EventCollection

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
    skipped = [
        f"{count} of {what}s that {file} does not have"
        for count, what, file in zip(judged.skipped, ("nugget", "update"), (nuggets, updates), strict=True)
        if count
    ]
    if skipped:
        sys.stderr.write(f"{matches}: skipped matches: {', '.join(skipped)}\n")
    return judged
