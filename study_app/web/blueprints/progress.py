"""/r/STUDY?key=KEY: how far a study is, for who has the key."""

import hmac

from flask import Blueprint, Response, make_response, render_template, request

from study_app.services.researcher.progress import study_progress
from study_app.services.researcher.studies import RESEARCHER_KEY, setting
from study_app.services.worker.entry import find_study
from study_app.store.database import transaction
from study_app.web.serving import said, server

blueprint = Blueprint("progress", __name__)


@blueprint.get("/r/<study>")
def progress(study: str) -> Response:
    """Show how far a study is; without the right key nothing shows that the study exists."""
    app = server()
    with transaction(app.database, write=False) as session:
        key = setting(session, RESEARCHER_KEY)
        plan = find_study(session, app.plans, study)
        if plan is None or not key or not _same(request.args.get("key", ""), key):
            return said("bad_address", status=404)
        found = study_progress(session, plan, now=app.now())
    return make_response(render_template("progress.html", page=found, now=app.now()))


def _same(given: str, key: str) -> bool:
    """Compare in a time that does not tell how much of the key was right."""
    return hmac.compare_digest(given.encode(), key.encode())
