"""One structured line a request: id, route, status, milliseconds, pseudonym; never an answer, never a platform's id.

The route is the pattern (``/w/<token>/consent``), not the address, so that no token or parameter gets into a log.
"""

import json
import logging
import secrets
import time

from flask import Flask, Response, g, request

LOGGER = logging.getLogger("prefcal.requests")


def install(app: Flask) -> None:
    """Log every request of ``app``."""
    app.before_request(_begin)
    app.after_request(_end)


def note_worker(pseudonym: str) -> None:
    """Say whose request this is."""
    g.pseudonym = pseudonym


def reference() -> str:
    """Return the id of this request, for a worker to quote."""
    return str(g.get("request_id", "-"))


def _begin() -> None:
    g.request_id = secrets.token_hex(4)
    g.started = time.perf_counter()


def _end(response: Response) -> Response:
    line = {
        "id": reference(),
        "method": request.method,
        "route": request.url_rule.rule if request.url_rule else "-",
        "status": response.status_code,
        "ms": round((time.perf_counter() - g.started) * 1000, 1),
        "worker": g.get("pseudonym"),
    }
    LOGGER.info(json.dumps(line))
    return response
