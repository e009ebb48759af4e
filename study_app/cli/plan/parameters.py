"""Commands `prefcal plan patience`, `away` and `silence`: studies of parameters.

patience: L of the U- and M-measure, from preferences. away: how long people stay away. silence: whether a silent day without pushes is
worth something.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from metrics.errors import percent, pluralise
from study_app.cli.options import COUNT, MAX_COUNT, POSITIVE, FiniteFloat, one_of, option, with_options
from study_app.cli.plan.agreement import HELPFUL, PAIR_SIZES, PairSizes, fixed_sizes
from study_app.cli.plan.options import (
    PlanOptions,
    check_not_true_value,
    plan_options,
    run_plan,
    tell_from_option,
)
from study_app.cli.plan.wording import PlanWording

if TYPE_CHECKING:
    from calibration.plan.streams import What

WIDTH_OF_TRUTH = 0.4
"""Default width of an interval as a share of the parameter."""
MIN_TEXT_SHARE = 0.5
"""Shortest text as a share of L; shorter texts show nothing of patience."""


@dataclass(frozen=True, kw_only=True)
class PatienceGuess:
    """Guesses about patience, texts and people."""

    true: float = option(
        type=POSITIVE,
        default=1500.0,
        help="Expected L, in counted characters. 1500 is the papers' for English, 500 for Japanese.",
    )
    text_chars: float = option(
        type=POSITIVE,
        default=2400.0,
        help="Length of a summary up to its last useful text, in counted characters: measure your own. "
        "Patience shows where it ends within the text.",
    )
    tell_from: float | None = tell_from_option(", such as 840 of NTCIR-12", type=POSITIVE, metavar="CHARS")
    effect: float = option(
        type=POSITIVE,
        default=1.0,
        help="Effect of the measure on people: log odds of a pair whose scores differ by one standard deviation.",
    )
    unexplained: float = option(
        type=FiniteFloat(min=0),
        default=0.4,
        help="Effect of everything else: standard deviation, in log odds, of what people like about a summary beyond its score.",
    )


@click.command("patience")
@with_options(
    guess=PatienceGuess,
    sizes=PairSizes,
    common_options=plan_options(sizes=tuple(PAIR_SIZES), simulated=100, kinds=("summary_pairs",)),
)
def patience(*, guess: PatienceGuess, sizes: PairSizes, common_options: PlanOptions) -> None:
    """Find the size of a study that estimates the patience L from preferences.

    By default it finds the number of queries at which the 95 % interval of L is at most 0.4 L wide. There are at most 21 pairs a query.
    """
    from calibration.models.patience.simulate import SimulatedJudges
    from calibration.plan.patience import MAX_PAIRS, PatienceDesign

    true, text_chars, tell_from = guess.true, guess.text_chars, guess.tell_from
    if sizes.pairs > MAX_PAIRS:
        raise click.BadParameter(f"at most {MAX_PAIRS}", param_hint="--pairs")
    check_not_true_value("--tell-from", tell_from, true)
    if text_chars < MIN_TEXT_SHARE * true:
        raise click.UsageError(
            f"patience does not show in texts of {text_chars:,g} characters when people read on for {true:,g}: no study can "
            f"tell it; give --text-chars of at least {MIN_TEXT_SHARE * true:,g}"
        )
    wish = common_options.wish(default_width=WIDTH_OF_TRUTH * true, tells=tell_from is not None)
    design = PatienceDesign(
        **sizes.counts(common_options),
        true=true,
        text_chars=text_chars,
        judges=SimulatedJudges(patience_chars=true, effect=guess.effect, unexplained_sd=guess.unexplained),
        tell_from=tell_from,
    )
    question = PlanWording(
        subject=f"a patience of {true:,g}",
        unit=" characters",
        digits=0,
        found=None if tell_from is None else f"tells {true:,g} from {tell_from:,g} characters",
        study=sizes.rest(common_options.vary),
        sizes=PAIR_SIZES,
        helpful=HELPFUL,
        assumed=(
            f"L = {true:,g}, texts of {text_chars:,g} characters, effect {guess.effect:g}, unexplained {guess.unexplained:g} "
            "(prefcal plan patience --help says what each means)"
        ),
    )
    run_plan(design.ready(), question, wish, common_options)


AWAY_SIZES = {"workers": ("worker", "workers"), "days": ("day", "days")}


@dataclass(frozen=True, kw_only=True)
class AwayGuess:
    """Guesses about times away, and the sizes of a study of streams."""

    true: float = option(
        type=POSITIVE,
        default=3.0,
        help="Expected M_A, in hours of the stream: people's mean time between two visits.",
    )
    sd: float = option(
        type=POSITIVE,
        default=1.5,
        help="Expected S_A, in hours: its standard deviation over people. The MSU paper takes half of M_A.",
    )
    what: "What" = one_of(
        "mean",
        "sd",
        flags=("--of",),
        help="Plan for M_A, or for S_A, which needs about four times as many people.",
    )
    tell_from: float | None = tell_from_option(type=POSITIVE, metavar="HOURS")
    workers: int = option(type=click.IntRange(2, MAX_COUNT), default=60, help="People who follow a stream.")
    days: int = option(type=COUNT, default=10, help="Days of the stream that each follows it.")


@click.command("away")
@with_options(
    guess=AwayGuess,
    common_options=plan_options(sizes=tuple(AWAY_SIZES), simulated=200, kinds=("stream_visits",)),
)
def away(*, guess: AwayGuess, common_options: PlanOptions) -> None:
    """Find the size of a study that estimates M_A, the mean time away.

    By default it finds the number of workers at which the 95 % interval of M_A is at most 0.4 M_A wide.
    """
    from calibration.plan.streams import AwayDesign

    true, sd, tell_from = guess.true, guess.sd, guess.tell_from
    design = AwayDesign(
        workers=guess.workers,
        days=guess.days,
        mean_hours=true,
        sd_hours=sd,
        what=guess.what,
        tell_from=tell_from,
    )
    check_not_true_value("--tell-from", tell_from, design.truth)
    name = "M_A" if guess.what == "mean" else "S_A"
    question = PlanWording(
        subject=f"{name} = {_hours(design.truth)}",
        unit=" hours",
        digits=max(0, 2 - math.floor(math.log10(design.truth))),
        found=None if tell_from is None else f"tells {design.truth:g} from {_hours(tell_from)}",
        study=fixed_sizes(AWAY_SIZES, common_options.vary, guess),
        sizes=AWAY_SIZES,
        helpful=tuple(AWAY_SIZES),
        assumed=f"M_A = {_hours(true)} and S_A = {_hours(sd)}, times between visits that are exponential within people",
    )
    wish = common_options.wish(default_width=WIDTH_OF_TRUTH * design.truth, tells=tell_from is not None)
    run_plan(design, question, wish, common_options)


def _hours(hours: float) -> str:
    return f"{hours:g} {'hour' if hours == 1 else 'hours'}"


MAX_SILENCE_WIDTH = 100.0
"""Widest interval of S_0 that is informative, in gains of 1."""
SILENCE_SIZES = {
    "workers": ("worker", "workers"),
    "pairs": ("pair a worker", "pairs a worker"),
    "topics": ("topic", "topics"),
}


@dataclass(frozen=True, kw_only=True)
class SilenceGuess:
    """Guesses about silence and people, and the sizes of a study of push streams."""

    true: float = option(
        type=float,
        default=0.4,
        help="Expected S_0, relative to a gain of 1: 0.4 means that five quiet silent days make up for two relevant "
        "pushes. With 0 and --width, the chance is that of a false positive.",
    )
    workers: int = option(type=click.IntRange(2, MAX_COUNT), default=100, help="People who judge.")
    pairs: int = option(type=COUNT, default=20, help="Pairs of streams that each person judges.")
    topics: int = option(type=click.IntRange(2, MAX_COUNT), default=40, help="Interest profiles.")
    days: int = option(type=COUNT, default=10, help="Days that a pair of streams shows.")
    silent: float = option(
        type=FiniteFloat(0, 1), default=0.25, help="Share of silent days: 0.25 in TREC 2015."
    )
    sharpness: float = option(
        type=POSITIVE,
        default=1.0,
        help="Decidedness of people: log odds of a unit of utility, one fully relevant push. The guess that matters most: "
        "at 1 they agree with each other like Fleiss' kappa of 0.54, at 0.5 of 0.34, at 0.25 of 0.16.",
    )
    unexplained: float = option(
        type=FiniteFloat(min=0),
        default=0.0,
        help="Effect of everything else: standard deviation, in log odds, of what people like about a stream beyond its cells.",
    )


@click.command("silence")
@with_options(
    guess=SilenceGuess,
    common_options=plan_options(sizes=tuple(SILENCE_SIZES), simulated=100, kinds=("stream_pairs",)),
)
def silence(*, guess: SilenceGuess, common_options: PlanOptions) -> None:
    """Find the size of a study that shows whether silence on silent days has value.

    Such a value speaks for ELG-1 and against ELG-0. By default it finds the number of workers at which four of five studies print
    "reward supported" (S_0 above 0, one-sided at 5 %).
    """
    from calibration.models.push.simulate import PushJudges
    from calibration.plan.streams import SilenceDesign

    wish, true, days = common_options.wish(), guess.true, guess.days
    if true <= 0 and wish.power is not None:
        raise click.UsageError(
            f"with --true {true:g} silence is worth nothing, which no study finds to be rewarded; give a value above 0, or "
            "--width"
        )
    design = SilenceDesign(
        workers=guess.workers,
        pairs=guess.pairs,
        topics=guess.topics,
        true=true,
        days=days,
        silent_share=guess.silent,
        judges=PushJudges(sharpness=guess.sharpness, unexplained_sd=guess.unexplained),
    )
    of_days = f"{pluralise(days, 'day')}, {percent(guess.silent)} of {'it' if days == 1 else 'them'} silent"
    question = PlanWording(
        subject=f"S_0 = {true:g}",
        unit="",
        digits=2,
        found="finds that silence is rewarded",
        study=fixed_sizes(SILENCE_SIZES, common_options.vary, guess),
        sizes=SILENCE_SIZES,
        helpful=tuple(SILENCE_SIZES),
        widest=MAX_SILENCE_WIDTH,
        assumed=(
            f"S_0 = {true:g} G_E, P_E = P_0 = 0.5 G_E, S_E = 0.3 G_E; {of_days}; sharpness "
            f"{guess.sharpness:g}, unexplained {guess.unexplained:g} (prefcal plan silence --help says what each means)"
        ),
    )
    run_plan(design, question, wish, common_options)
