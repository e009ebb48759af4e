"""`prefcal serve`: the loaded studies, for workers."""

import errno
import logging
import os
import random
import socket
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from study_app.cli.addresses import address_lines
from study_app.cli.options import database_option

if TYPE_CHECKING:
    from flask import Flask

THREADS = 32
"""So many requests wait for the disk side by side, and share its commits; fewer than the database has connections."""

CONNECTIONS = 2_000
BACKLOG = 1_024
MAX_REQUEST_BYTES = 1024 * 1024


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="0.0.0.0 serves other machines too.")
@click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free one."
)
@click.option(
    "--processes",
    default=1,
    show_default=True,
    type=click.IntRange(1, 256),
    help="Server processes; more than one needs PostgreSQL.",
)
@click.option("--debug", is_flag=True, help="Flask's development server: for developers only.")
@database_option
def command(host: str, port: int, processes: int, database: str | None, *, debug: bool) -> None:
    """Serve every loaded study until stopped (Ctrl-C), and print where workers and researchers enter.

    Each request is logged on stderr as one line of JSON. A SQLite file is served by one process at a time.
    """
    from study_app import create_app
    from study_app.config import Config, database_url
    from study_app.database import shown_address
    from study_app.serving_lock import serving_lock

    logging.getLogger("alembic").setLevel(
        logging.WARNING
    )  # it says at every start that there is nothing to do
    url = database_url(database)
    with serving_lock(url, processes=processes):
        app = create_app(Config(database=url))
        sys.stderr.write(f"database: {shown_address(url)}\n")
        logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
        logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False  # no line says them
        if debug:
            logging.getLogger("werkzeug").setLevel(logging.WARNING)  # its lines have tokens and platform ids
            _announce(app, host, port)
            app.run(host=host, port=port, debug=True, use_reloader=False, use_debugger=False)
        elif processes > 1:
            _serve_processes(app, url, host=host, port=port, processes=processes)
        else:
            serve_app(app, host=host, port=port)


def _serve_processes(app: "Flask", url: str, *, host: str, port: int, processes: int) -> None:
    """Serve from processes of their own; ``app`` only says what there is."""
    from study_app.cli.serve_processes import serve_processes
    from study_app.web import NAME

    sock = bound(host, port)
    _announce(app, host, sock.getsockname()[1])
    app.extensions[NAME].database.engine.dispose()
    serve_processes(url, sock, processes)


def serve_app(app: "Flask", *, host: str, port: int) -> None:
    """Serve ``app`` with the production server until it is stopped.

    Raises
    ------
    InputError
        If the port is taken or the host is none of this machine.
    """
    from waitress import create_server

    from study_app.server_logs import quieted

    sock = bound(host, port)
    stay_on_one_core()
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # else a line for each request that waits
    quieted("waitress")
    server = create_server(
        app,
        sockets=[sock],
        threads=THREADS,
        connection_limit=CONNECTIONS,
        asyncore_use_poll=True,
        max_request_body_size=MAX_REQUEST_BYTES,
        clear_untrusted_proxy_headers=False,  # else X-Forwarded-Proto would never get to the standing link
    )
    _announce(app, host, server.effective_port)
    server.run()


def stay_on_one_core() -> None:
    """Keep the threads of this process on one core, where the system allows that.

    Python runs one of them at a time, and the hand-over between two cores costs as much as the work.
    """
    if sys.platform == "linux":
        with suppress(OSError):  # a sandbox may forbid it
            os.sched_setaffinity(0, {random.choice(sorted(os.sched_getaffinity(0)))})


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
    from study_app.database import transaction
    from study_app.web import NAME

    shown = "127.0.0.1" if host in {"0.0.0.0", "::"} else f"[{host}]" if ":" in host else host  # noqa: S104 - only shown
    with transaction(app.extensions[NAME].database, write=False) as session:
        for line in address_lines(session, f"http://{shown}:{port}"):
            click.echo(line)
    sys.stdout.flush()
