"""Command `prefcal serve`: the loaded studies, by one process or several."""

import logging
import os
import random
import re
import signal
import sys
from typing import TYPE_CHECKING

import click
from sqlalchemy.orm import Session

from study_app.cli.database import database_option
from study_app.cli.options import port_option
from study_app.cli.output import is_inner_command, simulated_lines
from study_app.cli.serve.machine import bound_socket, cores, freeze_gc, pin_to_core
from study_app.services.researcher.studies import RESEARCHER_KEY, setting
from study_app.services.worker.entry import loaded_studies
from study_app.store.study_cache import StudyCache
from study_app.study.platforms import Platform, platform_of

if TYPE_CHECKING:
    from flask import Flask


TRIAL = "  try it:     "
TRIAL_COUNTS = "A trial counts as a worker: `prefcal withdraw CODE` removes it, and `prefcal study preview` stores nothing."


def address_lines(session: Session, base: str) -> list[str]:
    """Return the addresses of every loaded study for workers and the researcher.

    ``base`` is http://HOST:PORT.
    """
    key = setting(session, RESEARCHER_KEY)
    lines = []
    for plan in loaded_studies(session, StudyCache()):
        platform = platform_of(plan.entry)
        query = platform.entrance_query
        lines += [
            f"{plan.name}: {plan.entry.title}",
            f"  workers:    {base}/s/{plan.name}" + (f"?{query}" if query else ""),
            *_trial(platform, f"{base}/s/{plan.name}"),
            f"  researcher: {base}/r/{plan.name}?key={key}",
        ]
    return [*lines, *([TRIAL_COUNTS] if any(line.startswith(TRIAL) for line in lines) else [])]


def _trial(platform: Platform, entrance: str) -> list[str]:
    """Return an address to try the study at.

    It is empty where the platform opens the pages itself.
    """
    if platform.takes_form:
        return []
    return [f"{TRIAL}{entrance}?{platform.worker_parameter}={platform.trial_id}"]


MAX_DEFAULT_PROCESSES = 2
"""Most processes by default: a small server has other things to do."""


def _host_name(name: str) -> str:
    """Check that a host name has no scheme, path or port."""
    if not re.fullmatch(r"\.?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?", name):
        raise click.BadParameter(f"expected a host name, got {name!r}; write it without https:// and port")
    return name


def _contact(given: str) -> str:
    """Check a contact for security.txt; a mail address may stand alone."""
    if re.fullmatch(r"(mailto:|https://|tel:)\S+", given):
        return given
    if re.fullmatch(r"[^\s@:/]+@[^\s@:/]+", given):
        return f"mailto:{given}"
    raise click.BadParameter("write a mail address, or one that begins with https:// or tel:")


@click.command()
@click.option(
    "--host",
    metavar="ADDRESS",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen at. The default answers this machine only, 0.0.0.0 other machines too.",
)
@port_option(8000)
@click.option(
    "--processes",
    type=click.IntRange(1, 256),
    help="Number of processes that share the work; each can use a core. "
    f" [default: one a core on Linux, at most {MAX_DEFAULT_PROCESSES}; else 1]",
)
@click.option(
    "--allow-host",
    "hosts",
    metavar="NAME",
    multiple=True,
    type=_host_name,
    help="Answer only who asks for this name, such as study.example.org; 400 for any other. Repeatable.",
)
@click.option(
    "--contact",
    metavar="ADDRESS",
    type=_contact,
    help="Address for reports of a weakness, shown at /.well-known/security.txt: mail address, https:// or tel:.",
)
@click.option(
    "--debug",
    is_flag=True,
    help="Use Flask's development server: for those who change prefcal, not for studies.",
)
@click.argument("study", metavar="[STUDY.yaml]", required=False, type=click.Path())
@database_option
@click.pass_context
def serve(
    context: click.Context,
    study: str | None,
    host: str,
    port: int,
    processes: int | None,
    hosts: tuple[str, ...],
    contact: str | None,
    database: str | None,
    *,
    debug: bool,
) -> None:
    """Serve every loaded study until stopped (Ctrl-C).

    Load a study first with prefcal study load FILE, or name its file here. It prints two addresses of each study: one for workers, and one of
    its console. Each request is logged on stderr as one line of JSON, without answers or platform ids.

    Where PREFCAL_PROLIFIC_HOOK_SECRET holds the secret of a webhook of Prolific, /hooks/prolific takes what Prolific tells.

    A SQLite file can have one server at a time. For workers on the internet put a proxy with HTTPS before it; docs/deploy.md leads
    there.
    """
    from study_app.cli.serve.http_server import raise_file_limit
    from study_app.cli.study.commands import load
    from study_app.config import HOOK_SECRET_VARIABLE, Config, database_url
    from study_app.store.database import shown_address
    from study_app.store.writer_lock import serving_lock
    from study_app.web.app import create_app

    logging.getLogger("alembic").setLevel(
        logging.WARNING
    )  # it says at every start that there is nothing to do
    raise_file_limit()
    if study is not None:
        context.invoke(load, file=study, database=database)
    url = database_url(database)
    is_windows = sys.platform == "win32"  # which has no gunicorn
    process_count = processes or (1 if is_windows else min(MAX_DEFAULT_PROCESSES, max(1, len(cores()))))
    with serving_lock(url):
        app = create_app(
            Config(
                database=url,
                hosts=hosts,
                contact=contact,
                hook_secret=os.environ.get(HOOK_SECRET_VARIABLE),
            )
        )
        if study is None:  # loading it said so
            sys.stderr.write(f"database: {shown_address(url)}\n")
        logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
        logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False  # no line says them
        if debug:
            logging.getLogger("werkzeug").setLevel(logging.WARNING)  # its lines have tokens and platform ids
            _announce(app, host, port)
            app.run(host=host, port=port, debug=True, use_reloader=False, use_debugger=False)
        elif process_count > 1 or (not url.startswith("sqlite") and not is_windows):
            from study_app.cli.serve.processes import serve_processes

            sock = bound_socket(host, port)
            _announce(app, host, sock.getsockname()[1])
            serve_processes(app, sock, process_count)
        else:
            serve_app(app, host=host, port=port)


def serve_app(app: "Flask", *, host: str, port: int) -> None:
    """Serve ``app`` from this process with the production server until it is stopped.

    Raises
    ------
    InputError
        If the port is taken or the host is none of this machine.
    """
    from study_app.cli.serve.http_server import waitress_server
    from study_app.web.serving import NAME

    sock = bound_socket(host, port)
    usable = cores()
    if usable and app.extensions[NAME].database.is_sqlite:
        pin_to_core(random.choice(usable))
    freeze_gc()
    server = waitress_server(app, sock)
    signal.signal(
        signal.SIGTERM, signal.default_int_handler
    )  # as on Ctrl-C, what was begun is answered first
    _announce(app, host, server.effective_port)
    server.run()


def _announce(app: "Flask", host: str, port: int) -> None:
    from study_app.store.database import transaction
    from study_app.store.simulated_workers import simulated_studies
    from study_app.web.serving import NAME

    shown = "127.0.0.1" if host in {"0.0.0.0", "::"} else f"[{host}]" if ":" in host else host  # noqa: S104 - only shown
    with transaction(app.extensions[NAME].database, write=False) as session:
        for line in address_lines(session, f"http://{shown}:{port}"):
            click.echo(line)
        simulated = () if is_inner_command() else simulated_studies(session)
        for line in simulated_lines(simulated, cure="name a new file with --database"):
            click.echo(line, err=True)
    sys.stdout.flush()
