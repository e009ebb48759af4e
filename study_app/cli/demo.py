"""Command `prefcal demo`: the main commands in order, on a bundled study."""

import shutil
import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from metrics.errors import input_fault
from metrics.results import ALL
from study_app.cli import cli
from study_app.cli.options import OUT_FOLDER, port_option

if TYPE_CHECKING:
    from metrics.events import EventCollection, UpdateRun

MARK = ".prefcal-demo"
"""Name of a file that marks a demo's folder, so that a later demo may replace it."""

SEED = 1
STREAM_USERS = 2_000


@click.command()
@click.option(
    "-o",
    "--out",
    type=OUT_FOLDER,
    metavar="DIR",
    default=Path("prefcal-demo"),
    show_default=True,
    help="Folder for everything the demo makes; an earlier demo there is replaced.",
)
@click.option(
    "--workers", type=click.IntRange(16, 110), default=60, show_default=True, help="Size of the crowd."
)
@port_option(8000, "Port to serve at afterwards.")
@click.option("--no-serve", is_flag=True, help="End after the report, without serving.")
def demo(out: Path, workers: int, port: int, *, no_serve: bool) -> None:
    """Go through the whole loop on the bundled study, then keep serving it.

    A simulated crowd with known parameters takes part through the real pages: it judges summaries, then follows streams for days.
    Its answers and logs are exported, the user model is fitted from them and set beside the truth, streams are scored
    for the people that were fitted, M-measure and its ablations are compared with the preferences, and a report is
    written. Then the study goes on being served, so that you can take part yourself.
    """
    from study_app.simulate.crowd_parameters import write_demo_truth

    begun = time.monotonic()
    _prepare(out)
    study, truth, database = out / "study" / "study.yaml", out / "truth.json", out / "prefcal.sqlite3"
    write_demo_truth(truth, study, seed=SEED)
    crowd = f"--workers {workers} --truth {truth} --seed {SEED} --database {database}"
    _run(f"simulate {study} {crowd}")
    _run(f"export {out / 'tables'} --database {database}")
    _run(f"fit {out / 'tables'} -o {out / 'user-model.json'}")
    _show_recovery(out / "user-model.json", truth)
    _show_stream_utility(study, fitted=out / "user-model.json", true=truth)
    _run(f"agree {out / 'tables'} --model {out / 'user-model.json'} -o {out}")
    _run(f"report {out}")
    click.echo(f"\nThe whole loop took {time.monotonic() - begun:.0f} s. The report is {out / 'report.html'}")
    if not no_serve:
        click.echo("The study is being served now: be the next worker. Ctrl-C ends it.")
        with socket.socket() as probe:
            is_taken = probe.connect_ex(("127.0.0.1", port)) == 0
        _run(f"serve --port {0 if is_taken else port} --database {database}")


def _run(line: str) -> None:
    """Run one prefcal command as if it had been typed, and show it first."""
    click.secho(f"\n$ prefcal {line}", bold=True)
    sys.stdout.flush()
    cli.main(line.split(" "), prog_name="prefcal", standalone_mode=False, obj="demo")


def _prepare(out: Path) -> None:
    """Create the folder with a copy of the bundled study.

    Only an earlier demo's folder is replaced.
    """
    from study_app.config import resource_folder

    if " " in str(out):
        raise input_fault("the folder's name has a space", path=out, cure="choose a name without")
    if out.exists() and any(out.iterdir()):
        if not (out / MARK).is_file():
            raise input_fault(
                "the folder holds something else than a demo", path=out, cure="name a new folder with --out"
            )
        shutil.rmtree(out)
    out.mkdir(parents=True, exist_ok=True)
    (out / MARK).touch()
    shutil.copytree(resource_folder("examples") / "two_layered", out / "study")


def _show_recovery(model: Path, truth: Path) -> None:
    """Print fitted beside true values, as `prefcal fit` prints parameters."""
    from calibration.user_model.model import read_user_model
    from calibration.user_model.units import for_people, label, scales
    from study_app.cli.output import table_text
    from study_app.simulate.crowd_parameters import recovery_rows, recovery_sentence

    click.secho("\nFitted against true:", bold=True)
    fitted, true = read_user_model(model), read_user_model(truth)
    rows, printed = recovery_rows(fitted, true), scales(fitted.parameters)
    kept = [row for row in rows if row.topic is None and row.name in for_people(fitted.parameters)]
    cells = [
        (
            label(row.name, fitted.parameters),
            scale.number(row.truth),
            scale.amount(row.estimate),
            scale.interval((row.low, row.high)),
            *([] if all(each.holds for each in kept) else ["" if row.holds else "<- misses"]),
        )
        for row in kept
        for scale in [printed[row.name]]
    ]
    columns = ("parameter", "true", "fitted", "95 %", "")
    click.echo(table_text(columns[: len(cells[0])], cells).rstrip("\n"))
    covered = sum(row.holds for row in kept)
    click.echo(f"{covered} of {len(kept)} intervals hold the truth; at 95 % one in twenty misses by chance.")
    click.echo(recovery_sentence(rows))


def _show_stream_utility(study: Path, *, fitted: Path, true: Path) -> None:
    """Print MSU of every system of a study's streams, for fitted and true people."""
    from tabulate import tabulate

    from metrics.readers.tempsum import read_events, read_update_run
    from study_app.study.entries import FollowedTask, collection_paths
    from study_app.study.file import read_study_file
    from study_app.tasks.kinds import KINDS

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


def _utilities(events: "EventCollection", runs: "list[UpdateRun]", model: str) -> dict[str, float]:
    """Return the mean MSU of each system for the people of a user model."""
    from calibration.user_model.msu import stream_model

    people = stream_model(model, events, count=STREAM_USERS, seed=SEED)
    for note in people.notes:
        click.echo(f"{model}: {note}", err=True)
    return {
        score.run: score.value for score in people.scores(runs, people.measures[:1]) if score.topic == ALL
    }
