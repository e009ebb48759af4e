"""The audit of a study as a page: open sign-ins, and what was done, by whom."""

from flask import Blueprint, Response, request

from study_app.services.researcher.access import end_sign_in, open_sign_ins
from study_app.services.researcher.audit import audit_entries
from study_app.web.console.auth import (
    ConsoleRequest,
    RefusedAction,
    manager_required,
    row_number,
    viewer_required,
)
from study_app.web.console.layout import page

blueprint = Blueprint("audit", __name__)
ENTRIES = 50
"""Lines of the audit on a page."""


@blueprint.get("/r/<study>/audit")
@viewer_required
def audit(console_request: ConsoleRequest) -> Response:
    """List the open sign-ins to this study's console, and what was done, by whom."""
    session, study_id = console_request.session, console_request.study.id
    before = row_number(request.args.get("before", ""))
    entries = audit_entries(session, study_id, limit=ENTRIES + 1, before=before)
    return page(
        "console/audit.html",
        console_request,
        entries=entries[:ENTRIES],
        older=entries[ENTRIES - 1].number if len(entries) > ENTRIES else None,
        sign_ins=open_sign_ins(session, study_id, now=console_request.now),
    )


@blueprint.post("/r/<study>/audit/end")
@manager_required("end a sign-in")
def post_end(console_request: ConsoleRequest) -> Response:
    """End one sign-in to this console: its browser is signed out."""
    number = row_number(request.form.get("sign_in", ""))
    session, study_id = console_request.session, console_request.study.id
    ended = None if number is None else end_sign_in(session, study_id, number, now=console_request.now)
    if ended is None:
        raise RefusedAction("This sign-in has ended. Reload the audit to see the current ones.", 409)
    console_request.note(f"{ended.holder.name}, of {ended.began_at:%Y-%m-%d %H:%M} UTC")
    return console_request.back("audit")
