"""Route by which Prolific tells this server that a submission changed.

Prolific signs the time of sending and the body (HMAC-SHA256 with the secret of the workspace). What is older than `MAX_AGE`, or was
seen before under the same name or the same signature, does nothing.
"""

import base64
import hashlib
import hmac
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Annotated

from flask import Blueprint, Response, jsonify, request
from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError
from werkzeug.exceptions import NotFound, RequestEntityTooLarge

from study_app.services.worker.returns import SubmissionEvent, take_event
from study_app.store.database import transaction
from study_app.web.serving import server

blueprint = Blueprint("hooks", __name__)
MAX_AGE = timedelta(minutes=5)
"""Most that the time of sending may differ from the server's clock."""
MAX_BYTES = 8 * 1024
STATUS_CHANGE = "submission.status.change"
Word = Annotated[str, StringConstraints(min_length=1, max_length=255, pattern=r"^[^\x00-\x1f]*$")]


class HookBody(BaseModel):
    """Body of an event; other events have other keys."""

    model_config = ConfigDict(frozen=True)

    event_type: Word
    resource_id: Word | None = None
    participant_id: Word | None = None
    status: Word | None = None


@blueprint.post("/hooks/prolific")
def take_prolific_event() -> tuple[Response, int]:
    """Take an event that Prolific signed, and free the place of a returned or timed-out submission."""
    app = server()
    if app.hook_secret is None:
        raise NotFound
    body = request.get_data()
    if len(body) > MAX_BYTES:
        raise RequestEntityTooLarge
    signature = request.headers.get("X-Prolific-Request-Signature", "")
    sent = request.headers.get("X-Prolific-Request-Timestamp", "")
    if not is_signed(app.hook_secret, sent, body, signature):
        return jsonify(error="not signed by this workspace"), 401
    sent_at = _moment(sent)
    if sent_at is None or abs(app.now() - sent_at) > MAX_AGE:
        return jsonify(error="sent too long ago, or by another clock"), 401
    try:
        change = HookBody.model_validate_json(body)
    except ValidationError:
        return jsonify(error="no event"), 400
    if change.event_type != STATUS_CHANGE:
        return jsonify(status="not used here"), 200
    if change.resource_id is None or change.participant_id is None or change.status is None:
        return jsonify(error="no event"), 400
    event = SubmissionEvent(
        event=request.headers.get("X-Event-ID") or signature,
        signature=signature,
        worker=change.participant_id,
        submission=change.resource_id,
        status=change.status,
        happened_at=min(_moment(request.headers.get("X-Timestamp", "")) or sent_at, sent_at),
    )
    with transaction(app.database, write=True) as session:
        effect = take_event(session, "prolific", event, now=app.now())
    return jsonify(status=effect), 200


def is_signed(secret: str, sent: str, body: bytes, signature: str) -> bool:
    """Return whether a signature is that of a time and a body, compared in constant time."""
    digest = hmac.new(secret.encode(), sent.encode() + body, hashlib.sha256).digest()
    return hmac.compare_digest(base64.b64encode(digest), signature.encode())


def _moment(text: str) -> datetime | None:
    """Return the time that a header says in seconds since 1970 or in ISO 8601, None for anything else."""
    with suppress(ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(float(text), UTC)
    with suppress(ValueError):
        moment = datetime.fromisoformat(text)
        return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return None
