"""Server processes on one port, supervised and replaced by gunicorn.

Each runs waitress, as a single process does: slow, cut, oversized and malformed requests are treated alike on
either database, and no client can keep others waiting by sending nothing. Before a SQLite file each process
stays on a core.
"""

import logging
import math
import os
import random
import signal
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

from gunicorn.app.base import BaseApplication
from gunicorn.glogging import Logger
from gunicorn.workers.base import Worker
from waitress import wasyncore

from study_app.cli.serve.http_server import FEW_THREADS, THREADS, quieted, waitress_server
from study_app.cli.serve.machine import cores, freeze_gc, pin_to_core
from study_app.store.writer_lock import FileTurn
from study_app.web.serving import NAME

if TYPE_CHECKING:
    from flask import Flask

    from study_app.store.database import Database

LOGGER = logging.getLogger("prefcal.processes")
GRACEFUL_SECONDS = 20
TIMEOUT_SECONDS = 60
HANGS_SECONDS = 20
"""Seconds after which a request before a database server is taken to hang.

It is longer than any statement or lock may take.
"""

LOOK_UP_SECONDS = 0.5
"""Seconds after which an idle process checks whether it should stop."""
LAST_LOOKS = 3
"""Rounds in which a stopping process still reads requests and accepts connections."""


class _Watched:
    """WSGI application that measures how long each thread's request takes."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._since: dict[int, float] = {}

    def __call__(self, environ: Any, start_response: Any) -> Any:
        """Answer a request."""
        thread = threading.get_ident()
        self._since[thread] = time.monotonic()
        try:
            return self._app(environ, start_response)
        finally:
            del self._since[thread]

    def longest(self) -> float:
        """Return the seconds for which the oldest request has been waiting."""
        return time.monotonic() - min(self._since.copy().values(), default=math.inf)


class _WaitressWorker(Worker):  # type: ignore[misc]  # gunicorn has no types
    """Process with the same server as a single one.

    A connection to a database server may fall silent in a way that no timeout ends: whatever stands between
    still acknowledges what is sent. A process whose request hangs ends itself, and a new one takes its place;
    what hung was never acknowledged.
    """

    core: int | None = None

    def run(self) -> None:
        """Serve until asked to stop, or until the parent is gone.

        Requests begun by then are answered.
        """
        if self.core is not None:
            pin_to_core(self.core)
        (listener,) = self.sockets
        sockets: dict[int, Any] = {}
        watched = _Watched(self.wsgi)
        is_sqlite = self.wsgi.extensions[NAME].database.is_sqlite
        server = waitress_server(
            watched, listener.sock, threads=THREADS if is_sqlite else FEW_THREADS, sockets=sockets
        )
        while self.alive and os.getppid() == self.ppid:
            self.notify()
            _serve_for(LOOK_UP_SECONDS, sockets)
            if not is_sqlite and watched.longest() > HANGS_SECONDS:
                LOGGER.critical("a request has hung for %d s; its process is replaced", HANGS_SECONDS)
                os._exit(1)
        for _ in range(LAST_LOOKS):
            _serve_for(0, sockets)
        wasyncore.dispatcher.close(server)  # nobody new; its own `close` would keep answers from being sent
        end = time.monotonic() + GRACEFUL_SECONDS
        while server.active_channels and time.monotonic() < end:
            for channel in list(server.active_channels.values()):
                channel.will_close = channel.will_close or not _is_busy(channel)
            _serve_for(0.05, sockets)
        signal.signal(signal.SIGQUIT, signal.SIG_IGN)  # a second Ctrl-C while this process is ending anyway

    def handle_quit(self, sig: int, frame: Any) -> None:
        """Stop on Ctrl-C as on a supervisor's signal."""
        self.handle_exit(sig, frame)


def _serve_for(seconds: float, sockets: dict[int, Any]) -> None:
    """Read and write what is ready, or wait for it."""
    wasyncore.loop(seconds, use_poll=True, map=sockets, count=1)


def _is_busy(channel: Any) -> bool:
    """Return whether a connection has a request without a complete answer."""
    return bool(channel.requests or channel.total_outbufs_len)


class _QuietLogger(Logger):  # type: ignore[misc]  # gunicorn has no types
    """Logger of the processes' own warnings, in the form of the app's lines.

    Requests are logged by the app.
    """

    def setup(self, cfg: Any) -> None:  # noqa: ARG002 - gunicorn's signature
        """Send gunicorn's messages from warnings up to the app's log."""
        self.error_log = quieted("prefcal.processes")
        self.access_log = logging.getLogger("prefcal.access")
        self.access_log.disabled = True


class _Processes(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    """Study server as a gunicorn application; every process is a copy of its maker."""

    def __init__(self, app: "Flask", sock: socket.socket, processes: int) -> None:
        self._app, self._socket, self._processes = app, sock, processes
        self._is_sqlite = app.extensions[NAME].database.is_sqlite
        self._stays = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN  # under nohup
        super().__init__()

    def load_config(self) -> None:
        settings = {
            "bind": f"fd://{self._socket.fileno()}",
            "workers": self._processes,
            "worker_class": _WaitressWorker,
            "timeout": TIMEOUT_SECONDS,
            "graceful_timeout": GRACEFUL_SECONDS,
            "logger_class": _QuietLogger,
            **({"pre_fork": _give_core} if self._is_sqlite else {}),
            "post_worker_init": _leave_hang_up_to_the_parent,
            "control_socket_disable": True,
        }
        for name in settings.keys() & self.cfg.settings.keys():
            self.cfg.set(name, settings[name])

    def load(self) -> "Flask":
        return self._app

    def reload(self) -> None:
        """End on SIGHUP, as when the terminal is closed."""
        if not self._stays:
            raise StopIteration


def _leave_hang_up_to_the_parent(worker: Worker) -> None:  # noqa: ARG001 - gunicorn's signature
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def _give_core(arbiter: Any, worker: Any) -> None:
    """Assign a starting process the core that the fewest others have."""
    taken = [getattr(other, "core", None) for other in arbiter.WORKERS.values()]
    usable = cores()
    random.shuffle(usable)  # other servers of the machine may have begun with the first ones too
    worker.core = min(usable, key=taken.count, default=None)


def serve_processes(app: "Flask", sock: socket.socket, processes: int) -> None:
    """Serve an app on a bound socket until stopped.

    Parameters
    ----------
    app : Flask
        Server of `study_app.create_app`. Its connections to the database are closed: a process must not use another's.
    sock : socket
        Bound and listening.
    processes : int
        Number of processes.
    """
    database: Database = app.extensions[NAME].database
    database.engine.dispose()
    if database.shared is not None and database.engine.url.database:
        database.shared.take_turns_with(FileTurn(database.engine.url.database))
    freeze_gc()
    sock.set_inheritable(True)
    _Processes(app, sock, processes).run()
