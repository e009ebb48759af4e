"""Command `prefcal score ranked`: measures of ranked lists."""

import sys
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from metrics.errors import InputError
from study_app.cli.options import COUNT, FiniteFloat, one_of, option, with_options
from study_app.cli.output import ScoreOutput
from study_app.cli.score.options import ModelChoice, print_unused, print_unused_by_run, topics_option

if TYPE_CHECKING:
    from calibration.user_model.ranked import RankedModel
    from metrics.ranked.lists import CalendarUnit, RankedCollection
    from metrics.ranked.measures import RankedMeasure, Reading
    from metrics.ranked.named import ListMeasure
    from metrics.ranked.recall import Covered
    from metrics.ranked.topics import Gains, Stop
    from metrics.readers.ranked import SecondColumn
    from metrics.results import Interval, ScoreKey, Topics

DEFAULT_DEPTH = 10
FITTED = "fitted"
OF_THE_OTHERS = ("depths", "reading", "err", "gains", "covered", "alpha")
"""Parameters that --measure takes the place of."""


@dataclass(frozen=True, kw_only=True)
class RankedOptions:
    """Options of the measures of ranked lists."""

    qrels: str = option(required=True, metavar="F", help="Judgments: topic subtopic docid grade.")
    second_column: "SecondColumn | None" = option(
        type=click.Choice(["subtopic", "iteration"]),
        help="Second field of the judgments.  [default: by the values; asked for where these cannot tell]",
    )
    windows: str | None = option(
        metavar="F",
        help="Times of documents: docid window, or docid timestamp.  [default: unknown; only plain measures then]",
    )
    window_unit: "CalendarUnit | None" = option(
        type=click.Choice(["year", "month", "week", "day"]),
        help="Length of a window where the file has timestamps.  [default: day]",
    )
    intents: str | None = option(
        metavar="F",
        help="P(c|q): topic subtopic P; or `fitted`, the model's.  [default: equal for the subtopics of a topic]",
    )
    depths: tuple[int, ...] = option(
        "-k", type=COUNT, metavar="K", help="Depth of the list; repeatable.  [default: 10]"
    )
    reading: "Reading" = one_of("table", "text", help="The formulas of the paper's table or of its text.")
    err: "Stop" = one_of(
        "literal",
        "half",
        "graded",
        help="ERR: chance to stop at a relevant document: 1, 0.5, or (2^grade - 1)/8.",
    )
    gains: "Gains" = one_of("binary", "graded", help="nDCG: a relevant document gains 1, or 2^grade - 1.")
    covered: "Covered" = one_of(
        "relevant", "any", help="SBR: a window is covered by a relevant document, or by any."
    )
    alpha: float = option(
        type=FiniteFloat(0, 1),
        default=0.5,
        metavar="A",
        help="TIA-SBR's weight of subtopics against windows.",
    )
    named: tuple[str, ...] = option(
        "--measure",
        metavar="MEASURE",
        help="Print this measure instead: nDCG@10, RBP(p=0.8) or another one of ir_measures (needs prefcal[measures]), or one"
        " of prefcal's own, TIA-P@5 or TIANDCG(k=5, gains='graded'); repeatable.",
    )
    topics: "Topics" = topics_option("the run has a list for")


@click.command("ranked")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@with_options(choices=RankedOptions, people=ModelChoice, output=ScoreOutput)
def command(
    runs: tuple[str, ...], *, choices: RankedOptions, people: ModelChoice, output: ScoreOutput
) -> None:
    """Score ranked lists by time-aware and plain intent-aware measures.

    It prints scores per topic and over all topics.
    """
    from metrics.ranked.lists import ranked_judgments_left_out, ranked_left_out, single_ties_note
    from metrics.ranked.score import largest_grade, ranked_scores
    from metrics.readers.lines import read_runs
    from metrics.readers.ranked import read_ranked_collection, read_ranked_run

    is_fitted = choices.intents == FITTED
    if is_fitted and people.model is None:
        raise click.UsageError("--intents fitted needs --model FILE (a file of that name: ./fitted)")
    if choices.window_unit is not None and choices.windows is None:
        raise click.UsageError("--window-unit needs --windows FILE")
    measures = _named(choices.named) or _defaults(choices)
    judged = read_ranked_collection(
        qrels=choices.qrels,
        windows=choices.windows,
        intents=None if is_fitted else choices.intents,
        unit=choices.window_unit,
        max_grade=largest_grade(measures.values()),
        second_column=choices.second_column,
    )
    systems = read_runs(runs, lambda path, name: read_ranked_run(path, judged.grades, name=name))
    user = None if people.model is None else _read_model(people.model, judged, is_fitted=is_fitted)
    judged = judged if user is None else user.collection
    _say_what_was_decided(choices, judged, single_ties_note(systems))
    topics, draws = choices.topics, people.draws
    if user is None:
        scores = ranked_scores(judged, systems, measures, topics=topics)
        intervals: dict[ScoreKey, Interval] | None = None if draws is None else {}
    else:
        scores, intervals = user.scored(systems, measures, draws=draws, seed=people.seed, topics=topics)
    print_unused(choices.qrels, ranked_judgments_left_out(judged))
    deepest = None if choices.named else max(choices.depths, default=DEFAULT_DEPTH)
    print_unused_by_run(runs, systems, lambda run: ranked_left_out(judged, run, depth=deepest, topics=topics))
    output.scores(scores, intervals)


def _measures(choices: RankedOptions) -> "list[RankedMeasure]":
    """List what is printed, in order: each measure at every depth."""
    from metrics.ranked.measures import IAERR, IANDCG, IAP, TIAAP, TIAERR, TIANDCG, TIAP
    from metrics.ranked.recall import SBR, TIASBR, TSBR

    depths, reading, err = choices.depths or (DEFAULT_DEPTH,), choices.reading, choices.err
    gains, covered, alpha = choices.gains, choices.covered, choices.alpha
    return [
        *(TIAP(k=k) for k in depths),
        *(TIANDCG(k=k, reading=reading, gains=gains) for k in depths),
        *(TIAERR(k=k, reading=reading, err=err) for k in depths),
        TIAAP(),
        *(TSBR(k=k, covered=covered) for k in depths),
        *(TIASBR(k=k, covered=covered, alpha=alpha) for k in depths),
        *(IAP(k=k) for k in depths),
        *(IANDCG(k=k, gains=gains) for k in depths),
        *(IAERR(k=k, err=err) for k in depths),
        *(SBR(k=k) for k in depths),
    ]


def _defaults(choices: RankedOptions) -> "dict[str, ListMeasure]":
    """Return the default measures; without windows, those that need none.

    A line on stderr names the others.
    """
    measures, is_timed = _measures(choices), choices.windows is not None
    if not is_timed:
        left_out = ", ".join(measure.column for measure in measures if measure.timed)
        sys.stderr.write(f"without --windows FILE there are no {left_out}\n")
    return {measure.column: measure for measure in measures if is_timed or not measure.timed}


def _named(names: tuple[str, ...]) -> "dict[str, ListMeasure]":
    """Parse the measures of --measure by their printed names.

    Options that these names already contain are refused.
    """
    if not names:
        return {}
    from metrics.ranked.named import ranked_measure

    context = click.get_current_context()
    for name in OF_THE_OTHERS:
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            option = next(measure.opts[0] for measure in context.command.params if measure.name == name)
            raise click.UsageError(f"{option} has no effect on --measure; write it there, as in TIANDCG(k=5)")
    try:
        measures = dict.fromkeys(map(ranked_measure, names))
    except InputError as error:
        raise InputError(
            [replace(measure, problem=f"--measure: {measure.problem}") for measure in error.faults]
        ) from None
    columns = Counter(measure.column for measure in measures)
    return {
        measure.column if columns[measure.column] == 1 else repr(measure): measure for measure in measures
    }


def _read_model(path: str, judged: "RankedCollection", *, is_fitted: bool) -> "RankedModel | None":
    """Read the user model, if any measure needs it.

    Otherwise it returns None and prints a line on stderr.
    """
    if is_fitted:
        from calibration.user_model.ranked import ranked_model

        return ranked_model(path, judged)
    from calibration.user_model.model import read_user_model

    read_user_model(path)
    sys.stderr.write(f"{path}: enters these measures with --intents fitted only\n")
    return None


def _say_what_was_decided(choices: RankedOptions, judged: "RankedCollection", ties: str | None) -> None:
    """Print on stderr the defaults that a user could mistake."""
    if choices.window_unit is None and judged.calendar_unit is not None:
        sys.stderr.write(f"{choices.windows}: timestamps; windows are days, choose with --window-unit\n")
    if choices.reading == "text":
        sys.stderr.write(
            "--reading text: TIA-nDCG and TIA-ERR are IA-nDCG and IA-ERR, because P(c|q,t) is P(c|q) here; "
            "another one can be passed from Python\n"
        )
    if ties is not None:
        sys.stderr.write(f"{ties}\n")
