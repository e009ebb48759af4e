"""What the report page shows: plain values, everything already in words; drawings are made when they are wanted."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from matplotlib.figure import Figure as Drawing

from study_app.config import resource_folder
from study_app.report.drawing.canvas import Draw, Drawn, fit_labels, style
from study_app.report.drawing.look import ReportLook

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

    def drawing(self, look: ReportLook | None = None) -> Drawing:
        """Return the figure alone, as matplotlib has it, to be changed or saved."""
        look = look or ReportLook()
        with style(look):
            made = self.draw(look)
            fit_labels(made)
        return made


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
    text_columns : frozenset of int
        Columns of words, aligned to the left; the first always is.
    code_columns : frozenset of int
        Columns for machines, such as hashes.
    cards : bool
        Long texts are in it: on a narrow screen each row is a card, a line per cell, instead of going on to the right.
    """

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    text_columns: frozenset[int] = frozenset({0})
    code_columns: frozenset[int] = frozenset()
    cards: bool = False


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
    tables : tuple of ReportTable
    code : tuple of Code
    """

    key: str
    title: str
    short: str
    paragraphs: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[ReportTable, ...] = ()
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

    @property
    def figures(self) -> Iterator[Figure]:
        """Every figure, in reading order."""
        return (figure for section in self.sections for figure in section.figures)

    @property
    def tables(self) -> Iterator[ReportTable]:
        """Every table, in reading order."""
        return (table for section in self.sections for table in section.tables)


def render(report: Report, look: ReportLook, drawings: Mapping[str, Drawn]) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    report : Report
        What it says.
    look : ReportLook
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
    font = Markup(look.page_font)  # noqa: S704 - the style file lets only names of fonts through
    return environment.get_template(TEMPLATE).render(
        report=report, look=look, page_font=font, drawings=drawings
    )
