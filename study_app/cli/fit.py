"""`prefcal fit`: tables in, a user model out."""

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from study_app.cli.output import FORMATS, Cell

if TYPE_CHECKING:
    from calibration.fit import UserModelFit
    from calibration.intents import IntentFit
    from calibration.user_model import ParameterEntry, UserModel

COLUMNS = ("name", "estimate", "low", "high", "level", "unit", "method", "workers", "rows")


@click.command("fit")
@click.argument("tables", type=click.Path(path_type=Path), metavar="TABLES")
@click.option(
    "-o",
    "--output",
    "model_file",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    metavar="FILE",
    help="The user model to write, such as user-model.json.",
)
@click.option(
    "--exclude",
    type=click.Choice(["rules", "none"]),
    default="rules",
    show_default=True,
    help="Leave out the workers that the study's rules exclude, or keep them.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of every resampling."
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="A table for people; csv or json for machines.",
)
def command(tables: Path, model_file: Path, exclude: str, seed: int, format_: str) -> None:
    """Fit every user-model parameter that a folder of tables allows.

    What cannot be told is left out, and one line on stderr says why. Where people voted on intents or rated iUnits,
    collection/probability.tsv and collection/importance.tsv are written beside the model, for scoring.
    """
    from calibration.collection_files import collection_files
    from calibration.exclusion import counted_tables
    from calibration.fit import fit_user_model
    from calibration.study_json import read_study
    from calibration.table_files import read_tables, tables_sha256
    from calibration.user_model import write_user_model

    study = read_study(tables)
    read = read_tables(tables)
    is_excluding = exclude == "rules"
    fit = fit_user_model(
        read,
        seed=seed,
        exclude=is_excluding,
        study=study.study if study else None,
        tables_sha256=tables_sha256(tables),
    )
    write_user_model(fit.model, model_file)
    _write_collection(collection_files(counted_tables(read, exclude=is_excluding), fit.intents), model_file)
    for skipped in fit.skipped:
        click.echo(str(skipped), err=True)
    if format_ == "table":
        click.echo(_for_people(fit, model_file))
    else:
        from study_app.cli.output import Output

        Output(format=format_).rows(COLUMNS, [_row(*item) for item in fit.model.parameters.items()])


def _write_collection(files: dict[str, str], model_file: Path) -> None:
    from metrics.whole_files import write_whole

    folder = model_file.parent / "collection"
    if files:
        folder.mkdir(exist_ok=True)
    for name, text in files.items():
        write_whole(folder / name, text)


def _row(name: str, entry: "ParameterEntry") -> tuple[Cell, ...]:
    estimate = math.inf if entry.estimate is None else entry.estimate
    return (
        name,
        estimate,
        *entry.interval,
        entry.level,
        entry.unit,
        entry.method,
        entry.workers,
        entry.rows,
    )


def _for_people(fit: "UserModelFit", model_file: Path) -> str:
    """Return the parameters as a table, what to know about them, and where the model is."""
    from calibration.results import shown_interval
    from study_app.cli.output import table_text

    rows = [
        (
            name,
            "no bound" if entry.estimate is None else f"{entry.estimate:.5g}",
            shown_interval(entry.interval),
            entry.unit,
            entry.method,
            entry.workers,
            entry.rows,
        )
        for name, entry in fit.model.parameters.items()
    ]
    headers = ("name", "estimate", "95 % interval", "unit", "method", "workers", "rows")
    parts = [table_text(headers, rows)] if rows else ["No parameter could be fitted.\n"]
    if fit.intents:
        parts.append(_about_intents(fit.intents))
    parts += [f"{'/'.join(names)}: {sentence}" for sentence, names in _sentences(fit.model).items()]
    return "\n".join([*parts, f"\nWritten to {model_file}."])


def _about_intents(intents: "IntentFit") -> str:
    topics = len({topic for topic, _ in intents.intents})
    result = intents.result
    notes = "".join(f"\nintents: {note.severity}: {note.sentence}" for note in result.diagnostics)
    return (
        f"P(i|q) of {len(intents.intents)} intents of {topics} topics from {result.n_rows} votes of "
        f"{result.n_workers} workers ({result.method}).{notes}"
    )


def _sentences(model: "UserModel") -> dict[str, list[str]]:
    """Return each diagnostic once, warnings first -> the parameters it is about."""
    found: dict[str, list[str]] = {}
    for severity in ("warning", "info"):
        for name, entry in model.parameters.items():
            for note in entry.diagnostics:
                if note.severity == severity:
                    text = f"{note.severity}: {note.sentence}"
                    found.setdefault(text, []).append(name)
    return found
