"""Who does long work: `--jobs` and `--scheduler`, which several commands take."""

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def engine_options(command: F) -> F:
    """Add `--jobs` and `--scheduler`, which the command gets as ``jobs`` and ``scheduler``."""
    scheduler = click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="Work on a running Dask cluster instead, such as tcp://10.0.0.1:8786; needs prefcal[cluster].",
    )
    jobs = click.option(
        "--jobs",
        type=click.IntRange(min=1),
        default=cores,
        show_default="every core",
        metavar="N",
        help="Processes on this machine. The numbers are the same with any number of them.",
    )
    return jobs(scheduler(command))


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
