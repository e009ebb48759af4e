"""The report's last part: how the numbers came about, and how to make them again."""

import shlex
from collections.abc import Iterator

from calibration.study_json import StudyRecord
from study_app.report.folder import MODEL, TABLES, Material
from study_app.report.page import Code, Section, Table
from study_app.report.wording import DASH

METHODS = (
    (
        "Each judgment is a vote; equally good and equally bad are half a vote for either side. Repeats of a pair,"
        " workers left out by the study’s rule and workers who withdrew do not count. Agreement is the share of pairs"
        " in which the measure scores the system higher that got more than half of the votes (Kato and others, Two-layered"
        " Summaries for Mobile Search, EVIA 2016)."
    ),
    (
        "Pairs of one query share its summaries and its workers, so the query is the unit of every interval: Student’s t"
        " over queries, never a binomial one over pairs. Two measures are compared by a paired t test over queries and by"
        " exchanging them within queries; p values are corrected by Holm’s method over the table they stand in. The band"
        " of the curve holds all of its points at once."
    ),
    (
        "The ceiling comes from 200 random splits of each pair’s votes into halves. To the agreement of their majorities"
        " is added what the full size gains by a mixture of vote probabilities fitted to the same votes. Its intervals"
        " hold the differences between queries, not the error of that mixture: one or two points for a second panel, up"
        " to five for a perfect measure."
    ),
    (
        "A patience that was fitted to these preferences is fitted anew without each query before that query is judged."
        " What was fitted is taken as known; the intervals do not hold the uncertainty of the fit."
    ),
)


def provenance_section(material: Material, key: str = "again") -> Section:
    """Return methods, hashes, versions, seeds and command lines."""
    return Section(
        key=key,
        title="How these numbers came about, and how to make them again",
        short="Methods",
        paragraphs=(*METHODS, *material.record.get("notes", ()), *_warnings(material)),
        tables=(
            Table(
                name="provenance",
                caption="Inputs, versions and seeds",
                columns=("What", "Value"),
                rows=tuple(_rows(material)),
                text_columns=frozenset({0, 1}),
                code_columns=frozenset({1}),
            ),
        ),
        code=(Code(caption="Commands", lines=tuple(_commands(material))),),
    )


def _warnings(material: Material) -> Iterator[str]:
    """Yield a sentence for each input that is not what the results were made from."""
    now = material.tables_sha256
    for name, then in (
        ("the agreement", material.record.get("tables_sha256")),
        ("the user model", material.model.tables_sha256 if material.model else None),
    ):
        if now is not None and then is not None and now != then:
            yield f"Warning: {name} was made from other tables than the ones in this folder."


def _rows(material: Material) -> Iterator[tuple[str, str]]:
    record, study, model = material.record, material.study, material.model
    if study is not None:
        yield from _study_rows(study)
    if material.tables_sha256 is not None:
        yield "Tables, sha256", material.tables_sha256
    if model is not None:
        yield "prefcal, fit", model.prefcal_version or DASH
        yield "Seed, fit", DASH if model.seed is None else str(model.seed)
    if record:
        yield "prefcal, agreement", str(record.get("prefcal_version", DASH))
        yield "Seed, agreement", str(record.get("seed", DASH))
        yield "Only complete workers", "yes" if record.get("complete_only") else "no"
    for name, label in (("model", "User model"), ("scores", "Scores")):
        if record.get(name):
            yield f"{label}, sha256", str(record[name]["sha256"])


def _study_rows(study: StudyRecord) -> Iterator[tuple[str, str]]:
    yield "Study", study.study
    yield "Study file, sha256", study.study_sha256 or DASH
    if study.started_at and study.ended_at:
        yield "Ran", f"{study.started_at:%Y-%m-%d %H:%M} to {study.ended_at:%Y-%m-%d %H:%M} UTC"
    yield "prefcal, tables", study.prefcal_version or DASH
    for task, entry in study.tasks.items():
        for kind, files in (("collection", entry.collection), ("run", entry.systems)):
            for name, file in files.items():
                yield f"{task}, {kind} {name}, sha256", file.sha256 or DASH


def _commands(material: Material) -> Iterator[str]:
    if material.record.get("command"):
        yield "# made by"
        yield shlex.join(material.record["command"])
        yield ""
    yield "# again, from this folder"
    if material.tables and material.model is not None:
        seed = "" if material.model.seed is None else f" --seed {material.model.seed}"
        yield f"prefcal fit {TABLES} -o {MODEL}{seed}"
    if material.tables:
        model = f" --model {MODEL}" if material.model is not None else ""
        seed = f" --seed {material.record['seed']}" if "seed" in material.record else ""
        yield f"prefcal agree {TABLES}{model}{seed} -o ."
    yield "prefcal report ."
