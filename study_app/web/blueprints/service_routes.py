"""Routes beside the pages of workers: media, events, and health.

/e/TOKEN takes what happened in a page, in numbered batches. /m/SHA256: a picture or sound of a page. /healthz: the process answers, and by which address it believes to be
asked. /readyz: it can also write into its database. /.well-known/security.txt: where to report a weakness.
"""

import sqlite3
from datetime import timedelta
from io import BytesIO

from flask import Blueprint, Response, jsonify, request
from sqlalchemy import update
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.wsgi import wrap_file

from study_app.logs.page_events import BadBatchError, read_batch
from study_app.services.worker.events import store_events
from study_app.store.database import transaction
from study_app.store.models import LoadedStudy
from study_app.store.tokens import BadTokenError, PageToken
from study_app.web.blueprints.step_views import home
from study_app.web.serving import message_response, note_worker, server

blueprint = Blueprint("beside", __name__)
GOOD_DAYS = 180
"""Days for which security.txt is valid; it is made anew with each request."""
YEAR_SECONDS = 365 * 86_400
"""So long a browser keeps a picture or sound without asking again."""


@blueprint.get("/healthz")
def healthy() -> Response:
    """Return that the process answers, and the form of its links.

    The links are those for a client of this address.
    """
    return jsonify(status="ok", standing_link=home("TOKEN"))


@blueprint.get("/readyz")
def ready() -> tuple[Response, int]:
    """Return whether the database accepts writes; on a full disk it still reads."""
    try:
        with transaction(server().database, write=True) as session:
            session.execute(update(LoadedStudy).values(name=LoadedStudy.name))
    except (SQLAlchemyError, sqlite3.Error):
        return jsonify(status="the database does not answer"), 503
    return jsonify(status="ok"), 200


@blueprint.get("/.well-known/security.txt")
def security_contact() -> Response:
    """Return the contact for reports of weaknesses (RFC 9116), if any."""
    app = server()
    if app.contact is None:
        return message_response("not_found", status=404)
    expires = (app.now() + timedelta(days=GOOD_DAYS)).replace(microsecond=0)
    lines = f"Contact: {app.contact}\nExpires: {expires:%Y-%m-%dT%H:%M:%SZ}\nPreferred-Languages: en\n"
    return Response(lines, mimetype="text/plain")


@blueprint.get("/m/<sha256>")
def media(sha256: str) -> Response:
    """Return a picture, sound or film of a loaded study.

    Its address is the hash of its bytes, so a browser requests it once.
    """
    stored = server().media.read(sha256)
    if stored is None:
        return message_response("not_found", status=404)
    mime, content = stored
    body = wrap_file(request.environ, BytesIO(content))  # `send_file` would make a copy of the bytes
    response = Response(body, mimetype=mime, direct_passthrough=True)
    response.content_length = len(content)
    response.headers["Cache-Control"] = f"public, max-age={YEAR_SECONDS}, immutable"
    response.set_etag(sha256)
    response.make_conditional(request, accept_ranges=True, complete_length=len(content))
    return response


@blueprint.post("/e/<token>")
def take_events(token: str) -> tuple[Response, int]:
    """Store a batch and say up to which number everything of its page is stored."""
    app = server()
    worker = app.signer.worker(token)
    try:
        batch = read_batch(request.get_data())
        page = _page(batch.page, worker)
    except BadBatchError as error:
        return jsonify(error=str(error)), 400
    with transaction(app.database, write=True) as session:
        receipt = store_events(session, app.plans, page, batch.events, now=app.now())
    note_worker(receipt.worker)
    return jsonify(upto=receipt.upto), 200


def _page(token: str, worker: int) -> PageToken:
    try:
        page = server().signer.page(token)
    except BadTokenError as error:
        raise BadBatchError("page: not a page of this server") from error
    if page.worker != worker:
        raise BadBatchError("page: a page of somebody else")
    return page
