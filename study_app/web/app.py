"""Flask application of the study server, and its answers to failures.

A failure is a plain sentence with a reference number, never a trace.
"""

import logging
import sqlite3
import traceback
from collections.abc import Callable
from typing import Any

from flask import Flask, Response, jsonify, request
from sqlalchemy.exc import DBAPIError, InternalError, OperationalError
from werkzeug.exceptions import BadHost, HTTPException, MethodNotAllowed, NotFound, SecurityError

from study_app.config import Config, resource_folder
from study_app.services.worker.worker_progress import UnknownWorkerError
from study_app.store import tokens
from study_app.store.tokens import BadTokenError, NewToken, Now
from study_app.web import serving
from study_app.web.blueprints import BLUEPRINTS
from study_app.web.blueprints.entry import MAX_STRANGERS, STRANGERS
from study_app.web.compression import compressed
from study_app.web.console import CONSOLE
from study_app.web.console.auth import hide_options, message_page
from study_app.web.console.overview import SNAPSHOTS, SnapshotCache
from study_app.web.console.sign_in import MAX_TRIES, TRIES
from study_app.web.serving import message_response, reference
from study_app.web.tries import Tries

LOGGER = logging.getLogger("prefcal.errors")
RETRY_SECONDS = 30
READ_ONLY = "25006"
"""PostgreSQL's code for a statement that writes to a read-only server."""
TOO_LARGE = (
    "The file is larger than any list of a platform: it may have at most 1 MB. Nothing of it was read. Choose the CSV that the platform lets"
    " you download; prefcal reconcile reads longer ones."
)


def install_errors(app: Flask) -> None:
    """Answer every failure with a page that says how to go on, or with JSON.

    Requests of scripts get JSON.
    """
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
    """Answer the errors that Flask raises itself.

    These are unknown pages, wrong methods, forms too large, and hosts that are invalid or not this server's.
    """
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
    """Answer when the database cannot be read or written."""
    LOGGER.error("request %s failed: the database does not answer (%s)", reference(), error)
    response = _answer("unavailable", 503)
    response.headers["Retry-After"] = str(RETRY_SECONDS)
    return response


def refused_by_database(error: InternalError) -> Response:
    """Answer an error of PostgreSQL, as unavailable if it is read-only for now.

    A standby is read-only, and so is a server that stopped at a full disk.
    """
    is_read_only = getattr(error.orig, "sqlstate", None) == READ_ONLY
    return unavailable(error) if is_read_only else failure(error)


def failure(error: Exception) -> Response:
    """Answer a fault of the server, and log it under the worker's reference number."""
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
    return message_response(key, status=status, reference=reference())


class StudyServer(Flask):
    """Flask without support of asyncio, which it would look for ten times a request."""

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function unchanged."""
        return func


def create_app(config: Config, *, now: Now | None = None, new_token: NewToken | None = None) -> Flask:
    """Return the study server of a database.

    Parameters
    ----------
    config : Config
        Settings with the database; a study must have been loaded into it.
    now : callable
        Clock of the server, aware and in UTC; by default the machine's. Nothing else can change it.
    new_token : callable
        Source of random names of a length; by default unguessable ones.

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
    app.before_request(serving.reject_nul)
    app.before_request(hide_options)
    app.before_request(serving.reject_truncated_body)
    app.before_request(serving.lead_to_new_address)
    app.after_request(serving.with_headers)
    app.after_request(compressed)
    app.extensions[TRIES] = Tries(MAX_TRIES)
    app.extensions[STRANGERS] = Tries(MAX_STRANGERS)
    app.extensions[SNAPSHOTS] = SnapshotCache(app.extensions[serving.NAME].plans)
    for blueprint in (*BLUEPRINTS, *CONSOLE):
        app.register_blueprint(blueprint)
    return app
