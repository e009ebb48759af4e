"""What goes wrong, in a plain sentence with a reference number; never a trace."""

import logging
import sqlite3
import traceback

from flask import Flask, Response, jsonify, request
from sqlalchemy.exc import DBAPIError, InternalError, OperationalError
from werkzeug.exceptions import BadHost, HTTPException

from study_app.services.worker.whereabouts import UnknownWorkerError
from study_app.store.tokens import BadTokenError
from study_app.web.log import reference
from study_app.web.serving import said

LOGGER = logging.getLogger("prefcal.errors")
RETRY_SECONDS = 30
READ_ONLY = "25006"
"""PostgreSQL's code for a statement that writes where nothing may be written."""


def install(app: Flask) -> None:
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
    """Answer what Flask refuses by itself: unknown pages, wrong methods, forms too large, hosts that are none."""
    if isinstance(error, BadHost):  # no page can be made without knowing where this server is
        return Response("Bad request\n", status=400, mimetype="text/plain")
    known = {404: "not_found" if request.path != "/" else "bare_address", 413: "too_large"}
    return _answer(known.get(error.code or 500, "bad_request"), error.code or 500)


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
