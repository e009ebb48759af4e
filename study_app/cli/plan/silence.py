"""`prefcal plan silence`: whether a study will find that a silent day without pushes is worth something."""

import click

from study_app.cli.output import MOST, Number
from study_app.cli.plan.options import PlanOptions, answer, plan_options
from study_app.cli.plan.people import POSITIVE, AskedSizes

TELLING = 100.0
"""Of intervals, in gains of 1: a wider one tells nothing."""
SIZES = AskedSizes(
    {
        "workers": ("worker", "workers"),
        "pairs": ("pair a worker", "pairs a worker"),
        "topics": ("topic", "topics"),
    }
)


@click.command("silence")
@click.option(
    "--true",
    type=float,
    default=0.4,
    show_default=True,
    help="S_0 that you expect, relative to a gain of 1: 0.4 means that five quiet silent days make up for two relevant "
    "pushes. With 0, and --width, the chance is that of a false find.",
)
@click.option(
    "--workers", type=click.IntRange(2, MOST), default=100, show_default=True, help="People who judge."
)
@click.option(
    "--pairs",
    type=click.IntRange(1, MOST),
    default=20,
    show_default=True,
    help="Pairs of streams that each judges.",
)
@click.option(
    "--topics", type=click.IntRange(2, MOST), default=40, show_default=True, help="Interest profiles."
)
@click.option(
    "--days",
    type=click.IntRange(1, MOST),
    default=10,
    show_default=True,
    help="Days that a pair of streams shows.",
)
@click.option(
    "--silent",
    type=Number(0, 1),
    default=0.25,
    show_default=True,
    help="Share of silent days: 0.25 in TREC 2015.",
)
@click.option(
    "--sharpness",
    type=POSITIVE,
    default=1.0,
    show_default=True,
    help="How decided people are: log odds of a unit of utility, one fully relevant push. The guess that matters most: "
    "at 1 they agree with each other like Fleiss' kappa of 0.54, at 0.5 of 0.34, at 0.25 of 0.16.",
)
@click.option(
    "--unexplained",
    type=Number(min=0),
    default=0.0,
    show_default=True,
    help="How much else matters: standard deviation, in log odds, of what people like about a stream beyond its cells.",
)
@plan_options(vary=("workers", "pairs", "topics"), studies=100, kinds=("stream_pairs",))
def silence(
    *,
    true: float,
    workers: int,
    pairs: int,
    topics: int,
    days: int,
    silent: float,
    sharpness: float,
    unexplained: float,
    wanted: PlanOptions,
) -> None:
    """Say how many workers and pairs tell whether silence on silent days is worth something: ELG-1 or ELG-0.

    By default: at how many workers do four of five studies print "reward supported" (S_0 above 0, one-sided at 5 %)?
    """
    from calibration.plan.streams import SilenceDesign
    from calibration.push.simulate import PushJudges
    from study_app.cli.plan.curve import percent
    from study_app.cli.plan.question import PlanQuestion

    wish = wanted.wish()
    if true <= 0 and wish.power is not None:
        raise click.UsageError(
            f"with --true {true:g} silence is worth nothing, which no study finds to be rewarded; give a value above 0, or "
            "--width"
        )
    design = SilenceDesign(
        workers=workers,
        pairs=pairs,
        topics=topics,
        true=true,
        days=days,
        silent_share=silent,
        judges=PushJudges(sharpness=sharpness, unexplained_sd=unexplained),
    )
    question = PlanQuestion(
        subject=f"S_0 = {true:g}",
        unit="",
        digits=2,
        found="finds that silence is rewarded",
        study=SIZES.rest(wanted.vary, {"workers": workers, "pairs": pairs, "topics": topics}),
        sizes=SIZES.words,
        helpful=tuple(SIZES.words),
        widest=TELLING,
        assumed=(
            f"S_0 = {true:g} G_E, P_E = P_0 = 0.5 G_E, S_E = 0.3 G_E; {days} {'day' if days == 1 else 'days'}, {percent(silent)} of {'it' if days == 1 else 'them'} silent; sharpness "
            f"{sharpness:g}, unexplained {unexplained:g} (prefcal plan silence --help says what each means)"
        ),
    )
    answer(design, question, wish, wanted)
