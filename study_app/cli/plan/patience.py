"""`prefcal plan patience`: how well a study will tell L, the patience of the U- and M-measure, from preferences."""

import click

from study_app.cli.output import Number
from study_app.cli.plan.options import PlanOptions, answer, check_apart, plan_options
from study_app.cli.plan.people import HELPFUL, PAIR_SIZES, POSITIVE, size_options, study_words

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
    from calibration.patience.simulate import Judges
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
    answer(design.stocked(), question, wish, wanted)
