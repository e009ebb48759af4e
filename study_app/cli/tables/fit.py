"""`prefcal fit`: tables in, a user model out."""

from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from metrics.errors import input_fault
from metrics.files import check_file_place, check_folder_place, write_atomically
from study_app.cli.options import (
    LEVEL,
    MAX_COUNT,
    OUT_FILE,
    OUT_FOLDER,
    POSITIVE,
    exclude_option,
    one_of,
    option,
    same_answers_option,
    seed_option,
    typed_options,
    with_options,
)
from study_app.cli.output import Printed, next_step

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd

    from calibration.fit.families import FitOptions
    from calibration.fit.user_model_fit import UserModelFit
    from calibration.tables.study_json import StudyRecord

COLLECTION = "collection"
"""Folder beside the model."""
NOT_OPTIONS = ("tables", "model_file", "plots", "seed", "notes", "format", "debug")
"""Typed parameters that are not choices of a fit."""


LAWS = tuple(f"{family}={law}" for family in ("away", "session") for law in ("lognormal", "gamma"))
"""Laws of people's means that a family may publish; the log-normal is the paper's."""
COMPACT = ("activity", "preferences", "reads")
"""The long tables, whose texts are held as categories."""


@dataclass(frozen=True, kw_only=True)
class FitCommandOptions:
    """Options of a fit."""

    model_file: Path = option(
        "-o",
        "--output",
        type=OUT_FILE,
        required=True,
        metavar="FILE",
        help="The user model to write, such as user-model.json.",
    )
    plots: Path | None = option(
        type=OUT_FOLDER, metavar="DIR", help="Draw every fit into this folder, as PNG and SVG."
    )
    exclude: str = exclude_option()
    complete_only: bool = option(help="Count only workers who completed the study.")
    same_answers: str = same_answers_option()
    inclusion: str = one_of(
        "all-enrolled",
        "at-least-one-visit",
        help="Workers in the log of visits: everyone who enrolled, or only those who came at least once.",
    )
    dropout: str = one_of(
        "study-end",
        "last-seen",
        help="End of observation of each worker: end of the study, or last activity.",
    )
    unit: str = one_of(
        "worker",
        "follow",
        help="Unit with its own mean times: worker, or follow (worker and stream).",
    )
    idle_threshold: float | None = option(
        type=POSITIVE,
        metavar="SECONDS",
        help="Cut visits from table activity at silences longer than this.",
    )
    level: float = option(type=LEVEL, default=0.95, help="Confidence level of the intervals.")
    resamples: int | None = option(
        "--bootstrap",
        type=click.IntRange(2, MAX_COUNT),
        metavar="N",
        help="Samples of every bootstrap; fits that have one over workers take their intervals from it.",
    )
    seed: int = seed_option()
    notes: bool = option(help="Print all warnings and notes, and agreement among raters.")
    laws: tuple[str, ...] = option(
        "--law",
        type=click.Choice(LAWS),
        metavar="FAMILY=NAME",
        help="Publish another law of people's means: away or session, =lognormal (the paper's) or =gamma. Repeatable.",
    )

    def for_fit(self) -> "FitOptions":
        """Return them as a fit takes them."""
        from calibration.fit.families import FitOptions

        return FitOptions(
            level=self.level,
            exclude=self.exclude == "rules",
            complete_only=self.complete_only,
            inclusion=self.inclusion.replace("-", "_"),  # type: ignore[arg-type]
            dropout=self.dropout.replace("-", "_"),  # type: ignore[arg-type]
            unit=self.unit,  # type: ignore[arg-type]
            idle_threshold_seconds=self.idle_threshold,
            resamples=self.resamples,
            same_answers=self.same_answers,  # type: ignore[arg-type]
            laws=dict(law.split("=") for law in self.laws),  # type: ignore[arg-type]
        )


@click.command("fit")
@click.argument("tables", type=click.Path(path_type=Path), metavar="TABLES")
@with_options(choices=FitCommandOptions, printed=Printed)
@click.option("--debug", is_flag=True, help="Show on stderr where in the code an unexpected error came from.")
def command(tables: Path, *, choices: FitCommandOptions, printed: Printed, debug: bool) -> None:
    """Fit every user-model parameter that a folder of tables allows.

    What cannot be estimated is left out; a line on stderr says why. Beside the model are written: all warnings and notes, and agreement
    among raters (quality.json); how the fits are drawn (fit-plots.json), for prefcal report; workers who may be careless, if any
    (careless.csv); where people voted on intents or rated iUnits, collection/probability.tsv and collection/importance.tsv, for scoring.
    """
    from calibration.fit.fit_files import CARELESS, PLOTS, QUALITY, write_plots
    from calibration.fit.kinds import about_what_was_asked, never_asked
    from calibration.tables.study_json import read_study
    from calibration.user_model.model import write_user_model
    from study_app.cli.tables.fit_table import COLUMNS, FitText, machine_row
    from study_app.cli.tables.folder import read_with_warnings

    folder = choices.model_file.parent
    for name in (QUALITY, PLOTS, CARELESS):
        check_file_place(folder / name)
    check_folder_place(folder / COLLECTION)
    read, record, options = read_with_warnings(tables, compact=COMPACT), read_study(tables), choices.for_fit()
    _check(tables, read, record, options)
    with _tracebacks() if debug else nullcontext():
        fit = _fitted(tables, read, record, choices.seed, options)
        write_user_model(fit.model, choices.model_file)
        counted = _write_beside(choices.model_file, read, fit, options)
    drawings = write_plots(
        fit.drawable if choices.plots else {}, choices.plots or Path(), level=options.level
    )
    reasons, unasked = (about(fit.skipped, read, record) for about in (about_what_was_asked, never_asked))
    if printed.is_for_people and unasked:
        reasons.pop()  # the last line printed says it
    unexpected = [each for each in fit.quality.skipped if each.unexpected]
    text = FitText(fit, counted, record, tables, choices.model_file, unasked)
    if printed.is_for_people:
        click.echo("\n".join(text.lines(notes=choices.notes)))
        if drawings.files:
            click.echo(f"{drawings} in {choices.plots}.")
    else:
        printed.rows(COLUMNS, [machine_row(*item) for item in fit.model.parameters.items()])
    for line in (*reasons, *unexpected, *drawings.skipped):
        click.echo(str(line), err=True)
    if printed.is_for_people and (following := text.following()):
        next_step(following)


def _check(
    folder: Path,
    read: "Mapping[str, pd.DataFrame]",
    record: "StudyRecord | None",
    options: "FitOptions",
) -> None:
    """Raise where an option needs what the tables do not have."""
    from calibration.tables.study_json import STUDY_FILE

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
    """Print the tracebacks that `calibration.inference.attempts` catches on stderr."""
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
    folder: Path,
    read: "Mapping[str, pd.DataFrame]",
    record: "StudyRecord | None",
    seed: int,
    options: "FitOptions",
) -> "UserModelFit":
    """Fit, with a progress bar on a terminal."""
    from tqdm import tqdm

    from calibration.fit.user_model_fit import fit_user_model
    from calibration.tables.files import tables_sha256

    return fit_user_model(
        read,
        seed=seed,
        options=options,
        record=record,
        tables_sha256=tables_sha256(folder),
        track=lambda names: tqdm(names, desc="fitting", unit="family", leave=False, disable=None),
    )


def _write_beside(
    model_file: Path, read: "Mapping[str, pd.DataFrame]", fit: "UserModelFit", options: "FitOptions"
) -> "Mapping[str, pd.DataFrame]":
    """Write the other fits into the model's folder; return the counted tables."""
    from calibration.fit.collection_files import collection_files
    from calibration.fit.findings import rows_of
    from calibration.fit.fit_files import CARELESS, QUALITY, write_fit_plots
    from calibration.fit.people import counted_people
    from calibration.user_model.json_files import write_json

    folder = model_file.parent
    counted, _ = counted_people(read, replace(options, checks=False))
    for name, text in collection_files(counted, fit.intents).items():
        write_atomically(folder / COLLECTION / name, text)
    if fit.drawable:
        context = click.get_current_context()
        values = {name: value for name, value in context.params.items() if name not in NOT_OPTIONS}
        write_fit_plots(fit.drawable, model_file, tuple(typed_options(context, values)))
    write_json(folder / QUALITY, fit.quality.to_dict(options.level) | rows_of(fit.findings))
    if len(fit.careless):
        write_atomically(folder / CARELESS, fit.careless.to_csv(index=False))
    else:
        (folder / CARELESS).unlink(missing_ok=True)
    return counted
