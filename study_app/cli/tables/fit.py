"""`prefcal fit`: tables in, a user model out."""

from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from study_app.cli.output import (
    MOST,
    Number,
    OutFile,
    OutFolder,
    Output,
    format_option,
    same_answers_option,
    typed_options,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd

    from calibration.fit.families import FitOptions
    from calibration.fit.kept import Drawings
    from calibration.fit.study import UserModelFit

COLLECTION = "collection"
"""Folder beside the model."""
NOT_OPTIONS = ("tables", "model_file", "plots", "seed", "notes", "format_", "debug")
"""What was typed and does not belong to the choices of a fit."""


class Law(click.ParamType[tuple[str, str]]):
    """`away=gamma`: which law of people's means a family publishes."""

    name = "FAMILY=NAME"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Return (family, law)."""
        if isinstance(value, tuple):
            return value
        family, _, law = str(value).partition("=")
        if family not in FAMILIES_WITH_LAWS or law not in LAWS:
            families, laws = " or ".join(FAMILIES_WITH_LAWS), " or ".join(LAWS)
            self.fail(f"{value!r} is no law; write {families}, =, and {laws}, such as away=gamma", param, ctx)
        return family, law


FAMILIES_WITH_LAWS, LAWS = ("away", "session"), ("lognormal", "gamma")

COMPACT = ("activity", "preferences", "reads")
"""The long tables, whose texts are held as categories."""


@click.command("fit")
@click.argument("tables", type=click.Path(path_type=Path), metavar="TABLES")
@click.option(
    "-o",
    "--output",
    "model_file",
    type=OutFile(),
    required=True,
    metavar="FILE",
    help="The user model to write, such as user-model.json.",
)
@click.option(
    "--plots",
    type=OutFolder(),
    metavar="DIR",
    help="Draw every fit into this folder, as PNG and SVG.",
)
@click.option(
    "--exclude",
    type=click.Choice(["rules", "none"]),
    default="rules",
    show_default=True,
    help="Leave out the workers that the study's rules exclude, or keep them.",
)
@click.option("--complete-only", is_flag=True, help="Count only workers who completed the study.")
@same_answers_option
@click.option(
    "--inclusion",
    type=click.Choice(["all-enrolled", "at-least-one-visit"]),
    default="all-enrolled",
    show_default=True,
    help="Whom the visits are of: everyone who enrolled, or only those who came at least once.",
)
@click.option(
    "--dropout",
    type=click.Choice(["study-end", "last-seen"]),
    default="study-end",
    show_default=True,
    help="Until when somebody could have come back: to the end, or to the last sign of life.",
)
@click.option(
    "--unit",
    type=click.Choice(["worker", "follow"]),
    default="worker",
    show_default=True,
    help="Who has an away time and a session length of their own.",
)
@click.option(
    "--idle-threshold",
    type=Number(min=0, min_open=True),
    metavar="SECONDS",
    help="Cut visits anew from table activity, at silences longer than that.",
)
@click.option(
    "--level",
    type=Number(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Confidence level of the intervals.",
)
@click.option(
    "--bootstrap",
    "resamples",
    type=click.IntRange(2, MOST),
    metavar="N",
    help="Samples of every bootstrap; where a fit has one over workers, its intervals are from it.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of every resampling."
)
@click.option(
    "--notes", is_flag=True, help="Print everything that is said of the numbers, not only five warnings."
)
@click.option(
    "--law",
    "laws",
    type=Law(),
    metavar="FAMILY=NAME",
    multiple=True,
    help="Publish another law of people's means: away or session, =lognormal (the paper's) or =gamma. Repeatable.",
)
@format_option()
@click.option(
    "--debug",
    is_flag=True,
    help="Show on stderr where in the code an error came from that prefcal did not expect.",
)
def command(
    tables: Path,
    *,
    model_file: Path,
    plots: Path | None,
    exclude: str,
    complete_only: bool,
    same_answers: str,
    inclusion: str,
    dropout: str,
    unit: str,
    idle_threshold: float | None,
    level: float,
    resamples: int | None,
    seed: int,
    notes: bool,
    laws: tuple[tuple[str, str], ...],
    debug: bool,
    format_: str,
) -> None:
    """Fit every user-model parameter that a folder of tables allows.

    What cannot be told is left out, and one line on stderr says why; kinds of study that were not run are one line
    together. Beside the model are written: worker quality and agreement among raters (quality.json), and how the fits are
    drawn (fit-plots.json), both for prefcal report; who may be careless, where anybody is (careless.csv); where people voted on intents or rated iUnits,
    collection/probability.tsv and collection/importance.tsv, for scoring.
    """
    from calibration.fit.families import FitOptions
    from calibration.fit.kept import CARELESS, PLOTS, QUALITY
    from calibration.user_model.model import write_user_model
    from metrics.files import check_file_place, check_folder_place
    from study_app.cli.tables.fit_table import COLUMNS, for_people, machine_row
    from study_app.cli.tables.folder import read_with_warnings

    for name in (QUALITY, PLOTS, CARELESS):
        check_file_place(model_file.parent / name)
    check_folder_place(model_file.parent / COLLECTION)
    read = read_with_warnings(tables, compact=COMPACT)
    options = FitOptions(
        level=level,
        exclude=exclude == "rules",
        complete_only=complete_only,
        inclusion="all_enrolled" if inclusion == "all-enrolled" else "at_least_one_visit",
        dropout="study_end" if dropout == "study-end" else "last_seen",
        unit="worker" if unit == "worker" else "follow",
        idle_threshold_seconds=idle_threshold,
        resamples=resamples,
        same_answers=same_answers,  # type: ignore[arg-type]
        laws=dict(laws),  # type: ignore[arg-type]
    )
    _check(tables, read, options)
    with _tracebacks() if debug else nullcontext():
        fit = _fitted(tables, read, seed, options)
        write_user_model(fit.model, model_file)
        written = [model_file, *_write_beside(model_file, read, fit, options)]
        drawings = _drawn(fit, plots, level)
    for line in _not_told(tables, read, fit, drawings):
        click.echo(line, err=True)
    drawn = f"{drawings} in {plots}" if drawings.files else ""
    if format_ == "table":
        click.echo(for_people(fit, written, drawn, notes=notes))
    else:
        Output(format=format_).rows(COLUMNS, [machine_row(*item) for item in fit.model.parameters.items()])


def _check(folder: Path, read: "Mapping[str, pd.DataFrame]", options: "FitOptions") -> None:
    """Raise where an option needs what the tables do not have."""
    from calibration.tables.study import STUDY_FILE, read_study
    from metrics.errors import input_fault

    record = read_study(folder)
    beat = record.heartbeat_seconds if record else None
    if options.idle_threshold_seconds is not None and beat and options.idle_threshold_seconds <= beat:
        problem = f"pages beat every {beat:g} s, so a threshold of {options.idle_threshold_seconds:g} s cuts at each"
        raise input_fault(problem, path=folder / STUDY_FILE, cure="give --idle-threshold more seconds")
    if options.complete_only and ("workers" not in read or read["workers"]["completed_at"].isna().all()):
        problem = "nobody has a completed_at, by which --complete-only counts workers"
        raise input_fault(problem, path=folder / "workers.csv", cure="fill it, or leave out --complete-only")
    if options.idle_threshold_seconds is not None and ("activity" not in read or read["activity"].empty):
        problem = "--idle-threshold cuts visits from table activity, and there is none"
        raise input_fault(problem, path=folder / "activity.csv", cure="leave out --idle-threshold")
    if options.dropout == "last_seen" and (
        "follows" not in read or read["follows"]["last_seen_at"].isna().all()
    ):
        problem = "nobody has a last_seen_at, by which --dropout last-seen ends a follow"
        raise input_fault(problem, path=folder / "follows.csv", cure="fill it, or leave out --dropout")


@contextmanager
def _tracebacks() -> "Iterator[None]":
    """Let `calibration.inference.attempts` say on stderr what it catches."""
    import logging

    from calibration.inference.attempts import LOG

    handler = logging.StreamHandler()
    LOG.addHandler(handler)
    LOG.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        LOG.removeHandler(handler)
        LOG.setLevel(logging.NOTSET)


def _fitted(
    folder: Path, read: "Mapping[str, pd.DataFrame]", seed: int, options: "FitOptions"
) -> "UserModelFit":
    """Fit, with a progress bar on a terminal."""
    from tqdm import tqdm

    from calibration.fit.study import fit_user_model
    from calibration.tables.files import tables_sha256
    from calibration.tables.study import read_study

    return fit_user_model(
        read,
        seed=seed,
        options=options,
        record=read_study(folder),
        tables_sha256=tables_sha256(folder),
        track=lambda names: tqdm(names, desc="fitting", unit="family", leave=False, disable=None),
    )


def _write_beside(
    model_file: Path, read: "Mapping[str, pd.DataFrame]", fit: "UserModelFit", options: "FitOptions"
) -> list[Path]:
    """Write what else was found into the model's folder, and return the files."""
    from calibration.fit.collection_files import collection_files
    from calibration.fit.findings import rows_of
    from calibration.fit.kept import CARELESS, QUALITY, write_fit_plots
    from calibration.fit.people import counted_people
    from calibration.user_model.json_files import write_json
    from metrics.files import write_whole

    counted, _ = counted_people(read, replace(options, checks=False))
    files = collection_files(counted, fit.intents)
    folder = model_file.parent / COLLECTION
    for name, text in files.items():
        write_whole(folder / name, text)
    written = [folder / name for name in files]
    if fit.drawable:
        context = click.get_current_context()
        choices = {name: value for name, value in context.params.items() if name not in NOT_OPTIONS}
        written.insert(0, write_fit_plots(fit.drawable, model_file, tuple(typed_options(context, choices))))
    write_json(model_file.parent / QUALITY, fit.quality.to_dict(options.level) | rows_of(fit.findings))
    written.insert(0, model_file.parent / QUALITY)
    if len(fit.careless):
        write_whole(model_file.parent / CARELESS, fit.careless.to_csv(index=False))
        written.append(model_file.parent / CARELESS)
    else:
        (model_file.parent / CARELESS).unlink(missing_ok=True)
    return written


def _drawn(fit: "UserModelFit", folder: Path | None, level: float) -> "Drawings":
    """Draw what there is to draw, if it is wanted."""
    from calibration.fit.kept import write_plots

    return write_plots(fit.drawable if folder else {}, folder or Path(), level=level)


def _not_told(
    folder: Path, read: "Mapping[str, pd.DataFrame]", fit: "UserModelFit", drawings: "Drawings"
) -> "list[str]":
    """Return the lines that say what is missing, and why."""
    from calibration.fit.kinds import about_what_was_asked
    from calibration.tables.study import read_study

    beside = [one for one in fit.quality.skipped if one.unexpected]
    return [
        *about_what_was_asked(fit.skipped, read, read_study(folder)),
        *(str(one) for one in (*beside, *drawings.skipped)),
    ]
