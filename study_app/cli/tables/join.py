"""Command `prefcal tables join`: several folders of tables become one."""

from pathlib import Path

import click

from metrics.errors import printable
from study_app.cli.options import output_folder
from study_app.cli.output import wrapped


@click.command("join")
@click.argument("folders", metavar="TABLES...", nargs=-1, required=True, type=click.Path(path_type=Path))
@output_folder("Folder to write the joined tables into.")
@click.option(
    "--workers",
    type=click.Choice(["same", "different"]),
    help="Whether a name in tables from elsewhere is the same person in each folder.",
)
@click.option(
    "--same-content",
    is_flag=True,
    help="Topics and systems of one name are the same, though their files differ.",
)
@click.option(
    "--keep-first",
    is_flag=True,
    help="Of what one person did with a topic in two folders, keep what the first has.",
)
@click.option(
    "--parquet", is_flag=True, help="Write every table as Parquet too, also those below 100,000 rows."
)
def join(
    folders: tuple[Path, ...],
    output: Path,
    workers: str | None,
    *,
    same_content: bool,
    keep_first: bool,
    parquet: bool,
) -> None:
    """Join the folders TABLES, waves of a study or what two servers collected, into one.

    The same platform id is one person where the studies have `pseudonyms: shared KEYFILE`. Else nobody can be recognised: study.json, the
    report and every command on the joined tables say that people may stand twice. What contradicts itself is refused, and nothing is
    written. docs/tables.md says what is done with what stands in several folders.
    """
    from calibration.join.join import join_tables

    joined = join_tables(
        folders,
        output,
        workers=workers,  # type: ignore[arg-type]
        same_content=same_content,
        keep_first=keep_first,
        parquet=parquet,
    )
    rows = ", ".join(f"{name} {count:,}" for name, count in joined.rows.items())
    for warning in joined.warnings:
        click.echo(f"warning: {printable(warning)}", err=True)
    click.echo(f"joined {len(folders)} folders into {output.absolute()}")
    for line in (f"rows: {rows}", joined.record.how_joined, joined.record.people_twice):
        if line:
            click.echo(wrapped(printable(line), indent="  "))
    for note in joined.notes:
        click.echo(wrapped(printable(f"note: {note}"), indent="  "), err=True)
