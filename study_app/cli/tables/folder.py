"""Commands `prefcal export`, `features` and `check`: folders of tables."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from metrics.errors import Fault, InputError, input_fault, join_names, percent, pluralise
from study_app.cli.audit import note_command
from study_app.cli.database import database_option, named_database, open_study
from study_app.cli.options import OUT_FOLDER, option, output_folder, parquet_option, with_options
from study_app.cli.output import Output, wrapped

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    import pandas as pd

    from calibration.judges.verdicts import Verdicts
    from calibration.tables.study_json import StudyRecord
    from metrics.arrays import Bools
    from study_app.export import ExportSummary
    from study_app.store.database import Database

MAX_DAMAGE_FAULTS = 5
"""Most faults of a damaged file that are printed.

SQLite reports hundreds for one torn page.
"""


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """What an export has, as `study_app.export.export_study` takes it."""

    raw: bool = option(help="Add DIR/raw: every event, every revision, what is missing.")
    parquet: bool = parquet_option()
    texts: bool = option(
        help="Write the reasons of workers, in their own words: read them before you publish."
    )
    exact_times: bool = option(
        help="Leave all times as they are: with the platform's list they identify workers."
    )


@click.command(name="export")
@click.argument("folder", metavar="[DIR]", type=OUT_FOLDER, required=False)
@output_folder("Folder to write, in place of DIR.", required=False)
@click.option("--study", metavar="NAME", help="Study to export; not needed when only one is loaded.")
@with_options(choices=ExportOptions)
@click.option(
    "--replace-real", is_flag=True, help="Let tables of simulated workers replace those of real ones in DIR."
)
@database_option
def export(
    folder: Path | None,
    output: Path | None,
    study: str | None,
    database: str | None,
    *,
    choices: ExportOptions,
    replace_real: bool,
) -> None:
    """Write the tables of a study into DIR, as CSV, with study.json.

    Large tables are written as Parquet too. DIR appears complete or not at all. An earlier export there is replaced; a folder that holds anything else, or answers of
    real workers where these are simulated, is not touched. Tables have every vote, so an export counts as a view of results: study.json of each later export tells of it.
    All times of a worker are moved by one amount below an hour, so that they do not lead back to a platform's list.
    docs/tables.md says what the tables hold, docs/export.md how they are made.
    """
    from study_app.export import check_not_real, export_study
    from study_app.store.database import transaction
    from study_app.store.results_views import add_results_view

    given = [each for each in (folder, output) if each is not None]
    if len(given) != 1:
        raise click.UsageError("name one folder to write: prefcal export DIR, or -o DIR")
    [folder] = given
    with named_database(database) as store:
        refuse_damaged(store)
        with transaction(store, write=False) as session:
            opened = open_study(session, study)
            name = opened.row.name
            if study is None and str(folder) == name and not folder.exists():
                raise input_fault(
                    f"{name} is the name of the study, and the folder is missing",
                    cure=f"name the folder, as in: prefcal export tables --study {name}",
                )
            if not replace_real:
                check_not_real(session, opened.row, folder)
            summary = export_study(
                session,
                opened.row,
                folder,
                now=opened.now,
                complete=opened.complete_workers(),
                **asdict(choices),
            )
        with transaction(store, write=True) as session:
            add_results_view(session, open_study(session, name).row.id, now=opened.now)
        times = "exact times" if choices.exact_times else "moved times"
        people = pluralise(summary.workers - summary.withdrawn, "person", "people")
        more = [*["with raw"] * choices.raw, *["with reasons"] * choices.texts]
        note_command(store, name, "export", ", ".join([times, *more, f"of {people} under pseudonyms"]))
    click.echo(f"exported {name} to {folder.absolute()}\n{_described(summary)}")
    if summary.running and not choices.exact_times:
        click.echo(
            "note: the study is still running, and the ended_at of each follow is the moment of this export, moved: do not publish"
            " these tables; export again when the study is over",
            err=True,
        )


def refuse_damaged(store: "Database") -> None:
    """Raise `InputError` for a SQLite file that is damaged.

    Parts of it could be missing without notice.
    """
    from study_app.store.backups.sqlite import damage
    from study_app.store.check import RESTORE

    if store.is_sqlite:
        file = Path(store.engine.url.database or "")
        faults = damage(file)
        if faults:
            shown = [
                f"is damaged, and nothing was exported: {' '.join(problem.split())}" for problem in faults
            ]
            raise InputError(
                [
                    Fault(problem=problem, cure=RESTORE, path=str(file))
                    for problem in shown[:MAX_DAMAGE_FAULTS]
                ]
            )


def _described(summary: "ExportSummary") -> str:
    """Describe an export: rows of each table, people, repeats and logs."""
    rows = ", ".join(f"{name} {count:,}" for name, count in summary.rows.items())
    return "\n".join(
        wrapped(line, indent="  ")
        for line in (f"rows: {rows}", _people(summary), _repeats(summary), *_logs(summary))
    )


def _people(summary: "ExportSummary") -> str:
    from study_app.protocol.domain import EXCLUSION_RULE

    unfinished = summary.workers - summary.withdrawn - summary.completed
    return (
        f"workers who consented: {summary.workers:,} (finished: {summary.completed:,}, did not: {unfinished:,}, "
        f"withdrew: {summary.withdrawn:,}); excluded by rule {EXCLUSION_RULE}: {summary.excluded:,}"
    )


def _repeats(summary: "ExportSummary") -> str:
    if not summary.validations:
        return "validation pairs answered: 0"
    consistent, same = (count / summary.validations for count in (summary.consistent, summary.same_option))
    return (
        f"validation pairs answered: {summary.validations:,}; consistent: {percent(consistent)}; "
        f"the very same option: {percent(same)}"
    )


def _logs(summary: "ExportSummary") -> "Iterator[str]":
    gaps = summary.gaps
    yield (
        f"pages that logged: {gaps.pages:,}; with gaps: {gaps.pages_with_gaps:,} (events missing: "
        f"{gaps.missing_events:,}); with a log that stops early: {gaps.pages_without_end:,}; "
        f"answers without a log: {gaps.unlogged_answers:,}"
    )
    if gaps.stream_pages:
        yield (
            f"pages of streams served: {gaps.stream_pages:,}; known by their form only: "
            f"{gaps.stream_pages_by_form_only:,}; silent (unseen, or all lost): {gaps.silent_stream_pages:,}"
        )


@click.command(name="features")
@click.argument("file", metavar="FILE", type=click.Path())
@output_folder("Folder of tables to write them into.", metavar="TABLES")
def features(file: str, output: Path) -> None:
    """Write the tables of features of the study file FILE into the folder TABLES.

    These are positions, push_cells and intents, of everything that FILE names. Other files there stay as they are. Nothing needs to be loaded or served: FILE only says which collection and
    runs belong together, and what the systems are called in your own tables.
    """
    from calibration.tables.files import write_tables
    from calibration.tables.study_json import renew_records
    from study_app.estimate.content import read_whole_study
    from study_app.export.folder import feature_tables

    derived = feature_tables(read_whole_study(file))
    write_tables(derived, output)
    renew_records(output, {name: len(frame) for name, frame in derived.items()})
    for name, frame in derived.items():
        click.echo(f"{name}: {len(frame):,} rows")
    if not {"positions", "push_cells"} & set(derived):
        click.echo("positions: not written; they need systems and importance in FILE", err=True)


@click.command("check")
@click.argument("tables", type=click.Path(path_type=Path), metavar="TABLES")
@with_options(output=Output)
def check(tables: Path, *, output: Output) -> None:
    """Check a folder of tables and its study.json, and say what is in it.

    Faults are named with file, line and cure: tables that were cut after their export first, then those of a file's
    shape, of cells, and of whole rows. What is legal but suspicious is a warning: names that are nearly known ones,
    duplicate rows, tables that were changed.
    docs/tables.md describes the tables.
    """
    from calibration.judges.verdicts import split_verdicts
    from calibration.tables.files import read_tables
    from calibration.tables.people import is_gold
    from calibration.tables.suspicions import in_no_result, suspicions

    study, faults = _study(tables)
    try:
        frames = read_tables(tables)
    except InputError as error:
        raise InputError([*faults, *error.faults]) from None
    warnings = [*suspicions(tables, frames), *doubts_on_visits(tables, frames, faults)]
    if faults:
        raise InputError(faults)
    notes = [f"note: {line}" for line in in_no_result(tables, frames)]
    people, verdicts = split_verdicts(frames)
    lines = [*(f"warning: {line}" for line in [*warnings, *_about_answers(tables, people)]), *notes]
    if output.is_for_people:
        name = f"study {study.study!r}" if study else "no study.json (none is needed)"
        click.echo(f"No fault in {pluralise(len(frames), 'table')}; {name}.")
        if len(verdicts):
            click.echo(wrapped(_about_judges(verdicts)))
        golds = int(is_gold(frames["preferences"]).sum()) if "preferences" in frames else 0
        if golds:
            click.echo(wrapped(f"{pluralise(golds, 'judgment')} of gold pairs: in no estimate."))
    for line in lines:
        click.echo(wrapped(line, indent="  ") if output.is_for_people else line, err=not output.is_for_people)
    if output.is_for_people:
        click.echo()
    output.rows(
        ("table", "rows", "columns", "without values"),
        [(name, len(frame), *_columns(frame)) for name, frame in frames.items()],
    )


def _about_answers(folder: Path, frames: "Mapping[str, pd.DataFrame]") -> "list[str]":
    """Return what is odd about the answers as a whole, one line each."""
    from calibration.checks.adaptive_stopping import adaptive_stopping
    from calibration.checks.same_answers import find_same_answers
    from calibration.tables.preferences import counted_tables

    sentences = [f"{folder}: {each.said(as_one=False)}" for each in find_same_answers(counted_tables(frames))]
    if "preferences" in frames:
        sentences += [
            f"{folder}: task {task}: {each.sentence}" for task, each in adaptive_stopping(frames).items()
        ]
    return sentences


def _about_judges(verdicts: "pd.DataFrame") -> str:
    """Return the number of automatic judges, and of the verdicts of each."""
    counts = verdicts["judge"].value_counts(sort=False)
    each = join_names(f"{name} {count:,}" for name, count in counts.items())
    return (
        f"{pluralise(len(counts), 'judge')} beside people, with {pluralise(len(verdicts), 'verdict')} ({each}): compared with"
        " people's answers, never counted with them."
    )


def _study(folder: Path) -> "tuple[StudyRecord | None, list[Fault]]":
    from calibration.tables.study_json import read_study

    try:
        return read_study(folder), []
    except InputError as error:
        return None, list(error.faults)


def doubts_on_visits(
    folder: Path, frames: "Mapping[str, pd.DataFrame]", faults: "list[Fault]"
) -> "Iterator[Fault | str]":
    """Yield warnings of visits and follows that contradict each other.

    Where most visits do, it adds a fault instead.
    """
    from calibration.tables.files import table_paths
    from calibration.visits.followed_visits import (
        FAULTY_ORPHANS,
        compare_follow_ends,
        orphans,
        orphans_in_words,
        outside,
    )

    if "visits" not in frames or "follows" not in frames or frames["visits"].empty:
        return
    visits, files = frames["visits"], table_paths(folder)
    homeless, astray = orphans(visits, frames["follows"]), outside(visits, frames["follows"])
    doubtful = []
    if homeless.any():
        count = orphans_in_words(homeless.sum(), len(visits))
        doubtful.append((homeless, _orphan_fault(visits, homeless, files["visits"], count)))
    if astray.any():
        doubtful.append((astray, _outside_fault(astray, files["visits"])))
    for wrong, fault in doubtful:
        if wrong.mean() > FAULTY_ORPHANS:
            faults.append(fault)
        else:
            yield fault
    last = compare_follow_ends(visits, frames["follows"])
    if last.is_suspicious:
        yield f"{files['follows']}: {last}; ended_at must be the end of the study, or times away come out too short"


def _orphan_fault(visits: "pd.DataFrame", strange: "Bools", file: Path, count: str) -> "Fault":
    """Return the fault of visits without a follow.

    It has the line of the first of them and the first three names.
    """
    from calibration.tables.raw_files import LineNumbers

    names, lines = visits.loc[strange, ["worker", "topic"]].drop_duplicates(), LineNumbers(file)
    shown = [
        f"worker {worker!r} topic {topic!r} on line {lines[row]}"
        for row, worker, topic in names[:3].itertuples(name=None)
    ]
    more = ", ..." if len(names) > len(shown) else ""
    return Fault(
        problem=f"{count} ({', '.join(shown)}{more})",
        cure="write worker and topic as in table follows, or add the follows that are missing",
        path=str(file),
        line=lines[names.index[0]],
    )


def _outside_fault(astray: "Bools", file: Path) -> "Fault":
    """Return the fault of visits outside their follow, at the first of them."""
    from calibration.tables.raw_files import LineNumbers

    count = f"{astray.sum():,} of {len(astray):,} visits"
    return Fault(
        problem=f"{count} {'begins before its' if astray.sum() == 1 else 'begin before their'} follow did, or after it ended",
        cure="write all times in one time zone, and follows from the enrolment to the end of the study",
        path=str(file),
        line=LineNumbers(file)[astray.argmax()],
    )


def _columns(frame: "pd.DataFrame") -> tuple[str, str]:
    """Return the number of columns with values, and the names of empty ones."""
    filled = frame.notna().any() | frame.empty
    return f"{int(filled.sum())} of {len(filled)}", ", ".join(filled.index[~filled])


def read_with_warnings(
    folder: str | Path, *, compact: "Collection[str]" = ("activity",), for_votes: bool = False
) -> "dict[str, pd.DataFrame]":
    """Read the tables of people as `read_with_verdicts` does."""
    return read_with_verdicts(folder, compact=compact, for_votes=for_votes)[0]


def read_with_verdicts(
    folder: str | Path,
    *,
    compact: "Collection[str]" = ("activity",),
    for_votes: bool = False,
    by: str | None = None,
) -> "tuple[dict[str, pd.DataFrame], Verdicts]":
    """Read the tables of people and the verdicts of judges, with warnings.

    Warnings are about misspelt names, changed tables, and ends that may be cut off.

    Parameters
    ----------
    folder : str or Path
        Where the tables are.
    compact : collection of str
        Tables whose texts are to be categories, as for `calibration.tables.files.read_tables`.
    for_votes : bool
        Of the preferences only what votes rest on is needed, and what was read for them: the table takes a seventh of the memory.
    by : str, optional
        The criterion whose answers stand in place of the overall choices.

    Returns
    -------
    people : dict of str to DataFrame
        As `calibration.tables.people.people_tables` returns them.
    verdicts : DataFrame
        As `calibration.judges.verdicts.split_verdicts` returns them.

    Raises
    ------
    InputError
        As `calibration.tables.files.read_tables` does, or if study.json is damaged: nobody could say then whether tables are whole; or
        if there is no such criterion.
    """
    from calibration.judges.verdicts import split_verdicts
    from calibration.tables.criteria import by_criterion
    from calibration.tables.files import read_tables
    from calibration.tables.people import judge_names
    from calibration.tables.preferences import VOTED
    from calibration.tables.study_json import read_study
    from calibration.tables.suspicions import suspicions_in_short

    tables = read_tables(folder, compact=[*compact, *(["preferences"] if for_votes else [])])
    read_study(folder)
    for line in suspicions_in_short(folder, tables):
        click.echo(f"warning: {line}", err=True)
    if by is not None:
        tables = by_criterion(tables, by, place=str(Path(folder) / "criteria.csv"))
    people, verdicts = split_verdicts(tables)
    if by is not None and verdicts.empty and judge_names(tables):
        click.echo(
            f"no judge that is no person answered about {by}, so none is held against people", err=True
        )
    found = dict(people)
    if for_votes and "preferences" in found:
        ids = ["judgment"] * ("reads" in found)
        graded = ["strength"] * bool(found["preferences"]["strength"].notna().any())
        found["preferences"] = found["preferences"][[*VOTED, *graded, *ids]]
    return found, verdicts


def preferences_of_task(preferences: "pd.DataFrame | None", task: str | None, folder: Path) -> "pd.DataFrame":
    """Return the judgments of a task, of the only one where none is named.

    Raises
    ------
    InputError
        If there are none, no such task, or several and none is named.
    """
    path = folder / "preferences.csv"
    if preferences is None or preferences.empty:
        raise input_fault(
            "no person has judged a pair", path=path, cure="give tables with preferences of people"
        )
    tasks = sorted(preferences["task"].unique())
    if (len(tasks) > 1 and task is None) or (task is not None and task not in tasks):
        problem = "there are several tasks" if task is None else f"there is no task {task!r}"
        raise input_fault(problem, path=path, cure=f"give --task, one of {join_names(tasks)}")
    return preferences[preferences["task"] == (task or tasks[0])]
