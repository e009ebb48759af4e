"""The production server of one process, which the processes that share a SQLite file run too."""

import gc
import logging
import os
import socket
import sys
from contextlib import suppress
from typing import Any

from study_app.web.server_logs import quieted

THREADS = 32
"""So many requests wait for the disk side by side, and share its commits; fewer than the database has connections."""

CONNECTIONS = 2_000
MAX_REQUEST_BYTES = 1024 * 1024


def waitress_server(app: Any, sock: socket.socket, *, sockets: dict[int, Any] | None = None) -> Any:
    """Return waitress's server of a WSGI app on a socket that listens; its threads run already.

    Parameters
    ----------
    app : WSGI application
    sock : socket
    sockets : dict, optional
        Gets every socket that is open, for who runs waitress's loop without the server's own method.
    """
    from waitress import create_server

    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # else a line for each request that waits
    quieted("waitress")
    return create_server(
        app,
        map=sockets,
        sockets=[sock],
        threads=THREADS,
        connection_limit=CONNECTIONS,
        asyncore_use_poll=True,
        max_request_body_size=MAX_REQUEST_BYTES,
        clear_untrusted_proxy_headers=False,  # else X-Forwarded-Proto would never get to the standing link
    )


def cores() -> list[int]:
    """Return the cores that this process may use; none where the system does not say."""
    return sorted(os.sched_getaffinity(0)) if sys.platform == "linux" else []


def stay_on(core: int) -> None:
    """Keep the threads of this process on one core, where the system allows that.

    Python runs one of them at a time, and the hand-over between two cores costs as much as the work. Not for servers of a
    database on the same machine: its processes would wait for the core of whoever asked, and locks with them.
    """
    if sys.platform == "linux":
        with suppress(OSError):  # a sandbox may forbid it
            os.sched_setaffinity(0, {core})


def spare_collections() -> None:
    """Take everything that is there by now out of Python's rounds for garbage.

    It stays as long as the server, and looking through it would keep every worker waiting for a tenth of a second.
    """
    gc.collect()
    gc.freeze()
