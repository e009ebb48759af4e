"""Tables of a sweep as files, with the measures that MSU is compared with.

The other measures of the same runs are our own, or come from a table of scores.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from metrics.agreement.correlation import kendall_tau_b, tau_ap
from metrics.arrays import Floats
from metrics.errors import input_fault, join_names
from metrics.events import EventCollection, UpdateRun
from metrics.files import written_whole
from metrics.results import ALL, Score
from metrics.sweep.parts import SweepFolder, SweepPoint
from metrics.topic_ids import STREAM_TOPICS, TopicNames
from metrics.updates.measures import ExpectedLatencyGain, LatencyComprehensiveness
from metrics.updates.score import update_scores

SCORES = "scores"
"""Name of scores without a file in messages."""
DIGITS = 13


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReferenceMeasure:
    """Another measure of the runs of a sweep.

    Attributes
    ----------
    name : str
        What tables call it.
    overall : (runs,) ndarray of float64
        Its value over all topics, `as_printed`.
    by_topic : (runs, topics) ndarray of float64 or None
        Its value on each topic; None where one is not known.
    """

    name: str
    overall: Floats
    by_topic: Floats | None


def as_printed(values: Floats) -> Floats:
    """Round values to the 13 significant digits of every table.

    Values that differ only by the noise of arithmetic become equal.
    """
    rounded = [float(f"{value:.{DIGITS}g}") for value in values.ravel().tolist()]
    return np.array(rounded).reshape(values.shape)


def own_references(collection: EventCollection, runs: Sequence[UpdateRun]) -> list[ReferenceMeasure]:
    """Return ELG and LC, the reference measures of the paper."""
    scores = update_scores(collection, runs, [ExpectedLatencyGain(), LatencyComprehensiveness()])
    return references(scores, [run.name for run in runs], list(collection.topics))


def references(
    scores: Iterable[Score], runs: Sequence[str], topics: Sequence[str], *, path: str = SCORES
) -> list[ReferenceMeasure]:
    """Return every metric of a table of scores, without runs outside the sweep.

    A metric's mean is the table's value for topic `all`, else the mean over the sweep's topics.

    Raises
    ------
    InputError
        If a run of the sweep lacks a metric, or has an undefined one.
    """
    names = TopicNames(topics, STREAM_TOPICS, where=path)
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
            f"{name} is not known of {join_names(unknown)}",
            path=path,
            cure="give every run of the sweep a value, over all topics or on each of them",
        )
    whole = bool(topics) and not np.isnan(by_topic).any()
    return ReferenceMeasure(name=name, overall=as_printed(overall), by_topic=by_topic if whole else None)


SWEEP, BEST, CORRELATION = "sweep.parquet", "best.csv", "correlation.csv"
OTHERS, LIKE = "measures.csv", "like.csv"
MEASURES = ("MSU", "MSU/s")
BEST_COLUMNS = ("of", "run", "rank", "runs_equal", *SweepPoint._fields, "MSU", "MSU/s")
CORRELATION_COLUMNS = (*SweepPoint._fields, "metric", "against", "systems", "tau-b", "tau-AP")
LIKE_COLUMNS = (
    *SweepPoint._fields,
    "against",
    "systems",
    "tau-b",
    "low",
    "high",
    "tau-AP",
    "below",
    "below_low",
    "below_high",
)
POPULATION, SYSTEM = "population", "system"
GROUP_ROWS = 50_000
"""Rows per row group of sweep.parquet."""


def write_tables(folder: SweepFolder, runs: Sequence[str], against: Sequence[ReferenceMeasure]) -> None:
    """Write sweep.parquet, best.csv, correlation.csv and measures.csv.

    Every part must exist.

    Raises
    ------
    InputError
        If a part is damaged, or a file cannot be written.
    """
    import pandas as pd  # noqa: PLC0415 - slow to load

    points = [point for index in range(folder.grid.population_count) for point in folder.grid.points(index)]
    parts = [(part.utility.T, part.error.T, part.per_second.T) for part in folder.parts()]
    utility, error, per_second = (np.concatenate(of_parts) for of_parts in zip(*parts, strict=True))
    printed = {"MSU": as_printed(utility), "MSU/s": as_printed(per_second)}
    own = zip(runs, *(reference.overall.tolist() for reference in against), strict=True)
    sweep = {"MSU": utility, "MSU-se": error, "MSU/s": per_second}
    frames = {
        SWEEP: pd.DataFrame(np.repeat(points, len(runs), axis=0), columns=SweepPoint._fields).assign(
            run=[*runs] * len(points), **{name: values.ravel() for name, values in sweep.items()}
        ),
        BEST: pd.DataFrame(_best(points, runs, *printed.values()), columns=BEST_COLUMNS),
        CORRELATION: pd.DataFrame(_correlations(points, printed, against), columns=CORRELATION_COLUMNS),
        OTHERS: pd.DataFrame(own, columns=["run", *(reference.name for reference in against)]),
    }
    with ExitStack() as files:
        for name, frame in frames.items():
            file = files.enter_context(written_whole(folder.folder / name))
            if name == SWEEP:
                frame.to_parquet(file, index=False, row_group_size=GROUP_ROWS)
            else:
                frame.to_csv(
                    file, index=False, na_rep="nan", float_format=f"%.{DIGITS}g", lineterminator="\n"
                )


def _correlations(
    points: Sequence[SweepPoint], printed: Mapping[str, Floats], against: Sequence[ReferenceMeasure]
) -> Iterator[Sequence[object]]:
    """Yield the rows of correlation.csv, point by point.

    tau_AP takes the other measure as its reference.
    """
    for index, point in enumerate(points):
        for metric, values in printed.items():
            for other in against:
                own = values[index]
                taus = kendall_tau_b(other.overall, own), tau_ap(other.overall, own)
                yield *point, metric, other.name, own.size, *taus


def _best(
    points: Sequence[SweepPoint], runs: Sequence[str], utility: Floats, per_second: Floats
) -> Iterator[Sequence[object]]:
    """Yield the best system of each point, then the best point of each system.

    Table 3 of the paper has the same form. The best point of a system is that of its best rank; of several the one of its highest MSU;
    of these the first. The first of equal systems is the best.

    Parameters
    ----------
    points : (points,) sequence of SweepPoint
        All of them.
    runs : (runs,) sequence of str
        The systems.
    utility, per_second : (points, runs) ndarray of float64
        MSU and MSU per second, `as_printed`.
    """
    rank, last = (rankdata(-utility, method=method, axis=1).astype(int) for method in ("min", "max"))
    best_points = [np.lexsort((-utility[:, run], rank[:, run]))[0] for run in range(len(runs))]
    rows = [(POPULATION, point, run) for point, run in enumerate(rank.argmin(axis=1))]
    for of, point, run in [*rows, *((SYSTEM, point, run) for run, point in enumerate(best_points))]:
        equal = 1 + last[point, run] - rank[point, run]
        values = utility[point, run], per_second[point, run]
        yield of, runs[run], rank[point, run], equal, *points[point], *values
