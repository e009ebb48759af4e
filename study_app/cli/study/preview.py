"""`prefcal study preview`: every page of a study as workers see it, storing nothing."""

import click


@click.command(name="preview")
@click.argument("file", metavar="FILE", type=click.Path())
@click.option(
    "--port",
    default=8001,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port to listen at; 0 takes a free one.",
)
def command(file: str, port: int) -> None:
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
        preview = Preview(content, Path(folder))
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # two frames at a time are no crowd
        server = create_server(preview, sockets=[sock])
        click.echo(
            f"{len(preview.stations)} pages: http://127.0.0.1:{server.effective_port}/\nCtrl-C ends it."
        )
        sys.stdout.flush()
        server.run()
