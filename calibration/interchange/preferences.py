"""Import of preferences from a CSV of another tool.

`prefcal import` does this on the command line; docs/interoperability.md shows both.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from types import MappingProxyType

import numpy as np
import pandas as pd

from calibration.interchange.seconds import read_seconds
from calibration.interchange.times import TimeRules, read_times
from calibration.tables.files import check_frame
from calibration.tables.plausibility import doubts
from calibration.tables.tables import CHOICES, TABLES
from metrics.errors import FaultLog, InputError, join_names
from metrics.readers.columns import CsvColumns, check_any_row, read_csv_columns

NO_ANSWER = "none"
ANSWERS = (*CHOICES, NO_ANSWER)
"""Meanings of another tool's answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferenceColumns:
    """Column names of a CSV of preferences; None for absent ones.

    Attributes
    ----------
    topic, left, right, choice : str
        The query; the systems shown on the left (or first) and on the right; the answer.
    worker : str or None
        Who judged; None: that is not known.
    pair, judgment : str or None
        Ids of the unordered couple and of the row; made up where there are none.
    shown_at, decided_at : str or None
        When the pair was shown and when it was judged.
    decision_seconds : str or None
        From one to the other; computed where both times are given.
    task : str or None
        The task of each row; None: all rows are of `ImportRules.task`.
    """

    topic: str
    left: str
    right: str
    choice: str
    worker: str | None = None
    pair: str | None = None
    judgment: str | None = None
    shown_at: str | None = None
    decided_at: str | None = None
    decision_seconds: str | None = None
    task: str | None = None

    @property
    def named(self) -> dict[str, str]:
        """Return the header name of each column that there is."""
        every = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: column for name, column in every.items() if column is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRules:
    """Rules to read cells of preferences.

    Attributes
    ----------
    answers : mapping of str to str
        What a cell of ``choice`` says -> one of `ANSWERS`; case matters. Without an entry, the words of
        `ANSWERS` and the names of the row's two systems mean themselves, and an empty cell is no answer.
    times : TimeRules
        How times are written, and in which zone.
    delimiter : str
        What stands between two fields.
    task, language : str, str or None
        What the columns of these names shall say; the task only where no column of the file does.
    """

    answers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    times: TimeRules = field(default_factory=TimeRules)
    delimiter: str = ","
    task: str = "preferences"
    language: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """Imported preferences with their notes and warnings.

    Attributes
    ----------
    preferences : DataFrame
        The table.
    unanswered : int
        Rows that hold no answer and are no judgments.
    spans : DataFrame or None
        worker, start, end of every row that has both times, answered or not: work is work. A worker is missing where nobody knows who judged.
    notes : tuple of str
        How times that are numbers were read.
    warnings : tuple of str
        What is suspicious: rows that say the same, strange years, an end that may be cut off.
    """

    preferences: pd.DataFrame
    unanswered: int
    spans: pd.DataFrame | None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def read_foreign_preferences(
    path: str | Path, columns: PreferenceColumns, rules: ImportRules | None = None
) -> Imported:
    """Read a CSV of preferences from another tool.

    Parameters
    ----------
    path : str or Path
        In UTF-8, with a header line, one row per judgment; plain or gzip.
    columns : PreferenceColumns
        What its columns are called.
    rules : ImportRules, optional
        How its cells are to be read.

    Raises
    ------
    InputError
        If the file cannot be read or lacks a column, and for every row with an empty cell, one system on both sides,
        an answer that means nothing, or a time or number that cannot be read; all at once, each with its line. If there is no
        row below the header.
    """
    rules = rules or ImportRules()
    log = FaultLog(path)
    csv_columns = read_csv_columns(path, list(columns.named.values()), log, delimiter=rules.delimiter)
    check_any_row(csv_columns, log)
    rows = pd.DataFrame(
        {name: csv_columns.cells[column] for name, column in columns.named.items()}, dtype="str"
    )
    _check_names(rows, columns, csv_columns, log)
    rows["choice"] = _choices(rows, columns, rules, csv_columns, log)
    notes, warnings = _read_times(rows, columns, rules, csv_columns, log)
    log.faults.sort(key=lambda fault: fault.line or 0)
    log.raise_if_any()
    answered = rows[rows["choice"] != NO_ANSWER]
    preferences = _table(answered, rules, path)
    return Imported(
        preferences=preferences,
        unanswered=len(rows) - len(answered),
        spans=_spans(rows),
        notes=tuple(notes),
        warnings=(
            *csv_columns.warnings(),
            *warnings,
            *_doubts(preferences, answered, columns, csv_columns),
            *_judged_again(answered, csv_columns),
        ),
    )


def _check_names(
    rows: pd.DataFrame, columns: PreferenceColumns, csv_columns: CsvColumns, log: FaultLog
) -> None:
    for name in (name for name in ("task", "topic", "worker", "left", "right") if name in rows):
        unknown = ", or leave --worker out if nobody knows who judged" if name == "worker" else ""
        for row in np.flatnonzero(rows[name] == ""):
            log.add(
                f"{columns.named[name]} is empty",
                line=csv_columns.lines[row],
                cure=f"fill it in, or remove the row{unknown}",
            )
    for row in np.flatnonzero((rows["left"] == rows["right"]) & (rows["left"] != "")):
        log.add(
            f"{columns.left} and {columns.right} are both {rows['left'].iloc[row]!r}",
            line=csv_columns.lines[row],
            cure="name the two systems that were compared",
        )


def _choices(
    rows: pd.DataFrame, columns: PreferenceColumns, rules: ImportRules, csv_columns: CsvColumns, log: FaultLog
) -> list[str]:
    meanings = {answer: answer for answer in ANSWERS} | {"": NO_ANSWER} | dict(rules.answers)
    choices, unknown = [], dict[str, list[int]]()
    for line, said, left, right in zip(
        csv_columns.lines, rows["choice"], rows["left"], rows["right"], strict=True
    ):
        meant = meanings.get(said) or {left: "left", right: "right"}.get(said)
        if meant is None:
            unknown.setdefault(said, []).append(line)
        choices.append(meant or NO_ANSWER)
    for said, lines in unknown.items():
        rows_of_it = f" ({len(lines):,} rows, the first on line {lines[0]})" if len(lines) > 1 else ""
        log.add(
            f"{columns.choice}: what {said!r} means is not known{rows_of_it}",
            line=lines[0],
            cure=f"say it with --answer {quote(said)}=CHOICE, CHOICE one of {join_names(ANSWERS, most=len(ANSWERS))}",
        )
    return choices


def _judged_again(answered: pd.DataFrame, csv_columns: CsvColumns) -> list[str]:
    """Return warnings of rows that may be repeated votes.

    Such rows are equal in every column, ids included, or are of a pair that the worker had judged.
    """
    if "worker" not in answered:
        return []
    answer_columns = answered
    systems = np.sort(answer_columns[["left", "right"]].to_numpy(dtype=np.str_), axis=1)
    judged = answer_columns[[*(["task"] if "task" in answer_columns else []), "worker", "topic"]].assign(
        first=systems[:, 0], second=systems[:, 1]
    )
    is_copy = answer_columns.duplicated()
    kinds = {
        (
            "says",
            "say",
            "the same as an earlier one",
            "delete rows that were copied, and leave what people did twice",
        ): answer_columns,
        (
            "is",
            "are",
            "of a pair that the worker had judged before",
            "leave repeats that people were asked for, and of an answer that was changed delete the earlier",
        ): judged[~is_copy],
    }
    warnings = []
    for (one, many, what, cure), rows in kinds.items():
        again = rows.duplicated()
        if again.any():
            second = rows.index[again][0]
            groups = rows.groupby(list(rows.columns), dropna=False, sort=False).ngroup()
            first = groups.index[groups == groups[second]][0]
            number = f"1 row {one}" if again.sum() == 1 else f"{again.sum():,} rows {many}"
            lines = f"such as lines {csv_columns.lines[first]} and {csv_columns.lines[second]}"
            warnings.append(f"{number} {what}, {lines}; each counts as a vote: {cure}")
    return warnings


def _read_times(
    rows: pd.DataFrame, columns: PreferenceColumns, rules: ImportRules, csv_columns: CsvColumns, log: FaultLog
) -> tuple[list[str], list[str]]:
    """Fill times and seconds into the rows, and return notes on them.

    The notes say how they were read, and what is suspicious.
    """
    names = {name: columns.named[name] for name in ("shown_at", "decided_at") if name in rows}
    cells = {column: rows[name] for name, column in names.items()}
    read = read_times(cells, rules.times, csv_columns.lines, log)
    for name, column in names.items():
        rows[name] = read.times[column]
    if columns.decision_seconds is not None:
        seconds = read_seconds(rows["decision_seconds"], columns.decision_seconds, csv_columns.lines, log)
        rows["decision_seconds"] = seconds.lengths
        return [*read.notes, *seconds.notes], [*read.warnings, *seconds.warnings]
    if len(names) == len(("shown_at", "decided_at")):
        rows["decision_seconds"] = (rows["decided_at"] - rows["shown_at"]).dt.total_seconds()
        _check_order(rows, columns, csv_columns, log)
    return read.notes, read.warnings


def _check_order(
    rows: pd.DataFrame, columns: PreferenceColumns, csv_columns: CsvColumns, log: FaultLog
) -> None:
    wrong = rows["decision_seconds"] < 0
    said = f"{columns.decided_at} (--decided-at) is before {columns.shown_at} (--shown-at)"
    if len(rows) > 1 and wrong.all():
        cure = "are --shown-at and --decided-at swapped?"
        log.add(f"in all {len(rows):,} rows {said}", line=csv_columns.lines[0], cure=cure)
        return
    for row in np.flatnonzero(wrong):
        cure = "see whether the two are swapped, or not in one time zone"
        log.add(said, line=csv_columns.lines[row], cure=cure)


def _table(rows: pd.DataFrame, rules: ImportRules, path: str | Path) -> pd.DataFrame:
    """Return table preferences, with its faults attributed to the file.

    These faults show only in the whole table.
    """
    numbered = [f"J{number}" for number in range(1, len(rows) + 1)]
    frame = pd.DataFrame(
        {
            "judgment": rows.get("judgment", numbered),
            "worker": rows.get("worker"),
            "task": rows.get("task", rules.task),
            "topic": rows["topic"],
            "system_left": rows["left"],
            "system_right": rows["right"],
            "choice": rows["choice"],
        }
    )
    for name in ("pair", "shown_at", "decided_at", "decision_seconds"):
        if name in rows:
            frame[name] = rows[name]
    if "decision_seconds" in rows:
        frame["timing"] = "server"
    if rules.language is not None:
        frame["language"] = rules.language
    try:
        return check_frame(frame, TABLES["preferences"])
    except InputError as error:
        log = FaultLog(path)
        for fault in error.faults:
            log.add(fault.problem, cure=fault.cure)
        raise InputError(log.faults) from error


def _doubts(
    preferences: pd.DataFrame, answered: pd.DataFrame, columns: PreferenceColumns, csv_columns: CsvColumns
) -> list[str]:
    """Return suspicious values of the table, in the words and lines of the file."""
    names = columns.named | {"system_left": columns.left, "system_right": columns.right}
    if columns.decision_seconds is None and columns.shown_at and columns.decided_at:
        names["decision_seconds"] = f"{columns.decided_at} - {columns.shown_at}"
    said = doubts({"preferences": preferences}, names)
    return [doubt.on_line(csv_columns.lines[answered.index[doubt.row]]) for doubt in said]


def _spans(rows: pd.DataFrame) -> pd.DataFrame | None:
    if not {"shown_at", "decided_at"} <= set(rows):
        return None
    spans = rows.reindex(columns=["worker", "shown_at", "decided_at"]).set_axis(
        ["worker", "start", "end"], axis="columns"
    )
    return spans.dropna(subset=["start", "end"]).reset_index(drop=True)
