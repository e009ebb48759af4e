"""One request and its answer over an open HTTP/1.1 connection.

Of a header little is looked at here: where an answer ends, whether the connection stays open, and what the caller asks for. The standard
library's client reads each header as that of an e-mail, which took a quarter of all that a simulated crowd does. What comes is read
as RFC 9112 has it: by length, in chunks, or to the end of the connection.
"""

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import BadStatusLine, HTTPException, IncompleteRead, LineTooLong, RemoteDisconnected
from io import BufferedReader
from string import hexdigits
from urllib.parse import urlsplit

MAX_LINE_BYTES = 65_536
MAX_HEADER_LINES = 100
"""Most lines of a header."""

HTTP_PORT = 80
_ENDS = {b"\r\n", b"\n", b""}
_ONLY_BEFORE = range(100, 200)
"""Statuses of what comes before the answer itself."""
_NO_BODY = {204, 304}


@dataclass(frozen=True, slots=True)
class RawResponse:
    """Response as received: status, header and body.

    Header names are in lower case; repeated ones are joined by commas.
    """

    status: int
    header: Mapping[str, str]
    body: bytes


class Wire:
    """Connection to one server, opened when needed.

    It is opened with the first request, and again where the server closed it after an answer.

    Parameters
    ----------
    address : str
        Base address of the server, such as ``http://127.0.0.1:43121``.
    timeout_seconds : float
        So long it waits for the server each time.
    """

    def __init__(self, address: str, *, timeout_seconds: float) -> None:
        parts = urlsplit(address)
        self._server = (parts.hostname or "", parts.port or HTTP_PORT)
        self._host, self._timeout_seconds = parts.netloc, timeout_seconds
        self._socket: socket.socket | None = None
        self._incoming: BufferedReader | None = None

    def ask(self, method: str, place: str, header: Mapping[str, str], body: bytes | None) -> RawResponse:
        """Send a request, whole at once, and return the answer to it.

        Raises
        ------
        OSError, http.client.HTTPException
            If the server is not there, goes away, or says something that is no answer: then the connection is closed.
        """
        fields = {"Host": self._host, **header}
        if body is not None:
            fields["Content-Length"] = str(len(body))
        lines = [f"{method} {place} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
        try:
            outgoing, incoming = self._opened()
            outgoing.sendall("\r\n".join([*lines, "", ""]).encode("latin-1") + (body or b""))
            answer, stays = _read_answer(incoming, method)
        except BaseException:
            self.close()
            raise
        if not stays:
            self.close()
        return answer

    def close(self) -> None:
        """Close the connection, if it is open."""
        for resource in (self._incoming, self._socket):
            if resource is not None:
                resource.close()
        self._incoming = self._socket = None

    def _opened(self) -> tuple[socket.socket, BufferedReader]:
        if self._socket is None or self._incoming is None:
            self._socket = socket.create_connection(self._server, self._timeout_seconds)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._incoming = self._socket.makefile("rb")
        return self._socket, self._incoming


def _read_answer(incoming: BufferedReader, method: str) -> tuple[RawResponse, bool]:
    """Return the answer to a request, and whether the connection stays open after it."""
    status = _ONLY_BEFORE.start
    while status in _ONLY_BEFORE:
        version, status = _status(incoming)
        header = _header(incoming)
    wishes = {wish.strip() for wish in header.get("connection", "").lower().split(",")}
    stays = "close" not in wishes if version == "HTTP/1.1" else "keep-alive" in wishes
    if method == "HEAD" or status in _NO_BODY:
        return RawResponse(status, header, b""), stays
    coding = header.get("transfer-encoding", "").lower().strip()
    if coding == "chunked":
        return RawResponse(status, header, _chunks(incoming)), stays
    if coding or "content-length" not in header:
        return RawResponse(status, header, incoming.read()), False
    length = header["content-length"]
    if not (length.isascii() and length.isdigit()):
        raise HTTPException(f"no length of an answer: {length!r}")
    return RawResponse(status, header, _exactly(incoming, int(length))), stays


def _status(incoming: BufferedReader) -> tuple[str, int]:
    line = _line(incoming, "status line")
    if not line:
        raise RemoteDisconnected("the server closed the connection without an answer")
    version, _, rest = line.partition(" ")
    code = rest[:3]
    if not (version.startswith("HTTP/1.") and len(code) == 3 and code.isascii() and code.isdigit()):
        raise BadStatusLine(line)
    return version, int(code)


def _header(incoming: BufferedReader) -> dict[str, str]:
    header: dict[str, str] = {}
    for _ in range(MAX_HEADER_LINES):
        line = incoming.readline(MAX_LINE_BYTES + 1)
        if line in _ENDS:
            return header
        if len(line) > MAX_LINE_BYTES:
            raise LineTooLong("header line")
        name, _, value = line.decode("latin-1").partition(":")
        key, content = name.lower(), value.strip()
        header[key] = f"{header[key]}, {content}" if key in header else content
    raise HTTPException(f"got more than {MAX_HEADER_LINES} headers")


def _line(incoming: BufferedReader, what: str) -> str:
    line = incoming.readline(MAX_LINE_BYTES + 1)
    if len(line) > MAX_LINE_BYTES:
        raise LineTooLong(what)
    return line.decode("latin-1")


def _chunks(incoming: BufferedReader) -> bytes:
    """Return a chunked body.

    Each chunk has its length before it; the trailer after the last one is dropped.
    """
    chunks: list[bytes] = []
    while True:
        size_text = _line(incoming, "length of a chunk").partition(";")[0].strip()
        if not size_text or not set(size_text) <= set(hexdigits):
            raise IncompleteRead(b"".join(chunks))
        length = int(size_text, 16)
        if length == 0:
            _header(incoming)
            return b"".join(chunks)
        chunks.append(_exactly(incoming, length))
        _line(incoming, "end of a chunk")


def _exactly(incoming: BufferedReader, length: int) -> bytes:
    """Return so many bytes; raises IncompleteRead where the connection ends before."""
    body = incoming.read(length)
    if len(body) < length:
        raise IncompleteRead(body, length - len(body))
    return body
