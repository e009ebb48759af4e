"""Definition of a table: columns, row rules, and conversion of cells.

`calibration.tables.tables` has the definitions; `calibration.tables.files` reads and writes by them.
"""

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas.api.types import pandas_dtype

from metrics.arrays import Bools
from metrics.errors import closest_name, join_names

Tables: TypeAlias = dict[str, pd.DataFrame]
"""Tables by name."""


class ColumnType(StrEnum):
    """Type of a column's values, and of their form in CSV."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    FLAG = "flag"
    TIME = "time"


TEXT = pandas_dtype("str")
DTYPES = MappingProxyType(
    {
        ColumnType.TEXT: TEXT,
        ColumnType.INTEGER: pandas_dtype("Int64"),
        ColumnType.NUMBER: pandas_dtype("float64"),
        ColumnType.FLAG: pandas_dtype("boolean"),
        ColumnType.TIME: pandas_dtype("datetime64[ms, UTC]"),
    }
)
"""pandas types by column type; not their names, since pandas looks a name up anew at each use."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    name : str
        The header, with the unit.
    doc : str
        One sentence for researchers who convert their own logs.
    kind : ColumnType
        Type of the values.
    required : bool
        The column must be present. Its cells must be filled too unless ``blank`` is set.
    blank : bool
        A required column whose cells may be empty.
    all_or_none : bool
        A column that may be missing, but whose cells are filled in all rows of people or in none
        (`calibration.tables.people` checks it, since only table workers says who is no person).
    sparse : bool
        A column of few studies, such as those of judges that are no people: a file has it only where a row fills it in.
    choices : tuple of str
        The only values allowed; empty if any value is.
    judge_choices : tuple of str
        Those that only a judge that is no person may have besides.
    low, high : float or None
        Bounds of a number, inclusive.
    derived : callable or None
        Computes the column from the others where the file lacks it; where the file has it, no cell may be empty.
    """

    name: str
    doc: str
    _: KW_ONLY
    kind: ColumnType
    required: bool = False
    blank: bool = False
    all_or_none: bool = False
    sparse: bool = False
    choices: tuple[str, ...] = ()
    judge_choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    derived: Callable[[pd.DataFrame], "pd.Series[Any]"] | None = None

    @property
    def is_filled(self) -> bool:
        """True if no cell of the column may be empty."""
        return (self.required and not self.blank) or self.derived is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowRule:
    """A rule over the columns of one table.

    Attributes
    ----------
    broken : callable
        Returns, for a table, a boolean Series, true where a row breaks the rule.
    problem, cure : str
        Fault and hint of each such row.
    """

    broken: Callable[[pd.DataFrame], "pd.Series[bool]"]
    problem: str
    cure: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table: its columns, the key of its rows, and the rules that rows keep.

    Attributes
    ----------
    key : tuple of str
        Columns that together identify a row; empty if rows may repeat.
    open_prefix : str or None
        A file may have further columns of text whose names begin so; None where it has none.
    """

    name: str
    doc: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    rules: tuple[RowRule, ...] = field(default=())
    open_prefix: str | None = None

    def opened(self, names: Iterable[Any]) -> "Table":
        """Return the table with those of some names that begin with its prefix as columns too."""
        prefix, known = self.open_prefix, self.column_names
        if prefix is None:
            return self
        more = [str(name) for name in names if str(name).startswith(prefix) and name not in known]
        columns = (Column(name, "", kind=ColumnType.TEXT, sparse=True) for name in dict.fromkeys(more))
        return replace(self, columns=(*self.columns, *columns)) if more else self

    @property
    def column_names(self) -> tuple[str, ...]:
        """The headers in order."""
        return tuple(column.name for column in self.columns)

    @property
    def usual_names(self) -> tuple[str, ...]:
        """The headers that a file has whatever its rows say, in order."""
        return tuple(column.name for column in self.columns if not column.sparse)

    @property
    def text_names(self) -> tuple[str, ...]:
        """The text columns that are not part of the key."""
        return tuple(c.name for c in self.columns if c.kind is ColumnType.TEXT and c.name not in self.key)

    @property
    def required_names(self) -> tuple[str, ...]:
        """The headers that a file must have."""
        return tuple(column.name for column in self.columns if column.required)

    def empty(self) -> pd.DataFrame:
        """Return the table without rows, with every column in its type."""
        return pd.DataFrame({c.name: pd.Series([], dtype=DTYPES[c.kind]) for c in self.columns})


UNKNOWN_WORDS = frozenset({"na", "n/a", "#n/a", "nan", "nat", "null", "none", "<na>"})
"""Words of R, pandas, SQL, JSON and spreadsheets for a missing value, in small letters."""
_FLAGS = {
    "true": True,
    "True": True,
    "TRUE": True,
    "1": True,
    "false": False,
    "False": False,
    "FALSE": False,
    "0": False,
}
_CURES = {
    ColumnType.INTEGER: "write a whole number",
    ColumnType.NUMBER: "write a finite number with a decimal point",
    ColumnType.FLAG: "write true or false",
    ColumnType.TIME: "write ISO 8601 with its zone, such as 2026-03-01T09:30:00.000Z",
}
_MAX_WHOLE_NUMBER = 2.0**53  # largest whole number of a cell: larger floats have gaps
_WITHOUT_ZONE = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?")
_TYPO = 0.8  # least similarity (difflib ratio) of a mistyped word to a choice


def is_unknown(cells: "pd.Series[str]", known: "pd.Series[str]") -> "pd.Series[bool]":
    """Return the mask of filled cells whose value is not among the known ones."""
    filled = cells.dropna()
    unknown = filled[~filled.isin(known)] if len(filled) else filled
    return pd.Series(cells.index.isin(unknown.index), index=cells.index)


def is_same(one: "pd.Series[Any]", other: "pd.Series[Any]") -> "pd.Series[bool]":
    """Return the mask of rows in which two columns of text have the same value."""
    if not all(isinstance(column.dtype, pd.CategoricalDtype) for column in (one, other)):
        return one.astype("str") == other.astype("str")
    values = one.cat.categories.union(other.cat.categories)
    first, second = (column.cat.set_categories(values).cat.codes for column in (one, other))
    return (first == second) & (first >= 0)


def in_order(one: "pd.Series[Any]", other: "pd.Series[Any]") -> tuple["pd.Series[str]", "pd.Series[str]"]:
    """Return the first and the second of two texts of each row in alphabetical order."""
    one, other = one.astype("str"), other.astype("str")
    is_first = one <= other
    return one.where(is_first, other), other.where(is_first, one)


def cell_fault(text: str, kind: ColumnType) -> tuple[str, str]:
    """Return the fault of a cell that is not of this column type, with a hint."""
    if kind is ColumnType.TIME and _WITHOUT_ZONE.fullmatch(text.strip()):
        in_utc = text.strip().replace(" ", "T") + "Z"
        return f"{text!r} has no time zone", f"write {in_utc} if it is UTC, else the offset in place of Z"
    if text.strip().casefold() in UNKNOWN_WORDS:
        return f"{text!r} is no {kind}", "leave the cell empty where nothing is known"
    return f"{text[:40]!r} is no {kind}", _CURES[kind]


def choice_cure(value: str, choices: tuple[str, ...]) -> str:
    """Return a hint: the choice closest to a mistyped value, or else all choices.

    The cutoff is high, because a word of another tool may resemble a choice and mean something else.
    """
    near = closest_name(value.lower(), choices, cutoff=_TYPO)
    return f"did you mean {near!r}?" if near else f"write one of {join_names(choices)}"


def converted(cells: "pd.Series[Any]", kind: ColumnType) -> tuple["pd.Series[Any]", Bools, Bools]:
    """Convert cells to a column type; also return masks of blank and invalid cells."""
    blank = _is_blank(cells)
    values, missing = parsed(cells.mask(blank) if blank.any() else cells, kind)
    return values, blank, missing & ~blank


def _is_blank(cells: "pd.Series[Any]") -> Bools:
    """Return the mask of cells that are empty or only white space."""
    if not isinstance(cells.dtype, pd.StringDtype) and cells.dtype != object:
        return np.asarray(cells.isna(), dtype=bool)
    texts = pa.array(cells.astype(TEXT), from_pandas=True)
    blank = pc.or_(pc.equal(pc.binary_length(texts), 0), pc.utf8_is_space(texts))
    return np.asarray(pc.fill_null(blank, fill_value=True).to_numpy(zero_copy_only=False), dtype=bool)


def parsed(cells: "pd.Series[Any]", kind: ColumnType) -> tuple["pd.Series[Any]", Bools]:
    """Convert cells to a column type; also return the mask of cells without a value."""
    values: pd.Series[Any]
    if kind is ColumnType.TEXT:
        texts = (
            cells
            if isinstance(cells.dtype, pd.StringDtype)
            else cells.where(cells.isna(), cells.astype(TEXT))
        )
        return texts.astype(TEXT), np.zeros(len(cells), bool)
    if kind is ColumnType.FLAG and cells.dtype == DTYPES[ColumnType.FLAG]:
        values = cells
    elif kind is ColumnType.FLAG:
        code, texts = pd.factorize(cells.astype(TEXT))
        flags = pd.array([_FLAGS.get(text) for text in texts], dtype=DTYPES[ColumnType.FLAG])
        values = pd.Series(flags.take(code, allow_fill=True), index=cells.index)
    elif kind is ColumnType.TIME:
        values = _times(cells)
    else:
        numbers = _numbers(cells)
        floats = numbers.to_numpy()
        is_valid = np.isfinite(floats)
        if kind is ColumnType.INTEGER:
            is_valid &= (floats == np.floor(floats)) & (np.abs(floats) <= _MAX_WHOLE_NUMBER)
        values = numbers if is_valid.all() else numbers.where(is_valid)
    return values, values.isna().to_numpy(bool)


def sound_names(cells: "pd.Series[Any]", column: Column) -> "pd.Series[Any] | None":
    """Return categories in alphabetical order, blank ones as missing.

    The result is None for an invalid category; the caller then checks cell by cell.
    """
    texts = cells.cat.categories.astype("str")
    blank = np.asarray((texts == "") | texts.str.isspace(), dtype=bool)
    names = texts[~blank]
    if blank.any() and column.is_filled:
        return None
    if column.choices and not names.isin((*column.choices, *column.judge_choices)).all():
        return None
    order = names.argsort()
    code = np.full(len(texts) + 1, -1, dtype=np.int32)
    code[np.flatnonzero(~blank)[order]] = np.arange(len(order))
    return pd.Series(
        pd.Categorical.from_codes(code[cells.cat.codes], categories=names[order], ordered=True),
        index=cells.index,
    )


def _numbers(cells: "pd.Series[Any]") -> "pd.Series[float]":
    """Convert cells to floats, NaN for invalid ones; in bulk if all are valid."""
    if pd.api.types.is_numeric_dtype(cells):
        return cells.astype(np.float64)
    texts = cells.astype(TEXT)
    try:
        return pd.Series(pa.array(texts).cast(pa.float64()).to_numpy(), index=cells.index)
    except pa.ArrowInvalid:
        return pd.to_numeric(texts, errors="coerce").astype(np.float64)


def _times(cells: "pd.Series[Any]") -> "pd.Series[Any]":
    if isinstance(cells.dtype, pd.DatetimeTZDtype):
        return cells.dt.tz_convert("UTC").dt.as_unit("ms")
    texts = cells.astype(TEXT)
    arrow_texts = pa.array(texts)
    if _is_as_exported(arrow_texts):
        with suppress(pa.ArrowInvalid):  # a day or an hour that no calendar has
            return pd.Series(arrow_texts.cast(pa.timestamp("ms", "UTC")).to_pandas().array, index=cells.index)
    zoned = texts.str.contains(r"T.*(?:Z|[+-]\d\d:?\d\d)$", regex=True, na=False)
    times = pd.to_datetime(texts.where(zoned), format="ISO8601", utc=True, errors="coerce")
    return times.dt.as_unit("ms")


def _is_as_exported(texts: pa.Array) -> bool:
    """Return whether all times have the form 2026-03-01T09:30:00.000Z.

    Arrow converts such columns in bulk.
    """
    letters = pc.binary_slice(texts.cast(pa.large_binary()), 10, 11)
    masks = (pc.equal(pc.binary_length(texts), 24), pc.equal(letters, b"T"), pc.ends_with(texts, "Z"))
    return all(pc.all(mask).as_py() for mask in masks)
