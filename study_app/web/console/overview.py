"""The first page of the console: how far the study is, and what is wrong; and the audit."""

from flask import Blueprint, Response

from study_app.services.researcher.access import acts
from study_app.services.researcher.progress import study_progress
from study_app.services.researcher.studies import pause, resume
from study_app.store.models import LoadedStudy
from study_app.web.console.frame import NotDone, Seat, manage, page, watch

blueprint = Blueprint("overview", __name__)


@blueprint.get("/r/<study>/")
@watch
def overview(seat: Seat) -> Response:
    """Show how far a study is."""
    return page("console/overview.html", seat, progress=study_progress(seat.session, seat.plan, now=seat.now))


@blueprint.post("/r/<study>/pause")
@manage("pause")
def post_pause(seat: Seat) -> Response:
    """Let nobody new in."""
    if not pause(seat.session, _row(seat), now=seat.now):
        raise NotDone("The study is paused already.", 409)
    seat.note("nobody new is let in; whoever has begun goes on")
    return seat.back()


@blueprint.post("/r/<study>/resume")
@manage("resume")
def post_resume(seat: Seat) -> Response:
    """Let new workers in again."""
    if not resume(seat.session, _row(seat)):
        raise NotDone("The study is not paused.", 409)
    seat.note("new workers are let in again")
    return seat.back()


def _row(seat: Seat) -> LoadedStudy:
    return seat.session.get_one(LoadedStudy, seat.plan.id)


@blueprint.get("/r/<study>/audit")
@watch
def audit(seat: Seat) -> Response:
    """List what was done in this console, and by whom."""
    return page("console/audit.html", seat, acts=acts(seat.session, seat.plan.id))
