"""Server of a preview: a list of all pages, and every page in its own copy.

Workers' addresses lead to the copy that signed them; `/p/NUMBER/` precedes those that name no worker yet.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from io import BytesIO
from itertools import groupby
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from flask import Flask, Response, abort, make_response, redirect, render_template, send_file
from jinja2 import StrictUndefined
from werkzeug.wrappers import Response as AnyResponse

from metrics.errors import InputError
from study_app.config import resource_folder
from study_app.preview.copies import Copies, StudyCopy
from study_app.preview.stations import PageRecipe, ServerMessage, stations
from study_app.simulate.browser import PageError
from study_app.simulate.person import DESKTOP, PHONE

if TYPE_CHECKING:
    from study_app.estimate.content import StudyContent

MAX_COPIES = 100
"""Older ones are let go; a page of theirs then says that it is gone."""
SAMPLE_REFERENCE = "0123456789ab"
"""The number of a request, on pages that have one."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; "
    "form-action 'self'; base-uri 'none'"
)

Environ = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPage:
    """A page on the list: its number and name."""

    number: int
    name: str


class Preview:
    """The preview of one study, as a WSGI application.

    Parameters
    ----------
    content : StudyContent
        The study.
    folder : Path
        Where the copies' databases go; whoever made it throws it away.
    """

    def __init__(self, content: "StudyContent", folder: Path) -> None:
        self._copies = Copies(content, folder)
        self.stations: tuple[PageRecipe | ServerMessage, ...] = stations(self._copies.content)
        self._opened: dict[int, tuple[StudyCopy, str]] = {}
        self._count, self._lock = 0, Lock()
        self._front = self._made_front()

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a request: the list's own pages, or the copy that it is meant for."""
        first, _, rest = str(environ["PATH_INFO"]).lstrip("/").partition("/")
        if first in {"w", "e"}:
            copy = self._signer(rest.partition("/")[0])
        elif first == "p":
            number, _, inner = rest.partition("/")
            copy = self._entered(number, f"/{inner}", environ)
        else:
            copy = self._latest() if first == "withdraw" else None
            return (self._front if copy is None else copy.app)(environ, start_response)
        if copy is None:
            return self._front({**environ, "PATH_INFO": "/gone"}, start_response)
        return copy.app(environ, _framed(start_response))

    def _signer(self, token: str) -> StudyCopy | None:
        return next((copy for copy, _ in list(self._opened.values()) if copy.knows(token)), None)

    def _latest(self) -> StudyCopy | None:
        return next((copy for copy, _ in reversed(list(self._opened.values()))), None)

    def _entered(self, number: str, path: str, environ: Environ) -> StudyCopy | None:
        """Return a copy whose first page is open, with its browser."""
        opened = self._opened.get(int(number)) if number.isdigit() else None
        if opened is None:
            return None
        copy, agent = opened
        environ.update({"PATH_INFO": path, "HTTP_USER_AGENT": agent})
        environ.pop("HTTP_SEC_CH_UA_MOBILE", None)
        return copy

    def _open(self, number: int) -> AnyResponse:
        """Lead a new worker to a page and go there."""
        station = self._station(number)
        if isinstance(station, ServerMessage):
            return self._note(station)
        copy = self._copies.new()
        try:
            path = station.lead(copy)
        except PageError as error:
            return self._page("unreached", page=station, reason=str(error))
        agents = {DESKTOP[0], PHONE[0]} - {copy.agent}
        with self._lock:
            self._count = place = self._count + 1
            self._opened[place] = copy, agents.pop() if station.other_device else copy.agent
            if len(self._opened) > MAX_COPIES:
                old, _ = self._opened.pop(next(iter(self._opened)))
                old.server.database.engine.dispose()
        return redirect(f"/p/{place}{path}" if station.at_door else path, code=303)

    def _note(self, notice: ServerMessage) -> Response:
        reference = SAMPLE_REFERENCE if notice.reference else ""
        return _own(self._copies.notice(notice.key, status=notice.status, reference=reference))

    def _pass(self, seconds: int) -> Response:
        """Advance time in every copy; the page that asked for it stays."""
        for copy, _ in list(self._opened.values()):
            copy.clock.skip(seconds)
        return make_response("", 204)

    def _look(self, number: int) -> Response:
        return self._page("look", page=self._station(number), number=number, last=len(self.stations) - 1)

    def _list(self) -> Response:
        numbered = list(enumerate(self.stations))
        parts = [
            (part, [ListedPage(number=number, name=station.name) for number, station in group])
            for part, group in groupby(numbered, key=lambda one: one[1].part)
        ]
        return self._page("index", study=self._copies.content.file.entry, parts=parts)

    def _station(self, number: int) -> PageRecipe | ServerMessage:
        if number >= len(self.stations):
            abort(404)
        return self.stations[number]

    def _media(self, sha256: str) -> Response:
        """Serve a picture of the study for all copies.

        A picture that has changed since the preview began is not served.
        """
        mime = self._copies.media.get(sha256)
        if mime is None:
            abort(404)
        try:
            content = self._copies.read_media(sha256)
        except InputError:
            abort(404)
        return send_file(BytesIO(content), mimetype=mime, etag=sha256)

    @staticmethod
    def _page(template: str, **shown: Any) -> Response:
        return _own(make_response(render_template(f"preview/{template}.html", **shown)))

    def _made_front(self) -> Flask:
        front = Flask(
            "study_app.preview",
            template_folder=str(resource_folder("templates")),
            static_folder=str(Path(__file__).parents[1] / "static"),
        )
        front.jinja_env.undefined = StrictUndefined
        front.add_url_rule("/", "index", self._list)
        front.add_url_rule("/look/<int:number>", "look", self._look)
        front.add_url_rule("/open/<int:number>", "open", self._open)
        front.add_url_rule("/pass/<int:seconds>", "pass", self._pass, methods=["POST"])
        front.add_url_rule("/gone", "gone", lambda: (self._page("gone"), 404))
        front.add_url_rule("/m/<sha256>", "media", self._media)
        return front


def _own(response: Response) -> Response:
    """Set the rule for what the preview's own pages may load."""
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["Cache-Control"] = "no-store"
    return response


def _framed(start_response: Callable[..., Any]) -> Callable[..., Any]:
    """Allow a page to stand in a frame of the preview, and nowhere else."""

    def started(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
        allowed = [
            (name, re.sub(r"frame-ancestors [^;]*", "frame-ancestors 'self'", value))
            for name, value in headers
        ]
        return start_response(status, allowed, *more)

    return started
