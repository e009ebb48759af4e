"""What the report page shows: plain values, everything already in words."""

from dataclasses import dataclass, field

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from study_app.resources import resource_folder

TEMPLATE = "report/report.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure and what is said about it.

    Attributes
    ----------
    title : str
        The finding, not the topic.
    svg : Markup
        The drawing, without any reference to the outside.
    alt : str
        What a reader who cannot see it should know; the numbers, not the shapes.
    caption : str
        How to read it.
    wide : bool
        Takes the whole width instead of sharing a row.
    """

    title: str
    svg: Markup
    alt: str
    caption: str = ""
    wide: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of texts.

    Attributes
    ----------
    caption : str
        What it holds.
    columns : tuple of str
        The headers; the first column names the rows.
    rows : tuple of tuple of str
        The cells, as they are to be read.
    note : str
        What one must know to read it.
    text_columns : frozenset of int
        Columns of words, aligned to the left; the first always is.
    code_columns : frozenset of int
        Columns for machines, such as hashes.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    text_columns: frozenset[int] = frozenset({0})
    code_columns: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Lines to be copied: commands."""

    caption: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part of the page.

    Attributes
    ----------
    key : str
        Its anchor.
    title : str
        The finding.
    short : str
        Its name in the list of contents.
    paragraphs : tuple of str
        Sentences.
    figures : tuple of Figure
    tables : tuple of Table
    code : tuple of Code
    """

    key: str
    title: str
    short: str
    paragraphs: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    code: tuple[Code, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The whole page: everything that the template `report/report.html` is rendered from.

    Attributes
    ----------
    study : str
        Title of the study.
    headline : str
        The main finding.
    summary : tuple of str
        The findings in words, with their numbers and intervals.
    sections : tuple of Section
        In reading order.
    version : str
        Version of prefcal that wrote the page.
    """

    study: str
    headline: str
    summary: tuple[str, ...]
    sections: tuple[Section, ...] = field(default=())
    version: str


def render(report: Report) -> str:
    """Return the page as HTML."""
    environment = Environment(
        loader=FileSystemLoader(resource_folder("templates")),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(TEMPLATE).render(report=report)
