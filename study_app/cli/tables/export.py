"""Tables for analysis: `prefcal export` writes those of a study that ran, `features` those of a collection and runs."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from study_app.cli.options import database_option, opened
from study_app.cli.places import OutFolder

if TYPE_CHECKING:
    from study_app.export import ExportSummary


@click.command(name="export")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--study", metavar="NAME", help="Which study; not needed when only one is loaded.")
@click.option("--raw", is_flag=True, help="Add DIR/raw: every event, every revision, what is missing.")
@database_option
def export(folder: Path, study: str | None, raw: bool, database: str | None) -> None:
    """Write the tables of a study into DIR, as CSV and Parquet, with study.json.

    DIR appears complete or not at all. An earlier export there is replaced; a folder that holds anything else is
    not touched. docs/tables.md says what the tables hold, docs/export.md how they are made.
    """
    from metrics.errors import input_fault
    from study_app.export import export_study
    from study_app.services.researcher.studies import chosen_study
    from study_app.store.database import transaction
    from study_app.store.tokens import utc_now

    with transaction(opened(database), write=False) as session:
        chosen = chosen_study(session, study)
        if study is None and str(folder) == chosen.name and not folder.exists():
            raise input_fault(
                f"{chosen.name} is the name of the study, and the folder is missing",
                cure=f"name the folder, as in: prefcal export tables --study {chosen.name}",
            )
        summary = export_study(session, chosen, folder, now=utc_now(), raw=raw)
        click.echo(f"exported {chosen.name} to {folder.absolute()}\n\n{_described(summary)}")


def _described(summary: "ExportSummary") -> str:
    """Say what was exported: rows of each table, people, repeats, logs."""
    from tabulate import tabulate

    table = tabulate(summary.rows.items(), headers=("table", "rows"), intfmt=",", tablefmt="simple")
    return "\n".join([table, "", _people(summary), _repeats(summary), _logs(summary)])


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
        f"validation pairs answered: {summary.validations:,}; consistent: {consistent:.0%}; "
        f"the very same option: {same:.0%}"
    )


def _logs(summary: "ExportSummary") -> str:
    gaps = summary.gaps
    logs = (
        f"pages that logged: {gaps.pages:,}; with gaps: {gaps.pages_with_gaps:,} (events missing: "
        f"{gaps.missing_events:,}); whose log stops before their end: {gaps.pages_without_end:,}; "
        f"answers without a log: {gaps.unlogged_answers:,}"
    )
    if not gaps.stream_pages:
        return logs
    return (
        f"{logs}\npages of streams served: {gaps.stream_pages:,}; told of by their form only: "
        f"{gaps.stream_pages_by_form_only:,}; silent (unseen, or all lost): {gaps.silent_stream_pages:,}"
    )


@click.command(name="features")
@click.argument("file", metavar="FILE", type=click.Path())
@click.option(
    "-o",
    "--output",
    "tables",
    metavar="TABLES",
    type=OutFolder(),
    required=True,
    help="Folder of tables to write them into.",
)
def features(file: str, tables: Path) -> None:
    """Write the tables positions, push_cells and intents of everything the study file FILE names into the folder TABLES.

    Other files there stay as they are. Nothing needs to be loaded or served: FILE only says which collection and
    runs belong together, and what the systems are called in your own tables.
    """
    from calibration.tables.files import write_tables
    from calibration.tables.study import renew_records
    from study_app.estimate.content import read_whole_study
    from study_app.export.features import feature_tables

    derived = feature_tables(read_whole_study(file))
    write_tables(derived, tables)
    renew_records(tables, {name: len(frame) for name, frame in derived.items()})
    for name, frame in derived.items():
        click.echo(f"{name}: {len(frame):,} rows")
    if not {"positions", "push_cells"} & set(derived):
        click.echo("positions: not written; they need systems and importance in FILE", err=True)
