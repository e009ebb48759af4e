"""Scoring ranked lists by time-aware and plain intent-aware measures.

Source: Singh, Nejdl, Anand: History by Diversity: Helping Historians search News Archives (CHIIR 2016). The measures are
in `metrics.ranked.measures` and `metrics.ranked.coverage`, files in `metrics.readers.ranked`.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from metrics.errors import Fault, InputError
from metrics.ranked.coverage import SBR, TIASBR, TSBR
from metrics.ranked.lists import RankedCollection, RankedRun, ranked_judgments_left_out, ranked_left_out
from metrics.ranked.measures import (
    IAERR,
    IANDCG,
    IAP,
    RBP,
    TIAAP,
    TIAERR,
    TIANDCG,
    TIAP,
    MeasureAtDepth,
    RankedMeasure,
)
from metrics.ranked.named import ListMeasure, Measures, PlainMeasure, ranked_labels, ranked_measure
from metrics.ranked.plain import PlainScorer
from metrics.ranked.topics import RankedTopic, Shares, judged_topics, listing
from metrics.results import ALL, Score, Topics, score_frame, with_means
from metrics.taking_part import warn_of_most
from metrics.wording import listed

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "IAERR",
    "IANDCG",
    "IAP",
    "RBP",
    "SBR",
    "TIAAP",
    "TIAERR",
    "TIANDCG",
    "TIAP",
    "TIASBR",
    "TSBR",
    "ListMeasure",
    "PlainMeasure",
    "RankedMeasure",
    "largest_grade",
    "ranked_judgments_left_out",
    "ranked_left_out",
    "ranked_measure",
    "ranked_scores",
    "score_ranked",
]


def ranked_scores(
    collection: RankedCollection,
    runs: Iterable[RankedRun],
    measures: Measures,
    *,
    topics: Topics = "judged",
    within: Shares | None = None,
) -> list[Score]:
    """Score runs; parameters as in `score_ranked`, the result without pandas."""
    labels = ranked_labels(measures)
    own = {label: one for label, one in labels.items() if isinstance(one, RankedMeasure)}
    others = {label: one for label, one in labels.items() if isinstance(one, PlainMeasure)}
    judged = judged_topics(collection, within)
    _check_windows(collection, own)
    _check_grades(judged, labels.values())
    scorer = PlainScorer(collection, others) if others else None
    scores: list[Score] = []
    over: dict[str, set[str]] | None = {} if topics == "run" else None
    for run in runs:
        of_run: list[Score] = []
        for topic in judged:
            found = listing(topic, run.rankings.get(topic.name, ()))
            of_run += [Score(run.name, topic.name, label, one.value(found)) for label, one in own.items()]
        if scorer is not None:
            of_run += scorer.scores(run, over=None if over is None else set(run.rankings))
        scores += _in_order(of_run, [*collection.grades, ALL], list(labels))
        if over is not None:
            over[run.name] = set(run.rankings)
    return with_means(scores, over=over)


def _in_order(scores: list[Score], topics: list[str], labels: list[str]) -> list[Score]:
    """Sort the scores of a run by topic and measure, as these are given."""
    topic, label = ({name: place for place, name in enumerate(names)} for names in (topics, labels))
    return sorted(scores, key=lambda one: (topic[one.topic], label[one.metric]))


def score_ranked(
    collection: RankedCollection,
    runs: Iterable[RankedRun],
    measures: Measures,
    *,
    topics: Topics = "judged",
    within: Shares | None = None,
) -> "pd.DataFrame":
    """Score ranked lists: every judged topic, and the mean over topics as topic `all`.

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
    runs, labels = list(runs), ranked_labels(measures)
    depths = [one.k for one in labels.values() if isinstance(one, MeasureAtDepth)]
    whole = any(isinstance(one, PlainMeasure) for one in labels.values())
    of_run = partial(ranked_left_out, depth=None if whole else max(depths, default=None))
    warn_of_most(collection, runs, ranked_judgments_left_out, of_run)
    return score_frame(ranked_scores(collection, runs, labels, topics=topics, within=within))


def largest_grade(measures: Iterable[ListMeasure]) -> int | None:
    """Return the largest grade that all of these measures are defined for; None: any."""
    return min((one.largest_grade for one in measures if one.largest_grade is not None), default=None)


def _check_windows(collection: RankedCollection, measures: Mapping[str, RankedMeasure]) -> None:
    """Raise when a measure needs windows that there are not."""
    timed = [] if collection.is_timed else [label for label, one in measures.items() if one.timed]
    if timed:
        raise InputError(
            [
                Fault(
                    problem=f"{listed(timed)} {'needs' if len(timed) == 1 else 'need'} to know when documents are from",
                    cure="give a file of windows too, or leave them out",
                    path=collection.name,
                )
            ]
        )


def _check_grades(topics: Iterable[RankedTopic], measures: Iterable[ListMeasure]) -> None:
    """Raise when a grade is larger than a measure is defined for."""
    largest = largest_grade(measures)
    if largest is None:
        return
    faults = [
        Fault(
            problem=f"document {document} has grade {topic.grades[row].max()} for topic {topic.name}, "
            f"above {largest}, up to which graded scores are defined",
            cure="recode the grades, or score without grades",
        )
        for topic in topics
        for document, row in topic.rows.items()
        if topic.grades[row].max() > largest
    ]
    if faults:
        raise InputError(faults)
