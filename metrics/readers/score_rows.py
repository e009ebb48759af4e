"""Scores of systems from the files of any evaluation tool.

| form | how it is known |
|---|---|
| long CSV, ``run,topic,metric,value``, as `prefcal score --format csv` writes it | columns of a run, a metric and a value |
| wide CSV, a column per measure, as gdeval, ndeval, compatibility.py and tables of experiments have it | any other header |
| lines without a header, as trec_eval and ir_measures print them | `metrics.readers.score_lines` |

A column topic may be missing: the scores are then over all topics. Rows of a topic ``all``, ``amean``, ``average`` or ``mean`` are over all
topics too, whatever else the file holds. What columns hold is known by their values where their names do not say it: the first
column of texts names the systems, another one is no measure.
"""

import io
import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from metrics.arrays import Bools, Floats
from metrics.errors import FaultLog, pluralise
from metrics.readers.lines import byte_lines, decoded, read_bytes
from metrics.readers.score_csv import Unnamed, read_score_csv
from metrics.readers.score_lines import (
    METRIC,
    PEEKED_LINES,
    RUN,
    RUN_ID,
    TEXTS,
    TOPIC,
    UNDEFINED,
    VALUE,
    LineForm,
    fields_of,
    is_value,
    line_form,
)
from metrics.readers.score_table import NUMBER_CURE, NameCodes, ScoreTable, TopicCodes
from metrics.results import ALL, Score

CONVERT = "prefcal convert trec-to-scores"


def read_score_table(
    path: str | Path,
    *,
    measures: Sequence[str] = (),
    unnamed: Unnamed = "refuse",
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
    unnamed : {'refuse', 'rows', 'one'}
        What a table is in which no column names the systems: refused, or each row is a system, or all are the scores of one, whose name is
        then empty.
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
    table = read_score_text(read_bytes(path), own, measures=measures, unnamed=unnamed, columns=columns)
    if log is None:
        own.raise_if_any()
    return table


def read_score_text(
    data: bytes,
    log: FaultLog,
    *,
    measures: Sequence[str] = (),
    unnamed: Unnamed = "refuse",
    columns: Sequence[str] | None = None,
) -> ScoreTable:
    """Read scores from the bytes of a file, as `read_score_table` does.

    Faults of cells are noted by line.
    """
    peeked = [line.decode(errors="replace") for line in islice(byte_lines(data), PEEKED_LINES)]
    _check_no_json(peeked, log)
    form = line_form(peeked, log, columns=columns, cure=f"{CONVERT} --columns {{columns}}")
    table = (
        read_score_csv(data, measures, log, unnamed=unnamed) if form is None else _of_lines(data, form, log)
    )
    _check_once(table, log)
    log.faults.sort(key=lambda fault: fault.line or 0)
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
    table = read_score_table(path, measures=measures, unnamed="rows", log=log)
    check_has_runs(table, log)
    note_undefined(table, np.isnan(table.value), log)
    log.raise_if_any()
    return _aligned(_without_means(table), log), table.notes


def note_undefined(table: ScoreTable, rows: Bools, log: FaultLog) -> None:
    """Note each row with an undefined score, and sort the faults by line.

    Lines that already have a fault get no note.
    """
    wrong = {fault.line for fault in log.faults}
    for row in np.flatnonzero(rows).tolist():
        line = int(table.line[row])
        if line not in wrong:
            what = table.metrics[table.metric[row]] if table.is_wide else "value"
            log.add(f"{what} is no finite number: {UNDEFINED!r}", line=line, cure=NUMBER_CURE)
    log.faults.sort(key=lambda fault: fault.line or 0)


def check_has_runs(table: ScoreTable, log: FaultLog) -> None:
    """Raise if a file has the scores of one run and does not name it.

    trec_eval prints such files.
    """
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
    """Read lines of scores without a header.

    A row ``runid`` names the run; metrics whose values are texts (``relstring``) are left out.
    """
    places = {name: index for index, name in enumerate(form.columns)}
    rows, run, texts = list[tuple[int, str, str, str, float]](), "", dict[str, None]()
    for line, text in enumerate(io.StringIO(decoded(data, log.path), newline=None), start=1):
        if line < form.start or not text.strip():
            continue
        fields = fields_of(text)
        if len(fields) != len(places) or not all(fields):
            problem = f"{len(places)} columns expected, got {len(fields)}"
            log.add(problem, line=line, cure=f"write {', '.join(form.columns)}")
            continue
        metric, value = fields[places[METRIC]], fields[places[VALUE]]
        if metric == RUN_ID:
            run = value
        elif TEXTS.fullmatch(metric):
            texts[metric] = None
        elif not is_value(value):
            cure = "write a decimal number such as 0.25"
            log.add(f"the value {value!r} is no number", line=line, cure=cure)
        else:
            topic = fields[places[TOPIC]] if TOPIC in places else ALL
            named = fields[places[RUN]] if RUN in places else ""
            rows.append((line, named, topic, metric, float(value)))
    lines, own_runs, own_topics, own_metrics, values = zip(*rows, strict=True) if rows else ((),) * 5
    runs, topics, metrics = NameCodes(), TopicCodes(), NameCodes()
    return ScoreTable(
        run=runs.of([name or run for name in own_runs]),
        topic=topics.of(own_topics),
        metric=metrics.of(own_metrics),
        value=np.array(values, dtype=np.float64),
        line=np.array(lines, dtype=np.int32),
        runs=tuple(runs),
        topics=tuple(topics),
        metrics=tuple(metrics),
        form=form,
        has_topics=TOPIC in form.columns,
        notes=tuple(f"{name} is left out: its values are texts, and no scores" for name in texts),
    )


def _check_once(table: ScoreTable, log: FaultLog) -> None:
    """Note each line whose score stands on an earlier line too."""
    key = table.run.astype(np.int64) * len(table.topics) + table.topic
    key = key * len(table.metrics) + table.metric
    order = np.argsort(key, kind="stable")
    key = key[order]
    again = np.flatnonzero(key[1:] == key[:-1]) + 1
    first = table.line[order[np.searchsorted(key, key[again])]].tolist()
    lines = table.line[order[again]].tolist()
    if lines and table.is_wide and not table.has_topics and table.notes:
        log.add(
            f"{pluralise(len(lines), 'row')} of a run that has another row already, and no column is called topic; {'; '.join(table.notes)}",
            line=1,
            cure="call the columns run, topic, metric, value, or keep one row per run",
        )
        return
    is_of_one_run = table.form is not None and RUN not in table.form.columns
    cure = "keep one of the two rows" + ", and give one file per run" * is_of_one_run
    for line, other in sorted(dict(zip(lines, first, strict=True)).items()):
        log.add(f"the same run, topic and metric as line {other}", line=line, cure=cure)


def _without_means(table: ScoreTable) -> ScoreTable:
    """Drop the means of each metric that has other topics too."""
    mean = table.is_mean
    by_topic = np.zeros(len(table.metrics), dtype=np.bool_)
    by_topic[table.metric[~mean]] = True
    return table.where(~(mean & by_topic[table.metric]))


def _aligned(table: ScoreTable, log: FaultLog) -> dict[str, Floats]:
    """Align the scores of all measures into arrays; note missing ones."""
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
