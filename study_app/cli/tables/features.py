"""`prefcal features`: the tables that come from collections and runs, for people with logs of their own."""

from pathlib import Path

import click

from study_app.cli.places import OutFolder


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
def command(file: str, tables: Path) -> None:
    """Write the tables positions, push_cells and intents of everything the study file FILE names into the folder TABLES.

    Other files there stay as they are. Nothing needs to be loaded or served: FILE only says which collection and
    runs belong together, and what the systems are called in your own tables.
    """
    from calibration.tables.files import write_tables
    from calibration.tables.records import renew_records
    from study_app.estimate.content import read_whole_study
    from study_app.export.features import feature_tables

    derived = feature_tables(read_whole_study(file))
    write_tables(derived, tables)
    renew_records(tables, {name: len(frame) for name, frame in derived.items()})
    for name, frame in derived.items():
        click.echo(f"{name}: {len(frame):,} rows")
    if not {"positions", "push_cells"} & set(derived):
        click.echo("positions: not written; they need systems and importance in FILE", err=True)
