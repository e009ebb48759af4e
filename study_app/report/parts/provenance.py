"""The report's last part: how the numbers came about, and how to make them again."""

import shlex
from collections.abc import Iterator
from importlib.metadata import version

from calibration.tables.study import StudyRecord
from study_app.report.folder import MODEL, TABLES, ReportMaterial
from study_app.report.page import Code, ReportTable, Section
from study_app.report.wording import DASH

LIBRARIES = ("numpy", "scipy", "pandas", "matplotlib")


def provenance_section(material: ReportMaterial, key: str = "again") -> Section:
    """Return hashes, versions, seeds and command lines."""
    return Section(
        key=key,
        title="How these numbers came about, and how to make them again",
        short="Make it again",
        paragraphs=tuple(_warnings(material)),
        tables=(
            ReportTable(
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


def _warnings(material: ReportMaterial) -> Iterator[str]:
    """Yield a sentence for each input that is not what the results were made from."""
    now = material.tables_sha256
    for name, then in (
        ("the agreement", material.record.get("tables_sha256")),
        ("the user model", material.model.tables_sha256 if material.model else None),
    ):
        if now is not None and then is not None and now != then:
            yield f"Warning: {name} was made from other tables than the ones in this folder."


def _rows(material: ReportMaterial) -> Iterator[tuple[str, str]]:
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
    yield "prefcal, report", version("prefcal")
    yield "Drawn and computed with", ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
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
                if file.sha256:
                    yield f"{task}, {kind} {name}, sha256", file.sha256


def _agree_options(material: ReportMaterial) -> str:
    """Return the options that change what agree finds, of a folder whose agree.json lacks the command."""
    record = material.record
    has_model = record.get("model") if record else material.model is not None
    options = f" --model {MODEL}" if has_model else ""
    if record.get("scores"):
        options += f" --scores {shlex.quote(str(record['scores']['path']))}"
    options += " --complete-only" if record.get("complete_only") else ""
    return options + (f" --draws {record['draws']}" if record.get("draws") else "")


def _commands(material: ReportMaterial) -> Iterator[str]:
    """Yield the lines that make everything again; a fit whose options nobody knows is a remark."""
    record = material.record
    if record.get("command"):
        yield "# made by"
        yield shlex.join(record["command"])
        yield ""
    yield "# again, from this folder"
    again = record.get("again") or []
    if material.tables and material.model is not None:
        tables = again[2] if again else TABLES
        model = again[again.index("--model") + 1] if "--model" in again else MODEL
        seed = "" if material.model.seed is None else f" --seed {material.model.seed}"
        fit = f"prefcal fit {shlex.quote(tables)} -o {shlex.quote(model)}{seed}"
        if material.plots is None:
            yield f"# {fit}, and the options of that time"
        else:
            yield shlex.join([*shlex.split(fit), *material.plots.options])
    if again:
        yield shlex.join(again)
    elif "preferences" in material.tables:
        seed = f" --seed {record['seed']}" if "seed" in record else ""
        yield f"prefcal agree {TABLES}{_agree_options(material)}{seed} -o ."
    yield "prefcal report ."
