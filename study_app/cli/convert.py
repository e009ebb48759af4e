"""Command `prefcal convert`: exchange of preferences and scores with other tools."""

from dataclasses import dataclass
from pathlib import Path

import click

from metrics.errors import pluralise, printable
from metrics.files import write_atomically
from study_app.cli.options import exclude_option, option, output_folder, with_options
from study_app.cli.output import ToFile, csv_text
from study_app.cli.tables.imports import tell, unknown_workers


@dataclass(frozen=True, kw_only=True)
class LinesOptions:
    """Judgments to write as lines, and how."""

    task: str | None = option(metavar="NAME", help="Task to write; needed where the tables have several.")
    exclude: str = exclude_option()
    winner_first: bool = option(
        help="Write four fields, the preferred system first, and leave out ties: for tools that know no others."
    )


@click.command("tables-to-lines")
@click.argument("tables", type=click.Path(path_type=Path))
@with_options(choices=LinesOptions, output=ToFile)
def tables_to_lines(tables: Path, *, choices: LinesOptions, output: ToFile) -> None:
    """Write the preferences in TABLES as lines for other tools.

    A line has topic, a, b, worker and choice, separated by tabs: a stood on the left, b on the right; the choice is a, b, equally_good or equally_bad. Where answers are graded,
    a sixth field has the strength, and the first line names the fields. Repeats for validation, people who withdrew and people whom the study's rules exclude are left out.
    """
    from calibration.interchange.plain_files import GRADED, preference_lines
    from study_app.cli.tables.folder import preferences_of_task, read_with_warnings

    read = read_with_warnings(tables)
    judged = preferences_of_task(read.get("preferences"), choices.task, tables)
    text = preference_lines(
        judged,
        workers=read.get("workers"),
        exclude=choices.exclude == "rules",
        winner_first=choices.winner_first,
    )
    left_out = len(judged) - text.removeprefix(GRADED).count("\n")
    if "criteria" in read:
        click.echo("note: lines have no place for answers about criteria; these stay in the tables", err=True)
    if choices.winner_first and judged["strength"].notna().any():
        click.echo("note: lines with the winner first do not say how much better it is", err=True)
    if left_out:
        click.echo(f"{left_out} of {pluralise(len(judged), 'judgment')} left out", err=True)
    output.text(text)


@click.command("lines-to-tables")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--task", default="preferences", show_default=True, help="Name of the task in the tables.")
@click.option(
    "--columns",
    metavar="NAMES",
    help="Names of the fields, in the order of the file: topic,left,right and any of worker, winner or choice, and strength. Without it"
    " header, number and values of the fields tell; where these cannot, you are asked.",
)
@output_folder("Folder for the tables.")
def lines_to_tables(file: Path, output: Path, task: str, columns: str | None) -> None:
    """Convert FILE, lines of topic, a, b, worker and choice, to tables in DIR.

    Fields are separated by tabs, or by blanks in a line without a tab. The choice is a, b, equally_good (or =) or
    equally_bad. Where all lines have four fields, and the fourth can only be the worker, a was preferred; where it may be the
    winner, --columns must say it.
    """
    from calibration.interchange.plain_files import read_preference_lines
    from calibration.tables.files import write_tables
    from calibration.tables.study_json import StudyRecord, write_study

    preferences = read_preference_lines(
        file, task=task, columns=None if columns is None else columns.split(",")
    )
    write_tables({"preferences": preferences}, output)
    write_study(StudyRecord(study=task), output)
    tell(file, unknown_workers(preferences), [])
    click.echo(f"{output}: {pluralise(len(preferences), 'preference')}")


@click.command("scores-to-trec")
@click.argument("file", type=click.Path(path_type=Path))
@output_folder("Folder for the files.")
def scores_to_trec(file: Path, output: Path) -> None:
    """Write the scores in FILE as trec_eval prints them, a file per run.

    Each DIR/RUN.eval has lines of metric, topic and value.

    FILE is a CSV with run, topic, metric, value, as prefcal score --format csv writes it.
    """
    from calibration.interchange.trec_eval import SUFFIX, read_long_scores, trec_eval_texts

    scores = read_long_scores(file)
    texts = trec_eval_texts(scores)
    for run, text in texts.items():
        write_atomically(output / f"{run}{SUFFIX}", text)
    click.echo(f"{output}: {len(scores)} scores of {len(texts)} runs")


def _column_names(text: str) -> tuple[str, ...]:
    """Parse the option that names columns, such as ``metric,topic,value``.

    No name may occur twice; a metric and a value are required.
    """
    names = tuple(name.strip() for name in text.split(","))
    if len(set(names)) < len(names) or not {"metric", "value"} <= {*names} <= {
        "run",
        "topic",
        "metric",
        "value",
    }:
        raise click.BadParameter("name each of run, topic, metric and value once, as in topic,metric,value")
    return names


@click.command("trec-to-scores")
@click.argument("files", nargs=-1, required=True, metavar="[RUN=]FILE...")
@click.option(
    "--columns",
    metavar="NAMES",
    type=_column_names,
    help="Names of the fields of a line, where their values do not identify them: metric,topic,value or topic,metric,value or run,metric,topic,value.",
)
@with_options(output=ToFile)
def trec_to_scores(files: tuple[str, ...], *, columns: tuple[str, ...] | None, output: ToFile) -> None:
    """Collect what evaluation tools printed for several runs into one CSV.

    Its columns are run, topic, metric and value. FILE is what trec_eval -q or ir_measures -q printed for a run, also through pyserini, or a table of several runs: of gdeval, ndeval,
    compatibility.py or autojudge-evaluate, with a column run. What they call all, amean, average or mean becomes the topic all. The run is the one that the file names in its row runid, or else the file's name up to its first dot; RUN=FILE
    says it. Runs must be called as the systems of the study are for prefcal agree --scores.
    """
    from calibration.interchange.trec_eval import COLUMNS, read_trec_evals

    named: dict[str | Path, str | None] = {}
    for given in files:
        run, equals, path = given.partition("=")
        is_named = equals and not Path(given).is_file()
        named[path if is_named else given] = run if is_named else None
    scores, notes = read_trec_evals(named, columns=columns)
    for note in notes:
        click.echo(printable(note), err=True)
    output.text(csv_text(COLUMNS, scores.to_numpy().tolist()))
