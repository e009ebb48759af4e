"""What the platform's list says, and lists of whom to approve, to pay and to ask. Platform ids leave by these lists alone."""

from flask import Blueprint, Response, request
from werkzeug.exceptions import NotFound

from metrics.errors import InputError, counted, listed, shown_faults
from study_app.services.console.payments import (
    LISTS,
    PAYABLE,
    last_read,
    list_text,
    mark_paid,
    payment_list,
    payment_state,
)
from study_app.services.researcher.reconcile import FINDINGS, reconcile
from study_app.store.models import EPOCH, MILLISECOND, LoadedStudy
from study_app.study.platform_list import PlatformList, parse_platform_list
from study_app.study.platforms import platform_of
from study_app.web.console.frame import NotDone, Seat, manage, page, watch
from study_app.web.serving import server

blueprint = Blueprint("payments", __name__)


@blueprint.get("/r/<study>/payments")
@watch
def payments(seat: Seat) -> Response:
    """Show how many submissions there are of each finding, and what to do with them; no id of anybody."""
    state = payment_state(seat.session, server().plans, seat.plan, now=seat.now)
    return page(
        "console/payments.html",
        seat,
        state=state,
        findings={name: meaning for name, meaning in FINDINGS.items() if state.counts.get(name)},
        lists=LISTS,
        payable=PAYABLE,
        as_of=_as_of(seat),
    )


def _as_of(seat: Seat) -> str:
    """Return a name of the list that was read last, for the forms that are about it."""
    read_at = last_read(seat.session, seat.plan.id)
    return "" if read_at is None else str((read_at - EPOCH) // MILLISECOND)


@blueprint.post("/r/<study>/payments/list")
@manage("read the platform's list")
def post_list(seat: Seat) -> Response:
    """Read a list of the platform and store what it says of each submission."""
    sent = request.files.get("list")
    if sent is None or not sent.filename:
        raise NotDone("No file was chosen. Choose the CSV that the platform lets you download.")
    read = _read(seat, sent.filename, sent.read())
    study = seat.session.get_one(LoadedStudy, seat.plan.id)
    found = reconcile(seat.session, server().plans, study, read.submissions, now=seat.now)
    strangers = sum(one.finding == "unknown" for one in found)
    seat.note("; ".join(_in_words(read, strangers)))
    return seat.back("payments")


def _in_words(read: PlatformList, strangers: int) -> list[str]:
    words = [counted(len(read.submissions), "line")]
    if strangers:
        words.append(f"{strangers} of ids that nobody in this study has")
    if read.unknown:
        words.append(
            f"states that prefcal does not know, so that nothing is advised there: {listed(read.unknown)}"
        )
    return words


def _read(seat: Seat, name: str, content: bytes) -> PlatformList:
    """Read an uploaded list; raises `NotDone` with every fault where it is none."""
    try:
        read = parse_platform_list(content, name, platform_of(seat.plan.entry), named={})
    except InputError as error:
        faults = "\n".join(shown_faults(error.faults))
        raise NotDone(
            "This is no list that prefcal can read; nothing of it was stored. Download the list of submissions from the platform as CSV,"
            f" and upload it as it is. Where columns have other names, prefcal reconcile takes these.\n{faults}"
        ) from error
    if not read.submissions:
        raise NotDone("The list has no line below its header; nothing was stored.")
    return read


@blueprint.get("/r/<study>/payments/<name>.csv")
@manage("take a list for payments")
def payments_csv(seat: Seat, name: str) -> Response:
    """Hand out whom to approve, to pay or to ask, by their ids at the platform."""
    if name not in LISTS:
        raise NotFound
    rows = payment_list(seat.session, server().plans, seat.plan, name, now=seat.now)
    seat.note(f"{name}: {counted(len(rows), 'line')}")
    headers = {"Content-Disposition": f'attachment; filename="{seat.plan.name}-{name}.csv"'}
    return Response(list_text(rows), mimetype="text/csv", headers=headers)


@blueprint.post("/r/<study>/payments/paid")
@manage("mark as paid")
def post_paid(seat: Seat) -> Response:
    """Mark all submissions of a list as paid."""
    name = request.form.get("list", "")
    if name not in PAYABLE:
        raise NotDone("No such list. Open the page of the payments again, and mark it from there.")
    if request.form.get("as_of") != _as_of(seat):
        raise NotDone(
            "A newer list was read since this page was opened. Look at it before you mark anything.", 409
        )
    number = mark_paid(seat.session, seat.plan.id, name, now=seat.now)
    if number == 0:
        raise NotDone("Nobody is left on this list: they were marked as paid already.", 409)
    seat.note(f"{counted(number, 'submission')} of the list {name}")
    return seat.back("payments")
