"""The audit of a study as a page: open sign-ins, and what was done, by whom."""

from flask import Blueprint, Response, request

from metrics.errors import pluralise
from study_app.services.researcher.access import end_sign_in, open_sign_ins
from study_app.services.researcher.audit import audit_entries, people_in
from study_app.web.console.auth import (
    ConsoleRequest,
    RefusedAction,
    download,
    manager_required,
    row_number,
    viewer_required,
)
from study_app.web.console.layout import csv_response, page

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


@blueprint.get("/r/<study>/audit.csv")
@download("take the audit")
def audit_csv(console_request: ConsoleRequest) -> Response:
    """Return the whole audit as CSV, the oldest line first, with the number of people whom each act concerns."""
    entries = audit_entries(console_request.session, console_request.study.id, limit=None)
    console_request.note(pluralise(len(entries) - 1, "line"))
    rows = (
        (entry.number, entry.at.isoformat(), entry.who, entry.what, people_in(entry), entry.detail)
        for entry in reversed(entries[1:])  # the newest is this download, which is not over yet
    )
    header = ("number", "at", "who", "what", "people", "detail")
    name = f"{console_request.study.name}-audit"
    return csv_response(name, header, (["" if cell is None else cell for cell in row] for row in rows))


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
