"""`prefcal score updates`: measures of the Temporal Summarization track."""

import sys
from typing import TYPE_CHECKING

import click

from study_app.cli.output import Output, score_output_options
from study_app.cli.score.event_files import event_options, read_judged_events, read_update_runs
from study_app.cli.score.model_options import check_draws, model_options, topics_option

if TYPE_CHECKING:
    from metrics.results import Topics
    from metrics.updates.account import Convention, Unsampled


@click.command("updates")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@event_options
@click.option(
    "--convention",
    type=click.Choice(["2014", "2013"]),
    default="2014",
    show_default=True,
    help="Count as the track's program of that year does.",
)
@click.option("--binary", is_flag=True, help="Every relevant nugget is worth 1, not exp(importance - 3).")
@click.option(
    "--unsampled",
    type=click.Choice(["count", "skip"]),
    help="An update nobody judged: one word without nuggets, or nothing.  [default: count in 2014, skip in 2013]",
)
@topics_option("the run has updates for")
@model_options
@score_output_options
def command(
    *,
    runs: tuple[str, ...],
    topics_file: str,
    nuggets: str,
    matches: str,
    updates: str,
    convention: "Convention",
    binary: bool,
    unsampled: "Unsampled | None",
    topics: "Topics",
    model: str | None,
    draws: int | None,
    seed: int,  # noqa: ARG001 - accepted by every score command
    output: Output,
) -> None:
    """Gain, latency, comprehensiveness and verbosity of updates, per topic and over all topics."""
    from metrics.updates.score import MEASURES, update_scores

    check_draws(model, draws)
    judged = read_judged_events(topics_file=topics_file, nuggets=nuggets, matches=matches, updates=updates)
    systems = read_update_runs(runs, judged)
    if model is not None:
        from calibration.user_model.model import read_user_model

        read_user_model(model)
        sys.stderr.write(f"{model}: no parameter of a user model enters these measures\n")
    measures = [one(convention=convention, binary=binary, unsampled=unsampled) for one in MEASURES]
    scores = update_scores(judged, systems, measures, topics=topics)
    output.scores(scores, None if draws is None else {})
