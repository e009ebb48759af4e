"""CSV files of scores with a header, long or wide.

A column's meaning follows from its name, or from its values. Where no column is called as systems are, the first column of texts names
them; another column of texts is no measure.
"""

import io
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Literal, TypeAlias

import numpy as np

from metrics.arrays import Floats, Ints
from metrics.errors import FaultLog, closest_name, join_names
from metrics.file_limits import check_columns
from metrics.readers.columns import check_delimiter, check_header, csv_batches, note_length
from metrics.readers.lines import NUMBER, decoded
from metrics.readers.score_lines import RUN, TOPIC, UNDEFINED
from metrics.readers.score_table import NUMBER_CURE, NameCodes, ScoreTable, TopicCodes
from metrics.results import ALL

NAMES: Mapping[str, tuple[str, ...]] = {
    RUN: (RUN, "system", "runid", "run_id", "runtag", "run_tag", "sysid", "system_id"),
    TOPIC: (TOPIC, "qid", "query", "query_id", "queryid", "topic_id", "topicid", "query id", "topic id"),
    "metric": ("metric", "measure"),
    "value": ("value", "score"),
}
"""Header names of each column in lower case, the package's own first."""
SYSTEMS = ("tag", "name", "model", "team", "method", "submission", "participant")
"""Further names of a column of systems, where no column of texts precedes it."""
LONG = (RUN, "metric", "value")
"""Columns by which a long table is recognised."""
USER = "user"
NO_MEASURES = frozenset({*NAMES[RUN][:2], TOPIC, USER})
"""Columns of a wide table that are never a measure."""
DIGITS = frozenset("0123456789+-.eE")
Unnamed: TypeAlias = Literal["refuse", "rows", "one"]
"""Kind of a table whose columns name no systems.

The table is refused, has a system a row, or has the scores of one system.
"""
_Batch: TypeAlias = tuple[Ints, list[list[str]]]
"""Rows with the lines, from 1, on which they start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """Column indices of a CSV of scores."""

    header: tuple[str, ...]
    run: int | None
    topic: int | None
    metric: int | None = None
    values: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Growing:
    """Rows of a CSV read so far."""

    runs: NameCodes = field(default_factory=NameCodes)
    topics: TopicCodes = field(default_factory=TopicCodes)
    metrics: NameCodes = field(default_factory=NameCodes)
    parts: list[tuple[Ints, ...]] = field(default_factory=list)
    values: list[Floats] = field(default_factory=list)


def read_score_csv(data: bytes, measures: Sequence[str], log: FaultLog, *, unnamed: Unnamed) -> ScoreTable:
    """Read a table with a header, long or wide."""
    batches = csv_batches(io.StringIO(decoded(data, log.path), newline=""), log)
    nothing: _Batch = (np.zeros(0, dtype=np.int32), [[]])
    lines, rows = next(batches, nothing)
    header = tuple(name.strip() for name in rows[0])
    check_columns(log.path, len(header))
    check_delimiter(header, None, log)
    if not header:
        check_header(header, LONG, log)
    lines, rows = lines[1:], rows[1:]
    if not rows:
        lines, rows = next(batches, (lines, rows))
    peeked = [row for row in rows if len(row) == len(header)]
    layout = _layout(header, peeked, measures, log, unnamed=unnamed)
    if not rows:
        log.add("there is no row below the header", line=1, cure="see whether this is the whole file")
        log.raise_if_any()
    grown = _grown(chain([(lines, rows)], batches), layout, log)
    return _of_growing(grown, layout, measures, log, is_one=unnamed == "one")


def _layout(
    header: tuple[str, ...],
    rows: Sequence[Sequence[str]],
    measures: Sequence[str],
    log: FaultLog,
    *,
    unnamed: Unnamed,
) -> _Layout:
    """Detect the content of each column, by its name or its first values."""
    named = {what: _place(header, names) for what, names in NAMES.items()}
    _check_is_header(header, rows, log)
    texts = [column for column in range(len(header)) if _is_of_texts([row[column] for row in rows])]
    run = named[RUN]
    is_long = named["metric"] is not None and named["metric"] in texts
    if run is None and texts:
        others = {named[TOPIC], named["metric"] if is_long else None}
        run = next((column for column in texts if column not in others and header[column] != USER), None)
    if run is None and unnamed != "rows":
        run = _place(header, SYSTEMS)
    needed = LONG if unnamed != "one" else LONG[1:]
    if is_long:
        lacking = [what for what in needed if (run if what == RUN else named[what]) is None]
        check_header(header, [*lacking, *_twice(header, NAMES)], log)
        value = named["value"]
        return _Layout(
            header=header,
            run=run,
            topic=named[TOPIC],
            metric=named["metric"],
            values=() if value is None else (value,),
        )
    if run is None and unnamed == "refuse":
        check_header(header, [RUN], log)
    check_header(header, [*measures], log)
    topic = named[TOPIC]
    others = {run, topic}
    wide = [
        column
        for column, name in enumerate(header)
        if column not in others and name.lower() not in NO_MEASURES and not _is_index(header, column, rows)
    ]
    values = [header.index(name) for name in measures] or [column for column in wide if column not in texts]
    taken = (run, named[TOPIC], *values)
    check_header(header, [header[column] for column in taken if column is not None], log)
    left_out = [header[column] for column in wide if column in texts] if not measures else []
    if not values:
        log.add("there is no column of a measure", line=1, cure="write a column per measure beside run")
        log.raise_if_any()
    says = f"{join_names(left_out)} {'is' if len(left_out) == 1 else 'are'} left out: texts, and no scores"
    return _Layout(
        header=header,
        run=run,
        topic=topic,
        values=tuple(values),
        notes=(says,) if left_out else (),
    )


def _check_is_header(header: Sequence[str], rows: Sequence[Sequence[str]], log: FaultLog) -> None:
    """Raise if the first row holds scores instead of names.

    Such a row has no known name, and numbers wherever the other rows have them.
    """
    known = {*SYSTEMS, *(name for names in NAMES.values() for name in names)}
    numeric = [
        column
        for column in range(len(header))
        if rows and all(NUMBER.fullmatch(row[column].strip()) for row in rows)
    ]
    if (
        known.isdisjoint(map(str.lower, header))
        and numeric
        and all(NUMBER.fullmatch(header[column]) for column in numeric)
    ):
        log.add(
            "there is no header",
            line=1,
            cure="write one above: run,topic,metric,value, or run and a column per measure",
        )
        log.raise_if_any()


def _place(header: Sequence[str], names: Sequence[str]) -> int | None:
    """Return the index of the first of some names in a header."""
    lower = [name.lower() for name in header]
    return next((lower.index(name) for name in names if name in lower), None)


def _twice(header: Sequence[str], names: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the package's own names that a header repeats."""
    counts = Counter(header)
    return [own for own in names if counts[own] > 1]


def _is_of_texts(cells: Iterable[str]) -> bool:
    """Return whether cells hold a text and no number."""
    cells = [cell.strip() for cell in cells]
    return any(cells) and not any(
        NUMBER.fullmatch(cell) or cell.lower() in {UNDEFINED, "inf", "-inf"} for cell in cells
    )


def _is_index(header: Sequence[str], column: int, rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a column is the index that pandas writes.

    Such a column has no name and counts the rows from 0.
    """
    return header[column] in {"", "Unnamed: 0"} and [row[column] for row in rows] == list(
        map(str, range(len(rows)))
    )


def _grown(batches: Iterable[_Batch], layout: _Layout, log: FaultLog) -> _Growing:
    """Read all rows, batch by batch."""
    grown, width, wrong = _Growing(), len(layout.header), list[tuple[int, int]]()
    last = 1
    for lines, rows in batches:
        last = int(lines[-1]) if lines.size else last
        odd = [index for index, row in enumerate(rows) if len(row) != width]
        wrong += [(int(lines[index]), len(rows[index])) for index in odd]
        if odd:
            rows = [row for row in rows if len(row) == width]  # noqa: PLW2901 - what is left of them
        if rows:
            _add_batch(grown, layout, np.delete(lines, odd) if odd else lines, rows, log)
    for line, fields in wrong:
        note_length(fields, width, line, log, is_last=line == last)
    return grown


def _add_batch(
    grown: _Growing, layout: _Layout, lines: Ints, rows: Sequence[Sequence[str]], log: FaultLog
) -> None:
    """Add rows that have as many fields as the header."""
    columns = list(zip(*rows, strict=True))
    codes = [lines]
    for what, column, names in (
        ("run", layout.run, grown.runs),
        ("topic", layout.topic, grown.topics),
        ("metric", layout.metric, grown.metrics),
    ):
        codes.append(np.zeros_like(lines) if column is None else names.of(columns[column]))
        for row in np.flatnonzero(codes[-1] == names.get("", -1)).tolist() if column is not None else ():
            log.add(f"{what} is empty", line=int(lines[row]), cure="fill it in, or remove the row")
    grown.parts.append(tuple(codes))
    values = [_numbers(columns[column], layout.header[column], lines, log) for column in layout.values]
    grown.values.append(np.stack(values))


def _numbers(cells: Sequence[str], what: str, lines: Ints, log: FaultLog) -> Floats:
    """Parse a column of numbers; NaN for ``nan`` and, with a fault, for other text."""
    if DIGITS.issuperset("".join(cells)):
        try:
            values = np.array(list(map(float, cells)), dtype=np.float64)
        except ValueError:
            pass
        else:
            if np.isfinite(values).all():
                return values
    values = np.empty(len(cells))
    for row, cell in enumerate(map(str.strip, cells)):
        is_number = NUMBER.fullmatch(cell) is not None and math.isfinite(float(cell))
        values[row] = float(cell) if is_number else math.nan
        if not is_number and cell.lower() != UNDEFINED:
            log.add(f"{what} is no finite number: {cell!r}", line=int(lines[row]), cure=NUMBER_CURE)
    return values


def _of_growing(
    grown: _Growing, layout: _Layout, measures: Sequence[str], log: FaultLog, *, is_one: bool
) -> ScoreTable:
    """Combine all batches into one table.

    A wide table gets a row for each of its measures.
    """
    empty = tuple(np.zeros(0, dtype=np.int32) for _ in range(4))
    line, run, topic, metric = (
        np.concatenate(columns) for columns in zip(*(grown.parts or [empty]), strict=True)
    )
    value = np.concatenate(grown.values or [np.zeros((max(len(layout.values), 1), 0))], axis=1)
    runs: tuple[str, ...] = tuple(grown.runs)
    if layout.run is None and is_one:
        runs, run = ("",), np.zeros_like(run)
    elif layout.run is None:  # each row is a system, but for means
        kept = (
            topic != grown.topics.get(ALL, -1)
            if layout.topic is not None
            else np.ones_like(topic, dtype=np.bool_)
        )
        line, metric, value = line[kept], metric[kept], value[:, kept]
        run, topic = np.arange(line.size, dtype=np.int32), np.zeros(line.size, dtype=np.int32)
        runs = tuple(map(str, line.tolist()))
    metrics = tuple(grown.metrics)
    if layout.metric is None:
        metrics = tuple(layout.header[place] for place in layout.values)
        wide = len(metrics)
        line, run, topic = (np.tile(column, wide) for column in (line, run, topic))
        metric = np.repeat(np.arange(wide, dtype=np.int32), value.shape[1])
    has_topics = layout.topic is not None and (layout.run is not None or is_one)
    table = ScoreTable(
        runs=runs,
        topics=tuple(grown.topics) if has_topics else (ALL,),
        metrics=metrics,
        run=run,
        topic=topic,
        metric=metric,
        value=value.ravel(),
        line=line,
        has_topics=has_topics,
        is_wide=layout.metric is None,
        notes=layout.notes,
    )
    return table if layout.metric is None or not measures else _of_metrics(table, measures, log)


def _of_metrics(table: ScoreTable, measures: Sequence[str], log: FaultLog) -> ScoreTable:
    """Return the rows of some metrics of a long table, in their order.

    Missing metrics are noted.
    """
    for name in measures:
        if name not in table.metrics:
            near = closest_name(name, table.metrics)
            cure = f"did you mean {near!r}" if near else f"name one of {join_names(table.metrics)}"
            log.add(f"there is no metric {name!r}", line=1, cure=cure)
    log.raise_if_any()
    metric_codes = np.array([table.metrics.index(name) for name in dict.fromkeys(measures)])
    index = np.full(len(table.metrics), -1, dtype=np.int32)
    index[metric_codes] = np.arange(metric_codes.size)
    kept = table.where(np.isin(table.metric, metric_codes))
    return replace(kept, metrics=tuple(dict.fromkeys(measures)), metric=index[kept.metric])
