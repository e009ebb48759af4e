"""`prefcal plan agreement`: how well one measure's agreement with preferences will be known."""

from typing import TYPE_CHECKING

import click

from study_app.cli.plan.options import Wanted, answer, check_apart, plan_options
from study_app.cli.plan.people import HELPFUL, PAIR_SIZES, SHARE, judged_options, people_words, study_words

if TYPE_CHECKING:
    from calibration.plan.agreement import People
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
def command(
    *,
    true: float,
    tell_from: float | None,
    ties: "Ties",
    people: "People",
    sizes: dict[str, int],
    queries_a_worker: int,
    wanted: Wanted,
) -> None:
    """Say how many queries, pairs and workers make the agreement of one measure known well enough.

    By default: at how many queries is its 95 % interval at most 0.1 wide?
    """
    from calibration.plan.agreement import AgreementDesign
    from study_app.cli.plan.text import Question

    check_apart("--tell-from", tell_from, true)
    wish = wanted.wish(default_width=DEFAULT_WIDTH, tells=tell_from is not None)
    design = AgreementDesign(
        **sizes,
        queries_each=queries_a_worker,
        pairs_each=wanted.pairs_each,
        true=true,
        ties=ties,
        judges=people,
        tell_from=tell_from,
    ).searched()
    question = Question(
        subject=f"an agreement of {true:g}",
        unit="",
        digits=3,
        found=None if tell_from is None else f"tells {true:g} from {tell_from:g}",
        study=study_words(wanted.vary, sizes, queries_a_worker),
        sizes=PAIR_SIZES.words,
        helpful=HELPFUL,
        farthest=1.0,
        assumed=f"an agreement of {true:g} (ties: {ties}); {people_words(people)}",
    )
    answer(design, question, wish, wanted)
