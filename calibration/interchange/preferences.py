"""Import of preferences from a table of another tool.

`prefcal import` does this on the command line; docs/interoperability.md shows both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from calibration.interchange.seconds import LengthRules, read_seconds
from calibration.interchange.times import TimeRules, read_times
from calibration.interchange.wide import COMPARED, STAR, Layout, read_pairs
from calibration.tables.files import check_frame
from calibration.tables.plausibility import doubts
from calibration.tables.tables import CHOICES, MAX_STRENGTH, SIDES, TABLES
from metrics.errors import FaultLog, InputError, input_fault, join_names
from metrics.readers.any_table import TableRules, read_table_columns
from metrics.readers.columns import CsvColumns, check_any_row

NO_ANSWER = "none"
ANSWERS = (*CHOICES, NO_ANSWER)
"""Meanings of another tool's answers."""
CRITERION = "criterion "
"""What the name of a column of answers about a criterion begins with, among the columns of preferences."""
GRADED_ANSWERS = tuple(f"{side}:{strength}" for side in SIDES for strength in range(1, MAX_STRENGTH + 1))
"""Meanings of graded answers: the side, and how much better it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferenceColumns:
    """Column names of a table of preferences; None for absent ones.

    A name with a ``*`` stands for one column a key, see `calibration.interchange.wide`.

    Attributes
    ----------
    choice : str
        The answer.
    topic, left, right : str or None
        The query; the systems shown on the left (or first) and on the right. None: the file of pairs says it.
    worker : str or None
        Who judged; None: that is not known.
    strength : str or None
        How much better the chosen side is, of a graded answer.
    pair, judgment : str or None
        Ids of the unordered couple and of the row; made up where there are none.
    shown_at, decided_at : str or None
        When the pair was shown and when it was judged.
    decision_seconds : str or None
        From one to the other; computed where both times are given.
    task : str or None
        The task of each row; None: all rows are of `ImportRules.task`.
    criteria : mapping of str to str
        Criterion -> column of the answer about it, said as in ``choice``.
    """

    choice: str
    topic: str | None = None
    left: str | None = None
    right: str | None = None
    worker: str | None = None
    strength: str | None = None
    pair: str | None = None
    judgment: str | None = None
    shown_at: str | None = None
    decided_at: str | None = None
    decision_seconds: str | None = None
    task: str | None = None
    criteria: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def named(self) -> dict[str, str]:
        """Return the header name of each column that there is, of a criterion by `CRITERION` and its name."""
        every = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "criteria"}
        criteria = {CRITERION + name: column for name, column in self.criteria.items()}
        return {name: column for name, column in (every | criteria).items() if column is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRules:
    """Rules to read cells of preferences.

    Attributes
    ----------
    answers : mapping of str to str
        What a cell of ``choice`` says -> one of `ANSWERS` or, with how much better that side is, of `GRADED_ANSWERS`; case matters. Without an entry, the words of
        `ANSWERS` and the names of the row's two systems mean themselves, and an empty cell is no answer.
    times : TimeRules
        How times are written, and in which zone.
    lengths : LengthRules
        How seconds are written.
    table : TableRules
        Which rows are read.
    pairs : str, Path, DataFrame or None
        File or frame that says what is compared, see `calibration.interchange.wide.read_pairs`.
    task, language : str, str or None
        What the columns of these names shall say; the task only where no column of the file does.
    """

    answers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    times: TimeRules = field(default_factory=TimeRules)
    lengths: LengthRules = field(default_factory=LengthRules)
    table: TableRules = field(default_factory=TableRules)
    pairs: str | Path | pd.DataFrame | None = None
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
    criteria : DataFrame or None
        The table of answers about criteria; None where no column has any.
    warnings : tuple of str
        What is suspicious: rows that say the same, strange years, an end that may be cut off.
    """

    preferences: pd.DataFrame
    unanswered: int
    spans: pd.DataFrame | None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    criteria: pd.DataFrame | None = None


def read_foreign_preferences(
    source: str | Path | pd.DataFrame, columns: PreferenceColumns, rules: ImportRules | None = None
) -> Imported:
    """Read a table of preferences from another tool.

    Parameters
    ----------
    source : str, Path or DataFrame
        A CSV in UTF-8 with a header line, JSON, or a workbook (`metrics.readers.any_table`), or a frame; one judgment a row, or several
        where columns are named with a ``*``.
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
    path = "frame" if isinstance(source, pd.DataFrame) else source
    log = FaultLog(path)
    for said, meant in rules.answers.items():
        if meant not in (*ANSWERS, *GRADED_ANSWERS):
            cure = f"name one of {join_names(ANSWERS, most=len(ANSWERS))}, or a side with its strength, as left:2"
            raise input_fault(f"answer {said!r} is said to mean {meant!r}", cure=cure)
    layout = _layout(columns, rules, path)
    table, notes = read_table_columns(source, layout.columns, log, rules.table)
    layout.check(str(path))
    check_any_row(table, log)
    rows, csv_columns, keys, layout_notes = layout.judgments(table, log, keeps_blank="" in rules.answers)
    compared: dict[str, Any] = {name: columns.named.get(name, name) for name in COMPARED}
    columns = replace(columns, **compared)
    _check_names(rows, columns, csv_columns, keys, log)
    about = {
        name: _choices(rows, CRITERION + name, column, rules, csv_columns, log)
        for name, column in columns.criteria.items()
    }
    choices, graded = _choices(rows, "choice", columns.choice, rules, csv_columns, log)
    rows["choice"] = choices
    strengths = _strengths(rows, columns, graded, csv_columns, log)
    if strengths is not None:
        rows["strength"] = strengths
    time_notes, warnings = _read_times(rows, columns, rules, csv_columns, log)
    notes = [*notes, *layout_notes, *time_notes]
    log.faults.sort(key=lambda fault: fault.line or 0)
    log.raise_if_any()
    answered = rows[rows["choice"] != NO_ANSWER]
    preferences = _table(answered, rules, path)
    asked = [_asked(name, *answers, rows, preferences) for name, answers in about.items()]
    return Imported(
        preferences=preferences,
        criteria=check_frame(pd.concat(asked), TABLES["criteria"]) if asked else None,
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


def _layout(columns: PreferenceColumns, rules: ImportRules, path: str | Path) -> Layout:
    """Return which columns hold what; topic, left and right are each said once."""
    pairs = None if rules.pairs is None else read_pairs(rules.pairs)
    said, where = ((), path) if pairs is None else (pairs.names, pairs.path)
    for name in COMPARED:
        if name in said and name in columns.named:
            cure = f"leave --{name} out, or that column"
            raise input_fault(
                f"it has a column {name}, which --{name} names, too", path=rules.pairs, cure=cure
            )
        if name not in said and name not in columns.named:
            cure = f"name its column with --{name}" + (", or add it" if pairs else ", or give --pairs FILE")
            raise input_fault(f"there is no {name}", path=where, cure=cure)
    return Layout(columns.named, pairs)


def _check_names(
    rows: pd.DataFrame,
    columns: PreferenceColumns,
    csv_columns: CsvColumns,
    keys: Sequence[str],
    log: FaultLog,
) -> None:
    def column(name: str, row: int) -> str:
        return columns.named[name].replace(STAR, keys[row], 1) if keys[row] else columns.named[name]

    for name in (name for name in ("task", "topic", "worker", "left", "right") if name in rows):
        unknown = ", or leave --worker out if nobody knows who judged" if name == "worker" else ""
        for row in np.flatnonzero(rows[name] == "").tolist():
            log.add(
                f"{column(name, row)} is empty",
                line=csv_columns.lines[row],
                cure=f"fill it in, or remove the row{unknown}",
            )
    for row in np.flatnonzero((rows["left"] == rows["right"]) & (rows["left"] != "")).tolist():
        log.add(
            f"{column('left', row)} and {column('right', row)} are both {rows['left'].iloc[row]!r}",
            line=csv_columns.lines[row],
            cure="name the two systems that were compared",
        )


def _asked(
    criterion: str, choices: list[str], graded: list[str], rows: pd.DataFrame, preferences: pd.DataFrame
) -> pd.DataFrame:
    """Return the rows of table criteria of a criterion, of the judgments with an answer about it."""
    answers = pd.DataFrame({"choice": choices}, index=rows.index)
    if any(graded):
        answers["strength"] = _graded(graded, answers["choice"])
    answers = answers[(rows["choice"] != NO_ANSWER).to_numpy()].reset_index(drop=True)
    known = answers["choice"] != NO_ANSWER
    return answers.assign(judgment=preferences["judgment"], criterion=criterion)[known]


def _graded(graded: list[str], choice: "pd.Series[str]") -> "pd.Series[Any]":
    """Return the strengths that answers say, 0 for neither side."""
    strengths = pd.to_numeric(pd.Series(graded, index=choice.index))
    return strengths.where(choice.isin(SIDES), 0).astype("Int64")


def _choices(
    rows: pd.DataFrame, name: str, column: str, rules: ImportRules, csv_columns: CsvColumns, log: FaultLog
) -> tuple[list[str], list[str]]:
    """Return the choice of each row, and the strength that its answer says, or nothing."""
    meanings = {answer: answer for answer in ANSWERS} | {"": NO_ANSWER} | dict(rules.answers)
    choices, strengths, unknown = [], [], dict[str, list[int]]()
    for line, said, left, right in zip(
        csv_columns.lines, rows[name], rows["left"], rows["right"], strict=True
    ):
        meant = meanings.get(said) or {left: "left", right: "right"}.get(said)
        if meant is None:
            unknown.setdefault(said, []).append(line)
        choice, _, strength = (meant or NO_ANSWER).partition(":")
        choices.append(choice)
        strengths.append(strength)
    for said, lines in unknown.items():
        rows_of_it = f" ({len(lines):,} rows, the first on line {lines[0]})" if len(lines) > 1 else ""
        log.add(
            f"{column}: unknown choice {said!r}{rows_of_it}",
            line=lines[0],
            cure=f"give its meaning: --answer {quote(said)}=CHOICE, CHOICE one of {join_names(ANSWERS, most=len(ANSWERS))}",
        )
    return choices, strengths


def _strengths(
    rows: pd.DataFrame, columns: PreferenceColumns, graded: list[str], csv_columns: CsvColumns, log: FaultLog
) -> "pd.Series[Any] | None":
    """Return the strength of each answer, by a column or by the words of the answers; None where answers are not graded."""
    is_sided = rows["choice"].isin(SIDES)
    if columns.strength is None:
        if not any(graded):
            return None
        return _graded(graded, rows["choice"])
    known = {str(strength) for strength in range(MAX_STRENGTH + 1)}
    for row, (said, sided) in enumerate(zip(rows["strength"], is_sided, strict=True)):
        problem, cure = "", f"write 1 to {MAX_STRENGTH}, 0 or nothing where neither side is better"
        if graded[row]:
            problem, cure = (
                "its answer says a strength already",
                "leave --strength out, or the :NUMBER of --answer",
            )
        elif said not in known | {""}:
            problem = f"{said[:40]!r} is no strength"
        elif said and sided != (said != "0"):
            problem = f"{said} beside the choice {rows['choice'].iloc[row]}"
        if problem:
            log.add(f"{columns.strength}: {problem}", line=csv_columns.lines[row], cure=cure)
    return pd.to_numeric(rows["strength"].where(rows["strength"].isin(known))).astype("Int64")


def _judged_again(answered: pd.DataFrame, csv_columns: CsvColumns) -> list[str]:
    """Return warnings of rows that may be repeated votes.

    Such rows are equal in every column, ids included, or are of a pair that the worker had judged.
    """
    if "worker" not in answered:
        return []
    systems = np.sort(answered[["left", "right"]].to_numpy(dtype=np.str_), axis=1)
    judged = answered[[*(["task"] if "task" in answered else []), "worker", "topic"]].assign(
        first=systems[:, 0], second=systems[:, 1]
    )
    is_copy = answered.duplicated()
    kinds = {
        (
            "says",
            "say",
            "the same as an earlier one",
            "delete rows that were copied, and leave what people did twice",
        ): answered,
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
        seconds = read_seconds(
            rows["decision_seconds"], columns.decision_seconds, csv_columns.lines, log, rules.lengths
        )
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
    for name in ("strength", "pair", "shown_at", "decided_at", "decision_seconds"):
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
    names = columns.named | {"system_left": columns.named["left"], "system_right": columns.named["right"]}
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
