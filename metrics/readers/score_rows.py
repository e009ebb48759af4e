"""Scores of systems from one CSV: long (run, topic, metric, value), as `prefcal score --format csv` writes it, or wide, a column per measure.

A column topic may be missing: the scores are then over all topics.
"""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from metrics.arrays import Floats
from metrics.errors import FaultLog, listed, nearest
from metrics.readers.columns import (
    CsvColumns,
    check_any_row,
    check_no_trec_eval,
    csv_header,
    read_csv_columns,
)
from metrics.readers.lines import number
from metrics.results import ALL, Score

LONG = ("run", "metric", "value")
"""Columns by which a long table is known."""
SYSTEM, TOPIC = ("run", "system"), "topic"
UNDEFINED = "nan"


class _Row(NamedTuple):
    line: int
    score: Score


def read_score_rows(path: str | Path) -> list[Score]:
    """Read scores of runs.

    Returns
    -------
    list of Score
        Measure by measure, each in the order of the file; NaN where it says ``nan``.

    Raises
    ------
    InputError
        If the file cannot be read, has no column run or no measure, a value that is no number, or one score twice.
    """
    log = FaultLog(path)
    table, measures, is_long = _table(path, [], SYSTEM[:1], log)
    check_any_row(table, log)
    if not measures:
        log.add("there is no column of a measure", line=1, cure="write a column per measure beside run")
    names = table.cells[SYSTEM[0]]
    rows = [row for name in measures for row in _rows(table, name, names, log, is_long=is_long, known=False)]
    _check_once(rows, log)
    log.raise_if_any()
    return [row.score for row in rows]


def read_measure_table(path: str | Path, measures: list[str]) -> dict[str, Floats]:
    """Return the scores by each measure, (systems, topics) each, systems and topics in the same order.

    Parameters
    ----------
    path : str or Path
        A wide table has a row per system and a column per measure; with columns ``run`` (or ``system``) and ``topic`` a row per system and topic. A
        long one has the columns run, metric and value, and may have topic. Rows of topic ``all`` are left out where there are others.
    measures : list of str
        Columns of a wide table, metrics of a long one; none: all but run, system, topic and user.

    Raises
    ------
    InputError
        With every fault of the file.
    """
    log = FaultLog(path)
    systems = [name for name in SYSTEM if name in csv_header(path, log)]
    table, measures, is_long = _table(path, measures, systems, log)
    is_named = bool(systems) and (is_long or TOPIC in table.cells)
    names = table.cells[systems[0]] if is_named else [str(line) for line in table.lines]
    rows = []
    for measure in measures:
        of_measure = _rows(table, measure, names, log, is_long=is_long)
        rows += [row for row in of_measure if row.score.topic != ALL] or of_measure
    _check_once(rows, log)
    log.raise_if_any()
    return _aligned([row.score for row in rows], log)


def _table(
    path: str | Path, measures: list[str], systems: Sequence[str], log: FaultLog
) -> tuple[CsvColumns, list[str], bool]:
    """Return the columns, the measures in them, by default all, and whether the table is long."""
    header = csv_header(path, log)
    check_no_trec_eval(header, log)
    is_long = set(LONG) <= set(header)
    topic = [TOPIC] if TOPIC in header and systems else []
    if is_long:
        table = read_csv_columns(path, [*LONG, *topic], log)
        return table, measures or list(dict.fromkeys(table.cells["metric"])), True
    measures = measures or [name for name in header if name not in {*SYSTEM, TOPIC, "user"}]
    return read_csv_columns(path, list(dict.fromkeys([*measures, *systems, *topic])), log), measures, False


def _rows(
    table: CsvColumns,
    measure: str,
    names: Sequence[str],
    log: FaultLog,
    *,
    is_long: bool,
    known: bool = True,
) -> list[_Row]:
    """Return the scores by one measure; they must be known, or may be undefined."""
    values, metrics = table.cells["value" if is_long else measure], table.cells.get("metric", ())
    topics = table.cells.get(TOPIC, (ALL,) * len(values))
    chosen = [place for place in range(len(values)) if not is_long or metrics[place] == measure]
    if not chosen and is_long:
        near = nearest(measure, dict.fromkeys(metrics))
        cure = f"did you mean {near!r}" if near else f"name one of {listed(dict.fromkeys(metrics))}"
        log.add(f"there is no metric {measure!r}", line=1, cure=cure)
    rows = []
    for place in chosen:
        line, cell = table.lines[place], values[place]
        value = math.nan if not known and cell.lower() == UNDEFINED else number(cell, measure, line, log)
        rows.append(_Row(line, Score(names[place], topics[place], measure, value)))
    return rows


def _check_once(rows: Iterable[_Row], log: FaultLog) -> None:
    first: dict[tuple[str, str, str], int] = {}
    for line, score in rows:
        if first.setdefault(score[:3], line) != line:
            log.add(
                f"the same run, topic and metric as line {first[score[:3]]}",
                line=line,
                cure="keep one of the two rows",
            )


def _aligned(scores: Sequence[Score], log: FaultLog) -> dict[str, Floats]:
    """Put the scores of all measures into arrays of one order; note what is missing."""
    systems = {name: place for place, name in enumerate(dict.fromkeys(one.run for one in scores))}
    topics = {name: place for place, name in enumerate(dict.fromkeys(one.topic for one in scores))}
    if len(systems) < 2:
        log.add("fewer than two rows", line=1, cure="write one row per system, two at least")
    arrays = {one.metric: np.full((len(systems), len(topics)), np.nan) for one in scores}
    for one in scores:
        arrays[one.metric][systems[one.run], topics[one.topic]] = one.value
    for measure, values in arrays.items():
        missing = np.argwhere(np.isnan(values)).tolist()
        if missing and not log.faults:
            system, topic = missing[0]
            log.add(
                f"{measure} of {list(systems)[system]} on {list(topics)[topic]} is missing",
                cure="give every system a score on every topic",
            )
    log.raise_if_any()
    return arrays
