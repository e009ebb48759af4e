"""`prefcal plan patience`, `away` and `silence`: how well a parameter will be known.

patience: L of the U- and M-measure, from preferences. away: how long people stay away. silence: whether a silent day without pushes is
worth something.
"""

import math
from typing import TYPE_CHECKING

import click

from study_app.cli.output import MOST, Number
from study_app.cli.plan.agreement import HELPFUL, PAIR_SIZES, POSITIVE, AskedSizes, size_options, study_words
from study_app.cli.plan.options import PlanOptions, answer, check_apart, plan_options

if TYPE_CHECKING:
    from calibration.plan.streams import What

WIDTH_OF_TRUTH = 0.4
"""By default the interval shall be this share of L: from 0.8 to 1.2 times L or so."""
LEAST_TEXT = 0.5
"""In texts shorter than this share of L there is nothing to see, however many people judge them."""


@click.command("patience")
@click.option(
    "--true",
    type=POSITIVE,
    default=1500.0,
    show_default=True,
    help="L that you expect, in counted characters. 1500 is the papers' for English, 500 for Japanese.",
)
@click.option(
    "--text-chars",
    type=POSITIVE,
    default=2400.0,
    show_default=True,
    help="How far into a summary there is something that people care for, in counted characters: measure your own. "
    "Patience shows where it ends within the text.",
)
@click.option(
    "--tell-from",
    type=POSITIVE,
    metavar="CHARS",
    help="A patience that the study shall tell the true one from, such as 840 of NTCIR-12. For --power.",
)
@click.option(
    "--effect",
    type=POSITIVE,
    default=1.0,
    show_default=True,
    help="How much the measure matters to people: log odds of a pair whose scores differ by one standard deviation.",
)
@click.option(
    "--unexplained",
    type=Number(min=0),
    default=0.4,
    show_default=True,
    help="How much else matters: standard deviation, in log odds, of what people like about a summary beyond its score.",
)
@size_options
@plan_options(vary=("queries", "pairs", "workers"), studies=100, kinds=("summary_pairs",))
def patience(
    *,
    true: float,
    text_chars: float,
    tell_from: float | None,
    effect: float,
    unexplained: float,
    sizes: dict[str, int],
    queries_a_worker: int,
    wanted: PlanOptions,
) -> None:
    """Say how many queries, pairs and workers tell the patience L from preferences.

    By default: at how many queries is the 95 % interval of L at most 0.4 L wide? There are at most 21 pairs a query.
    """
    from calibration.models.patience.simulate import Judges
    from calibration.plan.patience import MOST_PAIRS, PatienceDesign
    from study_app.cli.plan.question import PlanQuestion

    if sizes["pairs"] > MOST_PAIRS:
        raise click.BadParameter(f"at most {MOST_PAIRS}", param_hint="--pairs")
    check_apart("--tell-from", tell_from, true)
    if text_chars < LEAST_TEXT * true:
        raise click.UsageError(
            f"patience does not show in texts of {text_chars:,g} characters when people read on for {true:,g}: no study can "
            f"tell it; give --text-chars of at least {LEAST_TEXT * true:,g}"
        )
    wish = wanted.wish(default_width=WIDTH_OF_TRUTH * true, tells=tell_from is not None)
    design = PatienceDesign(
        queries=sizes["queries"],
        pairs=sizes["pairs"],
        workers=sizes["workers"],
        true=true,
        text_chars=text_chars,
        judges=Judges(patience_chars=true, effect=effect, unexplained_sd=unexplained),
        tell_from=tell_from,
        queries_each=queries_a_worker,
        pairs_each=wanted.pairs_each,
    )
    question = PlanQuestion(
        subject=f"a patience of {true:,g}",
        unit=" characters",
        digits=0,
        found=None if tell_from is None else f"tells {true:,g} from {tell_from:,g} characters",
        study=study_words(wanted.vary, sizes, queries_a_worker),
        sizes=PAIR_SIZES.words,
        helpful=HELPFUL,
        assumed=(
            f"L = {true:,g}, texts of {text_chars:,g} characters, effect {effect:g}, unexplained {unexplained:g} "
            "(prefcal plan patience --help says what each means)"
        ),
    )
    answer(design.ready(), question, wish, wanted)


"""By default the interval shall be this share of the true value."""
AWAY_SIZES = AskedSizes({"workers": ("worker", "workers"), "days": ("day", "days")})


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
        study=AWAY_SIZES.rest(wanted.vary, {"workers": workers, "days": days}),
        sizes=AWAY_SIZES.words,
        helpful=tuple(AWAY_SIZES.words),
        assumed=f"M_A = {_hours(true)} and S_A = {_hours(sd)}, times between visits that are exponential within people",
    )
    wish = wanted.wish(default_width=WIDTH_OF_TRUTH * design.truth, tells=tell_from is not None)
    answer(design, question, wish, wanted)


def _hours(hours: float) -> str:
    return f"{hours:g} {'hour' if hours == 1 else 'hours'}"


TELLING = 100.0
"""Of intervals, in gains of 1: a wider one tells nothing."""
SILENCE_SIZES = AskedSizes(
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
    from calibration.models.push.simulate import PushJudges
    from calibration.plan.streams import SilenceDesign
    from study_app.cli.plan.question import PlanQuestion, percent

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
        study=SILENCE_SIZES.rest(wanted.vary, {"workers": workers, "pairs": pairs, "topics": topics}),
        sizes=SILENCE_SIZES.words,
        helpful=tuple(SILENCE_SIZES.words),
        widest=TELLING,
        assumed=(
            f"S_0 = {true:g} G_E, P_E = P_0 = 0.5 G_E, S_E = 0.3 G_E; {days} {'day' if days == 1 else 'days'}, {percent(silent)} of {'it' if days == 1 else 'them'} silent; sharpness "
            f"{sharpness:g}, unexplained {unexplained:g} (prefcal plan silence --help says what each means)"
        ),
    )
    answer(design, question, wish, wanted)
