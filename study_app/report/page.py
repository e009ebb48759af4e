"""Report page as values: texts, formatted numbers, figures, and the HTML.

Drawings are made when they are rendered.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from matplotlib.figure import Figure as Drawing

from metrics import errors
from study_app.config import resource_folder
from study_app.report.drawing.canvas import Draw, RenderedDrawing, style
from study_app.report.drawing.style import ReportStyle

TEMPLATE = "report/report.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure and what is said about it.

    Attributes
    ----------
    name : str
        Unique in the report; its files are called so.
    title : str
        The finding, not the topic.
    draw : callable
        Makes the drawing in a look.
    alt : str
        What a reader who cannot see it should know; the numbers, not the shapes.
    caption : str
        How to read it.
    wide : bool
        Takes the whole width instead of sharing a row.
    """

    name: str
    title: str
    draw: Draw
    alt: str
    caption: str = ""
    wide: bool = False

    def drawing(self, report_style: ReportStyle | None = None) -> Drawing:
        """Return the figure alone, as matplotlib has it, to be changed or saved."""
        report_style = report_style or ReportStyle()
        with style(report_style):
            return self.draw(report_style)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTable:
    """A table of texts.

    Attributes
    ----------
    name : str
        Unique in the report; its files are called so.
    caption : str
        What it holds.
    columns : tuple of str
        The headers; the first column names the rows.
    rows : tuple of tuple of str
        The cells, as they are to be read.
    note : str
        What one must know to read it.
    cards : bool
        Long texts are in it: on a narrow screen each row is a card, a line per cell, instead of going on to the right.
    for_papers : bool
        Papers print it: it is written as LaTeX beside its CSV.
    """

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    cards: bool = False
    for_papers: bool = False

    @property
    def words(self) -> frozenset[int]:
        """Indices of the columns aligned to the left: the first, and those of words."""
        numberless = {DASH, NO_INTERVAL, UNTOLD, NONE}
        return frozenset(
            column
            for column in range(len(self.columns))
            if column == 0
            or any(row[column][:1].isalpha() and row[column] not in numberless for row in self.rows)
        )


Column: TypeAlias = tuple[str, Callable[..., str], *tuple[str, ...]]
"""Head of a column, formatter of its cells, and the keys of their values.

Without keys the formatter gets the whole row.
"""


def to_table(
    name: str, caption: str, rows: pd.DataFrame | Iterable[Any], columns: Sequence[Column], **more: Any
) -> ReportTable:
    """Return a table with one line for each row of a frame, or of other rows.

    Parameters
    ----------
    name, caption : str
        As a `ReportTable` has them.
    rows : DataFrame or iterable
        What the columns write.
    columns : sequence of Column
        From the left.
    **more : object
        Other fields of `ReportTable`.
    """
    records: Iterable[Any] = rows.to_dict("records") if isinstance(rows, pd.DataFrame) else rows
    cells = (
        tuple(write(*(row[key] for key in keys)) if keys else write(row) for _, write, *keys in columns)
        for row in records
    )
    heads = tuple(head for head, *_ in columns)
    return ReportTable(name=name, caption=caption, columns=heads, rows=tuple(cells), **more)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part of the page.

    Attributes
    ----------
    key : str
        Its anchor.
    title : str
        The finding: the sentence that the section begins with.
    short : str
        Its heading, and its name in the list of contents.
    paragraphs : tuple of str
        Sentences.
    figures : tuple of Figure
    tables : tuple of ReportTable
    commands : tuple of str
        Lines to be copied.
    """

    key: str
    title: str
    short: str
    paragraphs: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[ReportTable, ...] = ()
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """First screen of a report.

    Attributes
    ----------
    question : str
        What the report answers.
    points : mapping of str to str
        Word for a sentence -> the sentence: answer, how sure, ceiling, what is against it, what to do next.
    figure : Figure or None
        The answer, drawn.
    """

    question: str
    points: Mapping[str, str]
    figure: Figure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Whole report, as the template `report/report.html` needs it.

    Attributes
    ----------
    study : str
        Title of the study.
    banner : str
        What a reader must know before any number; empty where there is nothing.
    front : Front
        The first screen.
    sections : tuple of Section
        In reading order.
    version : str
        Version of prefcal that wrote the page.
    """

    study: str
    banner: str = ""
    front: Front
    sections: tuple[Section, ...] = ()
    version: str

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Every figure, in reading order."""
        first = () if self.front.figure is None else (self.front.figure,)
        return (*first, *(figure for section in self.sections for figure in section.figures))

    @property
    def tables(self) -> tuple[ReportTable, ...]:
        """Every table, in reading order."""
        return tuple(table for section in self.sections for table in section.tables)


def render(report: Report, report_style: ReportStyle, drawings: Mapping[str, RenderedDrawing]) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    report : Report
        What it says.
    report_style : ReportStyle
        Its colours and font.
    drawings : mapping of str to Drawn
        Name of each figure -> its drawing.
    """
    environment = Environment(
        loader=FileSystemLoader(resource_folder("templates")),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    font = Markup(report_style.page_font)  # noqa: S704 - the style file lets only names of fonts through
    return environment.get_template(TEMPLATE).render(
        report=report, look=report_style, page_font=font, drawings=drawings
    )


DASH = "–"
MINUS = "−"
NARROW = "\u202f"
"""Narrow no-break space, between thousands and before the percent sign."""
NO_INTERVAL = "no interval"
UNTOLD = "cannot be told"
"""In place of an interval that leaves everything open."""
NONE = "none"
"""In place of a difference that no study of this size could detect."""
UNITS: Mapping[str, float] = MappingProxyType({"hours": 3600.0, "minutes": 60.0, "seconds": 1.0})
LEVEL = f"95{NARROW}%"
"""Confidence level of every interval."""


def percent(share: float | None, digits: int = 1) -> str:
    """`82.7 %`, a dash where it is undefined."""
    return DASH if _undefined(share) else f"{100 * share:.{digits}f}{NARROW}%"  # type: ignore[operator]


def percent_interval(low: float | None, high: float | None) -> str:
    """`76.0 to 89.4 %`, in words where there is none."""
    if _undefined(low) or _undefined(high):
        return NO_INTERVAL
    return f"{100 * low:.1f} to {100 * high:.1f}{NARROW}%"  # type: ignore[operator]


def points(difference: float | None) -> str:
    """Format percentage points with their sign, as in `+3.6`.

    Zero is `0.0`, an undefined value a dash.
    """
    if _undefined(difference):
        return DASH
    shown = f"{100 * difference:+.1f}"  # type: ignore[operator]
    return "0.0" if float(shown) == 0 else shown.replace("-", MINUS)


def points_interval(low: float | None, high: float | None) -> str:
    """`−1.2 to +8.4`, in words where there is none."""
    return NO_INTERVAL if _undefined(low) else f"{points(low)} to {points(high)}"


def p_value(p: float | None) -> str:
    """`0.032`, `< 0.001`, a dash where undefined."""
    if _undefined(p):
        return DASH
    return "< 0.001" if p < 0.001 else f"{p:.3f}"  # type: ignore[operator]


def quantity(value: float | None, digits: int = 3) -> str:
    """Format a number to three significant digits, with thousands separated.

    An infinite number is `∞`, a missing one a dash.
    """
    if value is None or math.isnan(value):
        return DASH
    if math.isinf(value):
        return "∞"
    if value and abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}".replace(",", NARROW).replace("-", MINUS)
    return f"{value:.{digits}g}".replace("-", MINUS)


def quantity_interval(low: float | None, high: float | None) -> str:
    """`520 to 1 150`; an open end is written so, and where there is no interval that."""
    if low is None and high is None:
        return NO_INTERVAL
    if low == 0 and high is None:
        return UNTOLD
    lower = "open" if low is None else quantity(low)
    upper = "open" if high is None else quantity(high)
    return f"{lower} to {upper}"


def decimal(value: float | None) -> str:
    """`0.90`: two decimals, a dash where undefined."""
    if _undefined(value):
        return DASH
    shown = f"{value:.2f}"
    return "0.00" if float(shown) == 0 else shown.replace("-", MINUS)


def decimal_interval(low: float | None, high: float | None) -> str:
    """`0.20 to 0.90`, in words where there is none."""
    return NO_INTERVAL if _undefined(low) or _undefined(high) else f"{decimal(low)} to {decimal(high)}"


def duration_phrase(seconds: float | None) -> str:
    """`9.4 hours`, `78 seconds`: a duration in the unit that people would use."""
    known = math.inf if seconds is None else seconds
    unit = unit_of(known)
    number = quantity(known / UNITS[unit])
    return f"{number} {unit.removesuffix('s') if number == '1' else unit}"


def brief(seconds: float) -> str:
    """`30 s`, `2 min`: a duration beside an axis."""
    return f"{seconds:.0f} s" if seconds < 60 else f"{seconds / 60:.0f} min"


def unit_of(seconds: float) -> str:
    """Return the largest unit that a duration has twice."""
    return next((unit for unit, size in UNITS.items() if seconds >= 2 * size), "seconds")


def pluralise(number: int, singular: str, plural: str | None = None) -> str:
    """`1 query`, `8 queries`."""
    return errors.pluralise(number, singular, plural).replace(",", NARROW)


def stretch(
    values: Sequence[float],
    chosen: Sequence[bool],
    shown: Callable[[float], str],
    *,
    before: str = "",
    after: str = "",
) -> str:
    """Format a range of a parameter, as in `from α = 0.50 to 0.60`.

    One value is `at α = 0.50`; a range with other values between is `in several places from α = 0.20 to
    0.60`.

    Parameters
    ----------
    values : sequence of float
        In order.
    chosen : sequence of bool
        Which of them are meant; one at least.
    shown : callable
        How a value is written.
    before, after : str
        What stands around the values.
    """
    places = [index for index, is_meant in enumerate(chosen) if is_meant]
    first, last = (f"{shown(values[index])}" for index in (places[0], places[-1]))
    if len(places) == 1:
        return f"at {before}{first}{after}"
    gaps = "" if places[-1] - places[0] == len(places) - 1 else "in several places "
    return f"{gaps}from {before}{first} to {last}{after}"


def shortened(text: str, most: int = 36) -> str:
    """Return a name that fits beside an axis: a long one loses its middle."""
    if len(text) <= most:
        return text
    half = (most - 1) // 2
    return f"{text[:half].rstrip()}…{text[-half:].lstrip()}"


def slug(name: str) -> str:
    """Return a name as it may stand in the name of a file and in an address."""
    return "".join(sign if sign.isalnum() or sign in "._-" else "-" for sign in name)


def _undefined(value: float | None) -> bool:
    return value is None or math.isnan(value)
