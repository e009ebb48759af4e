"""Scores of runs of updates by the measures of TREC Temporal Summarization.

The measures are in `metrics.updates.measures`, what they count in `metrics.updates.account`, files in
`metrics.readers.tempsum`.
"""

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from metrics.events import EventCollection, UpdateRun, events_left_out, updates_left_out
from metrics.results import Score, Topics, label_measures, run_list, score_frame, with_means
from metrics.unused_input import warn_if_mostly_unused
from metrics.updates.account import JudgedTopic, UpdateGains
from metrics.updates.measures import UpdateMeasure

if TYPE_CHECKING:
    import pandas as pd


def update_scores(
    collection: EventCollection,
    runs: Iterable[UpdateRun],
    measures: Iterable[UpdateMeasure] | Mapping[str, UpdateMeasure],
    *,
    topics: Topics = "judged",
) -> list[Score]:
    """Score runs of updates, as `score_updates` but without pandas.

    Its parameters are those of `score_updates`.
    """
    labels = label_measures(measures, UpdateMeasure)
    judged = {
        rules: {topic: JudgedTopic(event, rules) for topic, event in collection.topics.items()}
        for rules in {measure.rules for measure in labels.values()}
    }
    scores: list[Score] = []
    over: dict[str, Collection[str]] = {}
    for run in runs:
        accounts = {rules: _accounts(run, of_rules) for rules, of_rules in judged.items()}
        over[run.name] = run.entries(collection.topics) if topics == "run" else collection.topics
        scores += [
            Score(run.name, topic, label, measure.topic_value(accounts[measure.rules][topic]))
            for topic in collection.topics
            for label, measure in labels.items()
        ]
    return with_means(scores, over=over)


def score_updates(
    collection: EventCollection,
    runs: Iterable[UpdateRun],
    measures: Iterable[UpdateMeasure] | Mapping[str, UpdateMeasure],
    *,
    topics: Topics = "judged",
) -> "pd.DataFrame":
    """Score runs of updates, by judged topic and their mean as topic `all`.

    A topic without updates in the run scores 0 in every measure. Updates for topics that are not judged are
    ignored.

    Parameters
    ----------
    collection : EventCollection
        Judgments.
    runs : iterable of UpdateRun
        Of different names.
    measures : iterable of UpdateMeasure, or mapping of label to UpdateMeasure
        Labels stand in the column metric; by default each measure's own column, such as ``ELG``. Many measures under
        the same rules cost little more than one.
    topics : {'judged', 'run'}
        What `all` is the mean over: every judged topic, or those that the run has an update for (sampled or not), as
        the track's programs have it.

    Returns
    -------
    DataFrame
        run, topic, metric, value.

    Raises
    ------
    ValueError
        If two measures would have one label.

    Warns
    -----
    LeftOutWarning
        If more than half of the judgments or of a run takes no part, see `updates_left_out`.

    Examples
    --------
    >>> import prefcal
    >>> folder = "examples/two_layered/streams"
    >>> events = prefcal.read_events(
    ...     topics=f"{folder}/topics.xml",
    ...     nuggets=f"{folder}/nuggets.tsv",
    ...     matches=f"{folder}/matches.tsv",
    ...     updates=f"{folder}/updates.tsv",
    ... )
    >>> run = prefcal.read_update_run(f"{folder}/runs/prompt.txt")
    >>> scores = score_updates(events, [run], [prefcal.ExpectedGain(), prefcal.Comprehensiveness()])
    >>> scores.query("topic == 'all'")["value"].round(3).tolist()
    [0.07, 1.0]
    """
    runs = run_list(runs, UpdateRun)
    warn_if_mostly_unused(collection, runs, events_left_out, partial(updates_left_out, topics=topics))
    return score_frame(update_scores(collection, runs, measures, topics=topics))


def _accounts(run: UpdateRun, judged: Mapping[str, JudgedTopic]) -> dict[str, UpdateGains]:
    """Count the updates of a run for every topic."""
    entries = run.entries(judged)
    nothing = np.array([], dtype=np.int64)
    accounts = {}
    for topic, prepared in judged.items():
        rows = entries.get(topic, nothing)
        updates = [run.updates[row] for row in rows]
        accounts[topic] = prepared.account(updates, run.seconds[rows], run.confidence[rows])
    return accounts
