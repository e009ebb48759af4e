"""Scores of runs as a CSV file: long (run, topic, metric, value), as `prefcal score --format csv` writes it, or wide (run, a column per measure).

A column topic may be missing: the scores are then over all topics.
"""

import math
from collections.abc import Iterator
from pathlib import Path

from metrics.errors import FaultLog
from metrics.readers.columns import CsvColumns, check_any_row, csv_header, read_csv_columns
from metrics.readers.lines import number
from metrics.results import ALL, Score

RUN, TOPIC = "run", "topic"
LONG = ("metric", "value")
UNDEFINED = "nan"


def read_score_rows(path: str | Path) -> list[Score]:
    """Read scores.

    Returns
    -------
    list of Score
        In the order of the file; NaN where it says ``nan``.

    Raises
    ------
    InputError
        If the file cannot be read, has no column run or no measure, a value that is no number, or one score twice.
    """
    log = FaultLog(path)
    header = csv_header(path, log)
    topic = [TOPIC] if TOPIC in header else []
    is_long = set(LONG) <= set(header)
    measures = list(LONG) if is_long else [name for name in header if name not in {RUN, TOPIC}]
    columns = read_csv_columns(path, [RUN, *topic, *measures], log)
    check_any_row(columns, log)
    if not measures:
        log.add("there is no column of a measure", line=1, cure="write a column per measure beside run")
    scores = list(_scores(columns, measures, log, is_long=is_long))
    log.raise_if_any()
    return scores


def _scores(columns: CsvColumns, measures: list[str], log: FaultLog, *, is_long: bool) -> Iterator[Score]:
    """Yield the scores of every row, and note what is wrong with it."""
    first: dict[tuple[str, str, str], int] = {}
    for row, line in enumerate(columns.lines):
        cells = {name: of_column[row] for name, of_column in columns.cells.items()}
        named = {cells["metric"]: cells["value"]} if is_long else {name: cells[name] for name in measures}
        for metric, cell in named.items():
            key = (cells[RUN], cells.get(TOPIC, ALL), metric)
            if first.setdefault(key, line) != line:
                log.add(
                    f"the same run, topic and metric as line {first[key]}",
                    line=line,
                    cure="keep one of the two rows",
                )
            value = math.nan if cell.lower() == UNDEFINED else number(cell, metric, line, log)
            yield Score(*key, value)
