"""`prefcal simulate`: a rehearsal of a study with a crowd whose parameters are known."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from study_app.cli.options import database_option

if TYPE_CHECKING:
    from study_app.simulate.crowd import CrowdReport


@click.command(short_help="Let a simulated crowd go through a study.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--workers", type=click.IntRange(1), required=True, help="How many people take part.")
@click.option(
    "--truth",
    type=click.Path(path_type=Path),
    required=True,
    help="What they are like: a user-model file, with an optional block 'behaviour'.",
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Same seed, same crowd.")
@database_option
def command(file: Path, workers: int, truth: Path, seed: int, database: str | None) -> None:
    """Load the study FILE and let a simulated crowd go through it.

    The crowd fetches the real pages over HTTP, on a virtual clock: days pass in seconds. It votes, reads and judges
    as people with the parameters of --truth would. The database must not hold workers of this study yet.
    """
    from tqdm import tqdm

    from study_app.config import database_url
    from study_app.database import shown_address
    from study_app.simulate.trial import run_trial
    from study_app.simulate.truth import read_truth
    from study_app.study_content import read_study_content
    from study_app.study_file import read_study_file

    content = read_study_content(read_study_file(file))
    url = database_url(database)
    with tqdm(total=workers, unit="worker", disable=None, leave=False) as bar:
        report, _ = run_trial(
            content, url, workers=workers, truth=read_truth(truth), seed=seed, on_end=bar.update
        )
    click.echo(report.sentence())
    _show_effects(url, report)
    click.echo(f"Answers are in {shown_address(url)}")


def _show_effects(url: str, report: "CrowdReport") -> None:
    """Print what each disturbance did to the data."""
    from study_app.cli.output import table_text
    from study_app.database import open_database, transaction
    from study_app.simulate.effects import effects

    database = open_database(url)
    with transaction(database, write=False) as session:
        rows = [(one.habit, one.times, one.said) for one in effects(session, report)]
    database.engine.dispose()
    if rows:
        click.echo("\n" + table_text(("disturbance", "times", "in the data"), rows))
