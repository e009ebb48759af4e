"""`prefcal plan away`: how well a study will tell how long people stay away."""

import math
from typing import TYPE_CHECKING

import click

from study_app.cli.output import MOST
from study_app.cli.plan.options import PlanOptions, answer, check_apart, plan_options
from study_app.cli.plan.people import POSITIVE, AskedSizes

if TYPE_CHECKING:
    from calibration.plan.streams import What

WIDTH_OF_TRUTH = 0.4
"""By default the interval shall be this share of the true value."""
SIZES = AskedSizes({"workers": ("worker", "workers"), "days": ("day", "days")})


@click.command("away")
@click.option(
    "--true",
    type=POSITIVE,
    default=3.0,
    show_default=True,
    help="M_A that you expect, in hours of the stream: people's mean time between two visits.",
)
@click.option(
    "--sd",
    type=POSITIVE,
    default=1.5,
    show_default=True,
    help="S_A that you expect, in hours: how people differ in it. The MSU paper takes half of M_A.",
)
@click.option(
    "--of",
    "what",
    type=click.Choice(["mean", "sd"]),
    default="mean",
    show_default=True,
    help="Plan for M_A, or for S_A, which needs about four times as many people.",
)
@click.option(
    "--tell-from",
    type=POSITIVE,
    metavar="HOURS",
    help="A value that the study shall tell the true one from. For --power.",
)
@click.option(
    "--workers",
    type=click.IntRange(2, MOST),
    default=60,
    show_default=True,
    help="People who follow a stream.",
)
@click.option(
    "--days",
    type=click.IntRange(1, MOST),
    default=10,
    show_default=True,
    help="Days of the stream that each follows it.",
)
@plan_options(vary=("workers", "days"), studies=200, kinds=("stream_visits",))
def away(
    *,
    true: float,
    sd: float,
    what: "What",
    tell_from: float | None,
    workers: int,
    days: int,
    wanted: PlanOptions,
) -> None:
    """Say how many workers and days tell M_A, the mean time that people stay away.

    By default: at how many workers is the 95 % interval of M_A at most 0.4 M_A wide?
    """
    from calibration.plan.streams import AwayDesign
    from study_app.cli.plan.question import PlanQuestion

    design = AwayDesign(
        workers=workers, days=days, mean_hours=true, sd_hours=sd, what=what, tell_from=tell_from
    )
    check_apart("--tell-from", tell_from, design.truth)
    name = "M_A" if what == "mean" else "S_A"
    question = PlanQuestion(
        subject=f"{name} = {_hours(design.truth)}",
        unit=" hours",
        digits=max(0, 2 - math.floor(math.log10(design.truth))),
        found=None if tell_from is None else f"tells {design.truth:g} from {_hours(tell_from)}",
        study=SIZES.rest(wanted.vary, {"workers": workers, "days": days}),
        sizes=SIZES.words,
        helpful=tuple(SIZES.words),
        assumed=f"M_A = {_hours(true)} and S_A = {_hours(sd)}, times between visits that are exponential within people",
    )
    wish = wanted.wish(default_width=WIDTH_OF_TRUTH * design.truth, tells=tell_from is not None)
    answer(design, question, wish, wanted)


def _hours(hours: float) -> str:
    return f"{hours:g} {'hour' if hours == 1 else 'hours'}"
