"""Tables of a sweep as files, with the measures that MSU is compared with.

Tables are written population by population, so that memory does not grow with the number of points. The other measures of the same
runs are our own, or come from a table of scores.
"""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import BinaryIO, Self

import numpy as np

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
    return np.array([float(f"{value:.{DIGITS}g}") for value in values.tolist()])


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
SWEEP_COLUMNS = (*SweepPoint._fields, "run", "MSU", "MSU-se", "MSU/s")
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
    best = _BestPoints(runs)
    names = (SWEEP, BEST, CORRELATION, OTHERS)
    with ExitStack() as files:
        opened = [files.enter_context(written_whole(folder.folder / name)) for name in names]
        sweep = files.enter_context(_SweepWriter(opened[0], runs))
        best_rows, correlation_rows, other_rows = (
            _CsvWriter(file, columns)
            for file, columns in zip(
                opened[1:],
                (BEST_COLUMNS, CORRELATION_COLUMNS, ("run", *(reference.name for reference in against))),
                strict=True,
            )
        )
        for index, part in enumerate(folder.parts()):
            for decay, point in enumerate(folder.grid.points(index)):
                utility, per_second = part.utility[:, decay], part.per_second[:, decay]
                sweep.add(point, utility, part.error[:, decay], per_second)
                values = {"MSU": as_printed(utility), "MSU/s": as_printed(per_second)}
                best_rows.add(best.meet(point, values["MSU"], values["MSU/s"]))
                correlation_rows.add_all(_correlations(point, values, against))
        best_rows.add_all(best.of_systems())
        other_rows.add_all(zip(runs, *(reference.overall.tolist() for reference in against), strict=True))


def _correlations(
    point: SweepPoint, values: dict[str, Floats], against: Sequence[ReferenceMeasure]
) -> Iterator[Sequence[object]]:
    """Yield the rows of one point's correlations.

    tau_AP takes the other measure as its reference.
    """
    for metric, own in values.items():
        for other in against:
            taus = kendall_tau_b(other.overall, own), tau_ap(other.overall, own)
            yield *point, metric, other.name, own.size, *taus


class _BestPoints:
    """Best system of each point, and best point so far of each system.

    Table 3 of the paper has the same form.

    That is the point of its best rank; of several the one of its highest MSU; of these the first.
    """

    def __init__(self, runs: Sequence[str]) -> None:
        self._runs = runs
        self._found: list[tuple[int, float, Sequence[object]]] = [(len(runs) + 1, -math.inf, ())] * len(runs)

    def meet(self, point: SweepPoint, utility: Floats, per_second: Floats) -> Sequence[object]:
        """Return the row of a point's best system, and update the systems' best points.

        The first of equal systems is the best.
        """
        ranks = 1 + (utility[None, :] > utility[:, None]).sum(axis=1)
        rows = []
        for system, rank in enumerate(ranks.tolist()):
            equal = int((ranks == rank).sum())
            row = (self._runs[system], rank, equal, *point, float(utility[system]), float(per_second[system]))
            rows.append(row)
            if (rank, -utility[system]) < (self._found[system][0], -self._found[system][1]):
                self._found[system] = (rank, float(utility[system]), row)
        return POPULATION, *rows[int(ranks.argmin())]

    def of_systems(self) -> Iterator[Sequence[object]]:
        """Yield a row for each system."""
        return ((SYSTEM, *row) for _, _, row in self._found)


class _CsvWriter:
    """Writer of CSV rows with 13 significant digits, like `prefcal score`."""

    def __init__(self, file: BinaryIO, columns: Sequence[str]) -> None:
        self._file = file
        self.add(columns)

    def add(self, row: Sequence[object]) -> None:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow(
            [f"{cell:.{DIGITS}g}" if isinstance(cell, float) else cell for cell in row]
        )
        self._file.write(text.getvalue().encode())

    def add_all(self, rows: Iterable[Sequence[object]]) -> None:
        for row in rows:
            self.add(row)


class _SweepWriter:
    """Writer of sweep.parquet, by row groups."""

    def __init__(self, file: BinaryIO, runs: Sequence[str]) -> None:
        import pyarrow as pa  # noqa: PLC0415 - slow to load
        from pyarrow import parquet  # noqa: PLC0415

        kinds = [pa.string() if name == "run" else pa.float64() for name in SWEEP_COLUMNS]
        self._schema = pa.schema(list(zip(SWEEP_COLUMNS, kinds, strict=True)))
        self._table = pa.Table
        self._writer = parquet.ParquetWriter(file, self._schema)
        self._runs = list(runs)
        self._rows: list[tuple[SweepPoint, list[Floats]]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._flush()
        self._writer.close()

    def add(self, point: SweepPoint, *values: Floats) -> None:
        """Add the rows of one point, one per run."""
        self._rows.append((point, list(values)))
        if len(self._rows) * len(self._runs) >= GROUP_ROWS:
            self._flush()

    def _flush(self) -> None:
        if not self._rows:
            return
        points = np.repeat(np.array([point for point, _ in self._rows]), len(self._runs), axis=0)
        values = np.concatenate([np.array(values).T for _, values in self._rows])
        columns = [*points.T, self._runs * len(self._rows), *values.T]
        self._writer.write_table(self._table.from_arrays(columns, schema=self._schema))
        self._rows = []
