"""Progress of long work on stderr: a bar on a terminal, else a line at times."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

QUIET_SECONDS = 20.0
"""Least time between two lines, where there is no bar."""


class ProgressLines:
    """Printer of progress lines on stderr, `QUIET_SECONDS` apart at least."""

    def __init__(self) -> None:
        self._printed_at = time.monotonic()

    def print_line(self, line: str) -> None:
        """Print a line if enough time has passed since the last one."""
        if time.monotonic() - self._printed_at >= QUIET_SECONDS:
            self._printed_at = time.monotonic()
            click.echo(line, err=True)


@contextmanager
def shown_progress(
    total: int, line: Callable[[int], str], *, unit: str, label: str | None = None
) -> Iterator[Callable[[], object]]:
    """Show how much of some work is done.

    Parameters
    ----------
    total : int
        How many pieces there are.
    line : callable
        Returns the line that a number of pieces is done, where there is no bar.
    unit, label : str
        What the bar counts, and what stands before it.

    Yields
    ------
    callable
        To be called whenever a piece is done.
    """
    if sys.stderr.isatty():
        from tqdm import tqdm

        with tqdm(total=total, unit=unit, desc=label, leave=False) as bar:
            yield bar.update
        return
    lines, done = ProgressLines(), 0

    def count_one() -> None:
        nonlocal done
        done += 1
        lines.print_line(line(done))

    yield count_one
