"""`prefcal serve`: the loaded studies, for workers."""

import errno
import logging
import random
import signal
import socket
import sys
from typing import TYPE_CHECKING

import click

from study_app.cli.options import database_option
from study_app.cli.serve.addresses import address_lines

if TYPE_CHECKING:
    from flask import Flask

BACKLOG = 1_024
MOST_BY_DEFAULT = 2
"""So many processes at most where nobody says how many: a small server has other things to do."""


@click.command()
@click.option(
    "--host",
    metavar="ADDRESS",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen at. The default answers this machine only, 0.0.0.0 other machines too.",
)
@click.option(
    "--port",
    default=8000,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port to listen at; 0 takes a free one.",
)
@click.option(
    "--processes",
    type=click.IntRange(1, 256),
    help="How many processes share the work; each can use a core. "
    f" [default: one a core on Linux, at most {MOST_BY_DEFAULT}; else 1]",
)
@click.option(
    "--debug",
    is_flag=True,
    help="Use Flask's development server: for those who change prefcal, not for studies.",
)
@database_option
def command(host: str, port: int, processes: int | None, database: str | None, *, debug: bool) -> None:
    """Serve every loaded study until stopped (Ctrl-C).

    Load a study first: prefcal study load FILE. Printed are, for each study, the address for workers and the one that shows you how
    far it is. Each request is logged on stderr as one line of JSON, without answers or platform ids.

    A SQLite file can have one server at a time. For workers on the internet put a proxy with HTTPS before it; docs/deploy.md leads
    there.
    """
    from study_app.config import Config, database_url
    from study_app.store.database import shown_address
    from study_app.store.serving_lock import serving_lock
    from study_app.web.app import create_app

    logging.getLogger("alembic").setLevel(
        logging.WARNING
    )  # it says at every start that there is nothing to do
    url = database_url(database)
    wanted = processes or usual_processes()
    with serving_lock(url):
        app = create_app(Config(database=url))
        sys.stderr.write(f"database: {shown_address(url)}\n")
        logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
        logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False  # no line says them
        if debug:
            logging.getLogger("werkzeug").setLevel(logging.WARNING)  # its lines have tokens and platform ids
            _announce(app, host, port)
            app.run(host=host, port=port, debug=True, use_reloader=False, use_debugger=False)
        elif wanted > 1:
            _serve_processes(app, host=host, port=port, processes=wanted)
        else:
            serve_app(app, host=host, port=port)


def usual_processes() -> int:
    """Return how many processes serve when nobody says how many; gunicorn, which looks after several, is not for Windows."""
    from study_app.cli.serve.waitress_server import cores

    return min(MOST_BY_DEFAULT, max(1, len(cores()))) if sys.platform != "win32" else 1


def _serve_processes(app: "Flask", *, host: str, port: int, processes: int) -> None:
    from study_app.cli.serve.processes import serve_processes

    sock = bound(host, port)
    _announce(app, host, sock.getsockname()[1])
    serve_processes(app, sock, processes)


def serve_app(app: "Flask", *, host: str, port: int) -> None:
    """Serve ``app`` from this process with the production server until it is stopped.

    Raises
    ------
    InputError
        If the port is taken or the host is none of this machine.
    """
    from study_app.cli.serve.waitress_server import cores, spare_collections, stay_on, waitress_server
    from study_app.web.serving import NAME

    sock = bound(host, port)
    usable = cores()
    if usable and app.extensions[NAME].database.is_sqlite:
        stay_on(random.choice(usable))
    spare_collections()
    server = waitress_server(app, sock)
    signal.signal(
        signal.SIGTERM, signal.default_int_handler
    )  # as on Ctrl-C, what was begun is answered first
    _announce(app, host, server.effective_port)
    server.run()


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that listens; raises `InputError` if the port is taken or the host is none of this machine."""
    from metrics.errors import input_fault

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            problem, cure = (
                f"port {port} of {host} is taken",
                "stop what uses it, or choose another with --port",
            )
        else:
            problem = f"{host} port {port} cannot be served ({str(error.strerror).partition(' (')[0]})"
            cure = "choose another --host or --port"
        raise input_fault(problem, cure=cure) from error


def _announce(app: "Flask", host: str, port: int) -> None:
    from study_app.store.database import transaction
    from study_app.web.serving import NAME

    shown = "127.0.0.1" if host in {"0.0.0.0", "::"} else f"[{host}]" if ":" in host else host  # noqa: S104 - only shown
    with transaction(app.extensions[NAME].database, write=False) as session:
        for line in address_lines(session, f"http://{shown}:{port}"):
            click.echo(line)
    sys.stdout.flush()
