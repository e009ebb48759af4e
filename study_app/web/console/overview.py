"""The first page of the console: how far the study is, and what is wrong; and the audit."""

from flask import Blueprint, Response, request

from study_app.services.console.access import acts
from study_app.services.researcher.studies import pause, resume
from study_app.store.database import room_left
from study_app.store.models import LoadedStudy
from study_app.web.console.charts import people_chart
from study_app.web.console.figures import latest_figures
from study_app.web.console.frame import NotDone, Seat, manage, page, watch
from study_app.web.serving import server

blueprint = Blueprint("overview", __name__)
LINES = 50
"""Of the audit on a page."""


@blueprint.get("/r/<study>/")
@watch
def overview(seat: Seat) -> Response:
    """Show how far a study is, and what is wrong with it."""
    found = latest_figures().of(
        seat.session, seat.plan, free_bytes=room_left(server().database), now=seat.now
    )
    curve, paused_at = found.glance.curve, _row(seat).paused_at
    shown = "-".join(
        str(one) for one in (found.at.timestamp(), paused_at and paused_at.timestamp(), seat.may_act)
    )
    if request.if_none_match.contains_weak(shown):
        return Response(status=304)
    response = page(
        "console/overview.html",
        seat,
        figures=found,
        paused_at=paused_at,
        shown=shown,
        chart=None if curve is None else people_chart(curve),
    )
    response.set_etag(shown, weak=True)
    return response


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
    before = request.args.get("before", "")
    number = int(before) if before.isascii() and before.isdecimal() and len(before) < 10 else None
    shown = acts(seat.session, seat.plan.id, limit=LINES + 1, before=number)
    older = shown[LINES - 1].id if len(shown) > LINES else None
    return page("console/audit.html", seat, acts=shown[:LINES], older=older)
