"""Scores of systems by several measures from one CSV, wide or long, with topics or without."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from metrics.arrays import Floats
from metrics.errors import FaultLog
from metrics.readers.columns import CsvColumns, csv_header, read_csv_columns
from metrics.results import ALL
from metrics.wording import listed, nearest

LONG = ("run", "metric", "value")
"""Columns by which a long table is known: what prefcal score prints as csv."""
SYSTEM, TOPIC = ("run", "system"), "topic"


class _Row(NamedTuple):
    system: str
    topic: str
    line: int
    value: float


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
    header = csv_header(path, log)
    is_long = set(LONG) <= set(header)
    named = [name for name in header if name in {*SYSTEM, TOPIC}]
    if is_long:
        table = read_csv_columns(path, [*LONG, *(name for name in named if name == TOPIC)], log)
        measures = measures or list(dict.fromkeys(table.cells["metric"]))
    else:
        measures = measures or [name for name in header if name not in {*SYSTEM, TOPIC, "user"}]
        table = read_csv_columns(path, list(dict.fromkeys([*measures, *named])), log)
    rows = {name: _rows_of(table, name, log, is_long=is_long) for name in measures}
    log.raise_if_any()
    return _aligned(rows, log)


def _rows_of(table: CsvColumns, measure: str, log: FaultLog, *, is_long: bool) -> list[_Row]:
    """Return the scores by one measure."""
    values = table.cells["value" if is_long else measure]
    chosen = [place for place in range(len(values)) if not is_long or table.cells["metric"][place] == measure]
    if not chosen and is_long:
        known = dict.fromkeys(table.cells["metric"])
        near = nearest(measure, known)
        cure = f"did you mean {near!r}" if near else f"name one of {listed(known)}"
        log.add(f"there is no metric {measure!r}", line=1, cure=cure)
    part = CsvColumns(
        lines=tuple(table.lines[place] for place in chosen),
        cells={measure: tuple(values[place] for place in chosen)},
    )
    numbers = part.numbers(measure, log)
    systems = next((table.cells[name] for name in SYSTEM if name in table.cells), None)
    topics = table.cells.get(TOPIC)
    if systems is None or (not is_long and topics is None):
        names = [str(line) for line in part.lines]
    else:
        names = [systems[place] for place in chosen]
    of_topic = [ALL if topics is None or systems is None else topics[place] for place in chosen]
    rows = [_Row(*row) for row in zip(names, of_topic, part.lines, numbers, strict=True)]
    single = [row for row in rows if row.topic != ALL]
    return single or rows


def _aligned(rows: dict[str, list[_Row]], log: FaultLog) -> dict[str, Floats]:
    """Put the scores of all measures into arrays of one order; note what is missing or there twice."""
    systems = list(dict.fromkeys(row.system for of_measure in rows.values() for row in of_measure))
    topics = list(dict.fromkeys(row.topic for of_measure in rows.values() for row in of_measure))
    system_of, topic_of = ({name: place for place, name in enumerate(names)} for names in (systems, topics))
    arrays = {}
    if len(systems) < 2:
        log.add("fewer than two rows", line=1, cure="write one row per system, two at least")
    for measure, of_measure in rows.items():
        scores = np.full((len(systems), len(topics)), np.nan)
        for row in of_measure:
            place = system_of[row.system], topic_of[row.topic]
            if not np.isnan(scores[place]):
                log.add(
                    f"{measure} of {row.system} on {row.topic} stands twice",
                    line=row.line,
                    cure="keep one of the rows",
                )
            scores[place] = row.value
        if np.isnan(scores).any() and not log.faults:
            system, topic = np.argwhere(np.isnan(scores))[0]
            log.add(
                f"{measure} of {systems[system]} on {topics[topic]} is missing",
                cure="give every system a score on every topic",
            )
        arrays[measure] = scores
    log.raise_if_any()
    return arrays
