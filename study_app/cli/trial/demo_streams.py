"""The demo's second half: Modeled Stream Utility of the streams, for the people who were fitted and for the true ones."""

from pathlib import Path

import click
from tabulate import tabulate

from calibration.user_model.msu import stream_model
from metrics.events import EventCollection, UpdateRun
from metrics.readers.tempsum import read_events
from metrics.readers.tempsum_runs import read_update_run
from metrics.results import ALL
from study_app.study.entries import FollowedTask, collection_paths
from study_app.study.file import read_study_file
from study_app.tasks.kinds import KINDS

USERS = 2_000
SEED = 1


def show_stream_utility(study: Path, *, fitted: Path, true: Path) -> None:
    """Print MSU of every system of a study's streams under two user models, side by side."""
    click.secho("\nModeled Stream Utility, for the fitted people and for the true ones:", bold=True)
    for task in read_study_file(study, KINDS).entry.tasks:
        if isinstance(task, FollowedTask):
            events = read_events(
                **{kind: study.parent / path for kind, path in collection_paths(task).items()}
            )
            runs = [read_update_run(study.parent / path, name=name) for name, path in task.systems.items()]
            columns = [_utilities(events, runs, str(model)) for model in (fitted, true)]
            rows = [(run.name, *(column[run.name] for column in columns)) for run in runs]
            click.echo(tabulate(rows, headers=["system", "MSU, fitted", "MSU, true"], floatfmt=".2f"))


def _utilities(events: EventCollection, runs: list[UpdateRun], model: str) -> dict[str, float]:
    """Return system -> its mean MSU for the people of a user model."""
    people = stream_model(model, events, count=USERS, seed=SEED)
    for note in people.notes:
        click.echo(f"{model}: {note}", err=True)
    return {
        score.run: score.value for score in people.scores(runs, people.measures[:1]) if score.topic == ALL
    }
