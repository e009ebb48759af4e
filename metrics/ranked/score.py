"""Scores of ranked lists, by the package's measures and those of ir_measures.

Ours are in `metrics.ranked.measures` and `metrics.ranked.named`; their source: Singh, Nejdl, Anand: History by Diversity: Helping
Historians search News Archives (CHIIR 2016). `metrics.ranked.named` has the names of those of ir_measures too. Files are read by
`metrics.readers.ranked`.

Tools for diversity get the judgments by subtopic, all others the largest grade that a document has for any subtopic of its
topic. Every judged topic is scored; one without a list gets what ir_measures says, 0 for nearly all.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from subprocess import CalledProcessError
from typing import TYPE_CHECKING, Any

from metrics.errors import Fault, InputError, input_fault, join_names
from metrics.ranked.lists import (
    SAY_WHICH,
    RankedCollection,
    RankedRun,
    ranked_judgments_left_out,
    ranked_left_out,
)
from metrics.ranked.measures import MeasureAtDepth, RankedMeasure
from metrics.ranked.named import (
    MAX_GRADE,
    IrMeasuresMeasure,
    ListMeasure,
    Measures,
    in_their_notation,
    ir_measures,
    ranked_labels,
)
from metrics.ranked.topics import RankedTopic, Shares, judged_topics, relevant_ranks
from metrics.registry import short_number
from metrics.results import ALL, Score, Topics, run_list, score_frame, with_means
from metrics.unused_input import warn_if_mostly_unused

if TYPE_CHECKING:
    import pandas as pd


UNJUDGED = -1
"""Smallest grade passed to tools.

trec_eval takes any grade below 0 for unjudged, and may crash below this one.
"""
TOOL_FAILURES = (ValueError, TypeError, AssertionError, ArithmeticError, RuntimeError, CalledProcessError)


class PlainScorer:
    """Judgments prepared once for the plain measures of every run.

    Parameters
    ----------
    collection : RankedCollection
        Judgments; windows and P(c|q) do not matter.
    labels : mapping of str to IrMeasuresMeasure
        What stands in the column metric, and the measure.

    Raises
    ------
    InputError
        If a measure of diversity is asked for and no topic has two subtopics, or a tool fails with these judgments.
    """

    def __init__(self, collection: RankedCollection, labels: Mapping[str, IrMeasuresMeasure]) -> None:
        self._measures = {label: in_their_notation(measure.text) for label, measure in labels.items()}
        self._number = {topic: str(number) for number, topic in enumerate(collection.grades, start=1)}
        self._grades = {topic: _largest(of) for topic, of in collection.grades.items()}
        by_tools = [measure for measure in self._measures.values() if measure.NAME not in COMPUTED_HERE]
        _check_whole(collection, by_tools)
        diverse = [measure for measure in by_tools if ir_measures().pyndeval.supports(measure)]
        flat = [measure for measure in by_tools if measure not in diverse]
        _check_subtopics(collection, diverse)
        whole = {topic: {"0": of} for topic, of in self._grades.items()}
        self._evaluators = [
            _Evaluator(measures, self._qrels(grades))
            for measures, grades in ((flat, whole), (diverse, collection.grades))
            if measures
        ]

    def scores(self, run: RankedRun, *, over: Collection[str] | None = None) -> list[Score]:
        """Score a run on every judged topic, with a row `all` for counts.

        The row `all` is a count's sum over all topics, or over some.
        """
        by_tool = self._by_tools(run)
        scores = [
            Score(run.name, topic, label, self._value(run, topic, measure, by_tool))
            for topic in self._number
            for label, measure in self._measures.items()
        ]
        counts = {label for label, measure in self._measures.items() if _is_count(measure)}
        summed = dict.fromkeys(counts, 0.0)
        for score in scores:
            if score.metric in counts and (over is None or score.topic in over):
                summed[score.metric] += score.value
        return scores + [Score(run.name, ALL, label, total) for label, total in summed.items()]

    def _value(self, run: RankedRun, topic: str, measure: Any, by_tool: Mapping[Any, float]) -> float:
        here = COMPUTED_HERE.get(measure.NAME)
        if here is None:
            return by_tool.get((self._number[topic], measure), math.nan)
        grades = self._grades[topic]
        documents = run.rankings.get(topic, ())[: measure.params.get("cutoff")]
        return here([grades.get(document, 0) for document in documents], measure)

    def _by_tools(self, run: RankedRun) -> dict[Any, float]:
        """Return scores by topic number and measure, all above 0.

        All scores are shifted above 0, because some tools take 0 for not listed.
        """
        documents = [
            ir_measures().ScoredDoc(number, document, float(score))
            for topic, number in self._number.items()
            for score, document in enumerate(reversed(run.rankings.get(topic, ())), start=1)
        ]
        return {key: value for evaluator in self._evaluators for key, value in evaluator.values(documents)}

    def _qrels(self, grades: Mapping[str, Mapping[str, Mapping[str, float]]]) -> list[Any]:
        """Return grades by topic, subtopic and document as tools take them."""
        return [
            ir_measures().Qrel(self._number[topic], document, max(int(grade), UNJUDGED), subtopic)
            for topic, subtopics in grades.items()
            for subtopic, of in subtopics.items()
            for document, grade in of.items()
        ]


class _Evaluator:
    """Tools of ir_measures with judgments; their failures are an `InputError`."""

    def __init__(self, measures: Sequence[Any], qrels: Sequence[Any]) -> None:
        self._measures = measures
        try:
            self._evaluator = ir_measures().evaluator(measures, qrels)
        except TOOL_FAILURES as error:
            raise self._failed(error) from None

    def values(self, documents: Sequence[Any]) -> list[tuple[Any, float]]:
        """Yield ((topic number, measure), value) for a run."""
        try:
            return [
                ((computed.query_id, computed.measure), float(computed.value))
                for computed in self._evaluator.iter_calc(documents)
            ]
        except TOOL_FAILURES as error:
            raise self._failed(error) from None

    def _failed(self, error: Exception) -> InputError:
        names = join_names(map(str, self._measures))
        return input_fault(
            f"ir_measures cannot compute {names} here: {error}",
            cure="leave out the one that needs more than there is",
        )


def _check_subtopics(collection: RankedCollection, diverse: Sequence[Any]) -> None:
    """Raise if measures of diversity would get one subtopic a topic."""
    if diverse and all(len(of) < 2 for of in collection.grades.values()):
        names = join_names(map(str, diverse))
        raise input_fault(
            f"{names}: a measure of diversity, and no topic has two subtopics",
            path=collection.name,
            cure="give judgments by subtopic (topic subtopic docid grade), or leave it out",
        )


def _check_whole(collection: RankedCollection, measures: Sequence[Any]) -> None:
    """Raise if tools, which need whole grades, would get another grade."""
    grades = (
        (topic, document, grade)
        for topic, of in collection.grades.items()
        for judged in of.values()
        for document, grade in judged.items()
    )
    other = (
        next((judgment for judgment in grades if judgment[2] != int(judgment[2])), None) if measures else None
    )
    if other is not None:
        topic, document, grade = other
        raise input_fault(
            f"{join_names(map(str, measures))}: grades must be whole numbers, and document {document} of topic {topic} has {grade}",
            path=collection.name,
            cure="recode the grades, or name a measure that takes any, such as Compat(p=0.95)",
        )


def _largest(judged: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return the largest grade of each document over subtopics."""
    grades: dict[str, float] = {}
    for of_subtopic in judged.values():
        for document, grade in of_subtopic.items():
            grades[document] = max(grade, grades.get(document, grade))
    return grades


def _is_count(measure: Any) -> bool:
    return isinstance(measure.aggregator(), ir_measures().SumAgg)


def _rank_biased_precision(grades: Sequence[float], measure: Any) -> float:
    """Return RBP = (1 - p) sum_r p^(r-1) rel(r).

    A document has rel = 1 from the grade `rel`, 1 by default.

    Moffat and Zobel, TOIS 2008, eq. 5.
    """
    p, fewest = float(measure["p"]), measure.params.get("rel", 1)
    return (1 - p) * math.fsum(p**index for index, grade in enumerate(grades) if grade >= fewest)


def _expected_reciprocal_rank(grades: Sequence[float], measure: Any) -> float:  # noqa: ARG001 - no parameter but the depth
    """Return ERR = sum_r 1/r R_r prod_{i<r} (1 - R_i), R = (2^g - 1) / 2^4.

    Source: Chapelle, Metzler, Zhang and Grinspan, CIKM 2009, with the largest grade of TREC's gdeval.
    """
    score, still_reading = 0.0, 1.0
    for rank, grade in enumerate(grades, start=1):
        stops = (2 ** max(grade, 0) - 1) / 2**MAX_GRADE
        score += still_reading * stops / rank
        still_reading *= 1 - stops
    return score


COMPUTED_HERE: Mapping[str, Callable[[Sequence[float], Any], float]] = {
    "RBP": _rank_biased_precision,
    "ERR": _expected_reciprocal_rank,
}
"""Functions for the measures of ir_measures that are computed here.

ir_measures has no default tool for RBP, and its tool for ERR needs Perl and rounds to five digits.
"""


def ranked_scores(
    collection: RankedCollection,
    runs: Iterable[RankedRun],
    measures: Measures,
    *,
    topics: Topics = "judged",
    within: Shares | None = None,
) -> list[Score]:
    """Score ranked runs, as `score_ranked` but without pandas.

    Its parameters are those of `score_ranked`.
    """
    labels = ranked_labels(measures)
    own = {label: measure for label, measure in labels.items() if isinstance(measure, RankedMeasure)}
    others = {label: measure for label, measure in labels.items() if isinstance(measure, IrMeasuresMeasure)}
    judged = judged_topics(collection, within)
    check_subtopics(collection, labels)
    _check_windows(collection, own)
    _check_grades(judged, labels.values())
    scorer = PlainScorer(collection, others) if others else None
    scores: list[Score] = []
    over: dict[str, set[str]] | None = {} if topics == "run" else None
    for run in runs:
        of_run: list[Score] = []
        for topic in judged:
            ranks = relevant_ranks(topic, run.rankings.get(topic.name, ()))
            of_run += [
                Score(run.name, topic.name, label, measure.value(ranks)) for label, measure in own.items()
            ]
        if scorer is not None:
            of_run += scorer.scores(run, over=None if over is None else set(run.rankings))
        scores += _in_order(of_run, [*collection.grades, ALL], list(labels))
        if over is not None:
            over[run.name] = set(run.rankings)
    return with_means(scores, over=over)


def _in_order(scores: list[Score], topics: list[str], labels: list[str]) -> list[Score]:
    """Sort the scores of a run into the given order of topics and measures."""
    topic, label = ({name: index for index, name in enumerate(names)} for names in (topics, labels))
    return sorted(scores, key=lambda score: (topic[score.topic], label[score.metric]))


def score_ranked(
    collection: RankedCollection,
    runs: Iterable[RankedRun],
    measures: Measures,
    *,
    topics: Topics = "judged",
    within: Shares | None = None,
) -> "pd.DataFrame":
    """Score ranked lists, by judged topic and their mean as topic `all`.

    Singh et al. (CHIIR 2016); the reading is each measure's own. A topic that a run has no list for scores 0, and so
    does one without relevant documents.

    Parameters
    ----------
    collection : RankedCollection
        Judgments.
    runs : iterable of RankedRun
        Of different names.
    measures : iterable of measures, or mapping of label to measure
        Measures of the package, or texts that `metrics.ranked.named.ranked_measure` reads: ``"nDCG@10"`` and every other
        measure of ir_measures. Labels stand in the column metric; by default each measure's own, such as ``TIA-nDCG@10``.
    topics : {'judged', 'run'}
        What `all` is the mean over: every judged topic, or those of them that the run has a list for.
    within : mapping of topic to mapping of window to mapping of subtopic to float, optional
        P(c|q,t), for ``TIAERR(reading='text', within='given')``.

    Returns
    -------
    DataFrame
        run, topic, metric, value.

    Raises
    ------
    InputError
        If a grade is larger than a measure is defined for, or a measure needs windows and there are none; if a text is no
        measure, or ir_measures is needed and not installed.
    ValueError
        If two measures would have one label, or P(c|q,t) is needed and not given.

    Warns
    -----
    LeftOutWarning
        If more than half of the judgments or of a run takes no part, see `ranked_left_out`.

    Examples
    --------
    >>> import prefcal
    >>> folder = "examples/ranked_lists/collection"
    >>> collection = prefcal.read_ranked_collection(
    ...     qrels=f"{folder}/qrels.txt",
    ...     windows=f"{folder}/windows.txt",
    ...     intents=f"{folder}/intents.txt",
    ... )
    >>> run = prefcal.read_ranked_run("examples/ranked_lists/runs/newest.txt", collection.grades)
    >>> scores = score_ranked(collection, [run], [prefcal.IANDCG(k=6), prefcal.TIAP(k=6)])
    >>> scores.query("topic == 'all'")["value"].round(3).tolist()
    [0.469, 0.029]
    """
    runs, labels = run_list(runs, RankedRun), ranked_labels(measures)
    depths = [measure.k for measure in labels.values() if isinstance(measure, MeasureAtDepth)]
    whole = any(isinstance(measure, IrMeasuresMeasure) for measure in labels.values())
    deepest = None if whole else max(depths, default=None)
    of_run = partial(ranked_left_out, depth=deepest, topics=topics)
    warn_if_mostly_unused(collection, runs, ranked_judgments_left_out, of_run)
    return score_frame(ranked_scores(collection, runs, labels, topics=topics, within=within))


def largest_grade(measures: Iterable[ListMeasure]) -> int | None:
    """Return the largest grade that all of these measures are defined for; None: any."""
    return min(
        (measure.largest_grade for measure in measures if measure.largest_grade is not None),
        default=None,
    )


def check_subtopics(collection: RankedCollection, measures: Mapping[str, ListMeasure]) -> None:
    """Raise if measures by subtopic meet judgments that may have no subtopics."""
    diverse = [label for label, measure in measures.items() if measure.by_subtopic]
    if diverse and collection.undecided:
        problem = f"{join_names(diverse)}: measured by subtopic, but {collection.undecided}"
        raise input_fault(problem, path=collection.name, cure=SAY_WHICH)


def _check_windows(collection: RankedCollection, measures: Mapping[str, RankedMeasure]) -> None:
    """Raise if a measure needs windows and the judgments have none."""
    timed = [label for label, measure in measures.items() if measure.timed]
    if timed and not collection.is_timed:
        raise input_fault(
            f"{join_names(timed)} {'needs' if len(timed) == 1 else 'need'} to know when documents are from",
            path=collection.name,
            cure="give a file of windows too, or leave them out",
        )


def _check_grades(topics: Iterable[RankedTopic], measures: Iterable[ListMeasure]) -> None:
    """Raise if a grade is larger than a measure is defined for."""
    largest = largest_grade(measures)
    if largest is None:
        return
    faults = [
        Fault(
            problem=f"document {document} has grade {short_number(topic.grades[row].max())} for topic {topic.name}, "
            f"above {largest}, up to which graded scores are defined",
            cure="recode the grades, or score without grades",
        )
        for topic in topics
        for document, row in topic.rows.items()
        if topic.grades[row].max() > largest
    ]
    if faults:
        raise InputError(faults)
