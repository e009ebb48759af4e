"""`prefcal score summaries`: M-measure of two-layered summaries."""

import math
from typing import TYPE_CHECKING

import click

from study_app.cli.output import Output, score_output_options
from study_app.cli.score.options import check_draws, model_options, say_left_out, say_of_runs

if TYPE_CHECKING:
    from metrics.summaries.trailtext import Intents, Layers
    from metrics.summaries.two_layered import Collection

DEFAULT_PATIENCE = 1500.0


def characters(text: str) -> float:
    """Read a number of characters, 0 or more, or ``inf``; anything else is wrong usage."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not number >= 0:
        raise click.BadParameter(f"{text!r} is no number of characters; write one such as 840, or inf")
    return number


@click.command("summaries")
@click.argument("runs", nargs=-1, required=True, metavar="RUN.xml...")
@click.option(
    "--collection", required=True, metavar="DIR", help="Folder with queries.tsv, iunits.tsv and so on."
)
@click.option(
    "--patience",
    "patiences",
    multiple=True,
    type=characters,
    metavar="L",
    help="Characters a user reads; repeatable, inf allowed.  [default: the model's, else 1500]",
)
@click.option(
    "--truncate", type=click.IntRange(min=0), metavar="N", help="Cut each layer to N characters first."
)
@click.option(
    "--intents",
    type=click.Choice(["given", "uniform", "fitted"]),
    default="given",
    show_default=True,
    help="Whose P(i|q): the collection's, equal ones, or the model's.",
)
@click.option(
    "--layers",
    type=click.Choice(["both", "first", "second"]),
    default="both",
    show_default=True,
    help="Read both layers, or judge one alone.",
)
@click.option(
    "--topics",
    type=click.Choice(["judged", "run"]),
    default="judged",
    show_default=True,
    help="Topics of the mean; here the same, because a run must have every query.",
)
@model_options
@score_output_options
def command(
    *,
    runs: tuple[str, ...],
    collection: str,
    patiences: tuple[float, ...],
    truncate: int | None,
    intents: "Intents",
    layers: "Layers",
    topics: str,  # noqa: ARG001 - accepted by every score command
    model: str | None,
    draws: int | None,
    seed: int,
    output: Output,
) -> None:
    """M-measure (M@L) of two-layered summaries, per query and over all queries."""
    from metrics.readers.lines import read_runs
    from metrics.readers.mobileclick import read_summary_collection
    from metrics.readers.mobileclick_runs import read_summary_run
    from metrics.summaries.score import MMeasure, summary_scores
    from metrics.summaries.two_layered import summaries_left_out, summary_collection_left_out

    is_fitted = intents == "fitted"
    _check_usage(model, draws, takes_something=is_fitted or not patiences, is_fitted=is_fitted)
    judged = read_summary_collection(collection)
    systems = read_runs(runs, lambda path, name: read_summary_run(path, judged, name=name))
    user = None
    if model is not None:
        from calibration.user_model.summaries import summary_model

        user = summary_model(model, judged, patience=not patiences, intents=is_fitted)
        if intents == "given":
            _check_given(judged, model)
    measures = [
        MMeasure(patience=one, truncate=truncate, layers=layers, intents=intents)
        for one in patiences or [DEFAULT_PATIENCE if user is None or user.patience is None else user.patience]
    ]
    if user is None:
        scores, intervals = summary_scores(judged, systems, measures), None
    else:
        scores, intervals = user.scored(systems, measures, draws=draws, seed=seed)
    say_left_out(collection, summary_collection_left_out(judged))
    say_of_runs(runs, systems, lambda run: summaries_left_out(judged, run))
    output.scores(scores, intervals)


def _check_given(collection: "Collection", model: str) -> None:
    """Refuse a collection without P(i|q) where the model has them, with the option that takes those."""
    from calibration.user_model.model import given_model
    from metrics.errors import input_fault

    lacks = any(query.probability is None for query in collection.queries.values())
    if lacks and set(collection.queries) <= set(given_model(model)[0].intents):
        cure = "take those of the model (--intents fitted), or add probability.tsv"
        raise input_fault("there are no intent probabilities", path=collection.name, cure=cure)


def _check_usage(model: str | None, draws: int | None, *, takes_something: bool, is_fitted: bool) -> None:
    """Refuse options that contradict each other."""
    if is_fitted and model is None:
        raise click.UsageError("--intents fitted needs --model FILE")
    check_draws(model, draws)
    if draws is not None and not takes_something:
        raise click.UsageError("--draws has nothing to draw: leave out --patience, or add --intents fitted")
