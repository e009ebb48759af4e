"""Progress of long work on stderr: a bar on a terminal, else a line at times."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

QUIET_SECONDS = 20.0
"""So long nothing is said where there is no bar."""


class NowAndThen:
    """Printer of progress lines on stderr, `QUIET_SECONDS` apart at least."""

    def __init__(self) -> None:
        self._said = time.monotonic()

    def say(self, line: str) -> None:
        """Print a line if enough time has passed since the last one."""
        if time.monotonic() - self._said >= QUIET_SECONDS:
            self._said = time.monotonic()
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
        Says that so many are done, where there is no bar.
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
    lines, done = NowAndThen(), 0

    def one_more() -> None:
        nonlocal done
        done += 1
        lines.say(line(done))

    yield one_more
