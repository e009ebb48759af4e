"""Steering while a study runs: what a change will do stands on the page before there is a button for it."""

from dataclasses import dataclass

from flask import Blueprint, Response, request

from metrics.errors import InputError, input_fault
from study_app.services.console.limits import (
    Steer,
    answers_each,
    close_topic,
    closing,
    extend_days,
    extending,
    open_topic,
    raise_limit,
    raising,
    task_of,
)
from study_app.services.researcher.progress import query_progress
from study_app.store.plan import TaskPlan
from study_app.web.console.frame import Seat, manage, page, watch
from study_app.web.serving import server

blueprint = Blueprint("limits", __name__)
PREVIEWS = ("limit", "close", "days")
"""What an address of this page may ask about: ``?task=1&limit=5``, ``?close=ROW``, ``?task=2&days=4``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What the address asks about: what it will do, and the form that does it."""

    steer: Steer
    action: str
    fields: dict[str, str]


@blueprint.get("/r/<study>/limits")
@watch
def limits(seat: Seat) -> Response:
    """Show the limits, and what a change that the address names will do."""
    proposal, error = None, ""
    try:
        proposal = _proposal(seat)
    except InputError as refused:
        error = "; ".join(f"{fault.problem}; {fault.cure}" for fault in refused.faults)
    tasks = [
        {
            "plan": task,
            "each": answers_each(task),
            "days": task.following.days if task.kind.page == "stream" else None,
            "queries": list(zip(task.topics, query_progress(seat.session, task, now=seat.now), strict=True)),
        }
        for task in seat.plan.tasks
        if task.opens_study
    ]
    status = 422 if error else 200
    return page("console/limits.html", seat, status=status, tasks=tasks, proposal=proposal, error=error)


def _proposal(seat: Seat) -> Proposal | None:
    """Return what the address asks about; raises `InputError` for what cannot be done."""
    asked = next((name for name in PREVIEWS if name in request.args), None)
    if asked is None:
        return None
    if asked == "close":
        row = _number(request.args["close"], "close")
        return Proposal(
            steer=closing(seat.session, seat.plan, row, now=seat.now),
            action="limits/close",
            fields={"topic": str(row)},
        )
    task = _task(seat, request.args.get("task", ""))
    fields = {"task": str(task.number), asked: request.args[asked]}
    if asked == "limit":
        steer = raising(seat.plan, task, _number(request.args["limit"], "limit"))
        return Proposal(steer=steer, action="limits/raise", fields=fields)
    steer = extending(seat.session, task, _days(request.args["days"]), now=seat.now)
    return Proposal(steer=steer, action="limits/days", fields=fields)


@blueprint.post("/r/<study>/limits/raise")
@manage("raise a limit")
def post_raise(seat: Seat) -> Response:
    """Raise the limit of a task."""
    task = _task(seat, request.form.get("task", ""))
    limit = _number(request.form.get("limit", ""), "limit")
    seat.note(raise_limit(seat.session, seat.plan, task, limit).title)
    return seat.back("limits")


@blueprint.post("/r/<study>/limits/close")
@manage("close a query")
def post_close(seat: Seat) -> Response:
    """Let nobody take a query any more."""
    row = _number(request.form.get("topic", ""), "topic")
    seat.note(close_topic(seat.session, seat.plan, row, now=seat.now).title)
    return seat.back("limits")


@blueprint.post("/r/<study>/limits/open")
@manage("open a query again")
def post_open(seat: Seat) -> Response:
    """Let workers take a closed query again."""
    row = _number(request.form.get("topic", ""), "topic")
    seat.note(open_topic(seat.session, seat.plan, row))
    return seat.back("limits")


@blueprint.post("/r/<study>/limits/days")
@manage("extend the days")
def post_days(seat: Seat) -> Response:
    """Let everybody follow for more days."""
    task = _task(seat, request.form.get("task", ""))
    days = _days(request.form.get("days", ""))
    steer = extend_days(seat.session, server().plans, seat.plan, task, days, now=seat.now)
    seat.note(steer.title)
    return seat.back("limits")


def _task(seat: Seat, text: str) -> TaskPlan:
    return task_of(seat.plan, _number(text, "task"))


def _number(text: str, name: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise input_fault(f"{name} has to be a whole number, not {text[:20]!r}", cure="write digits only")
    return int(text)


def _days(text: str) -> float:
    try:
        days = float(text[:20])
    except ValueError:
        days = float("nan")
    if not 0 < days < float("inf"):
        raise input_fault(f"days has to be a number above 0, not {text[:20]!r}", cure="write it as 3 or 2.5")
    return days
