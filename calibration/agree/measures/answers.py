"""Scores of generated answers: nuggets, support of citations, and words as a baseline."""

from collections.abc import Iterator, Mapping

from calibration.agree.judged_task import JudgedTask
from calibration.agree.measures.variants import (
    ScoredMeasure,
    VariantRole,
    scores_by_metric,
    without_known,
)
from calibration.agree.score_sources import Scorer, ScoreSources, ShownTexts, TaskScores, judged_summaries
from calibration.tables.sources import TaskSources
from metrics.answers.judged import JUDGMENT_KINDS, AnswerCollection, AnswerRun
from metrics.answers.measures import AnswerMeasure
from metrics.answers.score import answer_measures, answer_scores
from metrics.errors import InputError, join_names
from metrics.readers.answer_judgments import read_answer_collection
from metrics.readers.answers import read_answer_run, read_answers
from metrics.readers.texts import read_ranked_topics
from metrics.registry import Measure


def scorer(task: JudgedTask, evidence: ScoreSources, named: Mapping[str, Measure]) -> Scorer:
    """Return the scores of a task's answers; ``named`` are measures by name.

    A measure that is not defined for an answer that was judged is left out, with a note.

    Raises
    ------
    InputError
        If the systems judged and the systems with answers are not the same, or a file is faulty.
    """
    sources = evidence.sources.get(task.task)
    if sources is None:
        return lambda _: TaskScores()
    if sources.problems:
        note = f"{task.task}: no measures of answers, since {'; '.join(sources.problems)}"
        return lambda _: TaskScores(notes=(note,))
    files = {kind: sources.path(kind) for kind in JUDGMENT_KINDS if kind in sources.collection}
    collection = read_answer_collection(sources.path("topics"), **files)
    runs = [read_answer_run(source.path, name=name) for name, source in sources.systems.items()]
    evidence.check_systems(task.task, set(sources.systems))
    given = {measure.column: measure for measure in answer_measures(collection)}
    more = {name: measure for name, measure in named.items() if isinstance(measure, AnswerMeasure)}
    notes: list[str] = []
    variants = tuple(_scored(task, collection, runs, given, VariantRole.DEFAULT, notes))
    known = without_known(more, variants)
    named_measures = {name: measure for name, measure in more.items() if name in known and name not in given}
    variants += tuple(_scored(task, collection, runs, named_measures, VariantRole.NAMED, notes))
    return lambda _: TaskScores(variants=variants, notes=tuple(notes))


def _scored(
    task: JudgedTask,
    collection: AnswerCollection,
    runs: list[AnswerRun],
    measures: Mapping[str, AnswerMeasure],
    role: VariantRole,
    notes: list[str],
) -> Iterator[ScoredMeasure]:
    """Yield each measure that is defined for every answer judged; note the others."""
    judged = judged_summaries(task)
    for needs in dict.fromkeys(measure.needs for measure in measures.values()):
        labels = {name: measure for name, measure in measures.items() if measure.needs == needs}
        if needs is not None and not collection.judgments(needs):
            notes.append(f"{task.task}: no {join_names(labels)}, since no file of {needs} is named")
            continue
        try:
            scores = scores_by_metric(answer_scores(collection, runs, labels), task.topics.tolist())
        except InputError as error:
            notes.append(f"{task.task}: no {join_names(labels)}, since {error}")
            continue
        missing = judged.difference(scores.index)
        for name in labels:
            values = scores[name]
            undefined = values.index[values.isna()].intersection(judged).union(missing)
            if len(undefined):
                places = join_names(f"{system} on {topic}" for topic, system in undefined)
                notes.append(f"{task.task}: {name} is left out: undefined for {places}")
                continue
            yield ScoredMeasure(measure=name, family="answers", role=role, scores=values)


def texts(_task: JudgedTask, sources: TaskSources) -> ShownTexts:
    """Return the text of each answer."""
    sides: dict[str, dict[str, str]] = {}
    for name, source in sources.systems.items():
        for topic, answer in read_answers(source.path).items():
            sides.setdefault(topic, {})[name] = answer.text
    asked = read_ranked_topics(sources.path("topics"))
    return ShownTexts(topics={name: topic.text for name, topic in asked.items()}, sides=sides)
