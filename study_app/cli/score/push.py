"""`prefcal score push`: measures of push notifications."""

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from study_app.cli.output import Number, Output, score_output_options
from study_app.cli.score.options import (
    check_draws,
    model_options,
    say_left_out,
    say_notes,
    say_of_runs,
    topics_option,
)

if TYPE_CHECKING:
    from calibration.user_model.push import PushModel
    from metrics.push.days import Unpooled
    from metrics.push.measures import Convention
    from metrics.push.score import PushMeasure
    from metrics.results import Topics

DEFAULT_ALPHA = 0.66


def days(text: str) -> tuple[str, ...]:
    """Read ``YYYYMMDD:YYYYMMDD`` as every day from the first to the last; anything else is wrong usage."""
    from metrics.push.streams import every_day

    try:
        return every_day(text)
    except ValueError as error:
        raise click.BadParameter(
            f"{error}; write the first and the last day, like 20150720:20150729"
        ) from None


@click.command("push")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--qrels", required=True, metavar="F", help="Judgments: topic Q0 tweet grade.")
@click.option(
    "--clusters", required=True, metavar="F", help="Which tweets say the same: JSON of 2015 or 2016."
)
@click.option(
    "--epochs", required=True, metavar="F", help="When each pooled tweet was posted: tweet day epoch."
)
@click.option(
    "--days", "scored", required=True, type=days, metavar="YYYYMMDD:YYYYMMDD", help="First and last day."
)
@click.option(
    "--convention",
    type=click.Choice(["track", "paper"]),
    default="track",
    show_default=True,
    help="Count as the TREC 2015 script does, or as the paper says.",
)
@click.option(
    "--alpha",
    type=Number(0, 1),
    metavar="A",
    help="T11U's weight of gain against pain.  [default: the model's, else 0.66]",
)
@click.option(
    "--unpooled",
    type=click.Choice(["skip", "nonrel"]),
    default="skip",
    show_default=True,
    help="Pushes of tweets that nobody judged: ignored, or non-relevant.",
)
@click.option("--cells", is_flag=True, help="Add the five totals of the contingency table.")
@topics_option("the run has pushes for")
@model_options
@score_output_options
def command(
    *,
    runs: tuple[str, ...],
    qrels: str,
    clusters: str,
    epochs: str,
    scored: tuple[str, ...],
    convention: "Convention",
    alpha: float | None,
    unpooled: "Unpooled",
    cells: bool,
    topics: "Topics",
    model: str | None,
    draws: int | None,
    seed: int,
    output: Output,
) -> None:
    """ELG, nCG, T11U, silence precision and recall of push notifications, per topic and over all topics."""
    from metrics.push.score import push_scores
    from metrics.push.streams import push_judgments_left_out, push_left_out
    from metrics.readers.lines import read_runs
    from metrics.readers.push import read_push_collection, read_push_run

    check_draws(model, draws)
    judged = read_push_collection(qrels=qrels, clusters=clusters, epochs=epochs, days=scored)
    systems = read_runs(runs, lambda path, name: read_push_run(path, name=name))
    user = None
    if model is not None:
        from calibration.user_model.push import push_model

        user = push_model(model, judged, alpha=alpha is None)
    measures = _measures(alpha, user, cells=cells, convention=convention, unpooled=unpooled)
    if user is None:
        scores, intervals = push_scores(judged, systems, measures, topics=topics), None
    else:
        say_notes(user)
        scores, intervals = user.scored(systems, measures, draws=draws, seed=seed, topics=topics)
    say_left_out(qrels, push_judgments_left_out(judged))
    say_of_runs(runs, systems, lambda run: push_left_out(judged, run, topics=topics), lines=True)
    output.scores(scores, intervals)


def _measures(
    alpha: float | None,
    user: "PushModel | None",
    *,
    cells: bool,
    convention: "Convention",
    unpooled: "Unpooled",
) -> "dict[str, PushMeasure]":
    """Return what is printed, in order, by its name; an alpha that was asked for stands in it where it is not the default."""
    from metrics.push.score import CELLS, ELG, NCG, T11U, PushCell, SilencePrecision, SilenceRecall
    from metrics.registry import short_number

    asked = "" if alpha in {None, DEFAULT_ALPHA} else f"(alpha={short_number(alpha)})"
    if alpha is None:
        alpha = DEFAULT_ALPHA if user is None or user.alpha is None else user.alpha
    measures: list[PushMeasure] = [
        ELG(silent_days=1),
        ELG(silent_days=0),
        NCG(silent_days=1),
        NCG(silent_days=0),
        T11U(alpha=alpha),
        SilencePrecision(),
        SilenceRecall(),
    ]
    if user is not None and user.contingency is not None:
        measures.append(user.contingency)
    if cells:
        measures += [PushCell(cell=cell) for cell in CELLS]
    read = [replace(one, convention=convention, unpooled=unpooled) for one in measures]
    return {f"{one.column}{asked if isinstance(one, T11U) else ''}": one for one in read}
