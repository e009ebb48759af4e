"""Files of scores of systems, whichever tool wrote them.

| form | how it is known |
|---|---|
| long CSV, ``run,topic,metric,value``, as `prefcal score --format csv` writes it | columns of a run, a metric and a value |
| wide CSV, a column per measure, as gdeval, ndeval, compatibility.py and tables of experiments have it | any other header |
| lines without a header, as trec_eval and ir_measures print them | `metrics.readers.score_lines` |

A column topic may be missing: the scores are then over all topics. Rows of a topic ``all``, ``amean``, ``average`` or ``mean`` are over all
topics too, whatever else the file holds. What columns hold is known by their values where their names do not say it: the first
column of texts names the systems, another one is no measure.
"""

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import TypeAlias

import numpy as np

from metrics.arrays import Bools, Floats, Ints
from metrics.errors import FaultLog, listed, nearest
from metrics.files import check_columns
from metrics.readers.columns import check_delimiter, check_header, note_length
from metrics.readers.lines import NUMBER, byte_lines, read_bytes
from metrics.readers.score_lines import PEEKED_LINES, RUN, TOPIC, LineForm, line_form, scores_of_lines
from metrics.results import ALL, MEANS, Score

NAMES: Mapping[str, tuple[str, ...]] = {
    RUN: (RUN, "system", "runid", "run_id", "runtag", "run_tag", "sysid", "system_id"),
    TOPIC: (TOPIC, "qid", "query", "query_id", "queryid", "topic_id", "topicid"),
    "metric": ("metric", "measure"),
    "value": ("value", "score"),
}
"""What columns are called, in small letters, the name of our own first."""
SYSTEMS = ("tag", "name", "model", "team", "method", "submission", "participant")
"""What a column of systems may be called too, where no column of texts comes before it."""
LONG = (RUN, "metric", "value")
"""Columns by which a long table is known."""
USER = "user"
NO_MEASURES = frozenset({*NAMES[RUN][:2], TOPIC, USER})
"""Columns of a wide table that are never a measure."""
UNDEFINED = "nan"
DIGITS = frozenset("0123456789+-.eE")
PEEKED_ROWS = 200
BATCH = 10_000
"""Rows that are read at a time."""
SEPARATOR = re.compile(r'"?sep=(.)"?\s*')
"""A first line that Excel writes."""
BREAK = re.compile("\r\n|\r|\n")
_Batch: TypeAlias = tuple[Ints, list[list[str]]]
"""Lines, from 1, and the rows that start on them."""
CONVERT = "prefcal convert trec-to-scores"
NUMBER_CURE = "write a decimal number such as 2.5"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreTable:
    """Scores as columns: row i says that ``runs[run[i]]`` scores ``value[i]`` by ``metrics[metric[i]]`` on ``topics[topic[i]]``.

    Attributes
    ----------
    runs, topics, metrics : tuple of str
        Each name once, in the order of the file; a mean is the topic ``all``.
    run, topic, metric : (rows,) ndarray of int32
        Places of names.
    value : (rows,) ndarray of float
        NaN where the file says ``nan``.
    line : (rows,) ndarray of int32
        Where each stands in the file, from 1.
    has_topics : bool
        Whether the file says of topics at all.
    is_wide : bool
        Whether the file has a column per measure.
    form : LineForm, optional
        Of lines without a header.
    notes : tuple of str
        What is left out.
    """

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    metrics: tuple[str, ...]
    run: Ints
    topic: Ints
    metric: Ints
    value: Floats
    line: Ints
    has_topics: bool = True
    is_wide: bool = False
    form: LineForm | None = None
    notes: tuple[str, ...] = ()

    @property
    def is_mean(self) -> Bools:
        """(rows,): whether a score is over all topics."""
        return np.asarray(self.topic == (self.topics.index(ALL) if ALL in self.topics else -1))

    def where(self, rows: Bools | Ints) -> "ScoreTable":
        """Return some of the rows."""
        columns = ("run", "topic", "metric", "value", "line")
        return replace(self, **{name: getattr(self, name)[rows] for name in columns})

    def scores(self) -> list[Score]:
        """Return the rows as values."""
        columns = (self.run, self.topic, self.metric)
        names = (self.runs, self.topics, self.metrics)
        cells = [[of[code] for code in codes.tolist()] for codes, of in zip(columns, names, strict=True)]
        return [Score(*row) for row in zip(*cells, self.value.tolist(), strict=True)]


def read_score_table(
    path: str | Path,
    *,
    measures: Sequence[str] = (),
    rows_are_systems: bool = False,
    columns: Sequence[str] | None = None,
    log: FaultLog | None = None,
) -> ScoreTable:
    """Read a file of scores in any of the forms above.

    Parameters
    ----------
    path : str or Path
        The file, plain or packed.
    measures : sequence of str
        Of a long table these metrics, of a wide one these columns; none: all. They must be there.
    rows_are_systems : bool
        Let each row of a wide table be a system of its own where no column names the systems.
    columns : sequence of str, optional
        What the fields of lines without a header are.
    log : FaultLog, optional
        Gets the faults of cells, so that the caller adds its own; without it they are raised.

    Raises
    ------
    InputError
        If the file cannot be read or is in no form that is known; and with every fault of it: a row with another number of fields, an empty
        name, a value that is no number, a score that stands twice.
    """
    own = FaultLog(path) if log is None else log
    data = read_bytes(path)
    peeked = [line.decode(errors="replace") for line in islice(byte_lines(data), PEEKED_LINES)]
    _check_no_json(peeked, own)
    form = line_form(peeked, own, columns=columns, cure=f"{CONVERT} --columns {{columns}}")
    table = (
        _of_csv(data, measures, own, rows_are_systems=rows_are_systems)
        if form is None
        else _of_lines(data, form, own)
    )
    _check_once(table, own)
    own.faults.sort(key=lambda fault: fault.line or 0)
    if log is None:
        own.raise_if_any()
    return table


def read_score_rows(path: str | Path) -> list[Score]:
    """Read scores of runs.

    Returns
    -------
    list of Score
        Measure by measure, each in the order of the file; NaN where it says ``nan``.

    Raises
    ------
    InputError
        If the file cannot be read, does not say of which runs the scores are, has no measure, a value that is no number, or one score
        twice.
    """
    table = read_score_table(path)
    check_has_runs(table, FaultLog(path))
    return table.where(np.argsort(table.metric, kind="stable")).scores()


def read_measure_table(
    path: str | Path, measures: Sequence[str]
) -> tuple[dict[str, Floats], tuple[str, ...]]:
    """Read the scores by each measure, systems and topics in the same order.

    Parameters
    ----------
    path : str or Path
        A wide table has a row per system and a column per measure, with a column ``topic`` a row per system and topic. A long one has the
        columns run, metric and value, and may have topic. Means are left out where there are other topics.
    measures : sequence of str
        Columns of a wide table, metrics of a long one; none: all.

    Returns
    -------
    scores : dict of str to (systems, topics) ndarray of float
        By measure.
    notes : tuple of str
        What is left out.

    Raises
    ------
    InputError
        With every fault of the file.
    """
    log = FaultLog(path)
    table = read_score_table(path, measures=measures, rows_are_systems=True, log=log)
    check_has_runs(table, log)
    note_undefined(table, np.isnan(table.value), log)
    log.raise_if_any()
    return _aligned(_without_means(table), log), table.notes


def note_undefined(table: ScoreTable, rows: Bools, log: FaultLog) -> None:
    """Note each of some rows whose scores are undefined, but for lines that have a fault, and sort the faults by line."""
    wrong = {fault.line for fault in log.faults}
    for row in np.flatnonzero(rows).tolist():
        line = int(table.line[row])
        if line not in wrong:
            what = table.metrics[table.metric[row]] if table.is_wide else "value"
            log.add(f"{what} is no finite number: {UNDEFINED!r}", line=line, cure=NUMBER_CURE)
    log.faults.sort(key=lambda fault: fault.line or 0)


def check_has_runs(table: ScoreTable, log: FaultLog) -> None:
    """Raise where a file has the scores of one run and does not say of which, as what trec_eval prints."""
    if table.form is None or RUN in table.form.columns:
        return
    log.faults.clear()
    tool = str(table.form).partition(" ")[0]
    by_topic = f"run {tool} -q, one file per run, and turn" if tool != "a" else "turn"
    log.add(
        f"this is what {table.form}, and no CSV with a header",
        line=table.form.start,
        cure=f"{by_topic} all of them into one CSV: {CONVERT} RUN.eval ... -o scores.csv",
    )
    log.raise_if_any()


def _check_no_json(lines: Sequence[str], log: FaultLog) -> None:
    first = next((text.lstrip() for text in lines if text.strip()), "")
    if re.match(r'[\[{]\s*(?:["\[{\]}]|$)', first):
        log.add(
            "this is JSON, and scores are expected as CSV or as an evaluation tool prints them",
            line=1,
            cure="write a CSV with run,topic,metric,value, as pandas.read_json and to_csv do",
        )
        log.raise_if_any()


def _of_lines(data: bytes, form: LineForm, log: FaultLog) -> ScoreTable:
    """Read lines without a header."""
    _check_utf_8(data, log)
    numbered = enumerate(map(bytes.decode, byte_lines(data)), start=1)
    lines, run, texts = scores_of_lines(numbered, form, log)
    runs, topics, metrics = _Codes(), _Codes(), _Codes()
    return ScoreTable(
        run=runs.of([line.run or run for line in lines]),
        topic=topics.of([line.topic for line in lines]),
        metric=metrics.of([line.metric for line in lines]),
        value=np.array([line.value for line in lines], dtype=np.float64),
        line=np.array([line.number for line in lines], dtype=np.int32),
        runs=tuple(runs),
        topics=tuple(topics),
        metrics=tuple(metrics),
        form=form,
        has_topics=TOPIC in form.columns,
        notes=tuple(f"{name} is left out: its values are texts, and no scores" for name in texts),
    )


class _Codes(dict[str, int]):
    """Names in the order in which they come, each with its place; what stands around a name is blank and goes."""

    def __missing__(self, cell: str) -> int:
        name = cell.strip()
        if name != cell:
            return self[name]
        self[name] = len(self)
        return self[name]

    def of(self, cells: Sequence[str]) -> Ints:
        """Return the place of each cell's name."""
        return np.fromiter(map(self.__getitem__, cells), dtype=np.int32, count=len(cells))


class _Topics(_Codes):
    """Names of topics; every mean is the topic ``all``."""

    def __missing__(self, cell: str) -> int:
        name = cell.strip()
        if name.lower() in MEANS and name != ALL:
            return self[ALL]
        return super().__missing__(cell)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """Where in the rows of a CSV everything stands: places of columns."""

    header: tuple[str, ...]
    run: int | None
    topic: int | None
    metric: int | None = None
    values: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Growing:
    """The rows of a CSV as far as they are read."""

    runs: _Codes = field(default_factory=_Codes)
    topics: _Topics = field(default_factory=_Topics)
    metrics: _Codes = field(default_factory=_Codes)
    parts: list[tuple[Ints, ...]] = field(default_factory=list)
    values: list[Floats] = field(default_factory=list)


def _of_csv(data: bytes, measures: Sequence[str], log: FaultLog, *, rows_are_systems: bool) -> ScoreTable:
    """Read a table with a header, long or wide."""
    batches = _batches(data, log)
    lines, rows = next(batches, (np.zeros(0, dtype=np.int32), [[]]))
    header = tuple(name.strip() for name in rows[0])
    check_columns(log.path, len(header))
    check_delimiter(header, None, log)
    if not header:
        check_header(header, LONG, log)
    lines, rows = (lines[1:], rows[1:]) if len(rows) > 1 else next(batches, (lines[1:], []))
    peeked = [row for row in rows if len(row) == len(header)]
    layout = _layout(header, peeked, measures, log, rows_are_systems=rows_are_systems)
    if not rows:
        log.add("there is no row below the header", line=1, cure="see whether this is the whole file")
        log.raise_if_any()
    grown = _grown(chain([(lines, rows)], batches), layout, log)
    return _of_growing(grown, layout, measures, log)


def _check_utf_8(data: bytes, log: FaultLog) -> None:
    """Raise where a file is no UTF-8."""
    try:
        _ = data.isascii() or data.decode()
    except UnicodeDecodeError as error:
        log.add("not UTF-8", line=data.count(b"\n", 0, error.start) + 1, cure="save the file as UTF-8")
        log.raise_if_any()


def _batches(data: bytes, log: FaultLog) -> Iterator[_Batch]:
    """Yield the rows of a CSV that are not blank with the lines they start on: the header and some, then `BATCH` by `BATCH`."""
    _check_utf_8(data, log)
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
    first = text.readline()
    excel = SEPARATOR.fullmatch(first)
    reader = csv.reader(text if excel else chain([first], text), delimiter=excel[1] if excel else ",")
    above, size = int(excel is not None), PEEKED_ROWS
    start = 1 + above
    while True:
        try:
            rows = list(islice(reader, size))
        except csv.Error as error:
            cure = "separate fields by commas and quote those with commas"
            log.add(f"not CSV ({error})", line=reader.line_num + above, cure=cure)
            log.raise_if_any()
        if not rows:
            return
        end = reader.line_num + 1 + above
        lines = np.arange(start, start + len(rows), dtype=np.int32)
        if end - start != len(rows):
            breaks = [sum(len(BREAK.findall(cell)) for cell in row) for row in rows]
            lines[1:] += np.cumsum(breaks[:-1], dtype=np.int32)
        blank = [
            place
            for place, row in enumerate(rows)
            if not row or not (row[0].strip() or any(map(str.strip, row)))
        ]
        if blank:
            lines = np.delete(lines, blank)
            rows = [row for place, row in enumerate(rows) if place not in set(blank)]
        if rows:
            yield lines, rows
        start, size = end, BATCH


def _layout(
    header: tuple[str, ...],
    rows: Sequence[Sequence[str]],
    measures: Sequence[str],
    log: FaultLog,
    *,
    rows_are_systems: bool,
) -> _Layout:
    """Find out what each column holds: by its name, or by the values of its first rows."""
    named = {what: _place(header, names) for what, names in NAMES.items()}
    _check_is_header(header, rows, log)
    texts = [place for place in range(len(header)) if _is_of_texts([row[place] for row in rows])]
    run = named[RUN]
    is_long = named["metric"] is not None and named["metric"] in texts
    if run is None and texts:
        others = {named[TOPIC], named["metric"] if is_long else None}
        run = next((place for place in texts if place not in others and header[place] != USER), None)
    if run is None and not rows_are_systems:
        run = _place(header, SYSTEMS)
    if is_long:
        lacking = [what for what in LONG if (run if what == RUN else named[what]) is None]
        check_header(header, [*lacking, *_twice(header, NAMES)], log)
        value = named["value"]
        return _Layout(
            header=header,
            run=run,
            topic=named[TOPIC],
            metric=named["metric"],
            values=() if value is None else (value,),
        )
    if run is None and not rows_are_systems:
        check_header(header, [RUN], log)
    check_header(header, [*measures], log)
    others = {run, named[TOPIC] if run is not None else None}
    wide = [
        place
        for place, name in enumerate(header)
        if place not in others and name.lower() not in NO_MEASURES and not _is_index(header, place, rows)
    ]
    values = [header.index(name) for name in measures] or [place for place in wide if place not in texts]
    taken = (run, named[TOPIC], *values)
    check_header(header, [header[place] for place in taken if place is not None], log)
    left_out = [header[place] for place in wide if place in texts] if not measures else []
    if not values:
        log.add("there is no column of a measure", line=1, cure="write a column per measure beside run")
        log.raise_if_any()
    says = f"{listed(left_out)} {'is' if len(left_out) == 1 else 'are'} left out: texts, and no scores"
    return _Layout(
        header=header,
        run=run,
        topic=named[TOPIC] if run is not None else None,
        values=tuple(values),
        notes=(says,) if left_out else (),
    )


def _check_is_header(header: Sequence[str], rows: Sequence[Sequence[str]], log: FaultLog) -> None:
    """Raise where the first row is one of scores: no name that is known, and a number wherever the other rows have one."""
    known = {*SYSTEMS, *(name for names in NAMES.values() for name in names)}
    numeric = [
        place
        for place in range(len(header))
        if rows and all(NUMBER.fullmatch(row[place].strip()) for row in rows)
    ]
    if (
        known.isdisjoint(map(str.lower, header))
        and numeric
        and all(NUMBER.fullmatch(header[place]) for place in numeric)
    ):
        log.add(
            "there is no header",
            line=1,
            cure="write one above: run,topic,metric,value, or run and a column per measure",
        )
        log.raise_if_any()


def _place(header: Sequence[str], names: Sequence[str]) -> int | None:
    """Return where the first of some names stands that a header has."""
    lower = [name.lower() for name in header]
    return next((lower.index(name) for name in names if name in lower), None)


def _twice(header: Sequence[str], names: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the names of our own that stand in a header more than once."""
    counts = Counter(header)
    return [own for own in names if counts[own] > 1]


def _is_of_texts(cells: Iterable[str]) -> bool:
    """Say whether there is a text among cells, and no number."""
    cells = [cell.strip() for cell in cells]
    return any(cells) and not any(
        NUMBER.fullmatch(cell) or cell.lower() in {UNDEFINED, "inf", "-inf"} for cell in cells
    )


def _is_index(header: Sequence[str], place: int, rows: Sequence[Sequence[str]]) -> bool:
    """Say whether a column is the index that pandas writes: without a name, it counts the rows from 0."""
    return header[place] in {"", "Unnamed: 0"} and [row[place] for row in rows] == list(
        map(str, range(len(rows)))
    )


def _grown(batches: Iterable[_Batch], layout: _Layout, log: FaultLog) -> _Growing:
    """Read all rows, batch by batch."""
    grown, width, wrong = _Growing(), len(layout.header), list[tuple[int, int]]()
    last = 1
    for lines, rows in batches:
        last = int(lines[-1]) if lines.size else last
        odd = [place for place, row in enumerate(rows) if len(row) != width]
        wrong += [(int(lines[place]), len(rows[place])) for place in odd]
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
    for what, place, names in (
        ("run", layout.run, grown.runs),
        ("topic", layout.topic, grown.topics),
        ("metric", layout.metric, grown.metrics),
    ):
        codes.append(np.zeros_like(lines) if place is None else names.of(columns[place]))
        for row in np.flatnonzero(codes[-1] == names.get("", -1)).tolist() if place is not None else ():
            log.add(f"{what} is empty", line=int(lines[row]), cure="fill it in, or remove the row")
    grown.parts.append(tuple(codes))
    values = [_numbers(columns[place], layout.header[place], lines, log) for place in layout.values]
    grown.values.append(np.stack(values))


def _numbers(cells: Sequence[str], what: str, lines: Ints, log: FaultLog) -> Floats:
    """Read a column of numbers; NaN for ``nan`` and, with a fault, for what is none."""
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


def _of_growing(grown: _Growing, layout: _Layout, measures: Sequence[str], log: FaultLog) -> ScoreTable:
    """Put all batches into one table; a wide one gets a row for each of its measures."""
    empty = tuple(np.zeros(0, dtype=np.int32) for _ in range(4))
    line, run, topic, metric = (
        np.concatenate(columns) for columns in zip(*(grown.parts or [empty]), strict=True)
    )
    value = np.concatenate(grown.values or [np.zeros((max(len(layout.values), 1), 0))], axis=1)
    if layout.run is None:
        runs = tuple(map(str, line.tolist()))
        run = np.arange(line.size, dtype=np.int32)
    else:
        runs = tuple(grown.runs)
    metrics = tuple(grown.metrics)
    if layout.metric is None:
        metrics = tuple(layout.header[place] for place in layout.values)
        wide = len(metrics)
        line, run, topic = (np.tile(column, wide) for column in (line, run, topic))
        metric = np.repeat(np.arange(wide, dtype=np.int32), value.shape[1])
    table = ScoreTable(
        runs=runs,
        topics=(ALL,) if layout.topic is None else tuple(grown.topics),
        metrics=metrics,
        run=run,
        topic=topic,
        metric=metric,
        value=value.ravel(),
        line=line,
        has_topics=layout.topic is not None,
        is_wide=layout.metric is None,
        notes=layout.notes,
    )
    return table if layout.metric is None or not measures else _of_metrics(table, measures, log)


def _of_metrics(table: ScoreTable, measures: Sequence[str], log: FaultLog) -> ScoreTable:
    """Return the rows of some metrics of a long table, in the order in which these are named; those that are not there are noted."""
    for name in measures:
        if name not in table.metrics:
            near = nearest(name, table.metrics)
            cure = f"did you mean {near!r}" if near else f"name one of {listed(table.metrics)}"
            log.add(f"there is no metric {name!r}", line=1, cure=cure)
    log.raise_if_any()
    wanted = np.array([table.metrics.index(name) for name in dict.fromkeys(measures)])
    place = np.full(len(table.metrics), -1, dtype=np.int32)
    place[wanted] = np.arange(wanted.size)
    kept = table.where(np.isin(table.metric, wanted))
    return replace(kept, metrics=tuple(dict.fromkeys(measures)), metric=place[kept.metric])


def _check_once(table: ScoreTable, log: FaultLog) -> None:
    """Note each line with a score that stands on an earlier line too."""
    key = table.run.astype(np.int64) * len(table.topics) + table.topic
    key = key * len(table.metrics) + table.metric
    order = np.argsort(key, kind="stable")
    key = key[order]
    again = np.flatnonzero(key[1:] == key[:-1]) + 1
    first = table.line[order[np.searchsorted(key, key[again])]].tolist()
    lines = table.line[order[again]].tolist()
    is_of_one_run = table.form is not None and RUN not in table.form.columns
    cure = "keep one of the two rows" + ", and give one file per run" * is_of_one_run
    for line, other in sorted(dict(zip(lines, first, strict=True)).items()):
        log.add(f"the same run, topic and metric as line {other}", line=line, cure=cure)


def _without_means(table: ScoreTable) -> ScoreTable:
    """Leave out the means of each metric that has other topics too."""
    mean = table.is_mean
    by_topic = np.zeros(len(table.metrics), dtype=np.bool_)
    by_topic[table.metric[~mean]] = True
    return table.where(~(mean & by_topic[table.metric]))


def _aligned(table: ScoreTable, log: FaultLog) -> dict[str, Floats]:
    """Put the scores of all measures into arrays of one order; note what is missing."""
    systems, run = np.unique(table.run, return_inverse=True)
    topics, topic = np.unique(table.topic, return_inverse=True)
    if systems.size < 2:
        log.add("fewer than two rows", line=1, cure="write one row per system, two at least")
    log.raise_if_any()
    arrays = np.full((len(table.metrics), systems.size, topics.size), np.nan)
    arrays[table.metric, run, topic] = table.value
    missing = np.argwhere(np.isnan(arrays))
    if missing.size:
        metric, system, at = missing[0].tolist()
        log.add(
            f"{table.metrics[metric]} of {table.runs[systems[system]]} on {table.topics[topics[at]]} is missing",
            cure="give every system a score on every topic",
        )
    log.raise_if_any()
    return dict(zip(table.metrics, arrays, strict=True))
