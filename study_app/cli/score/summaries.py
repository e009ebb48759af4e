"""`prefcal score summaries`: M-measure of two-layered summaries."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from metrics.errors import input_fault
from study_app.cli.options import one_of, option, with_options
from study_app.cli.output import ScoreOutput
from study_app.cli.score.durations import characters
from study_app.cli.score.options import ModelChoice, print_unused, print_unused_by_run

if TYPE_CHECKING:
    from metrics.summaries.trailtext import Intents, Layers
    from metrics.summaries.two_layered import Collection

DEFAULT_PATIENCE = 1500.0


@dataclass(frozen=True, kw_only=True)
class SummaryOptions:
    """Options of the M-measure."""

    collection: str = option(
        required=True, metavar="DIR", help="Folder with queries.tsv, iunits.tsv and so on."
    )
    patiences: tuple[float, ...] = option(
        "--patience",
        type=characters,
        metavar="L",
        help="Characters a user reads; repeatable, inf allowed.  [default: the model's, else 1500]",
    )
    truncate: int | None = option(
        type=click.IntRange(min=0), metavar="N", help="Cut each layer to N characters first."
    )
    intents: "Intents" = one_of(
        "given", "uniform", "fitted", help="P(i|q): the collection's, equal ones, or the model's."
    )
    layers: "Layers" = one_of("both", "first", "second", help="Read both layers, or judge one alone.")
    topics: str = one_of(
        "judged", "run", help="Topics of the mean; here the same, because a run must have every query."
    )


@click.command("summaries")
@click.argument("runs", nargs=-1, required=True, metavar="RUN.xml...")
@with_options(choices=SummaryOptions, people=ModelChoice, output=ScoreOutput)
def command(
    runs: tuple[str, ...], *, choices: SummaryOptions, people: ModelChoice, output: ScoreOutput
) -> None:
    """Score two-layered summaries by M-measure (M@L), per query and over all."""
    from metrics.readers.lines import read_runs
    from metrics.readers.mobileclick import read_summary_collection
    from metrics.readers.mobileclick_runs import read_summary_run
    from metrics.summaries.score import MMeasure, summary_scores
    from metrics.summaries.two_layered import summaries_left_out, summary_collection_left_out

    is_fitted = choices.intents == "fitted"
    if is_fitted and people.model is None:
        raise click.UsageError("--intents fitted needs --model FILE")
    if people.draws is not None and choices.patiences and not is_fitted:
        raise click.UsageError("--draws has nothing to draw: leave out --patience, or add --intents fitted")
    judged = read_summary_collection(choices.collection)
    systems = read_runs(runs, lambda path, name: read_summary_run(path, judged, name=name))
    user = None
    if people.model is not None:
        from calibration.user_model.summaries import summary_model

        user = summary_model(people.model, judged, patience=not choices.patiences, intents=is_fitted)
        if choices.intents == "given":
            _check_given(judged, people.model)
    default = DEFAULT_PATIENCE if user is None or user.patience is None else user.patience
    measures = [
        MMeasure(patience=patience, truncate=choices.truncate, layers=choices.layers, intents=choices.intents)
        for patience in choices.patiences or [default]
    ]
    if user is None:
        scores, intervals = summary_scores(judged, systems, measures), None
    else:
        scores, intervals = user.scored(systems, measures, draws=people.draws, seed=people.seed)
    print_unused(choices.collection, summary_collection_left_out(judged))
    print_unused_by_run(runs, systems, lambda run: summaries_left_out(judged, run))
    output.scores(scores, intervals)


def _check_given(collection: "Collection", model: str) -> None:
    """Refuse a collection without P(i|q) where the user model has them.

    The message names the option that uses the model's.
    """
    from calibration.user_model.model import load_model

    lacks = any(query.probability is None for query in collection.queries.values())
    if lacks and set(collection.queries) <= set(load_model(model)[0].intents):
        cure = "take those of the model (--intents fitted), or add probability.tsv"
        raise input_fault("there are no intent probabilities", path=collection.name, cure=cure)
