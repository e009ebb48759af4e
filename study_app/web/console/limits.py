"""Changes of a running study's limits, each previewed before it is made.

Nothing here touches an answer: refused is whatever loading a changed study file refuses (`study_app.services.researcher.load`), and
days once somebody's are over, since people would then have followed for different times.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from flask import Blueprint, Response, request
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from metrics.errors import InputError, input_fault, pluralise
from study_app.protocol.domain import follow_length
from study_app.services.researcher.completion import release_finished
from study_app.services.researcher.progress import query_progress
from study_app.services.worker.adaptive import adaptive_pairs
from study_app.services.worker.availability import open_topics, open_units
from study_app.store.models import Assignment, LoadedStudy, Slot, Task, Topic, Worker
from study_app.store.study_cache import CachedStudy, CachedTask, CachedTopic, StudyCache
from study_app.store.task_models import Follow
from study_app.tasks.workload import workers_to_fill
from study_app.web.console.auth import ConsoleRequest, manager_required, row_number, viewer_required
from study_app.web.console.layout import page
from study_app.web.serving import server

MAX_LIMIT = 1_000_000
blueprint = Blueprint("limits", __name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitChange:
    """Possible change of a limit: its effects as sentences, and its form.

    ``action`` is the path of the form that makes it, ``fields`` are what that form sends.
    """

    title: str
    effects: tuple[str, ...]
    action: str
    fields: Mapping[str, object]
    store: Callable[[], None]


@blueprint.get("/r/<study>/limits")
@viewer_required
def limits(console_request: ConsoleRequest) -> Response:
    """Show the limits, and what a change that the address names will do."""
    change, error = None, ""
    try:
        change = _previewed_change(console_request)
    except InputError as refused:
        error = "; ".join(f"{fault.problem}; {fault.cure}" for fault in refused.faults)
    tasks = [
        {
            "plan": task,
            "limit": file_limit(task),
            "budget": None if (search := adaptive_pairs(task)) is None else search.budget,
            "days": task.following.days if task.kind.page == "stream" else None,
            "queries": zip(
                task.topics,
                query_progress(console_request.session, task, now=console_request.now),
                strict=True,
            ),
        }
        for task in console_request.study.tasks
        if task.opens_study
    ]
    status = 422 if error else 200
    return page(
        "console/limits.html", console_request, status=status, tasks=tasks, change=change, error=error
    )


def _previewed_change(console_request: ConsoleRequest) -> LimitChange | None:
    """Return the change that the address names, if any.

    Addresses are ``?task=1&limit=5``, ``?close=ROW`` and ``?task=2&days=4``.
    """
    if "limit" in request.args:
        return _raise(console_request, request.args)
    if "close" in request.args:
        return _close(console_request, request.args["close"])
    return _extend(console_request, request.args) if "days" in request.args else None


@blueprint.post("/r/<study>/limits/raise")
@manager_required("raise a limit")
def post_raise(console_request: ConsoleRequest) -> Response:
    """Raise the limit of a task."""
    return _stored(console_request, _raise(console_request, request.form))


@blueprint.post("/r/<study>/limits/close")
@manager_required("close a query")
def post_close(console_request: ConsoleRequest) -> Response:
    """Close a query to new workers."""
    return _stored(console_request, _close(console_request, request.form.get("topic", "")))


@blueprint.post("/r/<study>/limits/open")
@manager_required("open a query again")
def post_open(console_request: ConsoleRequest) -> Response:
    """Open a closed query to workers again."""
    row = _number(request.form.get("topic", ""), "topic")
    console_request.note(open_topic(console_request.session, console_request.study, row))
    return console_request.back("limits")


@blueprint.post("/r/<study>/limits/days")
@manager_required("extend the days")
def post_days(console_request: ConsoleRequest) -> Response:
    """Extend the days of everybody who follows a stream, now or later."""
    return _stored(console_request, _extend(console_request, request.form))


def _stored(console_request: ConsoleRequest, change: LimitChange) -> Response:
    change.store()
    console_request.note(change.title)
    return console_request.back("limits")


def _raise(console_request: ConsoleRequest, fields: Mapping[str, str]) -> LimitChange:
    task, limit = _task(console_request.study, fields), _number(fields.get("limit", ""), "limit")
    return raise_limit(console_request.session, console_request.study, task, limit, now=console_request.now)


def _close(console_request: ConsoleRequest, topic: str) -> LimitChange:
    row = _number(topic, "close")
    return close_topic(console_request.session, console_request.study, row, now=console_request.now)


def _extend(console_request: ConsoleRequest, fields: Mapping[str, str]) -> LimitChange:
    study, text = console_request.study, fields.get("days", "")[:20]
    try:
        days = float(text)
    except ValueError:
        days = float("nan")
    if not 0 < days < float("inf"):
        raise input_fault(f"days has to be a number above 0, not {text!r}", cure="write it as 3 or 2.5")
    task, now = _task(study, fields), console_request.now
    return extend_days(console_request.session, server().plans, study, task, days, now=now)


def _task(study: CachedStudy, fields: Mapping[str, str]) -> CachedTask:
    number = _number(fields.get("task", ""), "task")
    if not 1 <= number <= len(study.tasks):
        raise input_fault(f"there is no task {number}", cure=f"tasks are 1 to {len(study.tasks)}")
    return study.tasks[number - 1]


def _number(text: str, name: str) -> int:
    number = row_number(text)
    if number is None:
        raise input_fault(f"{name} has to be a whole number, not {text[:20]!r}", cure="write digits only")
    return number


def planned_workers(study: CachedStudy) -> int | None:
    """Return the number of workers that fill the study; None without a limit.

    It counts workers who are admitted to any task, as `study_app.estimate` does.
    """
    limits = [_planned_for(task) for task in study.tasks if task.opens_study]
    finite = [limit for limit in limits if limit is not None]
    return max(finite) if finite and len(finite) == len(limits) else None


def _planned_for(task: CachedTask) -> int | None:
    """Return how many workers fill the open topics of a task, or use its budget."""
    adaptive = adaptive_pairs(task)
    return workers_for(task, task.limit) if adaptive is None else math.ceil(adaptive.budget / task.wanted)


def workers_for(task: CachedTask, limit: int | None) -> int | None:
    """Return the number of workers that fill the open topics at a limit."""
    topics = [topic for topic in task.topics if not topic.is_closed]
    places = sum(len(topic.units) for topic in topics) if task.kind.has_units else len(topics)
    return workers_to_fill(places, limit, task.wanted) if places else 0


def file_limit(task: CachedTask) -> int | None:
    """Return the limit of a task in the study file; None without one."""
    key = task.kind.limit_key
    limit: int | None = None if key is None else getattr(task.entry, key)
    return limit


def raise_limit(
    session: Session, study: CachedStudy, task: CachedTask, limit: int, *, now: datetime
) -> LimitChange:
    """Return the change to a higher limit of a task.

    Raises
    ------
    InputError
        If the task has no limit, or one that is as high: answers beyond a lower one could not be taken back.
    """
    key, old = task.kind.limit_key, file_limit(task)
    if key is None or old is None:
        raise input_fault(f"task {task.entry.name} has no limit", cure="nothing is to be raised")
    if not old < limit <= MAX_LIMIT:
        raise input_fault(
            f"{key} is {old} now, and {limit} is not more",
            cure=f"take a number above {old}; to have fewer answers, close queries or pause",
        )
    before, after = workers_for(task, task.limit), workers_for(task, task.kind.places(task.entry, limit))
    more = (after or 0) - (before or 0)
    return LimitChange(
        title=f"Raise {key} of task {task.entry.name} from {old} to {limit}",
        effects=(
            f"Up to {pluralise(more, 'more worker')} can come for this task: {after} instead of {before}.",
            *_cost(study, more),
            "Nothing changes for workers who have come already.",
            "Workers who were sent away because the study was full are not called back: say on the platform that there are places again.",
            f"Write {key}: {limit} into the study file too: a file with the old number will not load any more.",
        ),
        action="limits/raise",
        fields={"task": task.number, "limit": limit},
        store=partial(_set_limit, session, study, task, key, limit, now=now),
    )


def _cost(study: CachedStudy, workers: int) -> tuple[str, ...]:
    reward = study.entry.reward
    if reward is None:
        return ()
    amount = workers * reward * (1 + study.entry.platform_fee)
    return (f"That costs up to {amount:.2f} {study.entry.currency} more, the platform's fee included.",)


def _set_limit(
    session: Session, study: CachedStudy, task: CachedTask, key: str, limit: int, *, now: datetime
) -> None:
    """Store a higher limit; workers who lack only the last button get nothing more."""
    release_finished(session, _locked(session, study), now=now)
    _set(session, study, task, key, limit)


def _set(session: Session, study: CachedStudy, task: CachedTask, key: str, value: float) -> None:
    """Store a new number of a task, and let every server read the study anew."""
    stored = _locked(session, study)
    row = session.get_one(Task, task.id)
    row.config = {**row.config, key: value}
    tasks: list[Any] = list(stored.config["tasks"])
    tasks[task.number - 1] = row.config
    stored.config = {**stored.config, "tasks": tasks}
    stored.version += 1
    session.flush()


def _locked(session: Session, study: CachedStudy) -> LoadedStudy:
    """Lock the study's row; raises `InputError` if it was changed meanwhile."""
    stored = session.scalars(
        select(LoadedStudy).where(LoadedStudy.id == study.id).with_for_update(key_share=True)
    ).one()
    if stored.version != study.version:
        raise input_fault("somebody has changed the study just now", cure="look at the page again")
    return stored


def close_topic(session: Session, study: CachedStudy, row: int, *, now: datetime) -> LimitChange:
    """Return the change that closes a topic; raises `InputError` if it is closed."""
    task, topic = _topic(study, row)
    name = f"{task.kind.topic.lower()} {topic.name}"
    if topic.is_closed:
        raise input_fault(f"{name} is closed already", cure="no change needed")
    left = _open_after(session, task, topic, now=now)
    return LimitChange(
        title=f"Close {name} of task {task.entry.name}: {topic.text}",
        effects=(
            "No new worker gets it. Its answers stay, and count.",
            f"Workers who have it now go on with it to the end: {pluralise(_at_work(session, topic, now=now), 'worker')}.",
            f"Others of this task that have room: {left}." if left else _nothing_left(study, task),
            "It can be opened again here.",
        ),
        action="limits/close",
        fields={"topic": row},
        store=partial(_set_closed, session, study, row, now),
    )


def _topic(study: CachedStudy, row: int) -> tuple[CachedTask, CachedTopic]:
    """Return a topic and its task; raises `InputError` when it is none of this study."""
    for task in study.tasks:
        for topic in task.topics:
            if topic.id == row and task.opens_study:
                return task, topic
    raise input_fault("this study has no such query", cure="look at the page again")


def _at_work(session: Session, topic: CachedTopic, *, now: datetime) -> int:
    at_work = (
        select(func.count(func.distinct(Worker.id)))
        .select_from(Slot)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .where(
            Slot.topic_id == topic.id,
            (Slot.done_at.is_(None) & (Slot.expires_at > now)) | (Slot.done_at > now),
            Worker.withdrawn_at.is_(None),
            Worker.stopped_at.is_(None),
        )
    )
    return session.scalar(at_work) or 0


def _open_after(session: Session, task: CachedTask, topic: CachedTopic, *, now: datetime) -> int:
    """Return the number of topics with places after one is closed."""
    if not task.kind.has_units:
        return len(open_topics(session, task, besides={topic.id}, now=now))
    units = open_units(session, task, besides=topic.units, now=now)
    return sum(any(unit in units for unit in other.units) for other in task.topics)


def _nothing_left(study: CachedStudy, task: CachedTask) -> str:
    others = sum(other.opens_study for other in study.tasks) > 1
    rest = "New workers get only the other tasks." if others else "So nobody new is let in."
    return f"Nothing else of task {task.entry.name} has room. {rest}"


def open_topic(session: Session, study: CachedStudy, row: int) -> str:
    """Open a closed topic again, return its name; raises `InputError` if it is open."""
    _, topic = _topic(study, row)
    if not topic.is_closed:
        raise input_fault(f"{topic.name} is open", cure="no change needed")
    _set_closed(session, study, row, None)
    return topic.name


def _set_closed(session: Session, study: CachedStudy, row: int, closed_at: datetime | None) -> None:
    stored = _locked(session, study)
    session.execute(update(Topic).where(Topic.id == row).values(closed_at=closed_at))
    stored.version += 1
    session.flush()


def extend_days(
    session: Session, plans: StudyCache, study: CachedStudy, task: CachedTask, days: float, *, now: datetime
) -> LimitChange:
    """Return the change to more days of following, for those who follow now too.

    Raises
    ------
    InputError
        If the task has no days, or as many; or if somebody's days are over: people would have followed for different times.
    """
    if task.kind.page != "stream":
        raise input_fault(f"task {task.entry.name} has no days", cure="nothing is to be extended")
    old = task.following.days
    if not old < days <= MAX_LIMIT:
        raise input_fault(
            f"days is {old:g} now, and {days:g} is not more", cure=f"take a number above {old:g}"
        )
    over, following = _count_follows(session, task, now=now)
    if over:
        raise input_fault(
            f"the days of {pluralise(over, 'stream')} are over, so that people would have followed for different times",
            cure="load the study under another name for more days",
        )
    return LimitChange(
        title=f"Extend the days of task {task.entry.name} from {old:g} to {days:g}",
        effects=(
            f"{pluralise(following, 'stream')} that people follow now go on until then, or until the event ends."
            if following
            else "Nobody follows a stream yet.",
            "Those who follow now were told fewer days: write to them, and pay for more.",
            f"Write days: {days:g} into the study file too: a file with the old number will not load any more.",
        ),
        action="limits/days",
        fields={"task": task.number, "days": days},
        store=partial(_set_days, session, plans, study, task, days),
    )


def _count_follows(session: Session, task: CachedTask, *, now: datetime) -> tuple[int, int]:
    """Return the numbers of finished and of running follows."""
    over, following = session.execute(
        select(func.count().filter(Follow.ends_at <= now), func.count().filter(Follow.ends_at > now))
        .select_from(Follow)
        .join(Follow.slot)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .where(Assignment.task_id == task.id, Worker.withdrawn_at.is_(None))
    ).one()
    return over, following


def _set_days(session: Session, plans: StudyCache, study: CachedStudy, task: CachedTask, days: float) -> None:
    _set(session, study, task, "days", days)
    follows = select(Follow).join(Follow.slot).join(Slot.assignment).where(Assignment.task_id == task.id)
    for follow in session.scalars(follows):
        stream = plans.stream(session, study, follow.slot.topic_id, follow.system_id)
        length = follow_length(stream.end - stream.start, days, task.following.clock_factor)
        follow.ends_at = follow.slot.done_at = follow.slot.expires_at = follow.started_at + length
    session.flush()
