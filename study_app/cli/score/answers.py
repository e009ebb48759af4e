"""`prefcal score answers`: nuggets, citations and words of generated answers."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from study_app.cli.options import option, with_options
from study_app.cli.output import ScoreOutput
from study_app.cli.score.options import print_unused, print_unused_by_run, topics_option

if TYPE_CHECKING:
    from metrics.results import Topics


@dataclass(frozen=True, kw_only=True)
class AnswerOptions:
    """Files and choices of the measures of answers."""

    topics_file: str = option(
        required=True, metavar="FILE", help="Questions: lines of topic and text, or JSON lines."
    )
    nuggets: str | None = option(
        metavar="FILE", help="Nuggets assigned to the answers, as nuggetizer writes them."
    )
    support: str | None = option(
        metavar="FILE", help="Support of each citation, as the TREC RAG track writes it."
    )
    topics: "Topics" = topics_option("the run answers")


@click.command("answers")
@click.argument("runs", nargs=-1, required=True, metavar="ANSWERS.jsonl...")
@with_options(choices=AnswerOptions, output=ScoreOutput)
def command(runs: tuple[str, ...], *, choices: AnswerOptions, output: ScoreOutput) -> None:
    """Score generated answers (RAG): nuggets, support of citations, words.

    Per topic, and over all topics. Without --nuggets and --support only sentences with a citation, and words, are counted.
    """
    from metrics.answers.judged import answer_judgments_left_out, answers_left_out
    from metrics.answers.score import answer_measures, answer_scores
    from metrics.readers.answer_judgments import read_answer_collection
    from metrics.readers.answers import read_answer_run
    from metrics.readers.lines import read_runs

    judged = read_answer_collection(choices.topics_file, nuggets=choices.nuggets, support=choices.support)
    systems = read_runs(runs, lambda path, name: read_answer_run(path, name=name))
    scores = answer_scores(judged, systems, answer_measures(judged), topics=choices.topics)
    print_unused(choices.topics_file, answer_judgments_left_out(judged))
    print_unused_by_run(runs, systems, lambda run: answers_left_out(judged, run, topics=choices.topics))
    output.scores(scores)
