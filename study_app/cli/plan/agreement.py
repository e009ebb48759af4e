"""Studies of pairs: options about the people who judge them, and `prefcal plan agreement` and `difference`.

`prefcal plan agreement` and `difference`: how well agreement will be known, and whether two measures will be told apart.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from study_app.cli.output import MOST, Number
from study_app.cli.plan.options import PlanOptions, answer, check_apart, plan_options

if TYPE_CHECKING:
    from calibration.plan.simulation import People
    from metrics.agreement.agreement import Ties

Command: TypeAlias = Callable[..., None]
SHARE = Number(0, 1, min_open=True, max_open=True)
POSITIVE = Number(min=0, min_open=True)


@dataclass(frozen=True, slots=True)
class AskedSizes:
    """How the sizes of a study are called.

    Attributes
    ----------
    words : dict of str to (str, str)
        What may vary -> how one, and several of it, are called.
    """

    words: dict[str, tuple[str, str]]

    def rest(self, vary: str, sizes: dict[str, int]) -> str:
        """Return what does not vary, in words: `21 pairs a query and 14 workers a pair`."""
        return " and ".join(
            f"{size:,} {self.words[name][size != 1]}" for name, size in sizes.items() if name != vary
        )


PAIR_SIZES = AskedSizes(
    {
        "queries": ("query", "queries"),
        "pairs": ("pair a query", "pairs a query"),
        "workers": ("worker a pair", "workers a pair"),
    }
)


def study_words(vary: str, sizes: dict[str, int], queries_each: int, fewest_pairs: int | None = None) -> str:
    """Return what does not vary in a study of pairs, in words."""
    several = f", {queries_each:,} queries a worker" if queries_each > 1 else ""
    fewest = "" if fewest_pairs is None else f", {fewest_pairs:,} pairs in the smallest query"
    return f"{PAIR_SIZES.rest(vary, sizes)}{several}{fewest}"


TASTE = 0.6
"""Of people who judge several queries, where nobody says another."""
HELPFUL = ("queries",)
"""More pairs and more workers a pair do not tell how things are on other queries, which is what is unsure."""


def helpful(queries_each: int) -> tuple[str, ...]:
    """Return what is worth changing about agreements: where people judge several queries, people are few too."""
    return (*HELPFUL, "workers") if queries_each > 1 else HELPFUL


def size_options(command: Command) -> Command:
    """Add ``--queries``, ``--pairs`` and ``--workers``, which come as one argument ``sizes``."""
    options = (
        click.option(
            "--queries", type=click.IntRange(2, MOST), default=25, show_default=True, help="How many queries."
        ),
        click.option(
            "--pairs",
            type=click.IntRange(1, MOST),
            default=21,
            show_default=True,
            help="Pairs of systems judged in each query: 21 is every pair of 7 systems.",
        ),
        click.option(
            "--workers",
            type=click.IntRange(1, MOST),
            default=14,
            show_default=True,
            help="People who judge each pair; everyone judges all pairs of a query.",
        ),
        click.option(
            "--queries-a-worker",
            type=click.IntRange(1, MOST),
            default=1,
            show_default=True,
            help="How many queries one person judges; a number above --queries is all of them. It takes fewer people.",
        ),
    )

    @functools.wraps(command)
    def wrapped(*args: Any, queries: int, pairs: int, workers: int, **given: Any) -> None:
        command(*args, sizes={"queries": queries, "pairs": pairs, "workers": workers}, **given)

    return _with(options, wrapped)


def judged_options(command: Command) -> Command:
    """Add the sizes, ``--ties`` and what people are like, which comes as one argument ``people``."""
    options = (
        click.option(
            "--ties",
            type=click.Choice(["against", "half", "drop", "weighted"]),
            default="against",
            show_default=True,
            help="What a tie is worth in the agreement; see docs/agreement.md.",
        ),
        click.option(
            "--strength",
            type=POSITIVE,
            default=1.2,
            show_default=True,
            help="How decided people are: log odds of a usual pair. At 0.8, 1.2, 2 the side that most of 14 workers "
            "take has 65, 69, 75 % of the votes.",
        ),
        click.option(
            "--tie-weight",
            type=POSITIVE,
            default=0.6,
            show_default=True,
            help="How readily people say equally good or bad: 0.6 gives about a fifth of such answers, 2 half of them.",
        ),
        click.option(
            "--query-spread",
            type=Number(min=0),
            default=0.2,
            show_default=True,
            help="How much better a measure does on some queries than on others; 0: alike on all.",
        ),
        click.option(
            "--taste",
            type=Number(min=0),
            help="How much more a person likes a system than others do, in all queries that they judge: standard deviation, "
            f"where what everybody likes has 1. Default: {TASTE:g} where one person judges several queries, else 0.",
        ),
        click.option(
            "--drop-out",
            type=Number(0, 1, max_open=True),
            default=0.0,
            show_default=True,
            help="Share of people who leave somewhere on their way, without anybody in their place.",
        ),
        click.option(
            "--fewest-pairs",
            type=click.IntRange(1, MOST),
            metavar="N",
            help="Queries have between N and --pairs pairs, each number as likely. Default: all have --pairs.",
        ),
    )

    @functools.wraps(command)
    def wrapped(
        *args: Any,
        strength: float,
        tie_weight: float,
        query_spread: float,
        taste: float | None,
        drop_out: float,
        fewest_pairs: int | None,
        **given: Any,
    ) -> None:
        from calibration.plan.simulation import People

        if fewest_pairs is not None and fewest_pairs > given["sizes"]["pairs"]:
            raise click.UsageError(
                f"--fewest-pairs {fewest_pairs} is more than --pairs: give one that is not above"
            )
        several = given["queries_a_worker"] > 1
        people = People(
            strength=strength,
            tie_weight=tie_weight,
            query_spread=query_spread,
            taste_sd=taste if taste is not None else TASTE if several else 0.0,
            drop_out=drop_out,
        )
        command(*args, people=people, fewest_pairs=fewest_pairs, **given)

    return size_options(_with(options, wrapped))


def people_words(people: "People") -> str:
    """Return what is assumed of people, as the options say it."""
    taste = f", taste {people.taste_sd:g}" if people.taste_sd else ""
    left = f", drop-out {people.drop_out:g}" if people.drop_out else ""
    return (
        f"strength {people.strength:g}, tie weight {people.tie_weight:g}, query spread {people.query_spread:g}{taste}{left} "
        "(prefcal plan COMMAND --help says what each means)"
    )


def _with(options: tuple[Callable[[Command], Command], ...], command: Command) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


DEFAULT_WIDTH = 0.1


@click.command("agreement")
@click.option(
    "--true",
    type=SHARE,
    default=0.69,
    show_default=True,
    help="The measure's agreement that you expect. 0.69 is what a good measure of summaries had.",
)
@click.option(
    "--tell-from",
    type=SHARE,
    metavar="AGREEMENT",
    help="An agreement that the study shall tell the true one from, such as another paper's. For --power.",
)
@judged_options
@plan_options(vary=("queries", "pairs", "workers"), studies=400, kinds=("summary_pairs", "ranked_pairs"))
def agreement(
    *,
    true: float,
    tell_from: float | None,
    ties: "Ties",
    people: "People",
    sizes: dict[str, int],
    fewest_pairs: int | None,
    queries_a_worker: int,
    wanted: PlanOptions,
) -> None:
    """Say how many queries, pairs and workers make the agreement of one measure known well enough.

    By default: at how many queries is its 95 % interval at most 0.1 wide?
    """
    from calibration.plan.agreement import AgreementDesign
    from study_app.cli.plan.question import PlanQuestion

    check_apart("--tell-from", tell_from, true)
    wish = wanted.wish(default_width=DEFAULT_WIDTH, tells=tell_from is not None)
    design = AgreementDesign(
        **sizes,
        fewest_pairs=fewest_pairs,
        most_pairs=wanted.most_pairs,
        queries_each=queries_a_worker,
        pairs_each=wanted.pairs_each,
        true=true,
        ties=ties,
        judges=people,
        tell_from=tell_from,
    ).ready()
    question = PlanQuestion(
        subject=f"an agreement of {true:g}",
        unit="",
        digits=3,
        found=None if tell_from is None else f"tells {true:g} from {tell_from:g}",
        study=study_words(wanted.vary, sizes, queries_a_worker, fewest_pairs),
        sizes=PAIR_SIZES.words,
        helpful=helpful(queries_a_worker),
        farthest=1.0,
        assumed=f"an agreement of {true:g} (ties: {ties}); {people_words(people)}",
    )
    answer(design, question, wish, wanted)


@click.command("difference")
@click.option(
    "--true",
    type=SHARE,
    default=0.69,
    show_default=True,
    help="The agreement that you expect of the better measure.",
)
@click.option(
    "--other",
    type=SHARE,
    default=0.65,
    show_default=True,
    help="The agreement that you expect of the other measure.",
)
@click.option(
    "--same-choice",
    type=SHARE,
    default=0.8,
    show_default=True,
    help="Share of pairs in which both measures choose the same system. You can count it before the study, from their "
    "scores: measures that are alike are easier to tell apart.",
)
@judged_options
@plan_options(vary=("queries", "pairs", "workers"), studies=400, kinds=("summary_pairs", "ranked_pairs"))
def difference(
    *,
    true: float,
    other: float,
    same_choice: float,
    ties: "Ties",
    people: "People",
    sizes: dict[str, int],
    fewest_pairs: int | None,
    queries_a_worker: int,
    wanted: PlanOptions,
) -> None:
    """Say how many queries, pairs and workers tell two measures apart.

    By default: at how many queries do four of five studies find that one measure agrees with people better than the
    other (t test over queries and people at 5 %, two-sided)?
    """
    from calibration.plan.agreement import AgreementDesign, DifferenceDesign
    from study_app.cli.plan.question import PlanQuestion, percent

    wish = wanted.wish()
    if other > true:
        raise click.UsageError(f"--other {other:g} is above --true {true:g}, the better measure's: swap them")
    if wish.power is not None:
        check_apart("--other", other, true)
    study = AgreementDesign(
        **sizes,
        fewest_pairs=fewest_pairs,
        most_pairs=wanted.most_pairs,
        queries_each=queries_a_worker,
        pairs_each=wanted.pairs_each,
        true=true,
        ties=ties,
        judges=people,
    )
    design = DifferenceDesign(study=study, other=other, same_choice=same_choice)
    if wish.power is not None:
        design.check_tested()
    design = design.ready()
    question = PlanQuestion(
        subject="the difference",
        unit="",
        digits=3,
        found=f"finds the difference between {true:g} and {other:g}",
        study=study_words(wanted.vary, sizes, queries_a_worker, fewest_pairs),
        sizes=PAIR_SIZES.words,
        helpful=helpful(queries_a_worker),
        farthest=1.0,
        assumed=(
            f"agreements of {true:g} and {other:g} (ties: {ties}), the same choice in {percent(same_choice)} of the pairs; "
            f"{people_words(people)}"
        ),
    )
    answer(design, question, wish, wanted)
