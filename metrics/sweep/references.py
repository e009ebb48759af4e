"""What MSU is held against: other measures of the same runs, our own or from a table of scores."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from metrics.arrays import Floats
from metrics.errors import input_fault
from metrics.events import EventCollection, UpdateRun
from metrics.results import ALL, Score
from metrics.topics import TopicNames
from metrics.updates.score import ExpectedLatencyGain, LatencyComprehensiveness, update_scores
from metrics.wording import listed

SCORES = "scores"
"""What messages call scores that come from no file."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReferenceMeasure:
    """Another measure of the runs of a sweep.

    Attributes
    ----------
    name : str
        What tables call it.
    overall : (runs,) ndarray of float64
        Its value over all topics.
    by_topic : (runs, topics) ndarray of float64 or None
        Its value on each topic; None where one is not known.
    """

    name: str
    overall: Floats
    by_topic: Floats | None


def own_references(collection: EventCollection, runs: Sequence[UpdateRun]) -> list[ReferenceMeasure]:
    """Return ELG and LC, which the paper holds MSU against."""
    scores = update_scores(collection, runs, [ExpectedLatencyGain(), LatencyComprehensiveness()])
    return references(scores, [run.name for run in runs], list(collection.topics))


def references(
    scores: Iterable[Score], runs: Sequence[str], topics: Sequence[str], *, path: str = SCORES
) -> list[ReferenceMeasure]:
    """Return every metric of a table of scores; runs that are not in the sweep are left out.

    Over all topics is what the table says of the topic `all`, else the mean over the sweep's topics.

    Raises
    ------
    InputError
        If a run of the sweep lacks a metric, or has an undefined one.
    """
    names = TopicNames(topics)
    of_metric: dict[str, dict[tuple[str, str], float]] = {}
    for score in scores:
        topic = ALL if score.topic == ALL else names.find(score.topic)
        if topic is not None:
            of_metric.setdefault(score.metric, {})[score.run, topic] = score.value
    return [_reference(name, values, runs, topics, path) for name, values in of_metric.items()]


def _reference(
    name: str, values: dict[tuple[str, str], float], runs: Sequence[str], topics: Sequence[str], path: str
) -> ReferenceMeasure:
    by_topic = np.array([[values.get((run, topic), math.nan) for topic in topics] for run in runs])
    mean = by_topic.mean(axis=1)
    overall = np.array([values.get((run, ALL), own) for run, own in zip(runs, mean.tolist(), strict=True)])
    unknown = [run for run, value in zip(runs, overall.tolist(), strict=True) if math.isnan(value)]
    if unknown:
        raise input_fault(
            f"{name} is not known of {listed(unknown)}",
            path=path,
            cure="give every run of the sweep a value, over all topics or on each of them",
        )
    whole = bool(topics) and not np.isnan(by_topic).any()
    return ReferenceMeasure(name=name, overall=overall, by_topic=by_topic if whole else None)
