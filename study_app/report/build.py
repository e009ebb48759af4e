"""From a folder to its report page."""

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from metrics.whole_files import write_whole
from study_app.report.agreement_part import agreement_section, headline, summary
from study_app.report.fit_part import fit_section, patience_marks, true_value
from study_app.report.folder import Material, read_material
from study_app.report.page import Report, Section, render
from study_app.report.patience_part import ablation_section, patience_section
from study_app.report.provenance_part import provenance_section
from study_app.report.results import TaskResult, task_results
from study_app.report.workers_part import workers_section

PAGE = "report.html"


def write_report(folder: str | Path) -> Path:
    """Write report.html into a folder and return its path; it appears whole or not at all.

    Raises
    ------
    InputError
        If nothing in the folder can be reported, a file in it is damaged, or the page cannot be written.
    """
    path = Path(folder) / PAGE
    write_whole(path, render(build_report(read_material(folder))))
    return path


def build_report(material: Material) -> Report:
    """Put everything that a folder holds into words, tables and figures."""
    results = list(task_results(material))
    return Report(
        study=_study_title(material),
        headline=headline(results[0]) if results else "No agreement has been measured yet",
        summary=tuple(
            sentence
            for result in results
            for sentence in ((f"Task {result.task}.",) if len(results) > 1 else ())
            + tuple(summary(result, simulated=material.truth is not None))
        )
        or ("There is no agreement.csv in this folder; prefcal agree writes it.",),
        sections=(
            *(
                section
                for number, result in enumerate(results)
                for section in _of_task(result, material, number)
            ),
            fit_section(material.model, material.truth),
            workers_section(material),
            provenance_section(material),
        ),
        version=version("prefcal"),
    )


def _of_task(result: TaskResult, material: Material, number: int) -> Iterator[Section]:
    suffix = f"-{number + 1}" if number else ""
    language = str(result.rows["language"].iloc[0])
    marks = patience_marks(material.model, material.truth, language)
    truth = true_value(material.truth, f"patience_chars_preferences[{language}]")
    yield agreement_section(result, f"agreement{suffix}")
    for section in (
        patience_section(result, truth, marks, f"patience{suffix}"),
        ablation_section(result, f"parts{suffix}"),
    ):
        if section is not None:
            yield section


def _study_title(material: Material) -> str:
    if material.study is None:
        return material.folder.resolve().name
    return material.study.title or material.study.study
