"""Import of visits from a CSV of another tool, or from times of judgments.

`prefcal import-visits` is this on the command line; docs/interoperability.md shows it. Visits of people who only judged
are their stretches of work, from the times at which each judgment began and ended. Crowd workers accept several
assignments at once, so that these overlap; what is united is their time at work.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from types import MappingProxyType

import numpy as np
import pandas as pd

from calibration.interchange.seconds import LengthRules, read_seconds
from calibration.interchange.times import TimeRules, is_unknown, read_times
from calibration.tables.files import check_frame
from calibration.tables.plausibility import doubts
from calibration.tables.tables import END_REASONS, TABLES
from metrics.errors import FaultLog, InputError, join_names
from metrics.readers.any_table import TableRules, read_table_columns
from metrics.readers.columns import CsvColumns, check_any_row


def visits_of_work(spans: pd.DataFrame, gap_seconds: float, *, stream: str) -> dict[str, pd.DataFrame]:
    """Make tables follows and visits from the times at which people worked.

    Parameters
    ----------
    spans : DataFrame
        worker, start, end: one row a piece of work, such as an assignment.
    gap_seconds : float
        A longer pause ends a visit. A stretch lasts until the last of its pieces ends.
    stream : str
        What the tables call the work, as their topic: somebody who judges has one stream to come back to.

    Returns
    -------
    dict of str to DataFrame
        ``follows``: from a worker's first piece of work to the last that anybody ended, since whoever did not come
        back could have. ``visits``: the stretches; the first one of each worker is the enrolment.
    """
    starts = spans.groupby("worker", sort=True)["start"].min()
    follows = pd.DataFrame(
        {
            "worker": starts.index.to_list(),
            "topic": stream,
            "started_at": starts.to_list(),
            "ended_at": spans["end"].max(),
        }
    )
    rows = [
        (worker, stream, number, start, end, "left")
        for worker, of_worker in spans.groupby("worker", sort=True)
        for number, (start, end) in enumerate(_stretches(of_worker, gap_seconds), start=1)
    ]
    visits = pd.DataFrame(rows, columns=["worker", "topic", "visit", "start", "end", "end_reason"])
    return {
        "follows": check_frame(follows, TABLES["follows"]),
        "visits": check_frame(visits, TABLES["visits"]),
    }


def _stretches(spans: pd.DataFrame, gap_seconds: float) -> Iterator[tuple[pd.Timestamp, pd.Timestamp]]:
    """Yield the union of one worker's spans, across pauses up to ``gap_seconds``."""
    ordered = spans.sort_values(["start", "end"])
    begun, ended = ordered["start"].iloc[0], ordered["end"].iloc[0]
    for start, end in zip(ordered["start"], ordered["end"], strict=True):
        if (start - ended).total_seconds() > gap_seconds:
            yield begun, ended
            begun = start
            ended = end
        ended = max(ended, end)
    yield begun, ended


_FAMILIAR = "left"
"""Default end reason of visits: a complete duration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitColumns:
    """Column names of a CSV of visits; None for absent ones.

    Attributes
    ----------
    worker, topic, start : str
        Who came; to which stream; when.
    end : str or None
        When the visit ended.
    seconds : str or None
        How long it was, where there is no ``end``.
    system : str or None
        Whose stream it was.
    visit : str or None
        Its number within worker and topic; counted by ``start`` where there is none.
    end_reason : str or None
        Why it ended.
    """

    worker: str
    topic: str
    start: str
    end: str | None = None
    seconds: str | None = None
    system: str | None = None
    visit: str | None = None
    end_reason: str | None = None

    @property
    def named(self) -> dict[str, str]:
        """Return the header name of each column that there is."""
        every = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: column for name, column in every.items() if column is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitRules:
    """Rules to read cells of visits.

    Attributes
    ----------
    reasons : mapping of str to str
        What a cell of ``end_reason`` says -> one of `END_REASONS`; case matters. Those words mean themselves.
    times : TimeRules
        How times are written, and in which zone.
    lengths : LengthRules
        How seconds are written.
    table : TableRules
        Which rows are read.
    """

    reasons: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    times: TimeRules = field(default_factory=TimeRules)
    lengths: LengthRules = field(default_factory=LengthRules)
    table: TableRules = field(default_factory=TableRules)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedVisits:
    """Imported visits with their notes and warnings.

    Attributes
    ----------
    visits : DataFrame
        The table.
    notes : tuple of str
        How times that are numbers were read, and what was taken for granted.
    warnings : tuple of str
        What is suspicious: strange years, an end that may be cut off.
    """

    visits: pd.DataFrame
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def read_foreign_visits(
    path: str | Path, columns: VisitColumns, rules: VisitRules | None = None
) -> ImportedVisits:
    """Read a table of visits from another tool.

    Parameters
    ----------
    path : str or Path
        One row per visit: a CSV in UTF-8 with a header line, JSON, or a workbook (`metrics.readers.any_table`).
    columns : VisitColumns
        What its columns are called; one of ``end`` and ``seconds``.
    rules : VisitRules, optional
        How its cells are to be read.

    Raises
    ------
    InputError
        If the file cannot be read, lacks a column or has no row, and for every row with an empty cell, a time, number or
        reason that is none, an end before its start, or a visit that begins before an earlier one ended; each with
        its line.
    """
    rules = rules or VisitRules()
    log = FaultLog(path)
    csv_columns, row_notes = read_table_columns(
        path, lambda _: list(columns.named.values()), log, rules.table
    )
    check_any_row(csv_columns, log)
    rows = pd.DataFrame(
        {name: csv_columns.cells[column] for name, column in columns.named.items()}, dtype="str"
    )
    _check_filled(rows, columns, csv_columns, log)
    time_notes, warnings = _read_lengths(rows, columns, rules, csv_columns, log)
    notes = [*row_notes, *time_notes]
    if "end_reason" in rows:
        rows["end_reason"] = _reasons(rows["end_reason"], columns, rules, csv_columns, log)
    else:
        rows["end_reason"] = _FAMILIAR
        notes.append(
            f"every visit is taken to be complete (end_reason {_FAMILIAR}); --end-reason names a column"
        )
    log.faults.sort(key=lambda fault: fault.line or 0)
    log.raise_if_any()
    _check_visits(rows, columns, csv_columns, log)
    doubtful = [
        doubt.on_line(csv_columns.lines[doubt.row]) for doubt in doubts({"visits": rows}, columns.named)
    ]
    visits = _table(rows, path, csv_columns.lines, doubtful)
    return ImportedVisits(
        visits=visits, notes=tuple(notes), warnings=(*csv_columns.warnings(), *warnings, *doubtful)
    )


def follows_of_visits(visits: pd.DataFrame, ended_at: pd.Timestamp | None = None) -> pd.DataFrame:
    """Return the table follows that visits alone imply.

    Parameters
    ----------
    visits : DataFrame
        The table.
    ended_at : Timestamp, optional
        End of the study; by default the end of the last visit of anybody.

    Returns
    -------
    DataFrame
        Each worker and topic from their first visit, which is thus the enrolment, to ``ended_at``. People who never came are not in
        it.
    """
    end = visits["end"].max() if ended_at is None else ended_at
    first = visits.groupby(["worker", "topic"], sort=False, as_index=False).agg(started_at=("start", "min"))
    return check_frame(first.assign(ended_at=end), TABLES["follows"])


def _check_filled(rows: pd.DataFrame, columns: VisitColumns, csv_columns: CsvColumns, log: FaultLog) -> None:
    for name in ("worker", "topic", "start", "end", "seconds"):
        if name in rows:
            is_name = name in {"worker", "topic"}
            for row in np.flatnonzero(rows[name] == "" if is_name else is_unknown(rows[name])):
                said = repr(rows[name].iloc[row]) if rows[name].iloc[row] else "empty"
                cure = "fill it in, or remove the row"
                log.add(f"{columns.named[name]} is {said}", line=csv_columns.lines[row], cure=cure)


def _read_lengths(
    rows: pd.DataFrame, columns: VisitColumns, rules: VisitRules, csv_columns: CsvColumns, log: FaultLog
) -> tuple[list[str], list[str]]:
    """Fill start and end into the rows, and return notes on them.

    The notes say how they were read, and what is suspicious.
    """
    names = {name: columns.named[name] for name in ("start", "end") if name in rows}
    cells = {column: rows[name] for name, column in names.items()}
    read = read_times(cells, rules.times, csv_columns.lines, log)
    for name, column in names.items():
        rows[name] = read.times[column]
    if columns.end is not None or columns.seconds is None:
        return read.notes, read.warnings
    seconds = read_seconds(rows["seconds"], columns.seconds, csv_columns.lines, log, rules.lengths)
    rows["end"] = (rows["start"] + pd.to_timedelta(seconds.lengths, unit="s")).dt.as_unit("ms")
    return [*read.notes, *seconds.notes], [*read.warnings, *seconds.warnings]


def _check_visits(rows: pd.DataFrame, columns: VisitColumns, csv_columns: CsvColumns, log: FaultLog) -> None:
    """Raise if start and end are swapped as a whole, or rows repeat."""
    if columns.end is not None and len(rows) > 1 and (rows["end"] < rows["start"]).all():
        problem = f"in all {len(rows):,} rows {columns.end} is before {columns.start}"
        log.add(problem, line=csv_columns.lines[0], cure="are --start and --end swapped?")
    rows = rows[rows["end"] > rows["start"]]
    seen: dict[tuple[object, ...], int] = {}
    for index, *cells in rows.itertuples(name=None):
        line = csv_columns.lines[index]
        first = seen.setdefault(tuple(cells), line)
        if first != line:
            log.add(f"the visit is the same as on line {first}", line=line, cure="delete one")
    log.raise_if_any()


def _reasons(
    cells: "pd.Series[str]", columns: VisitColumns, rules: VisitRules, csv_columns: CsvColumns, log: FaultLog
) -> list[str]:
    meanings = {reason: reason for reason in END_REASONS} | dict(rules.reasons)
    unknown: dict[str, list[int]] = {}
    for line, said in zip(csv_columns.lines, cells, strict=True):
        if said not in meanings:
            unknown.setdefault(said, []).append(line)
    for said, lines in unknown.items():
        rows_of_it = f" ({len(lines):,} rows, the first on line {lines[0]})" if len(lines) > 1 else ""
        log.add(
            f"{columns.end_reason}: what {said!r} means is not known{rows_of_it}",
            line=lines[0],
            cure=f"say it with --reason {quote(said)}=REASON, REASON one of {join_names(END_REASONS)}",
        )
    return [meanings.get(said, said) for said in cells]


def _table(
    rows: pd.DataFrame, path: str | Path, lines: Sequence[int], doubtful: Sequence[str]
) -> pd.DataFrame:
    """Return table visits, with its faults attributed to lines of the file.

    These faults show only in the whole table.

    What is doubtful about the values is likely the cause of such faults, and is said before them.
    """
    frame = rows.drop(columns="seconds", errors="ignore")
    if "system" in frame:
        frame["system"] = frame["system"].mask(frame["system"] == "")
    try:
        return check_frame(frame, TABLES["visits"])
    except InputError as error:
        log = FaultLog(path)
        for doubt in doubtful:
            problem, _, cure = doubt.partition("; ")
            log.add(problem, cure=cure)
        for fault in error.faults:
            line = lines[fault.line - 2] if fault.line and fault.line >= 2 else None
            log.add(fault.problem, line=line, cure=fault.cure)
        raise InputError(log.faults) from error
