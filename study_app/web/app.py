"""The study server, made of its parts; its answers to failures; and answers that travel compressed.

A failure is a plain sentence with a reference number, never a trace.

With its style and scripts a page stays under 60 KB, for a worker on a train. Who can read the length of compressed pages could guess
at secrets in them by having words of their own put beside these. Here nobody can: the address of a worker's page with a secret in it is
itself the secret, and no cookie opens one; the console's cookie is sent by no other site's request.
"""

import logging
import sqlite3
import traceback
import zlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from flask import Flask, Response, jsonify, request
from sqlalchemy.exc import DBAPIError, InternalError, OperationalError
from werkzeug.datastructures import Accept
from werkzeug.exceptions import BadHost, HTTPException, MethodNotAllowed, NotFound, SecurityError
from werkzeug.http import parse_accept_header

from study_app.config import Config, resource_folder
from study_app.services.worker.whereabouts import UnknownWorkerError
from study_app.store import tokens
from study_app.store.tokens import BadTokenError, NewToken, Now
from study_app.web import serving
from study_app.web.blueprints import BLUEPRINTS
from study_app.web.console import CONSOLE
from study_app.web.console.auth import hide_options, message_page
from study_app.web.console.overview import SNAPSHOTS, SnapshotCache
from study_app.web.console.sign_in import TRIES, WrongKeys
from study_app.web.serving import reference, said

LOGGER = logging.getLogger("prefcal.errors")
RETRY_SECONDS = 30
READ_ONLY = "25006"
"""PostgreSQL's code for a statement that writes where nothing may be written."""
TOO_LARGE = (
    "The file is larger than any list of a platform: it may have at most 1 MB. Nothing of it was read. Choose the CSV that the platform lets"
    " you download; prefcal reconcile reads longer ones."
)
SMALLEST_BYTES = 512
"""What is shorter fits into one packet either way."""

LEVEL = 3
"""Two thirds of the time that level 5 takes, for 5 % more bytes."""

WINDOW = 16 + 13
"""The gzip format, looking back 8 KB."""

MEMORY = 6
"""With the small window a page costs 0.03 ms instead of 0.07, and not a byte more: most of it was clearing memory."""

_TYPES = {"text/html", "text/css", "text/javascript", "text/plain", "image/svg+xml"}
_LEFT_ALONE = {206, 304}
"""Part of a file, whose places are those of the file as it is, and nothing new."""


def install_errors(app: Flask) -> None:
    """Answer every failure with a page that says how to go on, or with JSON where a script asked."""
    app.register_error_handler(BadTokenError, bad_address)
    app.register_error_handler(UnknownWorkerError, bad_address)
    app.register_error_handler(HTTPException, http_error)
    app.register_error_handler(OperationalError, unavailable)
    app.register_error_handler(InternalError, refused_by_database)
    app.register_error_handler(sqlite3.Error, unavailable)
    app.register_error_handler(Exception, failure)


def bad_address(error: Exception) -> Response:  # noqa: ARG001 - Flask's signature
    """Answer an address that this server did not give out."""
    return _answer("bad_address", 404)


def http_error(error: HTTPException) -> Response:
    """Answer what Flask refuses by itself: unknown pages, wrong methods, forms too large, hosts that are none or not this server's."""
    no_place = (BadHost, SecurityError)  # no page can be made without knowing where this server is
    if isinstance(error, no_place) or isinstance(request.routing_exception, no_place):
        return Response("Bad request\n", status=400, mimetype="text/plain")
    if isinstance(error, MethodNotAllowed) and request.path.startswith("/r/"):
        error = NotFound()  # else it would tell that there is a console
    if error.code == 413 and request.endpoint in serving.LARGE_BODIES:
        return message_page((request.view_args or {})["study"], "Not done", TOO_LARGE, 413)
    known = {404: "not_found" if request.path != "/" else "bare_address", 413: "too_large"}
    response = _answer(known.get(error.code or 500, "bad_request"), error.code or 500)
    if isinstance(error, MethodNotAllowed):
        response.allow.update(error.valid_methods or ())
    return response


def unavailable(error: Exception) -> Response:
    """Answer when the database cannot be read or written: a full disk, a server that restarts."""
    LOGGER.error("request %s failed: the database does not answer (%s)", reference(), error)
    response = _answer("unavailable", 503)
    response.headers["Retry-After"] = str(RETRY_SECONDS)
    return response


def refused_by_database(error: InternalError) -> Response:
    """Answer a PostgreSQL that only reads for now, as a standby does, or one that its keeper stopped at a full disk."""
    is_read_only = getattr(error.orig, "sqlstate", None) == READ_ONLY
    return unavailable(error) if is_read_only else failure(error)


def failure(error: Exception) -> Response:
    """Answer a fault of the server, and log it under the reference that the worker sees."""
    if isinstance(error, DBAPIError):  # what the database says of a row may have its values
        stack = "".join(traceback.format_tb(error.__traceback__))
        LOGGER.error("request %s failed: %s\n%s", reference(), type(error.orig).__name__, stack)
    else:
        LOGGER.error("request %s failed", reference(), exc_info=error)
    return _answer("failure", 500)


def _answer(key: str, status: int) -> Response:
    if request.path.startswith("/e/"):
        response = jsonify(error=key, reference=reference())
        response.status_code = status
        return response
    return said(key, status=status, reference=reference())


def install_compression(app: Flask) -> None:
    """Compress the answers of ``app`` for whoever accepts that."""
    app.after_request(_compressed)


def _compressed(response: Response) -> Response:
    if response.status_code in _LEFT_ALONE or response.mimetype not in _TYPES:
        return response
    response.headers.add("Vary", "Accept-Encoding")
    if not _takes_gzip(request.headers.get("Accept-Encoding", "")) or "Content-Encoding" in response.headers:
        return response
    response.direct_passthrough = False
    body = response.get_data()
    if len(body) < SMALLEST_BYTES:
        return response
    response.set_data(_gzipped(body))
    response.headers["Content-Encoding"] = "gzip"
    tag, _ = response.get_etag()
    if tag is not None:
        response.set_etag(tag, weak=True)  # the same content in other bytes
    return response


@lru_cache(maxsize=64)
def _takes_gzip(accepted: str) -> bool:
    """Say whether gzip is among the encodings that a browser accepts; there are few different answers to that."""
    return parse_accept_header(accepted, Accept).quality("gzip") > 0


def _gzipped(body: bytes) -> bytes:
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, WINDOW, MEMORY)
    return packer.compress(body) + packer.flush()


class StudyServer(Flask):
    """Flask without looking at each of its functions, ten a request, whether it is one of asyncio's: here none is."""

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function."""
        return func


def create_app(config: Config, *, now: Now | None = None, new_token: NewToken | None = None) -> Flask:
    """Make the study server.

    Parameters
    ----------
    config : Config
        Where the database is; a study must have been loaded into it.
    now : callable
        Tells the time, aware and in UTC; by default the machine's clock. Nothing else can change it.
    new_token : callable
        Makes a fresh random name of so many characters; by default unguessable ones.

    Raises
    ------
    PrefcalError
        If no study was loaded into the database.
    """
    app = StudyServer("study_app", template_folder=str(resource_folder("templates")))
    app.extensions[serving.NAME] = serving.open_server(
        config, now or tokens.utc_now, new_token or tokens.secret_token
    )
    serving.configure(app, config)
    serving.install_log(app)
    install_errors(app)
    app.before_request(serving.find_nothing_with_nul)
    app.before_request(hide_options)
    app.before_request(serving.refuse_what_was_cut)
    app.before_request(serving.lead_to_new_address)
    serving.install_headers(app)
    install_compression(app)
    app.extensions[TRIES] = WrongKeys()
    app.extensions[SNAPSHOTS] = SnapshotCache(app.extensions[serving.NAME].plans)
    for blueprint in (*BLUEPRINTS, *CONSOLE):
        app.register_blueprint(blueprint)
    return app
