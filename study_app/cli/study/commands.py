"""`prefcal study check`, `preview`, `load`, `pause` and `resume`: from a study file to a study that runs."""

from typing import TYPE_CHECKING

import click

from study_app.cli.options import database_option, opened

if TYPE_CHECKING:
    from study_app.estimate.content import StudyContent


@click.command(name="check")
@click.argument("file", metavar="FILE", type=click.Path())
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Text for people; json for machines, all times in minutes.",
)
def check(file: str, format_: str) -> None:
    """Check the study file FILE and everything it names; changes nothing.

    Prints every fault with file, line and cure. Where there is none: what each task asks of a worker and for how many
    minutes, how many workers the study needs, how many answers each pair gets, and what it costs.
    """
    from study_app.cli.study.estimate_text import as_json, as_text
    from study_app.estimate.content import read_ready_study
    from study_app.estimate.estimate import estimate

    content = read_ready_study(file)
    worded = as_json if format_ == "json" else as_text
    click.echo(worded(content, estimate(content), left_out(content)), nl=False)


def left_out(content: "StudyContent") -> list[str]:
    """Say in a line each what the files say that no worker will see."""
    return [f"  {task.entry.name}: {note}" for task in content.tasks for note in getattr(task, "notes", ())]


@click.command(name="load")
@click.argument("file", metavar="FILE", type=click.Path())
@database_option
def load(file: str, database: str | None) -> None:
    """Check the study file FILE and everything it names, then put it into the database.

    Loading the same file again changes nothing. A changed file says what changes; changes that would corrupt
    answers already given are refused.
    """
    from study_app.estimate.content import read_ready_study
    from study_app.services.researcher.load import load_study
    from study_app.services.researcher.studies import create_keys
    from study_app.store.database import transaction
    from study_app.store.tokens import secret_token, utc_now

    content = read_ready_study(file)
    with transaction(opened(database, create=True), write=True) as session:
        create_keys(session, new_token=secret_token)
        report = load_study(session, content, now=utc_now())
    for change in report.changes:
        click.echo(f"  {change}")
    for line in left_out(content):
        click.echo(line)
    outcome = {
        "new": f"loaded {report.study}",
        "changed": f"loaded the changed {report.study}",
        "unchanged": f"{report.study} is loaded already; nothing changed",
    }
    click.echo(outcome[report.outcome])


@click.command(name="preview")
@click.argument("file", metavar="FILE", type=click.Path())
@click.option(
    "--port",
    default=8001,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port to listen at; 0 takes a free one.",
)
def preview(file: str, port: int) -> None:
    """Serve a list of all pages of the study file FILE on this machine, until stopped (Ctrl-C).

    Each page opens as a worker finds it, at the width of a phone and of a desktop, in a copy of the study of its own that
    is thrown away; searches and days pass by themselves, and one can click on from there.
    """
    import logging
    import signal
    import sys
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from waitress import create_server

    from study_app.cli.serve.command import bound
    from study_app.estimate.content import read_whole_study
    from study_app.preview.app import Preview

    content = read_whole_study(file)
    sock = bound("127.0.0.1", port)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # so that the folder is thrown away then, too
    with TemporaryDirectory(prefix="prefcal-preview-") as folder:
        app = Preview(content, Path(folder))
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # two frames at a time are no crowd
        server = create_server(app, sockets=[sock])
        click.echo(f"{len(app.stations)} pages: http://127.0.0.1:{server.effective_port}/\nCtrl-C ends it.")
        sys.stdout.flush()
        server.run()


@click.command(name="pause")
@click.argument("study", metavar="STUDY")
@database_option
def pause(study: str, database: str | None) -> None:
    """Let nobody new into STUDY; whoever has begun goes on.

    New visitors are told so before they are asked for anything. Loading the study file again does not end a pause.
    """
    from study_app.services.researcher import studies
    from study_app.services.researcher.studies import chosen_study
    from study_app.store.database import transaction
    from study_app.store.tokens import utc_now

    store = opened(database)
    try:
        with transaction(store, write=True) as session:
            changed = studies.pause(session, chosen_study(session, study), now=utc_now())
    finally:
        store.engine.dispose()
    click.echo(
        f"{study} {'is paused: nobody new is let in, whoever has begun goes on' if changed else 'was paused already'}"
    )


@click.command(name="resume")
@click.argument("study", metavar="STUDY")
@database_option
def resume(study: str, database: str | None) -> None:
    """Let new workers into STUDY again."""
    from study_app.services.researcher import studies
    from study_app.services.researcher.studies import chosen_study
    from study_app.store.database import transaction

    store = opened(database)
    try:
        with transaction(store, write=True) as session:
            changed = studies.resume(session, chosen_study(session, study))
    finally:
        store.engine.dispose()
    click.echo(f"{study} {'lets new workers in again' if changed else 'was not paused'}")
