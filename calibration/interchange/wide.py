"""Wide tables: several judgments in one row, each in columns that differ by a key.

A name of a column with a ``*`` stands for one column a key: ``choice_*`` for ``choice_1``, ``choice_2`` and so on, or whatever stands
in its place in the header. Every key is one judgment of each row. A file of pairs says what a key, or a value of a column,
compares: its columns are some of topic, left and right, and one more, which is called ``*`` or like a column of the table.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from metrics.errors import FaultLog, input_fault, join_names, pluralise
from metrics.readers.any_table import TableRules, read_table_columns
from metrics.readers.columns import CsvColumns, check_any_row

STAR = "*"
COMPARED = ("topic", "left", "right")
"""Columns of a file of pairs besides the one of its keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Topic and systems that each key compares.

    Attributes
    ----------
    path : str
        The file.
    column : str
        The name of its keys: `STAR`, or a column of the table.
    names : tuple of str
        Which of `COMPARED` it says.
    compared : dict of str to tuple of str
        Key -> a value for each of ``names``.
    """

    path: str
    column: str
    names: tuple[str, ...]
    compared: Mapping[str, tuple[str, ...]]


def read_pairs(source: str | Path | pd.DataFrame) -> Pairs:
    """Read a file of pairs, or a frame.

    Raises
    ------
    InputError
        If its columns are not some of topic, left and right with one more, a cell is empty, or a key is duplicate.
    """
    path = "frame of pairs" if isinstance(source, pd.DataFrame) else str(source)
    log, header = FaultLog(path), list[str]()

    def every(names: Sequence[str]) -> Sequence[str]:
        header.extend(names)
        return names

    columns, _ = read_table_columns(source, every, log, TableRules())
    check_any_row(columns, log)
    names = tuple(name for name in COMPARED if name in header)
    keys = [name for name in header if name not in COMPARED]
    if len(keys) != 1 or not names:
        raise input_fault(
            f"its columns are {join_names(header)}",
            path=path,
            line=1,
            cure="name them topic, left and right, and one more: * for what stands in place of the *, or a column of the other file",
        )
    compared = dict[str, tuple[str, ...]]()
    for row, (line, key) in enumerate(zip(columns.lines, columns.cells[keys[0]], strict=True)):
        values = tuple(columns.cells[name][row] for name in names)
        if not key or not all(values):
            log.add("a cell is empty", line=line, cure="fill it in, or remove the row")
        elif key in compared:
            log.add(f"{keys[0]} {key!r} is in an earlier row too", line=line, cure="delete one")
        compared[key] = values
    log.raise_if_any()
    return Pairs(path=path, column=keys[0], names=names, compared=compared)


@dataclass(slots=True)
class Layout:
    """Which columns of a table hold what, one judgment a row or several.

    Attributes
    ----------
    named : dict of str to str
        What a column holds -> its name, which may have a `STAR`.
    pairs : Pairs or None
        What keys compare.
    keys : list of str
        Replacements of the `STAR` in the header; `columns` fills them in.
    starred : dict of str to str
        Entries of ``named`` whose column has a `STAR`; `columns` fills them in.
    """

    named: Mapping[str, str]
    pairs: Pairs | None = None
    keys: list[str] = field(default_factory=list)
    starred: dict[str, str] = field(default_factory=dict)

    def columns(self, header: Sequence[str]) -> list[str]:
        """Return the columns to read of a header; a name that it has, `STAR` and all, is that column."""
        self.starred = {
            name: column for name, column in self.named.items() if STAR in column and column not in header
        }
        by_star = self.pairs is not None and self.pairs.column == STAR
        if self.pairs is not None and by_star:
            self.keys = list(self.pairs.compared)
        elif "choice" in self.starred:
            start, _, end = self.starred["choice"].partition(STAR)
            self.keys = [
                name[len(start) : len(name) - len(end)]
                for name in header
                if name.startswith(start) and name.endswith(end) and len(name) > len(start + end)
            ]
        single = [column for name, column in self.named.items() if name not in self.starred]
        joined = [self.pairs.column] if self.pairs is not None and not by_star else []
        several = [column.replace(STAR, key, 1) for key in self.keys for column in self.starred.values()]
        return [*single, *joined, *several]

    def check(self, path: str) -> None:
        """Raise `InputError` if a `STAR` stands for nothing."""
        if self.starred and "choice" not in self.starred:
            name, column = next(iter(self.starred.items()))
            raise input_fault(
                f"{column} has a {STAR}, and the column of answers has none",
                path=path,
                cure=f"write a {STAR} in --choice, too, or name one column as --{name.replace('_', '-')}",
            )
        if "choice" in self.starred and not self.keys:
            raise input_fault(
                f"no column is called like {self.starred['choice']}",
                path=path,
                cure="see how the header is written",
            )
        if self.pairs is not None and self.pairs.column == STAR and not self.starred:
            raise input_fault(
                f"column {STAR} says what stands in place of a {STAR}, and no column is named with one",
                path=self.pairs.path,
                line=1,
                cure=f"write a {STAR} in --choice, or name a column of {path} in its place",
            )

    def judgments(
        self, table: CsvColumns, log: FaultLog, *, keeps_blank: bool
    ) -> tuple[pd.DataFrame, CsvColumns, list[str], list[str]]:
        """Return one row a judgment, the lines of these rows, the key of each, and notes.

        A judgment of a wide table whose cells are all empty is left out, since nobody was shown it, unless ``keeps_blank``.
        """
        keys = self.keys if self.starred else [""]
        number = len(table.lines)
        rows = pd.DataFrame(
            {
                name: self._cells(table, column, keys, is_starred=name in self.starred)
                for name, column in self.named.items()
            },
            dtype="str",
        )
        lines, key_of_row = [line for line in table.lines for _ in keys], keys * number
        blank = np.zeros(len(rows), dtype=bool)
        if self.starred and not keeps_blank:
            blank |= (rows[list(self.starred)] == "").all(axis="columns").to_numpy()
        if self.pairs is not None:
            by_star = self.pairs.column == STAR
            joined = key_of_row if by_star else [key for key in table.cells[self.pairs.column] for _ in keys]
            _join(rows, self.pairs, joined, lines, blank.tolist(), log)
        kept = rows[~blank].reset_index(drop=True)
        notes = list[str]()
        if self.starred:
            several = (
                f"{pluralise(len(keys), 'judgment')} a row, {self.named['choice']} for {join_names(keys)}"
            )
            notes.append(
                f"{several}; {int(blank.sum()):,} without any cell left out" if blank.any() else several
            )
        rest = np.flatnonzero(~blank).tolist()
        seen = CsvColumns(lines=tuple(lines[row] for row in rest), cells={}, is_unended=table.is_unended)
        if not len(kept) and number and not log.faults:
            log.add(
                "no row has a judgment", cure=f"see whether {self.named['choice']} are the columns of answers"
            )
            log.raise_if_any()
        return kept, seen, [key_of_row[row] for row in rest], notes

    def _cells(self, table: CsvColumns, column: str, keys: Sequence[str], *, is_starred: bool) -> list[str]:
        """Return a cell a judgment, row by row."""
        columns = [table.cells[column.replace(STAR, key, 1) if is_starred else column] for key in keys]
        return [cell for row in zip(*columns, strict=True) for cell in row]


def _join(
    rows: pd.DataFrame,
    pairs: Pairs,
    keys: Sequence[str],
    lines: Sequence[int],
    blank: Sequence[bool],
    log: FaultLog,
) -> None:
    """Add to the rows what their keys compare."""
    nothing = ("",) * len(pairs.names)
    compared = [pairs.compared.get(key, nothing) for key in keys]
    for key, line, pair, is_blank in zip(keys, lines, compared, blank, strict=True):
        if pair is nothing and not is_blank:
            cure = f"write what it compares into {pairs.path}"
            log.add(f"{pairs.column} {key!r} is not in {pairs.path}", line=line, cure=cure)
    log.raise_if_any()
    for place, name in enumerate(pairs.names):
        rows[name] = [pair[place] for pair in compared]
