"""Payments: the platform's list, and lists to approve, to pay and to ask."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from flask import Blueprint, Response, request
from sqlalchemy import ColumnElement, Select, case, exists, func, select, update
from sqlalchemy.orm import Session
from werkzeug.exceptions import NotFound

from metrics.errors import InputError, format_faults, join_names, pluralise
from study_app.services.researcher.orders import (
    INTENDED,
    STATES,
    UNKNOWN,
    listed_orders,
    money,
    order_counts,
)
from study_app.services.researcher.reconcile import (
    SUBMISSION_STATES,
    list_detail,
    never_listed,
    reconcile,
)
from study_app.store.models import EPOCH, MILLISECOND, PlatformIdentity
from study_app.store.platform_models import PlatformCall, PlatformOrder
from study_app.store.study_cache import CachedStudy, StudyCache
from study_app.store.task_models import PlatformRecord
from study_app.study.platform_list import PlatformList, parse_platform_list
from study_app.study.platforms import platform_of
from study_app.web.console.auth import ConsoleRequest, RefusedAction, manager_required, viewer_required
from study_app.web.console.layout import csv_response, page
from study_app.web.serving import server

blueprint = Blueprint("payments", __name__)


@dataclass(frozen=True, slots=True)
class PaymentList:
    """Submissions with some states, and advice on them."""

    heading: str
    advice: str
    states: tuple[str, ...]
    is_payable: bool


LISTS: Mapping[str, PaymentList] = {
    "approve": PaymentList(
        "Approve",
        "Complete data, handed in, not paid yet: approve these submissions where the workers came from.",
        ("pay_without_code", "pay"),
        is_payable=True,
    ),
    "pay": PaymentList(
        "Pay",
        "Complete data but nothing handed in, or ended early with its code: pay what was agreed by a bonus.",
        ("not_handed_in", "ended_early"),
        is_payable=True,
    ),
    "ask": PaymentList(
        "Ask about",
        "Not clear from here: ask the platform or the worker before you pay or reject.",
        ("unknown_state", "not_listed", "shared_submission", "same_work", "wrong_code", "no_data"),
        is_payable=False,
    ),
}
COLUMNS = ("platform_id", "submission", "status", "finding")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenOrder:
    """Order to the platform that may have been carried out, or cannot be; ``since`` its call, or its intention."""

    number: int
    kind: str
    worker: str
    amount: str
    state: str
    since: datetime
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiPayments:
    """What passed between this study and a platform's API.

    Attributes
    ----------
    counts : mapping of str to mapping of str to int
        Orders by kind and state.
    waiting : sequence of OpenOrder
        Those that wait for a person: unknown, or not taken for a reason.
    calls, unanswered : int
        Calls of the API, and those without an answer.
    """

    counts: Mapping[str, Mapping[str, int]]
    waiting: Sequence[OpenOrder]
    calls: int
    unanswered: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentState:
    """Number of submissions of each state, and when the last list was read."""

    counts: Mapping[str, int]
    read_at: datetime | None

    def on_list(self, name: str) -> int:
        """Return the number of workers on a list."""
        return sum(self.counts.get(state, 0) for state in LISTS[name].states)


@blueprint.get("/r/<study>/payments")
@viewer_required
def payments(console_request: ConsoleRequest) -> Response:
    """Show how many submissions have each state, without any id."""
    session, study, now = console_request.session, console_request.study, console_request.now
    state = payment_state(session, server().plans, study, now=now)
    return page(
        "console/payments.html",
        console_request,
        state=state,
        meanings={name: words for name, words in SUBMISSION_STATES.items() if state.counts.get(name)},
        lists=LISTS,
        as_of=_as_of(state.read_at),
        api=api_payments(session, study.id),
        order_states=STATES,
    )


def _as_of(read_at: datetime | None) -> str:
    """Return an identifier of the latest list, which its forms send back."""
    return "" if read_at is None else str((read_at - EPOCH) // MILLISECOND)


@blueprint.post("/r/<study>/payments/list")
@manager_required("read the platform's list")
def post_list(console_request: ConsoleRequest) -> Response:
    """Read a platform's list and store the state of each submission."""
    sent = request.files.get("list")
    if sent is None or not sent.filename:
        raise RefusedAction("No file was chosen. Choose the CSV that the platform lets you download.")
    read = _read(console_request.study, sent.filename, sent.read())
    rows = reconcile(
        console_request.session,
        server().plans,
        console_request.stored_study,
        read.submissions,
        now=console_request.now,
    )
    words = [list_detail(rows, len(read.submissions))]
    if read.unknown:
        words.append(f"unknown states, which get no advice: {join_names(read.unknown)}")
    console_request.note("; ".join(words))
    return console_request.back("payments")


def _read(study: CachedStudy, name: str, content: bytes) -> PlatformList:
    """Read an uploaded list; raises `RefusedAction` with every fault."""
    try:
        read = parse_platform_list(content, name, platform_of(study.entry), named={})
    except InputError as error:
        faults = "\n".join(format_faults(error.faults))
        raise RefusedAction(
            "This is no list that prefcal can read; nothing of it was stored. Download the list of submissions from the platform as CSV,"
            f" and upload it as it is. Where columns have other names, prefcal reconcile takes these.\n{faults}"
        ) from error
    if not read.submissions:
        raise RefusedAction("The list has no line below its header; nothing was stored.")
    return read


@blueprint.get("/r/<study>/payments/<name>.csv")
@manager_required("take a list for payments")
def payments_csv(console_request: ConsoleRequest, name: str) -> Response:
    """Return a list to approve, to pay or to ask, with ids at the platform."""
    if name not in LISTS:
        raise NotFound
    session, study, now = console_request.session, console_request.study, console_request.now
    rows = payment_rows(session, server().plans, study, name, now=now)
    people = pluralise(len({row[0] for row in rows}), "person", "people")
    console_request.note(f"{name}: {pluralise(len(rows), 'submission')}, with platform ids of {people}")
    return csv_response(f"{study.name}-{name}", COLUMNS, rows)


@blueprint.post("/r/<study>/payments/paid")
@manager_required("mark as paid")
def post_paid(console_request: ConsoleRequest) -> Response:
    """Mark all submissions of a list as paid."""
    name, session, study_id = request.form.get("list", ""), console_request.session, console_request.study.id
    if name not in LISTS or not LISTS[name].is_payable:
        raise RefusedAction("No such list. Open the page of the payments again, and mark it from there.")
    if request.form.get("as_of") != _as_of(last_read(session, study_id)):
        raise RefusedAction(
            "A newer list was read since this page was opened. Look at it before you mark anything.", 409
        )
    number, people = mark_paid(session, study_id, name, now=console_request.now)
    if number == 0:
        raise RefusedAction("Nobody is left on this list: they were marked as paid already.", 409)
    of_people = pluralise(people, "person", "people")
    console_request.note(f"{pluralise(number, 'submission')} of the list {name}, of {of_people}")
    return console_request.back("payments")


def payment_state(session: Session, plans: StudyCache, study: CachedStudy, *, now: datetime) -> PaymentState:
    """Count the submissions of a study by their state."""
    read_at = last_read(session, study.id)
    if read_at is None:
        return PaymentState(counts={}, read_at=None)
    finding = _records(study.id).order_by(None).subquery().c.finding
    counts: Counter[str] = Counter(
        dict(session.execute(select(finding, func.count()).group_by(finding)).all())
    )
    counts.update(row.finding for row in never_listed(session, plans, study, now=now))
    return PaymentState(counts=counts, read_at=read_at)


def api_payments(session: Session, study_id: int) -> ApiPayments | None:
    """Return what passed between a study and a platform's API, None where nothing did."""
    calls = select(func.count()).select_from(PlatformCall).where(PlatformCall.study_id == study_id)
    number = session.scalar(calls) or 0
    if not number:
        return None
    counts: dict[str, dict[str, int]] = {}
    for (kind, state), count in sorted(order_counts(session, study_id).items()):
        counts.setdefault(kind, {})[state] = count
    waiting = [
        OpenOrder(
            number=order.id,
            kind=order.kind,
            worker=pseudonym,
            amount="" if order.cents is None else money(order.cents, order.currency or ""),
            state=order.state,
            since=order.sent_at or order.intended_at,
            note=order.note,
        )
        for order, pseudonym, _ in listed_orders(session, study_id, states=(UNKNOWN, INTENDED))
        if order.state == UNKNOWN or order.note
    ]
    return ApiPayments(
        counts=counts,
        waiting=waiting,
        calls=number,
        unanswered=session.scalar(calls.where(PlatformCall.status.is_(None))) or 0,
    )


def last_read(session: Session, study_id: int) -> datetime | None:
    """Return when a list of a study was read last, None when none was."""
    newest = (
        select(func.max(PlatformRecord.read_at))
        .join(PlatformIdentity, PlatformIdentity.id == PlatformRecord.identity_id)
        .where(PlatformIdentity.study_id == study_id)
    )
    return session.scalar(newest)


def payment_rows(
    session: Session, plans: StudyCache, study: CachedStudy, name: str, *, now: datetime
) -> Sequence[tuple[str, ...]]:
    """Return the rows of a list, as `COLUMNS` names them."""
    states = LISTS[name].states
    rows = [tuple(row) for row in session.execute(_records(study.id).where(_finding().in_(states)))]
    if "not_listed" in states:
        unlisted = never_listed(session, plans, study, now=now)
        rows += [(row.worker, row.submission, row.status, row.finding) for row in unlisted]
    return rows


def mark_paid(session: Session, study_id: int, name: str, *, now: datetime) -> tuple[int, int]:
    """Mark every submission on a list as paid; return how many, and of how many people."""
    on_list = (
        select(PlatformRecord.id, PlatformRecord.identity_id)
        .join(PlatformIdentity, PlatformIdentity.id == PlatformRecord.identity_id)
        .where(PlatformIdentity.study_id == study_id, _finding().in_(LISTS[name].states))
    )
    marked = dict(session.execute(on_list).all())
    session.execute(update(PlatformRecord).where(PlatformRecord.id.in_(marked)).values(marked_paid_at=now))
    return len(marked), len({*marked.values()})


def _finding() -> ColumnElement[str]:
    """Return the advice on a submission; one for which an approval or a bonus left by the API is due no more."""
    marked = PlatformRecord.marked_paid_at.is_not(None) & (PlatformRecord.finding != "paid")
    is_of_order = (
        PlatformRecord.finding.in_(LISTS["approve"].states) & (PlatformOrder.kind == "approval")
    ) | (PlatformRecord.finding.in_(LISTS["pay"].states) & (PlatformOrder.kind == "bonus"))
    ordered = exists().where(
        PlatformOrder.worker_id == PlatformIdentity.worker_id,
        PlatformOrder.submission == PlatformRecord.submission,
        PlatformOrder.state != INTENDED,
        is_of_order,
    )
    return case((marked, "marked_paid"), (ordered, "paid_by_api"), else_=PlatformRecord.finding)


def _records(study_id: int) -> Select[str, str, str, str]:
    return (
        select(
            PlatformIdentity.platform_worker,
            PlatformRecord.submission,
            PlatformRecord.status,
            _finding().label("finding"),
        )
        .join(PlatformIdentity, PlatformIdentity.id == PlatformRecord.identity_id)
        .where(PlatformIdentity.study_id == study_id)
        .order_by(PlatformRecord.id)
    )
