"""Command `prefcal score push`: measures of push notifications."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from study_app.cli.options import FiniteFloat, one_of, option, with_options
from study_app.cli.output import ScoreOutput
from study_app.cli.score.options import (
    ModelChoice,
    print_unused,
    print_unused_by_run,
    say_notes,
    topics_option,
)

if TYPE_CHECKING:
    from calibration.user_model.push import PushModel
    from metrics.push.days import Unpooled
    from metrics.push.measures import Convention, PushMeasure
    from metrics.results import Topics

DEFAULT_ALPHA = 0.66


def days(text: str) -> tuple[str, ...]:
    """Parse ``YYYYMMDD:YYYYMMDD`` as all days from the first to the last.

    Other text is wrong usage.
    """
    from metrics.push.streams import every_day

    try:
        return every_day(text)
    except ValueError as error:
        raise click.BadParameter(
            f"{error}; write the first and the last day, like 20150720:20150729"
        ) from None


@dataclass(frozen=True, kw_only=True)
class PushOptions:
    """Options of the measures of push notifications."""

    qrels: str = option(required=True, metavar="F", help="Judgments: topic Q0 tweet grade.")
    clusters: str = option(
        required=True, metavar="F", help="Clusters of tweets that say the same: JSON of 2015 or 2016."
    )
    epochs: str = option(required=True, metavar="F", help="Time of each pooled tweet: tweet day epoch.")
    days: Sequence[str] = option(
        required=True, type=days, metavar="YYYYMMDD:YYYYMMDD", help="First and last day."
    )
    convention: "Convention" = one_of(
        "track", "paper", help="Count as the TREC 2015 script does, or as the paper says."
    )
    alpha: float | None = option(
        type=FiniteFloat(0, 1),
        metavar="A",
        help="T11U's weight of gain against pain.  [default: the model's, else 0.66]",
    )
    unpooled: "Unpooled" = one_of(
        "skip", "nonrel", help="Pushes of tweets that were not judged: ignored, or non-relevant."
    )
    cells: bool = option(help="Add the five totals of the contingency table.")
    topics: "Topics" = topics_option("the run has pushes for")


@click.command("push")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@with_options(choices=PushOptions, people=ModelChoice, output=ScoreOutput)
def command(runs: tuple[str, ...], *, choices: PushOptions, people: ModelChoice, output: ScoreOutput) -> None:
    """Score push notifications, per topic and over all topics.

    The measures are ELG, nCG, T11U, and precision and recall of silence.
    """
    from metrics.push.score import push_scores
    from metrics.push.streams import push_judgments_left_out, push_left_out
    from metrics.readers.lines import read_runs
    from metrics.readers.push import read_push_collection, read_push_run

    topics, alpha = choices.topics, choices.alpha
    judged = read_push_collection(
        qrels=choices.qrels, clusters=choices.clusters, epochs=choices.epochs, days=choices.days
    )
    systems = read_runs(runs, lambda path, name: read_push_run(path, name=name))
    user = None
    if people.model is not None:
        from calibration.user_model.push import push_model

        user = push_model(people.model, judged, alpha=alpha is None)
    measures = _measures(choices, user)
    if user is None:
        scores, intervals = push_scores(judged, systems, measures, topics=topics), None
    else:
        say_notes(user)
        scores, intervals = user.scored(
            systems, measures, draws=people.draws, seed=people.seed, topics=topics
        )
    print_unused(choices.qrels, push_judgments_left_out(judged))
    print_unused_by_run(runs, systems, lambda run: push_left_out(judged, run, topics=topics), lines=True)
    output.scores(scores, intervals)


def _measures(choices: PushOptions, user: "PushModel | None") -> "dict[str, PushMeasure]":
    """Return the printed measures by name, in order.

    A chosen alpha stands in the name where it is not the default.
    """
    from metrics.push.contingency import CELLS, PushCell
    from metrics.push.measures import ELG, NCG, T11U, SilencePrecision, SilenceRecall
    from metrics.registry import short_number

    alpha = choices.alpha
    suffix = "" if alpha in {None, DEFAULT_ALPHA} else f"(alpha={short_number(alpha)})"
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
    if choices.cells:
        measures += [PushCell(cell=cell) for cell in CELLS]
    adjusted = [
        replace(measure, convention=choices.convention, unpooled=choices.unpooled) for measure in measures
    ]
    return {f"{each.column}{suffix if isinstance(each, T11U) else ''}": each for each in adjusted}
