"""Options that several scoring commands have, and their reports on stderr."""

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from metrics.errors import pluralise
from study_app.cli.options import COUNT, one_of, option, seed_option

if TYPE_CHECKING:
    from pathlib import Path

    from calibration.user_model.family import FamilyModel, M, R
    from metrics.unused_input import UnusedInput

Run = TypeVar("Run")


MAX_EQUAL_LINES = 3
"""More runs than this with the same thing against them share a line."""


def print_unused(name: "str | Path", counted: "Iterable[UnusedInput]", *, lines: bool = False) -> None:
    """Print one line for each count of unused input.

    Parameters
    ----------
    name : str or Path
        The file as the user named it.
    counted : iterable of UnusedInput
        What was counted.
    lines : bool
        The entries are the rows of the file, so that the first one's line can be told.
    """
    for part in counted:
        warning = "warning: " if part.is_most else ""
        sys.stderr.write(f"{name}: {warning}{_sentence(name, part, lines=lines)}\n")


def print_unused_by_run(
    paths: Iterable[str],
    runs: Sequence[Run],
    count: "Callable[[Run], list[UnusedInput]]",
    *,
    lines: bool = False,
) -> None:
    """Print the unused input of each run.

    ``runs`` are those that `metrics.readers.lines.read_runs` read.

    What many runs have in common is one line, with the run that has the most of it.
    """
    from metrics.readers.lines import named_runs

    parts = [
        (path, part)
        for path, run in zip(named_runs(paths).values(), runs, strict=True)
        for part in count(run)
    ]
    alike: dict[tuple[object, str], list[tuple[Path, UnusedInput]]] = {}
    for path, part in parts:
        alike.setdefault((part.noun, part.says), []).append((path, part))
    for path, part in parts:
        if len(alike[part.noun, part.says]) <= MAX_EQUAL_LINES:
            print_unused(path, [part], lines=lines)
    for shared in alike.values():
        if len(shared) > MAX_EQUAL_LINES:
            path, worst = max(shared, key=lambda path_and_part: path_and_part[1].count / path_and_part[1].of)
            many = sum(part.is_most for _, part in shared)
            warning = f"warning: in {many} of them more than half; " if many else ""
            sentence = _sentence(path, worst, lines=lines)
            sys.stderr.write(
                f"{len(shared)} of {pluralise(len(runs), 'run')}: {warning}the most in {path}, {sentence}\n"
            )


def _sentence(path: "str | Path", part: "UnusedInput", *, lines: bool) -> str:
    """Format a count with the line of its first entry and, if known, its cause."""
    from metrics.readers.columns import line_of_row

    excuse = "--topics run" if "topics" in click.get_current_context().params else ""
    line = line_of_row(path, part.entry) if lines and part.entry is not None else None
    return part.warning(line, excuse=excuse) if part.is_most else part.sentence(line, excuse=excuse)


@dataclass(frozen=True, kw_only=True)
class ModelChoice:
    """A user model, and how often it is drawn."""

    model: str | None = option(
        metavar="FILE", help="Take parameters from this user model; explicit options win."
    )
    draws: int | None = option(
        type=COUNT,
        metavar="N",
        help="Draw the model's parameters N times: adds the columns low and high (95 %).",
    )
    seed: int = seed_option()

    def __post_init__(self) -> None:
        """Refuse to draw from no model."""
        check_draws(self.model, self.draws)


def topics_option(of_run: str) -> Any:
    """Return the option `--topics`.

    ``of_run`` names the topics that the choice `run` averages over.
    """
    return one_of("judged", "run", help=f"Topics of the mean: all judged ones, or those {of_run}.")


def check_draws(model: str | None, draws: int | None) -> None:
    """Raise `click.UsageError` when something is to be drawn from no model."""
    if draws is not None and model is None:
        raise click.UsageError("--draws needs --model FILE")


def say_notes(user: "FamilyModel[R, M]") -> None:
    """Print on stderr the substitutes for missing parts of a user model."""
    sys.stderr.write("".join(f"{user.path}: {note}\n" for note in user.notes))
