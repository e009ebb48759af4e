"""The tables of a sweep as files, written population by population: memory does not grow with the number of points."""

import csv
import io
import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import BinaryIO, Self

import numpy as np

from metrics.agreement.correlation import kendall_tau_b, tau_ap
from metrics.arrays import Floats
from metrics.files import written_whole
from metrics.sweep.grid import SweepPoint
from metrics.sweep.parts import SweepFolder
from metrics.sweep.references import ReferenceMeasure

SWEEP, BEST, CORRELATION = "sweep.parquet", "best.csv", "correlation.csv"
MEASURES = ("MSU", "MSU/s")
SWEEP_COLUMNS = (*SweepPoint._fields, "run", "MSU", "MSU-se", "MSU/s")
BEST_COLUMNS = ("of", "run", "rank", "runs_equal", *SweepPoint._fields, "MSU", "MSU/s")
CORRELATION_COLUMNS = (*SweepPoint._fields, "metric", "against", "systems", "tau-b", "tau-AP")
POPULATION, SYSTEM = "population", "system"
GROUP_ROWS = 50_000
"""Rows that are put into sweep.parquet at a time."""


def write_tables(folder: SweepFolder, runs: Sequence[str], against: Sequence[ReferenceMeasure]) -> None:
    """Write sweep.parquet, best.csv and correlation.csv; all parts must be there.

    Raises
    ------
    InputError
        If a part is damaged, or a file cannot be written.
    """
    best = _BestPoints(runs)
    with ExitStack() as files:
        opened = [
            files.enter_context(written_whole(folder.folder / name)) for name in (SWEEP, BEST, CORRELATION)
        ]
        sweep = files.enter_context(_SweepWriter(opened[0], runs))
        best_rows, correlation_rows = (
            _CsvWriter(opened[1], BEST_COLUMNS),
            _CsvWriter(opened[2], CORRELATION_COLUMNS),
        )
        for place, part in enumerate(folder.parts()):
            for decay, point in enumerate(folder.grid.points(place)):
                values = {"MSU": part.utility[:, decay], "MSU/s": part.per_second[:, decay]}
                sweep.add(point, values["MSU"], part.error[:, decay], values["MSU/s"])
                best_rows.add(best.meet(point, values["MSU"], values["MSU/s"]))
                correlation_rows.add_all(_correlations(point, values, against))
        best_rows.add_all(best.of_systems())


def _correlations(
    point: SweepPoint, values: dict[str, Floats], against: Sequence[ReferenceMeasure]
) -> Iterator[Sequence[object]]:
    """Yield the rows of one point; the reference of tau_AP is the other measure."""
    for metric, own in values.items():
        for other in against:
            taus = kendall_tau_b(other.overall, own), tau_ap(other.overall, own)
            yield *point, metric, other.name, own.size, *taus


class _BestPoints:
    """The best system of each point, and for each system its best point so far (Table 3 of the paper).

    That is the point of its best rank; of several the one of its highest MSU; of these the first.
    """

    def __init__(self, runs: Sequence[str]) -> None:
        self._runs = runs
        self._found: list[tuple[int, float, Sequence[object]]] = [(len(runs) + 1, -math.inf, ())] * len(runs)

    def meet(self, point: SweepPoint, utility: Floats, per_second: Floats) -> Sequence[object]:
        """Return the row of a point's best system, the first of equal ones, and keep what is best for a system."""
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
    """Rows of CSV with 13 significant digits, as `prefcal score` writes them."""

    def __init__(self, file: BinaryIO, columns: Sequence[str]) -> None:
        self._file = file
        self.add(columns)

    def add(self, row: Sequence[object]) -> None:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow(
            [f"{cell:.13g}" if isinstance(cell, float) else cell for cell in row]
        )
        self._file.write(text.getvalue().encode())

    def add_all(self, rows: Iterator[Sequence[object]]) -> None:
        for row in rows:
            self.add(row)


class _SweepWriter:
    """sweep.parquet, a group of rows at a time."""

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
        """Add the rows of one point: a run each."""
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
