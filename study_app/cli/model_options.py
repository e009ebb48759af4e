"""The options `--model`, `--draws` and `--seed` of scoring commands."""

from collections.abc import Callable

import click


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
