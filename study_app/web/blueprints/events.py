"""/e/TOKEN: what happened in a page, in numbered batches."""

from flask import Blueprint, Response, jsonify, request

from study_app.logs.page_events import BadBatchError, read_batch
from study_app.services.worker.events import store_events
from study_app.store.database import transaction
from study_app.store.tokens import BadTokenError, PageToken
from study_app.web.log import note_worker
from study_app.web.serving import server

blueprint = Blueprint("events", __name__)


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
