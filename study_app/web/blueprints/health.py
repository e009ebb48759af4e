"""/healthz: the process answers, and by which address it believes to be asked. /readyz: it can also reach its database."""

from flask import Blueprint, Response, jsonify
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from study_app.store.database import transaction
from study_app.store.models import Study
from study_app.web.blueprints.walk import home
from study_app.web.serving import server

blueprint = Blueprint("health", __name__)


@blueprint.get("/healthz")
def healthy() -> Response:
    """Say that the process answers, and how the links look that it shows whoever asks by this address."""
    return jsonify(status="ok", standing_link=home("TOKEN"))


@blueprint.get("/readyz")
def ready() -> tuple[Response, int]:
    """Say whether the database answers."""
    try:
        with transaction(server().database, write=False) as session:
            session.scalar(select(Study.id).limit(1))
    except SQLAlchemyError:
        return jsonify(status="the database does not answer"), 503
    return jsonify(status="ok"), 200
