"""Scores of generated answers.

The measures are in `metrics.answers.measures`, the judgments in `metrics.answers.judged`; `metrics.readers.answers` and
`metrics.readers.answer_judgments` read files.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

from metrics.answers.judged import (
    JUDGMENT_KINDS,
    AnswerCollection,
    AnswerRun,
    JudgedNugget,
    JudgmentKind,
    SupportedSentence,
    answer_judgments_left_out,
    answers_left_out,
)
from metrics.answers.measures import MEASURES, AnswerMeasure, JudgedAnswer
from metrics.results import Score, Topics, label_measures, run_list, score_frame, with_means
from metrics.unused_input import warn_if_mostly_unused

if TYPE_CHECKING:
    import pandas as pd


def answer_measures(collection: AnswerCollection) -> list[AnswerMeasure]:
    """Return the measures that the judgments of a collection allow, at their defaults."""
    given = {None, *(kind for kind in JUDGMENT_KINDS if collection.judgments(kind))}
    return [measure_class() for measure_class in MEASURES if measure_class.needs in given]


def answer_scores(
    collection: AnswerCollection,
    runs: Sequence[AnswerRun],
    measures: Iterable[AnswerMeasure] | Mapping[str, AnswerMeasure],
    *,
    topics: Topics = "judged",
) -> list[Score]:
    """Score runs of answers, as `score_answers` but without pandas.

    Its parameters are those of `score_answers`.
    """
    labels = label_measures(measures, AnswerMeasure)
    kinds = {measure.needs for measure in labels.values()} - {None}
    for kind in kinds:
        collection.check(cast("JudgmentKind", kind), runs)
    asked: dict[JudgmentKind | None, set[str]] = {None: set(collection.topics)}
    asked |= {kind: set(collection.judged_topics(kind)) for kind in JUDGMENT_KINDS}
    scores: list[Score] = []
    for run in runs:
        nuggets = collection.judgments("nuggets").get(collection.run_key("nuggets", run) or "", {})
        support = collection.judgments("support").get(collection.run_key("support", run) or "", {})
        for topic in collection.topics:
            is_answered = topic in run.answers
            answer = JudgedAnswer(
                sentences=run.answers.get(topic, ()),
                nuggets=cast("Sequence[JudgedNugget]", nuggets.get(topic, ())) if is_answered else (),
                support=cast("Sequence[SupportedSentence]", support.get(topic, ())) if is_answered else (),
            )
            scores += [
                Score(run.name, topic, label, measure.topic_value(answer))
                for label, measure in labels.items()
                if topic in asked[measure.needs]
            ]
    over = {run.name: run.answers for run in runs} if topics == "run" else None
    return with_means(scores, over=over)


def score_answers(
    collection: AnswerCollection,
    runs: Iterable[AnswerRun],
    measures: Iterable[AnswerMeasure] | Mapping[str, AnswerMeasure] | None = None,
    *,
    topics: Topics = "judged",
) -> "pd.DataFrame":
    """Score runs of answers, by topic and their mean as topic `all`.

    Measures of nuggets have a row for each topic with nuggets, those of citations for each topic whose support was judged, others for every
    topic. A topic without an answer scores 0.

    Parameters
    ----------
    collection : AnswerCollection
        Topics and judgments.
    runs : iterable of AnswerRun
        Of different names.
    measures : iterable of AnswerMeasure, or mapping of label to AnswerMeasure, optional
        By default all that the judgments allow.
    topics : {'judged', 'run'}
        What `all` is the mean over: every topic of a measure, or those of them that the run answers.

    Returns
    -------
    DataFrame
        run, topic, metric, value.

    Raises
    ------
    InputError
        If a run, or an answer of it to a judged topic, has no judgments that a measure needs.

    Warns
    -----
    LeftOutWarning
        If more than half of the judgments or of a run takes no part.

    Examples
    --------
    >>> import prefcal
    >>> sentence = prefcal.AnswerSentence(text="It ended in 1980.", is_cited=True)
    >>> judged = prefcal.AnswerCollection(name="example", topics=["1"])
    >>> scores = score_answers(judged, [prefcal.AnswerRun(name="one", answers={"1": [sentence]})])
    >>> scores.query("topic == 'all'")["value"].tolist()
    [1.0, 4.0]
    """
    runs = run_list(runs, AnswerRun)
    count = partial(answers_left_out, topics=topics)
    warn_if_mostly_unused(collection, runs, answer_judgments_left_out, count)
    chosen = answer_measures(collection) if measures is None else measures
    return score_frame(answer_scores(collection, runs, chosen, topics=topics))
