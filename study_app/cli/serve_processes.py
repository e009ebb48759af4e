"""Several server processes on one port, looked after by gunicorn: one that dies is started anew."""

import logging
import socket
from typing import Any

from gunicorn.app.base import BaseApplication
from gunicorn.glogging import Logger

from study_app.server_logs import quieted

THREADS = 8
GRACEFUL_SECONDS = 20
TIMEOUT_SECONDS = 60
CONNECTIONS = 2_000
KEEPALIVE_SECONDS = 75
"""Longer than a page waits between two batches of events: a connection that closes just then loses what is on its way."""


class _QuietLogger(Logger):  # type: ignore[misc]  # gunicorn has no types
    """Only what the processes themselves have to say, in the form of our own lines; requests are logged by the app."""

    def setup(self, cfg: Any) -> None:  # noqa: ARG002 - gunicorn's signature
        """Send gunicorn's messages from warnings up to where ours go."""
        self.error_log = quieted("prefcal.processes")
        self.access_log = logging.getLogger("prefcal.access")
        self.access_log.disabled = True


class _Processes(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    """The study server as gunicorn wants it; each process opens the database for itself."""

    def __init__(self, database: str, sock: socket.socket, processes: int) -> None:
        self._database, self._socket, self._processes = database, sock, processes
        super().__init__()

    def load_config(self) -> None:
        settings = {
            "bind": f"fd://{self._socket.fileno()}",
            "workers": self._processes,
            "worker_class": "gthread",
            "threads": THREADS,
            "timeout": TIMEOUT_SECONDS,
            "keepalive": KEEPALIVE_SECONDS,
            "worker_connections": CONNECTIONS,
            "graceful_timeout": GRACEFUL_SECONDS,
            "logger_class": _QuietLogger,
            "control_socket_disable": True,
        }
        for name in settings.keys() & self.cfg.settings.keys():
            self.cfg.set(name, settings[name])

    def load(self) -> Any:
        from study_app import create_app
        from study_app.config import Config

        return create_app(Config(database=self._database))


def serve_processes(database: str, sock: socket.socket, processes: int) -> None:
    """Serve the studies of a database on a bound socket until stopped.

    Parameters
    ----------
    database : str
        Address of a PostgreSQL database.
    sock : socket
        Bound and listening.
    processes : int
        How many.
    """
    sock.set_inheritable(True)
    _Processes(database, sock, processes).run()
