"""What a table's definition is made of: kinds of cells, columns, rules over rows, the table itself.

The definitions stand in `calibration.tables.tables`; `calibration.tables.files` reads and writes by them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

import pandas as pd


class Kind(StrEnum):
    """What a column holds, and how it is written in CSV."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    FLAG = "flag"
    TIME = "time"


DTYPES = MappingProxyType(
    {
        Kind.TEXT: "str",
        Kind.INTEGER: "Int64",
        Kind.NUMBER: "float64",
        Kind.FLAG: "boolean",
        Kind.TIME: "datetime64[ms, UTC]",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    name : str
        The header; the unit rides in it.
    kind : Kind
        What the cells hold.
    doc : str
        One sentence for people with logs of their own.
    required : bool
        The column must be there. Its cells must be filled too unless ``blank`` is set.
    blank : bool
        A required column whose cells may be empty.
    choices : tuple of str
        The only values allowed; empty when any is.
    low, high : float or None
        Bounds of a number, inclusive.
    """

    name: str
    kind: Kind
    doc: str
    required: bool = False
    blank: bool = False
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowRule:
    """A rule over the columns of one table.

    Attributes
    ----------
    broken : callable
        Takes the table, returns a boolean Series, true where a row breaks the rule.
    problem, cure : str
        The message for each such row.
    """

    broken: Callable[[pd.DataFrame], "pd.Series[bool]"]
    problem: str
    cure: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table: its columns, what identifies a row, and the rules its rows keep.

    Attributes
    ----------
    key : tuple of str
        Columns that together name a row once; empty when rows may repeat.
    """

    name: str
    doc: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    rules: tuple[RowRule, ...] = field(default=())

    @property
    def column_names(self) -> tuple[str, ...]:
        """The headers in order."""
        return tuple(column.name for column in self.columns)

    @property
    def required_names(self) -> tuple[str, ...]:
        """The headers that must be there."""
        return tuple(column.name for column in self.columns if column.required)

    def empty(self) -> pd.DataFrame:
        """Return the table without rows, with every column in its type."""
        return pd.DataFrame({c.name: pd.Series([], dtype=DTYPES[c.kind]) for c in self.columns})
