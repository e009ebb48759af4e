"""The HTTP server of a process: waitress, which reads requests on the side and hands on only whole ones.

A request with two lengths is refused, since a proxy before it may go by the other one. A form that is larger than any view takes is read
to its end and forgotten: who answers earlier and closes makes a browser say that the connection was lost, and not what the answer says.

A connection is an open file, of which a process may have so many. Where nearly as many are open as it can serve, those are closed that
have been silent for longest, so that whoever opens many and says nothing keeps nobody off.
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
"""So many requests wait for the disk side by side, and share its commits; fewer than the database has connections."""
FEW_THREADS = 8
"""Of a process on a database server, whose connections all processes share."""
CONNECTIONS, FEWEST_CONNECTIONS = 2_000, 20
"""So many are open at most to a process, and so many in any case."""
OTHER_FILES, FILES_EACH = 200, 2
"""Open files of a process besides connections: those of the database, of 33 threads; and of each connection: itself, and a long form."""
SPARE_SHARE = 20
"""The share of the connections that is kept free for those who come: a twentieth."""
NO_MORE_FILES = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
AGAIN_SECONDS, SAID_SECONDS = 0.1, 60.0
"""So long nobody is let in after the system had no more files; so often it is said that connections are closed."""
KEPT_BYTES = 1024 * 1024
"""So much of a form is kept, some of it on the disk: as much as any view takes."""
READ_BYTES = 64 * KEPT_BYTES
"""A form that says or turns out to be longer is refused by waitress itself."""
HEALTH = "/healthz"
ADDRESS: Final = re.compile(r"(?<=serving )\S.*", re.DOTALL)
"""What stands behind waitress's "while serving"."""


class WithoutAddresses(logging.Filter):
    """Let every record pass, but say no addresses."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Cut out of the record's words what a stranger wrote into them."""
        record.msg, record.args = ADDRESS.sub("an address", record.getMessage()), ()
        return True


def quieted(name: str) -> logging.Logger:
    """Return the logger of that name, which says warnings and failures only, and no addresses."""
    logger = logging.getLogger(name)
    logger.setLevel(logging.WARNING)
    logger.filters = [WithoutAddresses()]
    return logger


class BoundedForm(OverflowableBuffer):  # type: ignore[misc]  # waitress has no types
    """The beginning of a form, and how long the whole was."""

    def __init__(self, overflow: int) -> None:
        super().__init__(overflow)
        self._whole = 0

    def __len__(self) -> int:
        return self._whole

    def append(self, data: bytes) -> None:
        """Keep a part, unless there is more than anybody takes by now."""
        self._whole += len(data)
        if self._whole <= KEPT_BYTES:
            super().append(data)


class _Parser(HTTPRequestParser):  # type: ignore[misc]  # waitress has no types
    """A request as it comes in; of one whose first line is nonsense there is no path."""

    path = ""

    def parse_header(self, header_plus: bytes) -> None:
        """Read the head; raises `ParsingError` where it says in two ways how long the form is (RFC 9112, 6.1 and 6.3)."""
        super().parse_header(header_plus)
        names = header_plus.lower()
        if b"\r\ntransfer-encoding:" in names and (b"\r\ncontent-length:" in names or self.version != "1.1"):
            raise ParsingError("The length of the form is said in two ways")
        if self.body_rcv is not None:
            self.body_rcv.buf = BoundedForm(self.adj.inbuf_overflow)


class _Channel(HTTPChannel):  # type: ignore[misc]  # waitress has no types
    """A connection; ``has_asked`` once a whole request came over it."""

    parser_class = _Parser
    has_asked = False

    @property
    def is_silent(self) -> bool:
        """Whether nothing is answered on it, and it is not about to be closed."""
        return not (self.requests or self.total_outbufs_len or self.will_close or self.close_when_flushed)


class _Server(TcpWSGIServer):  # type: ignore[misc]  # waitress has no types
    """The server of a socket that listens: lets in as many as there are open files for, and makes room for those who come."""

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
        """Have a request answered; who asks for /healthz has a thread apart."""
        channel.has_asked = True
        (self._health if channel.requests[0].path == HEALTH else self.task_dispatcher).add_task(channel)

    def readable(self) -> bool:
        """Return whether somebody may be let in now; looks after the connections that are open."""
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
        """Let somebody in; None where nobody is there any more, or no more files can be opened."""
        try:
            return super().accept()
        except OSError as error:
            if error.errno not in NO_MORE_FILES:
                raise
        self._closed_until = time.monotonic() + AGAIN_SECONDS
        self._make_room()
        return None

    def _make_room(self) -> None:
        """Have those connections closed in their turn that were silent for longest, first of all who never asked for anything."""
        silent = (channel for channel in self.active_channels.values() if channel.is_silent)
        for channel in nsmallest(self._spare, silent, key=lambda one: (one.has_asked, one.last_activity)):
            channel.will_close = True
        if time.monotonic() >= self._said_until:
            self._said_until = time.monotonic() + SAID_SECONDS
            LOGGER.warning(
                "%d connections are open: those that say nothing are closed", len(self.active_channels)
            )


def raise_file_limit() -> None:
    """Let this process open as many files as it is allowed to, where the system has such a limit."""
    if sys.platform != "win32":
        with suppress(OSError, ValueError):  # macOS says "unlimited" and means less
            hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def most_connections() -> int:
    """Return how many connections a process serves: as many as it may have open files for, `CONNECTIONS` at most."""
    if sys.platform == "win32":
        return CONNECTIONS
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if files == resource.RLIM_INFINITY:
        return CONNECTIONS
    return min(CONNECTIONS, max(FEWEST_CONNECTIONS, (files - OTHER_FILES) // FILES_EACH))


def waitress_server(
    app: Any, sock: socket.socket, *, threads: int = THREADS, sockets: dict[int, Any] | None = None
) -> Any:
    """Return waitress's server of a WSGI app on a socket that listens; its threads run already.

    It reads requests on the side, so that a slow or silent client holds no thread, and hands on only whole ones. Who asks for
    /healthz has a thread apart: it answers while all others wait for the database.

    Parameters
    ----------
    app : WSGI application
    sock : socket
    threads : int
        How many requests are answered side by side.
    sockets : dict, optional
        Gets every socket that is open, for who runs waitress's loop without the server's own method.
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
