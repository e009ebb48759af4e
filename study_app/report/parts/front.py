"""First screen: question, one figure, and five sentences to decide by."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from calibration.agree.result import MIN_PAIRS, MIN_QUERIES, beyond_perfect, has_enough_pairs
from calibration.judges.numbers import judge_in_words
from calibration.rank.folder import Ranking, best_in_words, ranks_in_words
from study_app.report.folder import ReportInputs
from study_app.report.page import Figure, Front, Section, pluralise, points
from study_app.report.parts.agreement import (
    MAX_ROWS,
    SIGNIFICANT,
    answer,
    ceiling,
    certainty,
    detectable,
    rows_figure,
    runner_up,
)
from study_app.report.parts.judges import NO_ESTIMATE, WORDS
from study_app.report.parts.ranking import QUESTION, judgments_in_words, notes_of, preferred
from study_app.report.results import TaskResult

MAX_WORDS = 12
ANSWER, SURE, CEILING, AGAINST, NEXT = "Answer", "How sure", "Ceiling", "Against it", "Next"
SIMULATED = "Simulated workers: these numbers say what the method finds, not what people prefer."
NOBODY_ASKED = "Simulated people and judged events: nobody was asked anything, and no parameter was fitted."
NO_AGREEMENT = "There is no agreement.csv in this folder; prefcal agree writes it"


def front(material: ReportInputs, results: Sequence[TaskResult], sections: Sequence[Section]) -> Front:
    """Return the first screen.

    It is about the first task with a measured agreement, else about ranks, else about the first section.

    Parameters
    ----------
    material : ReportInputs
    results : sequence of TaskResult
        What was found for each task.
    sections : sequence of Section
        Of everything else that has a finding, the main one first.
    """
    if results:
        points = dict(_of_agreement(results[0], material))
        points |= {f"Task {result.task}": answer(result) for result in results[1:]}
        return _front(_question(results[0]), points, rows_figure(results[0], "agreement", MAX_ROWS))
    first = sections[0]
    if len(material.judges.numbers):
        return _front(
            "How good is the judge beside one more person?",
            dict(_of_judges(first)),
            next(iter(first.figures), None),
        )
    figure = next(
        (figure for figure in first.figures if figure.name.endswith("-best")),
        first.figures[0] if first.figures else None,
    )
    if material.ranking is not None:
        return _front(f"{QUESTION}?", dict(_of_ranking(material.ranking)), figure)
    points = {ANSWER: first.title}
    if not material.has_study:
        question = "Which run leads for which people?"
        points |= {SURE: first.paragraphs[0], AGAINST: first.paragraphs[1]}
        points[NEXT] = "Look where your own people are: fit their times away and visits with prefcal fit"
    else:
        question = (
            "Which system is best for whom?"
            if first.key.startswith("streams")
            else "What did the workers do?"
        )
        points |= {AGAINST: NO_AGREEMENT, NEXT: "Measure how often scores agree with people: prefcal agree"}
    return _front(question, points, figure)


def _front(question: str, points: Mapping[str, str], figure: Figure | None) -> Front:
    ended = {label: f"{text.removesuffix('.')}." for label, text in points.items()}
    return Front(question=question, points=ended, figure=figure)


def _question(result: TaskResult) -> str:
    """Return the question of a report, in `MAX_WORDS` words at most.

    It is about the two measures compared first, about one measure, or about all.
    """
    if result.named_comparisons:
        first = result.named_comparisons[0]
        question = f"Does {first['measure']} agree with people more often than {first['against']}?"
    elif result.named is not None or len(result.measures) == 1:
        question = f"How often does {result.primary_measure} agree with people?"
    else:
        question = "Which measure agrees with people most often?"
    return (
        question
        if len(question.split()) <= MAX_WORDS
        else "Which of two measures agrees with people more often?"
    )


def _of_agreement(result: TaskResult, material: ReportInputs) -> Iterator[tuple[str, str]]:
    yield ANSWER, answer(result)
    yield SURE, certainty(result)
    yield CEILING, ceiling(result)
    for row in material.judges.of_task(result.task).rows():
        yield f"Judge {row['judge']}", judge_in_words(row, WORDS)
    yield AGAINST, next(_objections(result, material.record))
    if not has_enough_pairs(result.row(result.primary_measure)):
        yield NEXT, "Ask more people about more queries; prefcal plan agreement says how many"
    elif result.named_comparisons and not result.named_comparisons[0]["p_holm"] < SIGNIFICANT:
        yield (
            NEXT,
            "Ask about more queries, if such a difference matters; prefcal plan difference says how many",
        )
    elif result.named is None and len(result.fair) > 1:
        yield (
            NEXT,
            "Name the comparison that matters (primary in the study file) and ask new people; prefcal plan difference says how many",
        )
    else:
        yield (
            NEXT,
            f"Read the pairs on which {result.primary_measure} and people disagree most, in section Agreement, before you rely on it",
        )


def _objections(result: TaskResult, record: Mapping[str, object]) -> Iterator[str]:
    """Yield what speaks against the answer, the worst first; one sentence at least."""
    if not has_enough_pairs(result.row(result.primary_measure)):
        yield f"A finding needs {MIN_PAIRS} pairs with a majority, and {MIN_QUERIES} queries"
    known = record.get("diagnostics", {})
    of_task = known.get(result.task, []) if isinstance(known, Mapping) else []
    yield from (diagnostic["sentence"] for diagnostic in of_task if diagnostic["severity"] == "warning")
    missed = detectable(result)
    if result.named is None and len(result.fair) > 1:
        late = f"No comparison was named beforehand, so the highest of {len(result.fair)} measures looks better than it is"
        change = runner_up(result)
        if change is None or np.isnan(change["minimum_detectable"]):
            yield late
        else:
            smallest = points(change["minimum_detectable"]).lstrip("+")
            yield f"{late}; with {result.topics_counted} a lead of less than {smallest} points is mostly missed"
    if result.wanted.at_analysis:
        yield "The comparison was named when the answers were there, so it was not planned"
    yield from beyond_perfect(result.rows, result.ties)
    if missed:
        yield missed
    yield "Agreement says how often a measure and the majority name the same side, not by how much they differ"


def _of_judges(section: Section) -> Iterator[tuple[str, str]]:
    """Yield the points on the judges of the first task, of which nothing is scored."""
    yield ANSWER, section.title
    yield "How it judges", section.paragraphs[0]
    yield AGAINST, NO_ESTIMATE
    yield NEXT, "Give scores to see measures beside the judge: prefcal agree --scores"


def _of_ranking(ranking: Ranking) -> Iterator[tuple[str, str]]:
    if ranking.is_of_topics:
        yield ANSWER, best_in_words(ranking.best()).removesuffix(".")
        yield SURE, "Topics are fixed, each ranked for itself, and intervals are over people"
        yield AGAINST, "A win rate says how often an item wins against these others, not how good it is"
        return
    tasks = list(ranking.ranking.groupby("task", sort=False))
    task, rows = tasks[0]
    met = ranking.duels[ranking.duels["task"] == task]
    few, best = ranking.too_few.get(str(task)), rows.iloc[0]
    alone = int((rows["rank_low"] == rows["rank_high"]).sum())
    own = "has a rank of its own" if alone == 1 else "have a rank of their own"
    best_system = ranking.best_systems.get(str(task))
    yield ANSWER, best_system.sentence(ranking.level) if best_system else preferred(ranking, str(task), rows)
    intervals = "there are no intervals" if few else f"intervals are over {ranking.samples}"
    yield SURE, f"{judgments_in_words(rows, met)}; {intervals}"
    yield (
        "Ranks",
        (
            f"{best['system']} has rank {ranks_in_words(best['rank_low'], best['rank_high'])}; {alone} of"
            f" {pluralise(len(rows), 'system')} {own}"
        ),
    )
    notes = notes_of(ranking, str(task))
    yield (
        AGAINST,
        notes[0]
        if notes
        else "A win rate says how often a system wins against these others, not how good it is",
    )
    yield (
        NEXT,
        (
            "Ask more people about more topics"
            if few
            else "See whether a measure agrees with these preferences: prefcal agree, then prefcal report"
        ),
    )
    for other, of_other in tasks[1:]:
        yield f"Task {other}", preferred(ranking, str(other), of_other)
