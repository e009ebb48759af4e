"""`prefcal convert trec-to-scores`: what trec_eval printed becomes one CSV for `prefcal agree --scores`."""

from pathlib import Path

import click

from study_app.cli.output import Output
from study_app.cli.places import OutFile


@click.command("trec-to-scores")
@click.argument("files", nargs=-1, required=True, metavar="[RUN=]FILE...")
@click.option(
    "-o",
    "--output",
    "file",
    type=OutFile(terminal=True),
    metavar="FILE",
    help="Write into FILE, not on the terminal.",
)
def command(files: tuple[str, ...], *, file: Path | None) -> None:
    """Put what trec_eval -q printed for several runs, one file a run, into a CSV with run, topic, metric, value.

    The run is the one that the file names in its row runid, or else the file's name up to its first dot; RUN=FILE
    says it. Runs must be called as the systems of the study are for prefcal agree --scores.
    """
    from calibration.interchange.trec_eval import COLUMNS, read_trec_evals

    named: dict[str | Path, str | None] = {}
    for given in files:
        run, equals, path = given.partition("=")
        is_named = equals and not Path(given).is_file()
        named[path if is_named else given] = run if is_named else None
    scores = read_trec_evals(named)
    Output(format="csv", file=file).rows(COLUMNS, scores.to_numpy().tolist())
