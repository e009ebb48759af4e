"""What scoring commands say on stderr of input that takes no part in the scores; a warning where it is more than half."""

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from pathlib import Path

    from metrics.taking_part import LeftOut

R = TypeVar("R")


def say_left_out(name: "str | Path", found: "Iterable[LeftOut]", *, lines: bool = False) -> None:
    """Say what was counted, one line each.

    Parameters
    ----------
    name : str or Path
        The file as the user named it.
    found : iterable of LeftOut
        What was counted.
    lines : bool
        The entries are the rows of the file, so that the first one's line can be told.
    """
    from metrics.readers.columns import line_of_row

    for part in found:
        line = line_of_row(name, part.entry) if lines and part.entry is not None else None
        said = f"warning: {part.warning(line)}" if part.is_most else part.sentence(line)
        sys.stderr.write(f"{name}: {said}\n")


def say_of_runs(
    paths: Iterable[str], runs: Sequence[R], count: "Callable[[R], list[LeftOut]]", *, lines: bool = False
) -> None:
    """Say what of each run takes no part; ``runs`` are those that `metrics.readers.lines.read_runs` read."""
    from metrics.readers.lines import named_runs

    for path, run in zip(named_runs(paths).values(), runs, strict=True):
        say_left_out(path, count(run), lines=lines)
