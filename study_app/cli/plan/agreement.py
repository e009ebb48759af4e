"""`prefcal plan agreement` and `difference`: how well agreement will be known, and whether two measures will be told apart."""

from typing import TYPE_CHECKING

import click

from study_app.cli.plan.options import PlanOptions, answer, check_apart, plan_options
from study_app.cli.plan.people import PAIR_SIZES, SHARE, helpful, judged_options, people_words, study_words

if TYPE_CHECKING:
    from calibration.plan.votes import People
    from metrics.agreement.agreement import Ties


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
    ).searched()
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
    from study_app.cli.plan.curve import percent
    from study_app.cli.plan.question import PlanQuestion

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
    design = design.searched()
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
