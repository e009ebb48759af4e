"""Commands `prefcal plan agreement` and `difference`: studies of measures."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from metrics.errors import percent, pluralise
from study_app.cli.options import COUNT, LEVEL, MAX_COUNT, POSITIVE, FiniteFloat, one_of, option, with_options
from study_app.cli.output import WIDTH, terminal_width, wrapped
from study_app.cli.plan.options import (
    PlanOptions,
    check_not_true_value,
    plan_options,
    run_plan,
    tell_from_option,
)
from study_app.cli.plan.wording import PlanWording, exact_percent

if TYPE_CHECKING:
    from calibration.plan.agreement import AgreementDesign
    from calibration.plan.votes import JudgePopulation
    from metrics.agreement.agreement import Ties

PAIR_SIZES = {
    "queries": ("query", "queries"),
    "pairs": ("pair a query", "pairs a query"),
    "workers": ("worker a pair", "workers a pair"),
}
"""Singular and plural of each size that may vary, by its name."""
TASTE = 0.6
"""Default taste of people who judge several queries."""
HELPFUL = ("queries",)
"""Sizes that narrow intervals.

More pairs and workers say nothing about other queries.
"""
DEFAULT_WIDTH = 0.1
MAX_WIDTH = 1.0
"""Widest interval of an agreement; agreements lie between 0 and 1."""


def fixed_sizes(words: dict[str, tuple[str, str]], vary: str, options: Any) -> str:
    """Describe the fixed sizes, as in `21 pairs a query and 14 workers a pair`."""
    sizes = {name: getattr(options, name) for name in words if name != vary}
    return " and ".join(pluralise(size, *words[name]) for name, size in sizes.items())


@dataclass(frozen=True, kw_only=True)
class PairSizes:
    """Sizes of a study of pairs."""

    queries: int = option(type=click.IntRange(2, MAX_COUNT), default=25, help="Number of queries.")
    pairs: int = option(
        type=COUNT,
        default=21,
        help="Pairs of systems judged in each query: 21 is every pair of 7 systems.",
    )
    workers: int = option(
        type=COUNT,
        default=14,
        help="People who judge each pair; everyone judges all pairs of a query.",
    )
    queries_a_worker: int = option(
        type=COUNT,
        default=1,
        help="Queries that one person judges; a number above --queries is all of them. It takes fewer people.",
    )

    def counts(self, common_options: PlanOptions) -> dict[str, Any]:
        """Return the sizes as every design of a study of pairs takes them."""
        return {
            "queries": self.queries,
            "pairs": self.pairs,
            "workers": self.workers,
            "queries_each": self.queries_a_worker,
            "pairs_each": common_options.pairs_each,
        }

    def rest(self, vary: str) -> str:
        """Describe the sizes that do not vary."""
        several = f", {self.queries_a_worker:,} queries a worker" if self.queries_a_worker > 1 else ""
        return f"{fixed_sizes(PAIR_SIZES, vary, self)}{several}"


@dataclass(frozen=True, kw_only=True)
class VotingSizes(PairSizes):
    """Sizes of a study of pairs, and how its people vote."""

    strength: float = option(
        type=POSITIVE,
        default=1.2,
        help="Decidedness of people: log odds of a usual pair. At 0.8, 1.2, 2 the side that most of 14 workers "
        "take has 65, 69, 75 % of the votes.",
    )
    tie_weight: float = option(
        type=POSITIVE,
        default=0.6,
        help="Readiness to say equally good or bad: 0.6 gives about a fifth of such answers, 2 half of them.",
    )
    taste: float | None = option(
        type=FiniteFloat(min=0),
        help="Spread of one person's liking for a system in all queries that they judge: standard deviation, where the common "
        f"liking has 1. Default: {TASTE:g} where one person judges several queries, else 0.",
    )
    drop_out: float = option(
        type=FiniteFloat(0, 1, max_open=True),
        default=0.0,
        help="Share of people who leave before the end and are not replaced.",
    )

    @property
    def people(self) -> "JudgePopulation":
        """Population of the judges."""
        from calibration.plan.votes import JudgePopulation

        usual = TASTE if self.queries_a_worker > 1 else 0.0
        return JudgePopulation(
            strength=self.strength,
            tie_weight=self.tie_weight,
            taste_sd=usual if self.taste is None else self.taste,
            drop_out=self.drop_out,
        )

    @property
    def assumed(self) -> str:
        """What is assumed of people, in words."""
        people = self.people
        taste = f", taste {people.taste_sd:g}" if people.taste_sd else ""
        left = f", drop-out {people.drop_out:g}" if people.drop_out else ""
        return (
            f"strength {people.strength:g}, tie weight {people.tie_weight:g}{self._spread}{taste}{left}"
            " (prefcal plan COMMAND --help says what each means)"
        )

    @property
    def _spread(self) -> str:
        """How queries differ for a measure, in words; nothing where there is none."""
        return ""

    def words(self, vary: str, assumed: str) -> dict[str, Any]:
        """Return the common arguments of `PlanWording` of studies of votes."""
        return {
            "unit": " points",
            "digits": 1,
            "scale": 100.0,
            "study": self.rest(vary),
            "sizes": PAIR_SIZES,
            "helpful": (*HELPFUL, "workers"),
            "farthest": MAX_WIDTH,
            "assumed": f"{assumed}; {self.assumed}",
        }


@dataclass(frozen=True, kw_only=True)
class JudgedSizes(VotingSizes):
    """Sizes of a study of pairs, its people, and how its measures do."""

    ties: "Ties" = one_of(
        "against",
        "half",
        "drop",
        "weighted",
        help="Value of a tie in the agreement; see docs/agreement.md.",
    )
    query_spread: float = option(
        type=FiniteFloat(min=0),
        default=0.2,
        help="Spread of a measure's quality over queries; 0: alike on all.",
    )
    fewest_pairs: int | None = option(
        type=COUNT,
        metavar="N",
        help="Queries have between N and --pairs pairs, each number as likely. Default: all have --pairs.",
    )

    def __post_init__(self) -> None:
        """Refuse sizes that contradict each other."""
        if self.fewest_pairs is not None and self.fewest_pairs > self.pairs:
            raise click.UsageError(
                f"--fewest-pairs {self.fewest_pairs} is more than --pairs: give one that is not above"
            )

    @property
    def people(self) -> "JudgePopulation":
        """Population of the judges."""
        return replace(super().people, query_spread=self.query_spread)

    @property
    def _spread(self) -> str:
        return f", query spread {self.query_spread:g}"

    def design(
        self, true: float, common_options: PlanOptions, tell_from: float | None = None
    ) -> "AgreementDesign":
        """Return the design that the simulation needs."""
        from calibration.plan.agreement import AgreementDesign

        return AgreementDesign(
            **self.counts(common_options),
            fewest_pairs=self.fewest_pairs,
            most_pairs=common_options.most_pairs,
            true=true,
            ties=self.ties,
            judges=self.people,
            tell_from=tell_from,
        )

    def words(self, vary: str, assumed: str) -> dict[str, Any]:
        """Return the common arguments of `PlanWording`; workers help where each judges several queries."""
        fewest = f", {self.fewest_pairs:,} pairs in the smallest query" if self.fewest_pairs else ""
        helpful = (*HELPFUL, "workers") if self.queries_a_worker > 1 else HELPFUL
        return super().words(vary, assumed) | {"study": f"{self.rest(vary)}{fewest}", "helpful": helpful}


AgreementPlanOptions = plan_options(
    sizes=("queries", "pairs", "workers"), simulated=400, kinds=("summary_pairs", "ranked_pairs")
)


@dataclass(frozen=True, kw_only=True)
class AgreementGuess:
    """Guess about the agreement of a measure, and its null value."""

    true: float = option(
        type=LEVEL,
        default=0.69,
        help="Expected agreement of the measure. 0.69 is what a good measure of summaries had.",
    )
    tell_from: float | None = tell_from_option(
        ", such as another paper's agreement", type=LEVEL, metavar="AGREEMENT"
    )
    judge_correlation: float | None = option(
        type=FiniteFloat(-1, 1, min_open=True, max_open=True),
        metavar="R",
        help="Correlation over pairs of what the measure gains by a judge's verdict and by people's: adds what agree --assist can save.",
    )


@click.command("agreement")
@with_options(guess=AgreementGuess, sizes=JudgedSizes, common_options=AgreementPlanOptions)
def agreement(*, guess: AgreementGuess, sizes: JudgedSizes, common_options: PlanOptions) -> None:
    """Find the size of a study in which the agreement of one measure is known well.

    By default it finds the number of queries at which the 95 % interval of the agreement is at most 10 points wide.
    """
    true, tell_from = guess.true, guess.tell_from
    check_not_true_value("--tell-from", tell_from, true)
    wish = common_options.wish(default_width=DEFAULT_WIDTH, tells=tell_from is not None, farthest=MAX_WIDTH)
    subject = f"an agreement of {exact_percent(true)}"
    question = PlanWording(
        subject=subject,
        found=None if tell_from is None else f"tells {exact_percent(true)} from {exact_percent(tell_from)}",
        **sizes.words(common_options.vary, f"{subject} (ties: {sizes.ties})"),
    )
    result = run_plan(sizes.design(true, common_options, tell_from).ready(), question, wish, common_options)
    if guess.judge_correlation is not None:
        width = result.row(result.asked).width
        sentence = _saving(guess.judge_correlation, question, width)
        text = wrapped(sentence, width=terminal_width() or WIDTH)
        click.echo(f"\n{text}", err=not common_options.is_for_people)


def _saving(correlation: float, question: PlanWording, width: float) -> str:
    """Say what a judge saves at most; ``width`` is that of people alone."""
    from calibration.judges.assist import least_width_ratio

    ratio = least_width_ratio(correlation)
    if ratio == 1:
        return "A judge whose verdicts correlate by 0 or less with people's saves nothing: agree --assist then leaves it aside."
    planned = f": {question.amount(ratio * width)} for {question.amount(width)}" * question.is_bounded(width)
    return (
        f"With a judge that judges many more pairs than people, and whose verdicts correlate by {correlation:g} with people's, agree --assist"
        f" narrows the interval by {100 * (1 - ratio):.1f} % at most{planned}, as {100 * (1 / ratio**2 - 1):.0f} % more queries would. Where people"
        " judge pairs of every query it saves less, since it judges no other query then."
    )


@dataclass(frozen=True, kw_only=True)
class DifferenceGuess:
    """Guesses about the agreements of two measures, and how alike they choose."""

    true: float = option(type=LEVEL, default=0.69, help="Expected agreement of the better measure.")
    other: float = option(type=LEVEL, default=0.65, help="Expected agreement of the other measure.")
    same_choice: float = option(
        type=LEVEL,
        default=0.8,
        help="Share of pairs in which both measures choose the same system. You can count it before the study, from their "
        "scores: measures that are alike are easier to distinguish.",
    )


@click.command("difference")
@with_options(guess=DifferenceGuess, sizes=JudgedSizes, common_options=AgreementPlanOptions)
def difference(*, guess: DifferenceGuess, sizes: JudgedSizes, common_options: PlanOptions) -> None:
    """Find the size of a study that distinguishes the agreements of two measures.

    By default it finds the number of queries at which four of five studies show that one measure agrees with people
    better than the other (t test over queries and people at 5 %, two-sided).
    """
    from calibration.plan.agreement import DifferenceDesign

    wish = common_options.wish(farthest=2 * MAX_WIDTH)
    true, other = guess.true, guess.other
    if other > true:
        raise click.UsageError(f"--other {other:g} is above --true {true:g}, the better measure's: swap them")
    design = DifferenceDesign(
        study=sizes.design(true, common_options), other=other, same_choice=guess.same_choice
    )
    if wish.power is not None:
        check_not_true_value("--other", other, true)
        design.check_tested()
    agreements = f"{exact_percent(true)} and {exact_percent(other)}"
    same = f"the same choice in {percent(guess.same_choice)} of the pairs"
    question = PlanWording(
        subject="the difference",
        found=f"finds the difference between {agreements}",
        **sizes.words(common_options.vary, f"agreements of {agreements} (ties: {sizes.ties}), {same}"),
    )
    run_plan(design.ready(), question, wish, common_options)
