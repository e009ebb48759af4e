"""Plain lines of preferences, for exchange with other tools.

A line is `topic a b worker choice`, the smallest form in which tools exchange preferences. One judgment a line, its fields separated by
tabs (or, in a line without a tab, by blanks): the topic, the two systems as they were shown (a on the left or first), who judged, and the
choice: ``a``, ``b``, ``equally_good``, ``equally_bad``. ``=`` is read as equally_good. Where all lines have four fields and the fourth can
only be who judged, each says that a was preferred to b, so that lists of winner and loser can be read too. Where it may be something else,
such as the winner, nothing is guessed: the columns must be named; a first line `GRADED` does, for judgments that say how much better
(``strength``, ``-`` where it is not known). Blank lines and lines that begin with ``#`` say nothing. What the lines do not hold (times,
layout, repeats for validation) is lost.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd

from calibration.tables.files import check_frame
from calibration.tables.preferences import WORKERS_UNKNOWN, counted_judgments, knows_workers
from calibration.tables.tables import MAX_STRENGTH, SIDES, TABLES
from metrics.errors import Fault, FaultLog, InputError, input_fault, join_names
from metrics.readers.lines import NUMBER, lines_of, text_lines

FIELDS = ("topic", "a", "b", "worker", "choice")
MEANINGS = {"a": "left", "b": "right", "=": "equally_good"} | {
    name: name for name in ("equally_good", "equally_bad")
}
WORDS = {"left": "a", "right": "b", "equally_good": "equally_good", "equally_bad": "equally_bad"}


SIDED = ("topic", "left", "right")
COLUMN_NAMES = (*SIDED, "worker", "winner", "choice", "strength")
"""Names of the columns of lines of preferences.

The columns are the displayed sides, the worker, the preferred system or the choice in words, and how much better it is.
"""
STRENGTHS = tuple(str(strength) for strength in range(MAX_STRENGTH + 1))
NO_STRENGTH = "-"
GRADED = "\t".join((*SIDED, "worker", "choice", "strength")) + "\n"
"""First line above lines with a strength, which names their columns."""
ALIASES = {"a": "left", "b": "right"}
CODES = frozenset(
    [
        "left",
        "right",
        "l",
        "r",
        "first",
        "second",
        "tie",
        "ties",
        "tied",
        "equal",
        "same",
        "both",
        "neither",
        "none",
        "draw",
        "win",
        "won",
        "loss",
        "lose",
        "lost",
        "better",
        "worse",
        "yes",
        "no",
        "true",
        "false",
    ]
)
"""Words for choices, which are no ids of workers."""
ITERATIONS = frozenset({"0", "Q0", "q0"})
TIME = re.compile(r"[0-9]{9,11}(?:\.[0-9]+)?")
Line: TypeAlias = tuple[int, list[str]]
"""Number of a line, and its fields."""


def read_preference_lines(
    path: str | Path, *, task: str = "preferences", columns: Sequence[str] | None = None
) -> pd.DataFrame:
    """Read lines of preferences.

    Parameters
    ----------
    path : str or Path
        The file, UTF-8, plain or packed.
    task : str
        What column ``task`` shall say.
    columns : sequence of str, optional
        What the fields are, of `COLUMN_NAMES`: ``("topic", "left", "right", "winner")``. Without ``winner`` and ``choice`` the left one
        was preferred; without ``worker`` who judged is not known; ``strength`` says how much better the preferred one is. By default told by a header of these names, the number of
        fields and their values.

    Returns
    -------
    DataFrame
        Table preferences, in the order of the lines.

    Raises
    ------
    InputError
        If the file cannot be read or has no line; if it cannot be told what the fields are; and for every line with too few or too
        many fields, an empty one, one system twice, another choice, a winner that is neither system, or four fields among lines of
        five; all at once, each with its line.
    """
    log = FaultLog(path)
    given = None if columns is None else _named_columns(columns)
    split = [
        (line, cells)
        for line, text in text_lines(log, expected=lines_of(FIELDS, "tabs"))
        if text.strip() and not text.startswith("#") and (cells := _cells(text, line, log))
    ]
    header = _header(split)
    lines = split[1:] if header else split
    named = given or header or _told_columns(lines, log)
    log.raise_if_any()
    rows = [_fields(cells, line, named, log, is_named=bool(given or header)) for line, cells in lines]
    log.raise_if_any()
    if not rows:
        raise input_fault("no preference", path=path, cure=f"write lines of {' '.join(FIELDS)}")
    frame = pd.DataFrame(rows, columns=[*SIDED, "worker", "choice", "strength"], dtype="str")
    csv_columns = pd.DataFrame(
        {
            "judgment": [f"J{number}" for number in range(1, len(frame) + 1)],
            "worker": frame["worker"],
            "task": task,
            "topic": frame["topic"],
            "system_left": frame["left"],
            "system_right": frame["right"],
            "choice": frame["choice"],
            "strength": frame["strength"],
        }
    )
    unknown = [name for name in ("worker", "strength") if name not in named]
    return check_frame(csv_columns.drop(columns=unknown), TABLES["preferences"])


def _named_columns(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that the caller names; raises `InputError` if ambiguous.

    Columns are ambiguous where lines lack a meaning or have two.
    """
    named = tuple(ALIASES.get(name.strip(), name.strip()) for name in columns)
    unknown = [name for name in named if name not in COLUMN_NAMES]
    missing = [name for name in SIDED if name not in named]
    problem = (
        f"there is no column {unknown[0]!r}"
        if unknown
        else f"there is no {missing[0]} among the columns"
        if missing
        else "a column is named twice"
        if len(set(named)) < len(named)
        else "winner and choice are one thing"
        if {"winner", "choice"} <= {*named}
        else ""
    )
    if problem:
        cure = f"name {', '.join(SIDED)}, and of worker, winner or choice, and strength what there is"
        raise input_fault(f"columns {','.join(named)}: {problem}", cure=cure)
    return named


def _header(lines: Sequence[Line]) -> tuple[str, ...]:
    """Return the column names of a header line, or nothing if it is none."""
    names = tuple(ALIASES.get(cell.lower(), cell.lower()) for cell in lines[0][1]) if lines else ()
    return names if set(SIDED) <= set(names) <= set(COLUMN_NAMES) and len(set(names)) == len(names) else ()


def _told_columns(lines: Sequence[Line], log: FaultLog) -> tuple[str, ...]:
    """Return the columns recognised by number and values; note ambiguous ones."""
    whole = (*SIDED, "worker", "choice")
    fives = [(line, cells) for line, cells in lines if len(cells) == len(whole)]
    if fives or not lines or any(len(cells) != len(whole) - 1 for _, cells in lines):
        _check_choices(fives, log)
        return whole
    _check_fourth(lines, log)
    return whole[:-1]


def _check_choices(lines: Sequence[Line], log: FaultLog) -> None:
    """Note choices that are ambiguous between sides and winners.

    The fifth of five fields may be the winner, and a choice may be the name of the other side's system.
    """
    named = [(line, cells[1:3], cells[4]) for line, cells in lines]
    winners = "--columns topic,left,right,worker,winner"
    for line, (left, right), choice in named:
        if (choice == "a" and right == "a") or (choice == "b" and left == "b"):
            problem = f"the choice {choice!r} is also the system on the other side"
            log.add(
                problem, line=line, cure=f"say which: --columns topic,left,right,worker,choice or {winners}"
            )
            return
    if named and all(choice in sides and choice not in MEANINGS for _, sides, choice in named):
        problem = "five fields; the fifth is one of the two systems on every line, so it may be the winner"
        log.add(problem, line=named[0][0], cure=f"say so: {winners}")


def _check_fourth(lines: Sequence[Line], log: FaultLog) -> None:
    """Note a fourth of four fields that may be no worker, or other kinds of lines."""
    values = [cells[3] for _, cells in lines]
    winners = sum(cells[3] in cells[1:3] for _, cells in lines)
    worker = "--columns topic,left,right,worker"
    said = cure = None
    if all(cells[1] in ITERATIONS for _, cells in lines):
        said = f"the second field is {lines[0][1][1]} on every line: these are judgments of documents (qrels)"
        cure = f"name a file with lines of {' '.join(FIELDS)}"
    elif all(TIME.fullmatch(cells[2]) for _, cells in lines):
        said = "the third field is a time on every line: this is a run of push notifications"
        cure = f"name a file with lines of {' '.join(FIELDS)}"
    elif winners:
        often = "on every line" if winners == len(lines) else f"on {winners} of {len(lines)} lines"
        said = f"four fields; the fourth is one of the two systems {often}, so it may be the winner, not a worker"
        cure = f"say which: --columns topic,left,right,winner or {worker}"
    elif all(value in MEANINGS for value in values):
        said = "four fields; the fourth is a choice on every line, and no field says who judged"
        cure = "say so: --columns topic,left,right,choice"
    elif all(map(NUMBER.fullmatch, values)) or not CODES.isdisjoint(map(str.lower, values)):
        kind = (
            "a number on every line" if NUMBER.fullmatch(values[0]) else "a word such as left, tie or first"
        )
        said = f"four fields; the fourth is {kind}, so it may be a choice, a grade or a score, not a worker"
        cure = f"say {worker} if it is the worker; prefcal import reads choices of any words from a CSV with a header"
    if said and cure:
        log.add(said, line=lines[0][0], cure=cure)
        return
    for line, cells in lines:
        if cells[3] in MEANINGS:
            problem = f"{cells[3]!r} is a choice, and one of the fields before it is missing"
            log.add(problem, line=line, cure=f"write {', '.join(FIELDS)}, separated by tabs")


def _cells(text: str, line: int, log: FaultLog) -> list[str]:
    """Return a line's fields by column, or nothing for a line of commas (a fault)."""
    if "\t" not in text and len(re.split("[,;]", text)) >= len(FIELDS) - 1:
        log.add(
            "fields are separated by commas or semicolons",
            line=line,
            cure="write tabs between them; prefcal import reads a CSV with a header",
        )
        return []
    return [cell.strip() for cell in text.split("\t")] if "\t" in text else text.split()


def _fields(
    cells: list[str], line: int, named: tuple[str, ...], log: FaultLog, *, is_named: bool
) -> tuple[str, ...]:
    """Return topic, left, right, worker, choice of a line; log its faults.

    A line of four fields that lost its worker or its choice must not become a vote for a: it is one only where no line
    has five, and where its fourth is no choice.
    """
    given = sum(map(bool, cells))
    if len(cells) != len(named) or not all(cells):
        is_choice = not is_named and given == len(FIELDS) - 1 and cells[-1] in MEANINGS
        is_open = not is_named and len(named) < len(FIELDS)
        expected = f"{len(FIELDS) if not is_named else len(named)} fields expected{' (or 4, a preferred)' if is_open else ''}, got {given}"
        log.add(
            f"{cells[-1]!r} is a choice, and one of the fields before it is missing"
            if is_choice
            else expected,
            line=line,
            cure=f"write {', '.join(named if is_named else FIELDS)}, separated by tabs",
        )
        return ("",) * (len(FIELDS) + 1)
    field = dict(zip(named, cells, strict=True))
    left, right = field["left"], field["right"]
    if left == right:
        log.add(f"{left!r} is compared with itself", line=line, cure="name two systems")
    meanings = MEANINGS
    if "winner" in field:
        ties = {word: choice for word, choice in MEANINGS.items() if choice not in {"left", "right"}}
        meanings = {**ties, left: "left", right: "right"}
    said = field.get("winner", field.get("choice", "a"))
    if said not in meanings:
        what = "winner" if "winner" in field else "choice"
        log.add(f"the {what} is {said!r}", line=line, cure=f"write one of {join_names(meanings, most=9)}")
    choice, strength = meanings.get(said, ""), field.get("strength", "")
    strength = "" if strength == NO_STRENGTH else strength
    if strength and (strength not in STRENGTHS or (strength == "0") == (choice in SIDES)):
        cure = f"write 1 to {MAX_STRENGTH} beside a side, and 0 where neither is better"
        log.add(f"the strength is {strength!r}", line=line, cure=cure)
    return field["topic"], left, right, field.get("worker", ""), choice, strength


def preference_lines(
    preferences: pd.DataFrame,
    *,
    workers: pd.DataFrame | None = None,
    exclude: bool = True,
    winner_first: bool = False,
) -> str:
    """Format the judgments that count as lines, below the line `GRADED` where one of them has a strength.

    Parameters
    ----------
    preferences : DataFrame
        Table preferences of one task. Repeats for validation and gold pairs are left out, as everywhere.
    workers : DataFrame or None
        Table workers: those who withdrew are left out, and with ``exclude`` those that the rules exclude.
    exclude : bool
        As said.
    winner_first : bool
        Write four fields with the preferred system first, for tools that know no ties; ties and strengths are left out.

    Raises
    ------
    ValueError
        If the judgments are of several tasks.
    InputError
        If a name holds a tab or a line feed, or a topic begins with #.
    """
    if len(preferences["task"].unique()) > 1:
        raise ValueError("lines do not say of which task they are: give the judgments of one")
    rows = counted_judgments(preferences, workers=workers, exclude=exclude, adaptive=True)
    if not winner_first and not knows_workers(rows):
        raise input_fault(
            WORKERS_UNKNOWN, cure="write lines without workers: give --winner-first, which leaves out ties"
        )
    _check_line_names(rows)
    cells = rows[["topic", "system_left", "system_right", "worker"]].assign(choice=rows["choice"].map(WORDS))
    if winner_first:
        cells = cells[cells["choice"].isin(["a", "b"])]
        swapped = (cells["choice"] == "b").to_numpy()
        sides = cells[["system_left", "system_right"]].to_numpy()
        cells[["system_left", "system_right"]] = np.where(swapped[:, None], sides[:, ::-1], sides)
        cells = cells.drop(columns=["choice"] if knows_workers(rows) else ["choice", "worker"])
    is_graded = not winner_first and "strength" in rows and bool(rows["strength"].notna().any())
    if is_graded:
        cells = cells.assign(strength=rows["strength"].astype("string").fillna(NO_STRENGTH))
    return GRADED * is_graded + "".join(
        "\t".join(row) + "\n" for row in cells.itertuples(index=False, name=None)
    )


def _check_line_names(rows: pd.DataFrame) -> None:
    faults = [
        Fault(problem=f"{column} {name!r} cannot stand in a line", cure="rename it")
        for column in ("topic", "system_left", "system_right", "worker")
        for name in rows[column].dropna().unique()
        if set(name) & set("\t\n\r") or (column == "topic" and name.startswith("#"))
    ]
    if faults:
        raise InputError(faults)
