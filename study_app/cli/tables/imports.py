"""Commands `prefcal import` and `import-visits`: tables from other tools."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import click

from metrics.errors import Fault, InputError, input_fault, pluralise
from study_app.cli.options import MAX_COUNT, FiniteFloat, option, output_folder, with_options

if TYPE_CHECKING:
    import pandas as pd

    from calibration.interchange.preferences import Imported
    from calibration.interchange.seconds import LengthRules
    from calibration.interchange.times import TimeRules
    from metrics.readers.any_table import TableRules

    class Rules(TypedDict):
        """Rules that both imports have."""

        times: TimeRules
        lengths: LengthRules
        table: TableRules


_WORDS = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "bar": "|"}


def meanings_of(known: Callable[[], Sequence[str]]) -> Callable[..., dict[str, str]]:
    """Return a callback that splits values like SAID=CHOICE at the last `=`.

    ``known`` gives the choices.
    """

    def split(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
        meanings, words = {}, known() if values else ()
        for value in values:
            written, equals, meant = value.rpartition("=")
            if not equals or meant not in words:
                kind = str(param.metavar).partition("=")[2]
                wrong = f"{value!r} is not like {param.metavar}, {kind} one of {', '.join(words)}"
                raise click.BadParameter(wrong, ctx=ctx, param=param)
            meanings[written] = meant
        return meanings

    return split


def _delimiter(value: str) -> str:
    """Return a delimiter that may be written as a word."""
    character = _WORDS.get(value, value)
    if len(character) != 1 or character in '"\r\n':
        raise click.BadParameter(
            f"{value!r} is no single character; write it between quotes, or one of comma, semicolon, tab, bar"
        )
    return character


def _pair_like(form: str) -> Callable[[str], tuple[str, str]]:
    """Return a parser of values like ``form``, such as COLUMN=VALUE, which splits at the first `=`."""

    def pair(value: str) -> tuple[str, str]:
        if "=" not in value:
            raise click.BadParameter(f"{value!r} is not like {form}")
        return value.partition("=")[0], value.partition("=")[2]

    return pair


def _time_format(value: str) -> str:
    from calibration.interchange.times import EPOCHS

    if "%" not in value and value not in EPOCHS:
        raise click.BadParameter(
            f"{value!r} is neither {' nor '.join(EPOCHS)}, nor has it a % as in '%d/%m/%Y %H:%M'"
        )
    return value


def _time_zone(value: str) -> str:
    from calibration.interchange.times import named_zone

    try:
        return named_zone(value).key
    except InputError as error:
        raise click.BadParameter(str(error)) from None


@dataclass(frozen=True, kw_only=True)
class CellOptions:
    """Options for reading the rows and cells of another tool's table."""

    time_format: str | None = option(
        metavar="FORMAT",
        type=_time_format,
        help="Format of times: epoch-s or epoch-ms for seconds or milliseconds since 1970, else as in Python's "
        "strptime, such as '%d/%m/%Y %H:%M'. Default: ISO 8601, or numbers that can only be one of the two.",
    )
    time_zone: str | None = option(
        metavar="NAME",
        type=_time_zone,
        help="Time zone of times without one, by its IANA name, such as Europe/Berlin. Default: UTC, with a note; "
        "beside times with a zone they are a fault.",
    )
    delimiter: str = option(
        metavar="CHARACTER",
        default=",",
        show_default=False,
        type=_delimiter,
        help="Separator of fields in FILE, such as ';', or a word: comma, semicolon, tab, bar. Default: comma.",
    )

    decimal: str = option(type=click.Choice([".", ","]), default=".", help="Decimal point of --seconds.")
    seconds_unit: str = option(type=click.Choice(["s", "ms"]), default="s", help="Unit of --seconds.")
    skip_rows: int = option(
        type=click.IntRange(0, MAX_COUNT),
        metavar="N",
        default=0,
        help="Rows below the header that are no data: 2 for the second and third header lines of Qualtrics.",
    )
    where: tuple[tuple[str, str], ...] = option(
        metavar="COLUMN=VALUE",
        type=_pair_like("COLUMN=VALUE"),
        help="Read only rows with this VALUE in COLUMN: _golden=false leaves out test questions. Several values of one column are each "
        "let in; several columns must all fit.",
    )
    sheet: str | None = option(metavar="NAME", help="Sheet of a workbook. Default: the only one with rows.")

    @property
    def rules(self) -> "Rules":
        """Options as keywords of the rules of both imports."""
        from calibration.interchange.seconds import LengthRules
        from calibration.interchange.times import TimeRules
        from metrics.readers.any_table import TableRules

        return {
            "times": TimeRules(time_format=self.time_format, time_zone=self.time_zone),
            "lengths": LengthRules(decimal=self.decimal, unit=self.seconds_unit),
            "table": TableRules(
                delimiter=self.delimiter, skip_rows=self.skip_rows, where=self.where, sheet=self.sheet
            ),
        }


def column(meaning: str, **attributes: Any) -> Any:
    """Return an option that names a column of FILE."""
    return option(metavar="COLUMN", help=f"Column with {meaning}", **attributes)


def tell(file: Path, notes: Sequence[str], warnings: Sequence[str]) -> None:
    """Print on stderr the assumptions about a file, and what is suspicious."""
    for warning in warnings:
        click.echo(f"warning: {file}: {warning}", err=True)
    for note in notes:
        click.echo(f"note: {file}: {note}", err=True)


def _answers() -> tuple[str, ...]:
    from calibration.interchange.preferences import ANSWERS, GRADED_ANSWERS

    return (*ANSWERS, *GRADED_ANSWERS)


@dataclass(frozen=True, kw_only=True)
class PreferenceFile:
    """Columns of another tool's preferences."""

    topic: str | None = column("the query or topic.")
    worker: str | None = column(
        "the worker. Without it who judged is not known: intervals are then over topics."
    )
    left: str | None = column("the system shown on the left, or first.")
    right: str | None = column("the system shown on the right, or second.")
    choice: str = column(
        "the answer. In a table with several judgments a row, write a * where the names of their columns differ, here and in the other "
        "options: 'choice_*' is choice_1, choice_2 and so on.",
        required=True,
    )
    pairs: Path | None = option(
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="CSV that says what was compared, in place of --topic, --left and --right: columns topic, left, right, and one called * for "
        "what stands in place of the *, or like a column of FILE.",
    )
    answers: dict[str, str] = option(
        "--answer",
        metavar="SAID=CHOICE",
        callback=meanings_of(_answers),
        multiple=True,
        help="Meaning of an answer: left, right, equally_good, equally_bad, or none for no answer; of a graded answer with how much better "
        "that side is, as left:2. Give it once for each answer. These words, the names of the two systems and an empty cell are understood without it.",
    )
    strength: str | None = column(
        "how much better the chosen side is, 1 to 3, of graded answers; 0 for neither."
    )
    criteria: tuple[tuple[str, str], ...] = option(
        "--criterion",
        metavar="NAME=COLUMN",
        type=_pair_like("NAME=COLUMN"),
        help="Column with the answer about a criterion, said as in --choice: makes table criteria. Repeatable.",
    )
    pair: str | None = column("an id of the system pair.")
    judgment: str | None = column("an id of the row.")
    shown_at: str | None = column("the time at which the pair was shown.")
    decided_at: str | None = column("the time at which it was judged.")
    seconds: str | None = column("the seconds from one to the other. Default: computed from both times.")
    visit_gap: float | None = option(
        type=FiniteFloat(min=0),
        metavar="SECONDS",
        help="Make tables follows and visits of when people worked, too: a longer pause ends a visit. Needs both times.",
    )
    task: str | None = option(
        metavar="TASK", help="Name of the task in the tables, the same for all rows. Default: preferences."
    )
    task_column: str | None = column("the task of each row, in place of --task.")
    language: str | None = option(type=click.Choice(["en", "ja"]), help="Language of the texts.")


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@with_options(said=PreferenceFile, reading=CellOptions)
@output_folder("Folder for the tables.")
def import_preferences(file: Path, output: Path, *, said: PreferenceFile, reading: CellOptions) -> None:
    """Convert FILE, preferences from another tool, to tables in DIR.

    FILE is a CSV, JSON or a workbook (.xlsx) with one or several judgments a row; say which of its columns is what. Nested members
    of JSON are columns such as data.query. Every row that cannot be read is named with its line, and then nothing is written. docs/interoperability.md goes through an example. Visits that another
    tool logged are imported by prefcal import-visits.
    """
    from calibration.interchange.preferences import ImportRules, PreferenceColumns, read_foreign_preferences

    if said.task is not None and said.task_column is not None:
        raise click.UsageError("give one of --task and --task-column")
    folder, visit_gap, task = output, said.visit_gap, said.task or "preferences"
    if visit_gap is not None and not (said.shown_at and said.decided_at):
        raise click.UsageError("--visit-gap needs --shown-at and --decided-at")
    if visit_gap is not None and not said.worker:
        raise click.UsageError("--visit-gap needs --worker: visits are of people")
    _check_free(folder, task)
    names = (
        "topic",
        "worker",
        "left",
        "right",
        "choice",
        "strength",
        "pair",
        "judgment",
        "shown_at",
        "decided_at",
    )
    named = PreferenceColumns(
        **{name: getattr(said, name) for name in names},
        decision_seconds=said.seconds,
        task=said.task_column,
        criteria=dict(said.criteria),
    )
    rules = ImportRules(
        answers=said.answers, pairs=said.pairs, task=task, language=said.language, **reading.rules
    )
    imported = read_foreign_preferences(file, named, rules)
    tables = {"preferences": imported.preferences}
    if imported.criteria is not None:
        tables["criteria"] = imported.criteria
    if visit_gap is not None and imported.spans is not None:
        from calibration.interchange.visits import visits_of_work

        tables |= visits_of_work(imported.spans, visit_gap, stream=task)
    _write_preferences(folder, imported, tables, task, visit_gap)
    tell(file, [*imported.notes, *unknown_workers(imported.preferences)], imported.warnings)
    made = [
        f"{len(table):,} answers about criteria"
        if name == "criteria"
        else pluralise(len(table), name.removesuffix("s"))
        for name, table in tables.items()
    ]
    unanswered = [f"{imported.unanswered:,} without an answer"] if imported.unanswered else []
    click.echo(f"{folder}: {', '.join([*made, *unanswered])}")


def unknown_workers(preferences: "pd.DataFrame") -> list[str]:
    """Return a note where nobody knows who judged."""
    from calibration.tables.preferences import knows_workers

    return [] if knows_workers(preferences) else ["who judged is not known: intervals are then over topics"]


def _check_free(folder: Path, study: str | None, *names: str) -> None:
    """Check that no exported tables are in the way.

    With ``study``, only those of another study are in the way.
    """
    from calibration.tables.study_json import read_study

    record = read_study(folder)
    if record is None:
        return
    exported = record.tables.keys() & {*names} if names else record.tables.keys() | record.tasks.keys()
    if exported or study not in {None, record.study}:
        whose = f"the folder has tables of study {record.study!r}, which would be lost"
        raise input_fault(whose, path=folder, cure="name a new folder with -o, or delete this one")


def _write_preferences(
    folder: Path, imported: "Imported", tables: "dict[str, pd.DataFrame]", task: str, visit_gap: float | None
) -> None:
    from calibration.tables.files import write_tables
    from calibration.tables.study_json import StudyRecord, write_study

    of_others = [path for path in folder.glob("criteria.*") if path.suffix in {".csv", ".parquet"}]
    if of_others and "criteria" not in tables:
        problem = "these answers about criteria are of the preferences that would be replaced"
        raise input_fault(
            problem,
            path=of_others[0],
            cure="delete the file, give --criterion, or name another folder with -o",
        )
    spans = imported.spans if imported.spans is not None and len(imported.spans) else None
    study = StudyRecord(
        study=task,
        started_at=None if spans is None else spans["start"].min().to_pydatetime(),
        ended_at=None if spans is None else spans["end"].max().to_pydatetime(),
        visit_gap_seconds=visit_gap or 0.0,
    )
    write_tables(tables, folder)
    write_study(study, folder)


def _reasons() -> tuple[str, ...]:
    from calibration.tables.tables import END_REASONS

    return END_REASONS


def _moment(value: str) -> datetime:
    """Read a time in ISO 8601, with or without a zone."""
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(
            f"{value!r} is not a time in ISO 8601, such as 2026-03-01T09:30:00Z"
        ) from None


@dataclass(frozen=True, kw_only=True)
class VisitFile:
    """Columns of another tool's visits."""

    topic: str = column("the stream that was visited.", required=True)
    worker: str = column("the worker.", required=True)
    start: str = column("the time at which a visit began.", required=True)
    end: str | None = column("the time at which it ended.")
    seconds: str | None = column("its length in seconds, in place of --end.")
    system: str | None = column("the system whose stream it was.")
    visit: str | None = column(
        "the visit's number within worker and topic, from 1. Default: counted by time."
    )
    end_reason: str | None = column(
        "the reason of its end. Default: every visit was left by its worker, and is complete."
    )
    reasons: dict[str, str] = option(
        "--reason",
        metavar="SAID=REASON",
        callback=meanings_of(_reasons),
        multiple=True,
        help="Meaning of a reason: left or idle for complete visits; exhausted, lost or study_end for those that were cut "
        "short. Give it once for each reason. These words are understood without it.",
    )
    study_end: datetime | None = option(
        metavar="TIME",
        type=_moment,
        help="End of the study, in ISO 8601: people could come back until then. Default: the end of the last visit of all.",
    )
    no_follows: bool = option(help="Do not make table follows; one that is in DIR stays as it is.")
    study: str = option(default="visits", help="Name of the study in study.json.")


@click.command("import-visits")
@click.argument("file", type=click.Path(path_type=Path))
@with_options(said=VisitFile, reading=CellOptions)
@output_folder("Folder for the tables.")
def import_visits(file: Path, output: Path, *, said: VisitFile, reading: CellOptions) -> None:
    """Convert FILE, visits from another tool, to tables in DIR.

    The tables are visits and follows. FILE is a CSV, JSON or a workbook (.xlsx) with one row per visit; say which of its columns is what. Every row that cannot be read is named with
    its line, and then nothing is written. Other tables in DIR, and a study.json, stay as they are.
    docs/interoperability.md goes through an example.
    """
    from calibration.interchange.visits import (
        VisitColumns,
        VisitRules,
        follows_of_visits,
        read_foreign_visits,
    )

    folder = output
    if (said.end is None) == (said.seconds is None):
        raise click.UsageError("give one of --end and --seconds")
    _check_free(folder, None, "visits", *([] if said.no_follows else ["follows"]))
    rules = VisitRules(reasons=said.reasons, **reading.rules)
    names = ("topic", "worker", "start", "end", "seconds", "system", "visit", "end_reason")
    columns = VisitColumns(**{name: getattr(said, name) for name in names})
    imported = read_foreign_visits(file, columns, rules)
    end = _end(imported.visits, said.study_end, reading.time_zone)
    follows = {} if said.no_follows else {"follows": follows_of_visits(imported.visits, end)}
    tables = {"visits": imported.visits} | follows
    _write_visits(folder, tables, said.study, end)
    about_end = [] if said.no_follows else _notes_on_end(end, said.study_end, reading.time_zone)
    tell(file, [*imported.notes, *about_end], imported.warnings)
    if said.no_follows:
        _compare_with_follows(folder, imported.visits)
    made = [pluralise(len(table), name.removesuffix("s")) for name, table in tables.items()]
    click.echo(f"{folder}: {', '.join(made)}")


def _compare_with_follows(folder: Path, visits: "pd.DataFrame") -> None:
    """Warn on stderr of visits that do not fit the follows that were in the folder."""
    from calibration.tables.files import read_table, table_paths
    from calibration.tables.tables import TABLES
    from study_app.cli.tables.folder import doubts_on_visits

    path = table_paths(folder).get("follows")
    if path is None:
        return
    frames = {"visits": visits, "follows": read_table(path, TABLES["follows"])}
    faults: list[Fault] = []
    for doubt in [*doubts_on_visits(folder, frames, faults), *faults]:
        click.echo(f"warning: {doubt}", err=True)


def _end(visits: "pd.DataFrame", study_end: datetime | None, time_zone: str | None) -> "pd.Timestamp":
    """Return the end of observation.

    It raises `InputError` where somebody came later.
    """
    import pandas as pd

    from calibration.interchange.times import named_zone

    last = visits["end"].max()
    if study_end is None:
        return last
    if study_end.tzinfo is None:
        study_end = study_end.replace(tzinfo=named_zone(time_zone or "UTC"))
    end = pd.Timestamp(study_end).tz_convert("UTC").as_unit("ms")
    if end < last:
        raise click.UsageError(f"--study-end is before the end of the last visit, {last.isoformat()}")
    return end


def _notes_on_end(end: "pd.Timestamp", study_end: datetime | None, time_zone: str | None) -> list[str]:
    """Return the note about an unknown end of the study."""
    if study_end is None:
        return [
            f"everybody is followed until {end:%Y-%m-%dT%H:%M:%SZ}, the end of the last visit; --study-end says otherwise"
        ]
    if study_end.tzinfo is None and time_zone is None:
        return [f"--study-end has no time zone and is read as {end:%Y-%m-%dT%H:%M:%SZ}"]
    return []


def _write_visits(folder: Path, tables: "dict[str, pd.DataFrame]", study: str, end: "pd.Timestamp") -> None:
    from calibration.tables.files import write_tables
    from calibration.tables.study_json import STUDY_FILE, StudyRecord, renew_records, write_study

    write_tables(tables, folder)
    if (folder / STUDY_FILE).exists():
        renew_records(folder, {name: len(table) for name, table in tables.items()})
        return
    begun = tables["visits"]["start"].min().to_pydatetime()
    write_study(StudyRecord(study=study, started_at=begun, ended_at=end.to_pydatetime()), folder)
