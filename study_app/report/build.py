"""Building of the report from a folder: page, figures and tables."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from metrics.errors import input_fault
from metrics.files import write_atomically
from study_app.report.drawing.canvas import RenderedDrawing, missing_signs_message, render_drawing
from study_app.report.drawing.style import ReportStyle
from study_app.report.folder import ReportInputs, read_material
from study_app.report.page import Report, Section, render
from study_app.report.parts.agreement import agreement_section
from study_app.report.parts.assisted import assisted_sections
from study_app.report.parts.criteria import criteria_sections
from study_app.report.parts.curve import ablation_section, curve_sections
from study_app.report.parts.fit import fit_section
from study_app.report.parts.front import NOBODY_ASKED, SIMULATED, front
from study_app.report.parts.judges import judges_section
from study_app.report.parts.methods import limits_section, methods_section, provenance_section
from study_app.report.parts.ranking import ranking_sections
from study_app.report.parts.reading import reading_sections
from study_app.report.parts.streams import stream_sections
from study_app.report.parts.sweep import sweep_section
from study_app.report.parts.workers import workers_section
from study_app.report.results import TaskResult, task_results
from study_app.report.table_files import csv_text, latex_text

PAGE = "report.html"
FIGURES, TABLES = "figures", "report-tables"
INDEX = "captions.csv"
OWN_NAME = re.compile(r"[\w.-]+")
SIGNATURE = b"<footer>Written by prefcal "
SIGNED_BYTES = 1_000
"""Length in bytes of the end of a page in which its signature stands."""


def write_report(
    folder: str | Path,
    *,
    report_style: ReportStyle | None = None,
    tell: Callable[[str], object] | None = None,
) -> Path:
    """Write the report of a folder into it, and return the path of report.html.

    Figures and tables are written first, the page last.

    Figures and tables of an earlier report that this one has no more are deleted.

    Parameters
    ----------
    folder : str or Path
        As `read_material` takes it.
    report_style : ReportStyle, optional
        Colours and fonts.
    tell : callable, optional
        Is given a sentence about what the files cannot show.

    Raises
    ------
    InputError
        If nothing in the folder can be reported, a file in it is damaged, or a file cannot be written.
    """
    folder, report_style = Path(folder), report_style or ReportStyle()
    report = build_report(read_material(folder))
    drawings = {
        figure.name: render_drawing(figure.draw, report_style, name=figure.name, title=figure.title)
        for figure in report.figures
    }
    without_font = missing_signs_message(drawings.values())
    if without_font is not None and tell is not None:
        tell(without_font)
    _write_all(folder / FIGURES, dict(_figure_files(report, drawings)))
    _write_all(folder / TABLES, dict(_table_files(report)))
    write_atomically(folder / PAGE, render(report, report_style, drawings))
    return folder / PAGE


def is_own_page(path: Path) -> bool:
    """Return whether a file is a report page of any version of prefcal."""
    if not path.is_file():
        return False
    with path.open("rb") as page:
        page.seek(max(0, path.stat().st_size - SIGNED_BYTES))
        return SIGNATURE in page.read()


def write_section(section: Section, folder: str | Path, *, report_style: ReportStyle | None = None) -> None:
    """Write the figures and the paper's tables of one section into a folder.

    Figures are SVG and PDF, tables LaTeX. The folder must exist.

    Raises
    ------
    InputError
        If a file cannot be written.
    """
    for figure in section.figures:
        drawing = render_drawing(
            figure.draw, report_style or ReportStyle(), name=figure.name, title=figure.title
        )
        write_atomically(Path(folder) / f"{figure.name}.svg", drawing.svg)
        write_atomically(Path(folder) / f"{figure.name}.pdf", drawing.pdf)
    for table in section.tables:
        if table.for_papers:
            write_atomically(Path(folder) / f"{table.name}.tex", latex_text(table))


def build_report(material: ReportInputs) -> Report:
    """Build the texts, tables and figures of a folder, in the order of a paper.

    It draws nothing.
    """
    results = list(task_results(material))
    ranked = list(ranking_sections(material.ranking))
    streams = list(stream_sections(material))
    sweeps = [] if material.sweep is None else [sweep_section(material.sweep)]
    fit = fit_section(material)
    judges = [
        judges_section(str(task), material.judges.of_task(task), f"judges-{number}" if number else "judges")
        for number, task in enumerate(material.judges.numbers["task"].unique())
    ]
    sections: Iterable[Section] = sweeps
    if material.has_study:
        sections = (
            methods_section(material, results),
            workers_section(material),
            *ranked,
            *criteria_sections(material),
            *(
                section
                for number, result in enumerate(results)
                for section in _of_task(result, material, number)
            ),
            *judges,
            *assisted_sections(material, results),
            *reading_sections(material.reading),
            *streams,
            *sweeps,
            fit,
            *limits_section(material, results),
            provenance_section(material),
        )
    first = front(material, results, [*judges, *ranked, *streams, *sweeps, fit])
    shown = None if first.figure is None else first.figure.name
    return Report(
        study=_study_title(material),
        banner=" ".join(_banner(material)),
        front=first,
        sections=tuple(_without(section, shown) for section in sections),
        version=version("prefcal"),
    )


def _banner(material: ReportInputs) -> Iterator[str]:
    """Yield what has to be known of all numbers: that nobody was asked, that workers were simulated, what was counted."""
    if not material.has_study:
        yield NOBODY_ASKED
    elif material.simulated:
        yield SIMULATED
    yield from material.about


def _without(section: Section, shown: str | None) -> Section:
    """Return a section without the figure that the first screen has."""
    return replace(section, figures=tuple(figure for figure in section.figures if figure.name != shown))


def _of_task(result: TaskResult, material: ReportInputs, number: int) -> Iterator[Section]:
    suffix = f"-{number + 1}" if number else ""
    yield agreement_section(result, f"agreement{suffix}")
    yield from curve_sections(result, material.model, material.truth, suffix)
    ablations = ablation_section(result, f"parts{suffix}")
    if ablations is not None:
        yield ablations


def _study_title(material: ReportInputs) -> str:
    if material.study is None:
        return material.folder.resolve().name
    return material.study.title or material.study.study


def _figure_files(report: Report, drawings: dict[str, RenderedDrawing]) -> Iterator[tuple[str, str | bytes]]:
    for name, drawing in drawings.items():
        yield f"{name}.svg", drawing.svg
        yield f"{name}.pdf", drawing.pdf
    rows = [(figure.name, figure.title, figure.caption, figure.alt) for figure in report.figures]
    yield INDEX, _csv(("figure", "title", "caption", "alternative text"), rows)


def _table_files(report: Report) -> Iterator[tuple[str, str | bytes]]:
    for table in report.tables:
        yield f"{table.name}.csv", csv_text(table)
        if table.for_papers:
            yield f"{table.name}.tex", latex_text(table)
    yield (
        INDEX,
        _csv(
            ("table", "caption", "note"), [(table.name, table.caption, table.note) for table in report.tables]
        ),
    )


def _csv(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return text.getvalue()


def _write_all(folder: Path, files: dict[str, str | bytes]) -> None:
    """Write files into a folder, and delete obsolete ones of an earlier report."""
    try:
        folder.mkdir(exist_ok=True)
        for name in _earlier(folder):
            if name not in files:
                (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise input_fault(
            f"cannot be written to ({error.strerror})", path=folder, cure="choose another place"
        ) from None
    for name, content in files.items():
        write_atomically(folder / name, content)


def _earlier(folder: Path) -> list[str]:
    """Return the names of the files that an earlier report's index lists."""
    path = folder / INDEX
    if not path.is_file():
        return []
    rows = csv.reader(io.StringIO(path.read_text(encoding="utf-8", errors="replace")))
    names = [row[0] for row in rows if row and OWN_NAME.fullmatch(row[0])][1:]
    return [f"{name}.{kind}" for name in names for kind in ("svg", "pdf", "csv", "tex")]
