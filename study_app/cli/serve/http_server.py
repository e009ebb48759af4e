"""HTTP server of a process: waitress, with limits on requests and connections.

Waitress reads requests beside its threads and passes on only whole ones. A request with two lengths is refused, since a
proxy before it may go by the other one. A form that is larger than any view takes is read to its end and forgotten: a
server that answers earlier and closes makes a browser report a lost connection instead of the answer.

A connection is an open file, and a process may have a limited number of these. Where nearly as many are open
as it can serve, the connections that have been silent for longest are closed, so that a client that opens
many and sends nothing keeps nobody off.
"""

import errno
import logging
import re
import socket
import sys
import time
from contextlib import suppress
from heapq import nsmallest
from typing import Any, Final

from waitress.adjustments import Adjustments
from waitress.buffers import OverflowableBuffer
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher

if sys.platform != "win32":
    import resource

LOGGER = logging.getLogger("prefcal.processes")

THREADS = 32
"""Requests that wait for the disk side by side and share its commits.

They are fewer than the database's connections.
"""
FEW_THREADS = 8
"""Threads of a process on a database server.

All processes share the server's connections.
"""
CONNECTIONS, MIN_CONNECTIONS = 2_000, 20
"""Most open connections of a process, and the number always allowed.

The second holds whatever the limit of open files is.
"""
OTHER_FILES, FILES_EACH = 200, 2
"""Open files of a process besides connections, and of each connection.

A process has the database's files for 33 threads; a connection has itself and a long form.
"""
SPARE_SHARE = 20
"""Share of the connections that is kept free for new clients: one in 20."""
NO_MORE_FILES = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
AGAIN_SECONDS, SAID_SECONDS = 0.1, 60.0
"""Pause after files ran out, and between two log lines about that, in seconds."""
KEPT_BYTES = 1024 * 1024
"""Most bytes kept of a form, partly on the disk: as much as any view takes."""
READ_BYTES = 64 * KEPT_BYTES
"""Longest form; waitress itself refuses a longer one."""
HEALTH = "/healthz"
ADDRESS: Final = re.compile(r"(?<=serving )\S.*", re.DOTALL)
"""Text after waitress's "while serving"."""


class WithoutAddresses(logging.Filter):
    """Logging filter that removes client text from messages."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Remove the text of a client from a record's message."""
        record.msg, record.args = ADDRESS.sub("an address", record.getMessage()), ()
        return True


def quieted(name: str) -> logging.Logger:
    """Return a logger that keeps warnings and failures only, without client text."""
    logger = logging.getLogger(name)
    logger.setLevel(logging.WARNING)
    logger.filters = [WithoutAddresses()]
    return logger


class BoundedForm(OverflowableBuffer):  # type: ignore[misc]  # waitress has no types
    """Beginning of a form, and the length of the whole."""

    def __init__(self, overflow: int) -> None:
        super().__init__(overflow)
        self._whole = 0

    def __len__(self) -> int:
        return self._whole

    def append(self, data: bytes) -> None:
        """Keep a part, unless the form is already longer than any view takes."""
        self._whole += len(data)
        if self._whole <= KEPT_BYTES:
            super().append(data)


class _Parser(HTTPRequestParser):  # type: ignore[misc]  # waitress has no types
    """Request as it comes in; one with an invalid first line has no path."""

    path = ""

    def parse_header(self, header_plus: bytes) -> None:
        """Read the head; raise `ParsingError` for two lengths (RFC 9112, 6.1 and 6.3)."""
        super().parse_header(header_plus)
        names = header_plus.lower()
        if b"\r\ntransfer-encoding:" in names and (b"\r\ncontent-length:" in names or self.version != "1.1"):
            raise ParsingError("The request has two lengths")
        if self.body_rcv is not None:
            self.body_rcv.buf = BoundedForm(self.adj.inbuf_overflow)


class _Channel(HTTPChannel):  # type: ignore[misc]  # waitress has no types
    """Connection; ``has_asked`` once a whole request came over it."""

    parser_class = _Parser
    has_asked = False

    @property
    def is_silent(self) -> bool:
        """True if nothing is being answered, and the connection is not about to be closed."""
        return not (self.requests or self.total_outbufs_len or self.will_close or self.close_when_flushed)


class _Server(TcpWSGIServer):  # type: ignore[misc]  # waitress has no types
    """Server of a listening socket that limits connections to the open files allowed.

    It closes silent connections to make room for new ones.
    """

    channel_class = _Channel
    next_channel_cleanup: float
    _closed_until = _said_until = 0.0

    def __init__(
        self, app: Any, sock: socket.socket, sockets: dict[int, Any], adjustments: Adjustments
    ) -> None:
        dispatcher = ThreadedTaskDispatcher()
        dispatcher.set_thread_count(adjustments.threads)
        self._health = ThreadedTaskDispatcher()
        self._health.set_thread_count(1)
        self._spare = max(1, adjustments.connection_limit // SPARE_SHARE)
        super().__init__(
            app,
            sockets,
            True,  # noqa: FBT003 - waitress's signature
            sock,
            dispatcher=dispatcher,
            adj=adjustments,
            bind_socket=False,
            sockinfo=(sock.family, sock.type, sock.proto, sock.getsockname()),
        )

    def add_task(self, channel: Any) -> None:
        """Add a request to the queue; /healthz has a thread apart."""
        channel.has_asked = True
        (self._health if channel.requests[0].path == HEALTH else self.task_dispatcher).add_task(channel)

    def readable(self) -> bool:
        """Return whether a new connection may be accepted, and close silent ones."""
        now = time.time()
        if now >= self.next_channel_cleanup:
            self.next_channel_cleanup = now + self.adj.cleanup_interval
            self.maintenance(now)
        if len(self._map) > self.adj.connection_limit - self._spare:
            self._make_room()
        return bool(
            self.accepting
            and len(self._map) < self.adj.connection_limit
            and time.monotonic() >= self._closed_until
        )

    def accept(self) -> Any:
        """Accept a connection.

        It returns None where the client has gone, or no more files can be opened.
        """
        try:
            return super().accept()
        except OSError as error:
            if error.errno not in NO_MORE_FILES:
                raise
        self._closed_until = time.monotonic() + AGAIN_SECONDS
        self._make_room()
        return None

    def _make_room(self) -> None:
        """Close the connections silent for longest, first those without any request."""
        silent = (channel for channel in self.active_channels.values() if channel.is_silent)
        for channel in nsmallest(self._spare, silent, key=lambda one: (one.has_asked, one.last_activity)):
            channel.will_close = True
        if time.monotonic() >= self._said_until:
            self._said_until = time.monotonic() + SAID_SECONDS
            LOGGER.warning("%d connections are open: silent ones are closed", len(self.active_channels))


def raise_file_limit() -> None:
    """Raise this process's limit of open files as far as it is allowed."""
    if sys.platform != "win32":
        with suppress(OSError, ValueError):  # macOS says "unlimited" and means less
            hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def most_connections() -> int:
    """Return the most connections of a process: its open files, at most `CONNECTIONS`."""
    if sys.platform == "win32":
        return CONNECTIONS
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if files == resource.RLIM_INFINITY:
        return CONNECTIONS
    return min(CONNECTIONS, max(MIN_CONNECTIONS, (files - OTHER_FILES) // FILES_EACH))


def waitress_server(
    app: Any, sock: socket.socket, *, threads: int = THREADS, sockets: dict[int, Any] | None = None
) -> Any:
    """Return waitress's running server of a WSGI app on a listening socket.

    It reads requests beside its threads, so that a slow or silent client holds no thread, and passes on only
    whole ones. /healthz has a thread apart: it answers while all others wait for the database.

    Parameters
    ----------
    app : WSGI application
    sock : socket
    threads : int
        Requests answered side by side.
    sockets : dict, optional
        Filled with every open socket, for a caller that runs waitress's loop itself.
    """
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # else a line for each request that waits
    quieted("waitress")
    adjustments = Adjustments(
        sockets=[sock],
        threads=threads,
        connection_limit=most_connections(),
        ident=None,  # no header that says which server this is
        asyncore_use_poll=True,
        max_request_body_size=READ_BYTES,
        clear_untrusted_proxy_headers=False,  # else X-Forwarded-Proto would never get to the standing link
    )
    return _Server(app, sock, {} if sockets is None else sockets, adjustments)
