"""`prefcal convert scores-to-trec`: scores in trec_eval's columns, one file a run."""

from pathlib import Path

import click

from study_app.cli.places import OutFolder


@click.command("scores-to-trec")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    "folder",
    type=OutFolder(),
    metavar="DIR",
    required=True,
    help="Folder for the files.",
)
def command(file: Path, *, folder: Path) -> None:
    """Write the scores in FILE as trec_eval prints them: metric, topic, value; one file DIR/RUN.eval a run.

    FILE is a CSV with run, topic, metric, value, as prefcal score --format csv writes it.
    """
    from calibration.interchange.trec_eval import SUFFIX, read_long_scores, trec_eval_texts
    from metrics.files import write_whole

    scores = read_long_scores(file)
    texts = trec_eval_texts(scores)
    for run, text in texts.items():
        write_whole(folder / f"{run}{SUFFIX}", text)
    click.echo(f"{folder}: {len(scores)} scores of {len(texts)} runs")
