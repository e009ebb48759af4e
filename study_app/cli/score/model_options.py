"""What scoring commands share: `--topics`, `--model`, `--draws` and `--seed`, and scores under a user model."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from calibration.user_model.scores import FamilyModel, M, R

Command = TypeVar("Command", bound=Callable[..., Any])


def model_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add `--model`, `--draws` and `--seed`, which the command gets as ``model``, ``draws`` and ``seed``."""
    seed = click.option(
        "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of all that is drawn."
    )
    draws = click.option(
        "--draws",
        type=click.IntRange(min=1),
        metavar="N",
        help="Draw what the model gives N times; adds the columns low and high (95 %).",
    )
    model = click.option(
        "--model", metavar="FILE", help="Take parameters from this user model; explicit options win."
    )
    return model(draws(seed(command)))


def topics_option(of_run: str) -> Callable[[Command], Command]:
    """Add `--topics`; ``of_run`` says which topics the choice `run` averages over."""
    return click.option(
        "--topics",
        type=click.Choice(["judged", "run"]),
        default="judged",
        show_default=True,
        help=f"Topics of the mean: all judged ones, or those {of_run}.",
    )


def check_draws(model: str | None, draws: int | None) -> None:
    """Raise `click.UsageError` when something is to be drawn from no model."""
    if draws is not None and model is None:
        raise click.UsageError("--draws needs --model FILE")


def say_notes(user: "FamilyModel[R, M]") -> None:
    """Say on stderr what stands in for what a user model lacks."""
    sys.stderr.write("".join(f"{user.path}: {note}\n" for note in user.notes))
