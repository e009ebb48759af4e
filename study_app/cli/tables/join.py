"""Command `prefcal tables join`: several folders of tables become one."""

from dataclasses import asdict, dataclass
from pathlib import Path

import click

from metrics.errors import printable
from study_app.cli.options import option, output_folder, parquet_option, with_options
from study_app.cli.output import wrapped


@dataclass(frozen=True, kw_only=True)
class JoinOptions:
    """What is the same in several folders, as `calibration.join.join.join_tables` takes it."""

    workers: str | None = option(
        type=click.Choice(["same", "different"]),
        help="Whether a name in tables from elsewhere is the same person in each folder.",
    )
    same_content: bool = option(
        help="Topics and systems of one name are the same, though their files differ."
    )
    keep_first: bool = option(
        help="Of what one person did with a topic in two folders, keep what the first has."
    )
    parquet: bool = parquet_option()


@click.command("join")
@click.argument("folders", metavar="TABLES...", nargs=-1, required=True, type=click.Path(path_type=Path))
@output_folder("Folder to write the joined tables into.")
@with_options(choices=JoinOptions)
def join(folders: tuple[Path, ...], output: Path, *, choices: JoinOptions) -> None:
    """Join the folders TABLES, waves of a study or what two servers collected, into one.

    The same platform id is one person where the studies have `pseudonyms: shared KEYFILE`. Else nobody can be recognised: study.json, the
    report and every command on the joined tables say that people may stand twice. What contradicts itself is refused, and nothing is
    written. docs/tables.md says what is done with what stands in several folders.
    """
    from calibration.join.join import join_tables

    joined = join_tables(folders, output, **asdict(choices))
    rows = ", ".join(f"{name} {count:,}" for name, count in joined.rows.items())
    for warning in joined.warnings:
        click.echo(f"warning: {printable(warning)}", err=True)
    click.echo(f"joined {len(folders)} folders into {output.absolute()}")
    for line in (f"rows: {rows}", joined.record.how_joined, joined.record.people_twice):
        if line:
            click.echo(wrapped(printable(line), indent="  "))
    for note in joined.notes:
        click.echo(wrapped(printable(f"note: {note}"), indent="  "), err=True)
