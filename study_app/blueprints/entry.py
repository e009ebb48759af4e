"""/s/STUDY: where workers arrive from their platform."""

from flask import Blueprint, redirect, request
from werkzeug.wrappers import Response as AnyResponse

from study_app.database import transaction
from study_app.log import note_worker
from study_app.plan import StudyPlan
from study_app.platforms import PLATFORMS, is_phone, visit_parameters, worker_id
from study_app.services.entry import Visitor, arrive, find_study, is_full, is_invitation, is_known
from study_app.web import said, server

blueprint = Blueprint("entry", __name__)


@blueprint.get("/s/<study>")
def enter(study: str) -> AnyResponse:
    """Let a worker in, unless something speaks against it; coming back leads to where they were."""
    app = server()
    with transaction(app.database, write=False) as session:
        plan = find_study(session, app.plans, study)
        if plan is None:
            return said("no_study", status=404)
        visitor = _visitor(plan)
        if visitor is None:
            return said("no_id", status=400, language=plan.language)
        if not is_known(session, plan, visitor):
            if not _fits_device(plan):
                return said(f"device_{plan.entry.device}", status=403, language=plan.language)
            if is_full(session, plan, now=app.now()):
                return said("full", status=409, language=plan.language)
    with transaction(app.database, write=True) as session:
        invited = is_invitation(session, plan, visitor)
        worker = arrive(session, plan, visitor, now=app.now(), new_token=app.new_token)
    note_worker(worker.pseudonym)
    reminded = request.args.get("via") == "reminder"
    via = "?via=reminder" if reminded else "?via=invitation" if invited else ""
    return redirect(f"/w/{app.signer.worker_token(worker.id)}/{via}", code=303)


def _visitor(plan: StudyPlan) -> Visitor | None:
    platform = PLATFORMS[plan.entry.platform]
    given = worker_id(platform, request.args)
    if given is None:
        return None
    return Visitor(platform=platform.name, worker=given, parameters=visit_parameters(platform, request.args))


def _fits_device(plan: StudyPlan) -> bool:
    if plan.entry.device == "any":
        return True
    hint = request.headers.get("Sec-CH-UA-Mobile")
    return is_phone(request.headers.get("User-Agent", ""), hint) == (plan.entry.device == "phone")
