"""Command `prefcal simulate`: a crowd with known parameters goes through a study."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from study_app.cli.database import database_option
from study_app.cli.options import MAX_COUNT, FiniteFloat, option, seed_option, with_options
from study_app.cli.progress import shown_progress

if TYPE_CHECKING:
    from study_app.simulate.crowd import CrowdReport


REAL_ARRIVAL_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True)
class CrowdOptions:
    """Size and habits of a crowd, and the server that it goes to."""

    workers: int = option(
        type=click.IntRange(1, MAX_COUNT), required=True, help="Number of simulated workers."
    )
    truth: Path | None = option(
        type=click.Path(path_type=Path),
        help="Parameters of the crowd: a user-model file, with an optional block 'behaviour'. Default: the values that "
        "docs/simulation.md lists, and no bad habits.",
    )
    seed: int = seed_option("Random seed; the same seed gives the same crowd.")
    url: str | None = option(
        help="Go to the study server that runs there, such as http://127.0.0.1:8000, on the real clock."
    )
    arrive_within: float | None = option(
        type=FiniteFloat(0),
        metavar="SECONDS",
        help=f"With --url: time in which all workers arrive. Default: {REAL_ARRIVAL_SECONDS:g}.",
    )


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@with_options(choices=CrowdOptions)
@database_option
def simulate(file: Path, database: str | None, *, choices: CrowdOptions) -> None:
    """Send a simulated crowd through the study FILE, which is loaded first.

    The crowd requests the real pages, on a virtual clock: days pass in seconds. It votes, reads and judges
    as people with the parameters of --truth would, by default with those of docs/simulation.md. The database must not hold workers of this study yet.

    With --url nothing is loaded: the crowd goes to a server on which FILE is loaded already, and waits as people do.
    """
    from study_app.config import database_url
    from study_app.estimate.content import read_whole_study
    from study_app.simulate.browser import WallClock
    from study_app.simulate.crowd_parameters import CrowdParameters, read_truth
    from study_app.simulate.trial import run_on_server, run_trial
    from study_app.store.database import shown_address

    if choices.url is not None and database is not None:
        raise click.UsageError("--database is not used with --url: answers go to that server's database.")
    if choices.url is None and choices.arrive_within is not None:
        raise click.UsageError("--arrive-within is for --url only.")
    content, workers = read_whole_study(file), choices.workers
    people = read_truth(choices.truth) if choices.truth else CrowdParameters()
    if choices.truth is None:
        click.echo(f"no --truth: {people.sentence(content)} (docs/simulation.md lists every value)", err=True)
    with shown_progress(
        workers,
        lambda through: f"still simulating: {through} of {workers} workers are through",
        unit="worker",
    ) as on_end:
        if choices.url is None:
            address = database_url(database)
            report, _ = run_trial(
                content, address, workers=workers, truth=people, seed=choices.seed, on_end=on_end
            )
            click.echo(report.sentence())
            _show_effects(address, report)
            click.echo(f"Answers are in {shown_address(address)}")
            return
        url, within = choices.url.partition("/s/")[0], choices.arrive_within
        report = run_on_server(
            content,
            url,
            arrival_seconds=REAL_ARRIVAL_SECONDS if within is None else within,
            clock=WallClock(),
            workers=workers,
            truth=people,
            seed=choices.seed,
            on_end=on_end,
        )
        click.echo(report.sentence())
        for habit, times in sorted(report.habits.items()):
            click.echo(f"{habit.replace('_', ' ')}: {times}")
        click.echo(f"Answers are with the server at {url}")


def _show_effects(url: str, report: "CrowdReport") -> None:
    """Print what each disturbance did to the data."""
    from study_app.cli.output import table_text
    from study_app.simulate.crowd import effects
    from study_app.store.database import open_database, transaction

    database = open_database(url)
    with transaction(database, write=False) as session:
        happened = list(effects(session, report))
    database.engine.dispose()
    together: dict[str, list[str]] = {}
    for effect in happened:
        together.setdefault(effect.said, []).append(f"{effect.habit} {effect.times}")
    if happened:
        rows = [(", ".join(habits), effect_text) for effect_text, habits in together.items()]
        click.echo("\n" + table_text(("disturbances", "in the data"), rows))
