"""The HTTP server of a process: waitress, which reads requests on the side and hands on only whole ones.

A request with two lengths is refused, since a proxy before it may go by the other one. A form that is larger than any view takes is read
to its end and forgotten: who answers earlier and closes makes a browser say that the connection was lost, and not what the answer says.
"""

import logging
import re
import socket
from typing import Any, Final

from waitress import create_server
from waitress.buffers import OverflowableBuffer
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.task import ThreadedTaskDispatcher

THREADS = 32
"""So many requests wait for the disk side by side, and share its commits; fewer than the database has connections."""
FEW_THREADS = 8
"""Of a process on a database server, whose connections all processes share."""
CONNECTIONS = 2_000
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
    """A connection."""

    parser_class = _Parser


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
    server = create_server(
        app,
        map=sockets,
        sockets=[sock],
        threads=threads,
        connection_limit=CONNECTIONS,
        ident=None,  # no header that says which server this is
        asyncore_use_poll=True,
        max_request_body_size=READ_BYTES,
        clear_untrusted_proxy_headers=False,  # else X-Forwarded-Proto would never get to the standing link
    )
    server.channel_class = _Channel
    health = ThreadedTaskDispatcher()
    health.set_thread_count(1)
    others = server.task_dispatcher

    def add_task(channel: Any) -> None:
        (health if channel.requests[0].path == HEALTH else others).add_task(channel)

    server.add_task = add_task
    return server
