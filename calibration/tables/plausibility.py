"""Implausible values of tables: other units, words for unknown, near-equal names.

Contradictions within a row are faults, which `calibration.tables.tables` has.
"""

import unicodedata
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from calibration.tables.definition import UNKNOWN_WORDS
from metrics.errors import join_names, pluralise


class ImplausibleWarning(UserWarning):
    """Warning of implausible values in tables that were given in Python."""


class Doubt(NamedTuple):
    """Suspicion about the values of a table.

    Attributes
    ----------
    table : str
        Its name.
    row : int
        An example, from 0.
    problem, cure : str
        What is suspicious, and the likely cause.
    """

    table: str
    row: int
    problem: str
    cure: str

    def on_line(self, line: int) -> str:
        """Return the sentence for a file, with the line of the example."""
        return f"{self.problem}, such as on line {line}; {self.cure}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Range:
    """Range of seconds for the median of a sound column, without zeros."""

    low: float
    high: float
    what: str


_RANGES = {
    ("preferences", "decision_seconds"): _Range(low=0.5, high=1000, what="a decision"),
    ("searches", "seconds"): _Range(low=0.5, high=10_000, what="a search"),
    ("workers", "mean_search_seconds"): _Range(low=0.5, high=10_000, what="a search"),
}
_VISIT = _Range(low=5, high=21_600, what="a visit")
_WORD = _Range(low=0.01, high=20, what="a word")
"""Plausible seconds per word.

People read a word in 0.1 to 0.7 seconds (Brysbaert 2019), and longer when they look away.
"""
CHARS_A_WORD = 12
"""Largest mean number of characters a word where white space separates words.

Longer texts count 12 characters as a word.
"""
MIN_VISITS = 2
HOUR = 3600
NAMES = {
    "worker": ("worker",),
    "topic": ("topic",),
    "system": ("system", "system_left", "system_right"),
}
"""Columns of names by what they stand for, in several tables."""
_PLURALS = {"worker": "people", "topic": "topics", "system": "systems"}


def doubts(
    tables: Mapping[str, pd.DataFrame], names: Mapping[str, str] | None = None, *, is_brief: bool = False
) -> list[Doubt]:
    """Return suspicions about the values of checked tables.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        As `calibration.tables.files.read_tables` returns them.
    names : mapping of str to str, optional
        Column -> how messages shall call it, where the table was made from columns of other names.
    is_brief : bool
        Leave out what concerns single rows: long decisions among others that are not.
    """
    called = dict(names or {})
    units = _units(tables, called)
    long = () if is_brief or units else _long_decisions(tables, called)
    return [*units, *long, *_words_for_unknown(tables, called), *_twins(tables, called)]


def warn_of_doubts(tables: Mapping[str, pd.DataFrame]) -> None:
    """Warn Python users of suspicions that the command line prints.

    The warnings come before anything is computed.
    """
    said = [f"{doubt.table}: {doubt.on_line(doubt.row + 2)}" for doubt in doubts(tables, is_brief=True)]
    if said:
        warnings.warn("\n".join(said), ImplausibleWarning, stacklevel=4)


def _units(tables: Mapping[str, pd.DataFrame], called: Mapping[str, str]) -> list[Doubt]:
    doubts_of_units = []
    for (table, column), usual in _RANGES.items():
        if table in tables:
            seconds = tables[table][column]
            doubts_of_units.append(_other_unit(table, called.get(column, column), seconds, usual))
    if "visits" in tables:
        visits = tables["visits"]
        lengths = (visits["end"] - visits["start"]).dt.total_seconds()
        name = called.get("seconds") or f"{called.get('end', 'end')} - {called.get('start', 'start')}"
        doubts_of_units.append(_other_unit("visits", name, lengths, _VISIT, fewest=MIN_VISITS))
    if "reads" in tables:
        reads = tables["reads"]
        words = reads["words"].astype("float64")
        amount = np.fmax(words, reads["chars"].astype("float64") / CHARS_A_WORD)
        pace = reads["dwell_seconds"] / amount.where(amount > 0)
        doubts_of_units.append(
            _other_unit("reads", called.get("dwell_seconds", "dwell_seconds"), pace, _WORD)
        )
    return [doubt for doubt in doubts_of_units if doubt]


def _other_unit(
    table: str, name: str, seconds: "pd.Series[float]", usual: _Range, *, fewest: int = 1
) -> Doubt | None:
    """Return the suspicion that a column holds no seconds, by its median."""
    known = seconds[seconds > 0].dropna()
    median = float(known.median()) if len(known) >= fewest else np.nan
    if not (median < usual.low or median > usual.high):
        return None
    if median > usual.high:
        unit, other, row, much = "milliseconds", median / 1000, known.idxmax(), "longer"
        cure = "divide by 1,000"
    else:
        unit, other, row, much = "minutes", median * 60, known.idxmin(), "shorter"
        cure = "multiply by 60"
    return Doubt(
        table=table,
        row=int(row),
        problem=f"{name}: {usual.what} takes {_length(median)} (median), {much} than people need",
        cure=f"are these {unit}? Then it takes {_length(other)}: {cure}",
    )


def _length(seconds: float) -> str:
    """Format a length of time in a common unit."""
    if seconds >= 2 * HOUR:
        return f"{seconds / HOUR:,.3g} hours"
    if seconds >= 2 * 60:
        return f"{seconds / 60:,.3g} minutes"
    return f"{seconds:.2g} seconds" if seconds < 10 else f"{seconds:.0f} seconds"


def _long_decisions(tables: Mapping[str, pd.DataFrame], called: Mapping[str, str]) -> Iterator[Doubt]:
    """Yield the suspicion of a few decisions that took more than an hour."""
    if "preferences" not in tables:
        return
    seconds = tables["preferences"]["decision_seconds"]
    long = seconds[seconds > HOUR]
    if len(long):
        name = called.get("decision_seconds", "decision_seconds")
        yield Doubt(
            table="preferences",
            row=int(long.idxmax()),
            problem=f"{name}: {pluralise(len(long), 'decision')} of {seconds.notna().sum():,} took more than an hour, the "
            f"longest {_length(float(long.max()))}",
            cure="the page was left open, or the times are not of one zone; leave the cell empty where it is not known",
        )


def _words_for_unknown(tables: Mapping[str, pd.DataFrame], called: Mapping[str, str]) -> Iterator[Doubt]:
    """Yield the suspicion of people and topics named like missing values.

    Other tools use such names for unknown values; a system may well be called none.
    """
    for table, column, cells in _name_cells(tables, (*NAMES["worker"], *NAMES["topic"])):
        words = [name for name in cells.unique() if str(name).strip().casefold() in UNKNOWN_WORDS]
        if words:
            rows = np.flatnonzero(cells.isin(words))
            yield Doubt(
                table=table,
                row=int(cells[cells.isin(words)].index[0]),
                problem=f"{called.get(column, column)} is {join_names(map(repr, words))} on {pluralise(len(rows), 'row')}, which R, "
                "pandas, databases and spreadsheets write where nothing is known",
                cure=f"all of them count as one {column.partition('_')[0]}; leave these rows out, unless it is a name",
            )


def _twins(tables: Mapping[str, pd.DataFrame], called: Mapping[str, str]) -> Iterator[Doubt]:
    """Yield the suspicion of names that differ only in case, blanks or encoding."""
    for kind, columns in NAMES.items():
        first: dict[str, str] = {}
        twins: dict[str, tuple[str, str, str, int]] = {}
        for table, column, cells in _name_cells(tables, columns):
            for name in map(str, cells.unique()):
                other = first.setdefault(_plain(name), name)
                if other != name and name not in twins:
                    twins[name] = (other, table, column, int(cells.index[cells == name][0]))
        if twins:
            name, (other, table, column, row) = next(iter(twins.items()))
            more = f", and {pluralise(len(twins) - 1, 'name')} more" if len(twins) > 1 else ""
            what = "case" if other.casefold() == name.casefold() else "case, blanks or the coding of letters"
            yield Doubt(
                table=table,
                row=row,
                problem=f"{called.get(column, column)} {name!r} differs from {other!r} in {what} only{more}",
                cure=f"they count as two {_PLURALS[kind]}; where they are one, write one name",
            )


def _plain(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def _name_cells(
    tables: Mapping[str, pd.DataFrame], columns: tuple[str, ...] = sum(NAMES.values(), ())
) -> Iterator[tuple[str, str, "pd.Series[Any]"]]:
    """Yield table, column and known cells of each column of names."""
    for table, frame in tables.items():
        for column in columns:
            if column in frame:
                cells = frame[column].dropna()
                if len(cells):
                    yield table, column, cells
