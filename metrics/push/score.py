"""Scores of runs of push notifications, by topic or by day.

Source: Tan, Roegiest, Lin, Clarke: An Exploration of Evaluation Metrics for Mobile Push Notifications (SIGIR 2016). The
measures are in `metrics.push.measures` and `metrics.push.contingency`, files in `metrics.readers.push`.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from metrics.arrays import Bools
from metrics.push.days import DayTable, PushRules, count_pushes
from metrics.push.measures import DailyMeasure, PushMeasure
from metrics.push.pool import PushPool, push_pool
from metrics.push.streams import PushCollection, PushRun, push_judgments_left_out, push_left_out
from metrics.results import ALL, Score, Topics, label_measures, run_list, score_frame
from metrics.topic_ids import STREAM_TOPICS, TopicNames
from metrics.unused_input import warn_if_mostly_unused

if TYPE_CHECKING:
    import pandas as pd


def push_scores(
    collection: PushCollection,
    runs: Iterable[PushRun],
    measures: Iterable[PushMeasure] | Mapping[str, PushMeasure],
    *,
    topics: Topics = "judged",
) -> list[Score]:
    """Score push runs, as `score_push` but without pandas.

    Its parameters are those of `score_push`.
    """
    labels = label_measures(measures, PushMeasure)
    pool = push_pool(collection)
    scores: list[Score] = []
    for run in runs:
        tables = _tables(pool, run, labels.values())
        counted = counted_topics(pool, run, topics)
        values = {
            label: measure.topic_values(tables[measure.rules]).tolist() for label, measure in labels.items()
        }
        scores += [
            Score(run.name, topic, label, value[index])
            for index, topic in enumerate(pool.topics)
            for label, value in values.items()
        ]
        scores += [
            Score(run.name, ALL, label, measure.overall(tables[measure.rules], counted))
            for label, measure in labels.items()
        ]
    return scores


def score_push(
    collection: PushCollection,
    runs: Iterable[PushRun],
    measures: Iterable[PushMeasure] | Mapping[str, PushMeasure],
    *,
    topics: Topics = "judged",
) -> "pd.DataFrame":
    """Score runs of push notifications, by judged topic and as topic `all`.

    Tan et al. (SIGIR 2016); the reading is each measure's own. A topic that a run pushed nothing for scores what silence
    does. `all` is the mean over topics, but for the silence measures the share in all topic-days together.

    Parameters
    ----------
    collection : PushCollection
        Judgments.
    runs : iterable of PushRun
        Of different names.
    measures : iterable of PushMeasure, or mapping of label to PushMeasure
        Labels stand in the column metric; by default each measure's own column, such as ``ELG-1``. Many measures under
        the same rules cost little more than one.
    topics : {'judged', 'run'}
        What `all` is taken over: every judged topic, or those that the run has pushes for (of any tweet).

    Returns
    -------
    DataFrame
        run, topic, metric, value.

    Raises
    ------
    ValueError
        If two measures would have one label, a topic has no days or one does not follow the one before it, or a tweet is
        in two clusters of a topic.

    Warns
    -----
    LeftOutWarning
        If more than half of the judgments or of a run takes no part, see `push_left_out`.

    Examples
    --------
    >>> import prefcal
    >>> folder = "examples/push_streams/collection"
    >>> collection = prefcal.read_push_collection(
    ...     qrels=f"{folder}/qrels.txt",
    ...     clusters=f"{folder}/clusters.json",
    ...     epochs=f"{folder}/epochs.txt",
    ...     days="20121008:20121014",
    ... )
    >>> run = prefcal.read_push_run("examples/push_streams/runs/careful.txt")
    >>> scores = score_push(collection, [run], [prefcal.ELG(), prefcal.NCG()])
    >>> scores.query("topic == 'all'")["value"].round(3).tolist()
    [0.9, 0.748]
    """
    runs = run_list(runs, PushRun)
    warn_if_mostly_unused(collection, runs, push_judgments_left_out, partial(push_left_out, topics=topics))
    return score_frame(push_scores(collection, runs, measures, topics=topics))


def score_push_days(
    collection: PushCollection,
    runs: Iterable[PushRun],
    measures: Iterable[DailyMeasure] | Mapping[str, DailyMeasure],
) -> "pd.DataFrame":
    """Score every day of every topic by ELG or nCG.

    Parameters, errors and warnings are those of `score_push`.

    Parameters
    ----------
    collection, runs, measures
        As in `score_push`, with ELG and nCG.

    Returns
    -------
    DataFrame
        run, topic, day, kind, pushes, metric, value. ``kind`` is silent (no cluster has a tweet that day), redundant (the
        run has pushed from all of the day's clusters on earlier days) or eventful; ``pushes`` is how many count.

    Examples
    --------
    >>> import prefcal
    >>> folder = "examples/push_streams/collection"
    >>> collection = prefcal.read_push_collection(
    ...     qrels=f"{folder}/qrels.txt",
    ...     clusters=f"{folder}/clusters.json",
    ...     epochs=f"{folder}/epochs.txt",
    ...     days="20121008:20121014",
    ... )
    >>> run = prefcal.read_push_run("examples/push_streams/runs/careful.txt")
    >>> days = score_push_days(collection, [run], [prefcal.ELG()])
    >>> days["kind"].value_counts().to_dict()
    {'eventful': 12, 'silent': 9}
    """
    import pandas as pd  # noqa: PLC0415 - see metrics.results

    labels = label_measures(measures, DailyMeasure)
    runs = run_list(runs, PushRun)
    warn_if_mostly_unused(collection, runs, push_judgments_left_out, push_left_out)
    pool = push_pool(collection)
    rows = []
    for run in runs:
        tables = _tables(pool, run, labels.values())
        for label, measure in labels.items():
            table = tables[measure.rules]
            names = (table.topics[index] for index in table.topic.tolist())
            columns = (names, table.days, table.kinds(), table.pushes.astype(int).tolist())
            values = measure.day_values(table).tolist()
            rows += [
                (run.name, topic, day, kind, pushes, label, value)
                for topic, day, kind, pushes, value in zip(*columns, values, strict=True)
            ]
    return pd.DataFrame(rows, columns=pd.Index(["run", "topic", "day", "kind", "pushes", "metric", "value"]))


def counted_topics(pool: PushPool, run: PushRun, topics: Topics) -> Bools:
    """Return the mask of the topics in the mean `all`, (topics,); see `score_push`."""
    if topics == "judged":
        return np.ones(len(pool.topics), dtype=np.bool_)
    names = TopicNames(pool.topics, STREAM_TOPICS, where=run.name)
    own = {names.find(written) for written in set(run.topics)}
    return np.array([topic in own for topic in pool.topics], dtype=np.bool_)


def _tables(pool: PushPool, run: PushRun, measures: Iterable[PushMeasure]) -> dict[PushRules, DayTable]:
    """Count the run's pushes once under each set of rules."""
    return {
        rules: count_pushes(pool, run, rules)
        for rules in dict.fromkeys(measure.rules for measure in measures)
    }
