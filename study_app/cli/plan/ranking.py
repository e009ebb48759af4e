"""Command `prefcal plan rank`: studies that rank systems."""

import click

from study_app.cli.options import LEVEL, with_options
from study_app.cli.plan.agreement import MAX_WIDTH, VotingSizes
from study_app.cli.plan.options import PlanOptions, plan_options, run_plan
from study_app.cli.plan.wording import PlanWording

RankPlanOptions = plan_options(
    sizes=("queries", "workers"), simulated=200, kinds=("summary_pairs", "ranked_pairs")
)


@click.command("rank")
@click.option(
    "--difference",
    type=LEVEL,
    default=0.05,
    show_default=True,
    help="Distance of the win rates of two systems that the ranking is to tell apart; the other systems lie between them.",
)
@with_options(sizes=VotingSizes, common_options=RankPlanOptions)
def rank(difference: float, *, sizes: VotingSizes, common_options: PlanOptions) -> None:
    """Find the size of a study that tells two systems apart in its ranking.

    By default it finds the number of queries at which four of five studies rank one of two systems, whose win rates are .05 apart,
    above the other. The interval of their difference holds at once with those of all other pairs, as in prefcal rank.
    """
    from calibration.plan.ranking import RankDesign

    design = RankDesign(**sizes.counts(common_options), difference=difference, judges=sizes.people).ready()
    apart = f"{100 * difference:g} points apart in win rate"
    question = PlanWording(
        subject="the difference of two win rates",
        found=f"tells two systems {apart} from each other",
        **sizes.words(
            common_options.vary, f"two of {design.systems:,} systems {apart}, the others alike between them"
        ),
    )
    run_plan(design, question, common_options.wish(farthest=2 * MAX_WIDTH), common_options)
