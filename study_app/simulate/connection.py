"""HTTP client for a server on this machine, and what a browser needs of any.

A crowd on a virtual clock gets its pages from a server beside it, one after the other: most of what `httpx` does for a request is not
needed there, and took more time than all that the crowd reads and thinks.
"""

import json as json_text
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Protocol, Self, TypeAlias
from urllib.parse import urlencode, urljoin

from study_app.simulate.exchange import Wire

Fields: TypeAlias = Mapping[str, str | list[str]]
TIMEOUT_SECONDS = 60
MOVED = {HTTPStatus.MOVED_PERMANENTLY, HTTPStatus.FOUND, HTTPStatus.SEE_OTHER}
"""Answers after which a browser loads another page, whatever it had sent."""

GZIP = 16 + zlib.MAX_WBITS


class HttpAnswer(Protocol):
    """Final address, status and body of a server's answer."""

    @property
    def url(self) -> object:
        """The address, after redirects."""

    @property
    def status_code(self) -> int:
        """The status."""

    @property
    def content(self) -> bytes:
        """The body."""

    @property
    def text(self) -> str:
        """The body, decoded."""

    def json(self) -> Any:
        """Parse the body as JSON."""


class Http(Protocol):
    """Methods that a simulated browser calls on a client.

    `httpx.Client` and `Connection` have them.
    """

    def get(self, url: str, *, headers: Mapping[str, str], follow_redirects: bool) -> HttpAnswer:
        """Load a page."""

    def post(
        self,
        url: str,
        *,
        data: Fields | None = None,
        json: Any = None,
        headers: Mapping[str, str],
        follow_redirects: bool,
    ) -> HttpAnswer:
        """Send the fields of a form, or something as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """An `HttpAnswer`."""

    url: str
    status_code: int
    content: bytes

    @property
    def text(self) -> str:
        """The body, decoded."""
        return self.content.decode()

    def json(self) -> Any:
        """Parse the body as JSON."""
        return json_text.loads(self.text)


class Connection:
    """HTTP to one server, over one connection that stays open.

    Parameters
    ----------
    address : str
        Base address of the server, such as ``http://127.0.0.1:43121``.

    Raises
    ------
    OSError, http.client.HTTPException
        Where it is used, if the server is not there or goes away.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._wire = Wire(address, timeout_seconds=TIMEOUT_SECONDS)

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Close the connection."""
        self._wire.close()

    def get(self, url: str, *, headers: Mapping[str, str], follow_redirects: bool) -> Received:
        """Load a page."""
        return self._asked("GET", url, None, headers, follow_redirects=follow_redirects)

    def post(
        self,
        url: str,
        *,
        data: Fields | None = None,
        json: Any = None,
        headers: Mapping[str, str],
        follow_redirects: bool,
    ) -> Received:
        """Send the fields of a form, or something as JSON."""
        if data is None:
            body, form = json_text.dumps(json, ensure_ascii=False, separators=(",", ":")), "application/json"
        else:
            body, form = urlencode(data, doseq=True), "application/x-www-form-urlencoded"
        typed = {**headers, "Content-Type": form}
        return self._asked("POST", url, body.encode(), typed, follow_redirects=follow_redirects)

    def _asked(
        self, method: str, url: str, body: bytes | None, headers: Mapping[str, str], *, follow_redirects: bool
    ) -> Received:
        address = url if url.startswith(f"{self._address}/") else urljoin(self._address, url)
        path = address.removeprefix(self._address)
        answer = self._wire.ask(method, path, {"Accept-Encoding": "gzip", **headers}, body)
        onward = answer.header.get("location") if answer.status in MOVED else None
        if follow_redirects and onward is not None:
            kept = {name: value for name, value in headers.items() if name != "Content-Type"}
            return self._asked("GET", urljoin(address, onward), None, kept, follow_redirects=True)
        content = answer.body
        if answer.header.get("content-encoding") == "gzip":
            content = zlib.decompress(content, wbits=GZIP)
        return Received(url=address, status_code=answer.status, content=content)
