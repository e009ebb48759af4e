"""Layout of the console's pages, and tables as CSV files."""

import csv
import io
from collections.abc import Iterable

from flask import Response, make_response, render_template, request

from metrics.errors import escape_spreadsheet_cell
from study_app.store.console_models import AuditEntry
from study_app.web.console.auth import ConsoleRequest, row_number

NAVIGATION = (
    ("", "overview.overview", "Overview"),
    ("people", "people.people", "People"),
    ("material", "material.material", "Material"),
    ("data", "data.data", "Data"),
    ("payments", "payments.payments", "Payments"),
    ("limits", "limits.limits", "Limits"),
    ("files", "files.files", "Files"),
    ("audit", "audit.audit", "Audit"),
)
"""Path below /r/STUDY/, endpoint, and the words of the link."""


def page(template: str, console_request: ConsoleRequest, *, status: int = 200, **values: object) -> Response:
    """Render a page of the console; ``values`` are what its template needs."""
    links = [
        (console_request.address(path), name, request.endpoint == view) for path, view, name in NAVIGATION
    ]
    html = render_template(
        template, console_request=console_request, links=links, done=_done(console_request), **values
    )
    return make_response(html, status)


def _done(console_request: ConsoleRequest) -> AuditEntry | None:
    """Return the audit entry of this key and study that led to this page, if any."""
    number = row_number(request.args.get("done", ""))
    entry = None if number is None else console_request.session.get(AuditEntry, number)
    own = console_request.study.id, console_request.key.id
    return entry if entry is not None and (entry.study_id, entry.key_id) == own else None


def csv_response(name: str, header: Iterable[str], rows: Iterable[Iterable[object]]) -> Response:
    """Return a table as a CSV file without cells that a spreadsheet would compute."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([escape_spreadsheet_cell(str(cell)) for cell in row] for row in rows)
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    return Response(text.getvalue(), mimetype="text/csv", headers=headers)
