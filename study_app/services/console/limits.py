"""Steering a study that runs: raise a limit, close a query, extend the days. What it will do is said before it is done.

Nothing here touches an answer: refused is whatever loading a changed study file refuses (`study_app.services.researcher.load`), and
days once somebody's are over, since people would then have followed for different times.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from metrics.errors import counted, input_fault
from study_app.protocol.domain import follow_length
from study_app.services.worker.room import open_topics, open_units
from study_app.store.models import Assignment, LoadedStudy, Slot, Task, Topic, Worker
from study_app.store.plan import Plans, StudyPlan, TaskPlan, TopicPlan
from study_app.store.task_models import Follow
from study_app.tasks.workload import workers_to_fill

MOST = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Steer:
    """A change that can be made, and a sentence for each thing that it will do."""

    title: str
    effects: tuple[str, ...]


def planned_workers(plan: StudyPlan) -> int | None:
    """Return how many workers fill the study as it is now, closed queries left out; None without a limit.

    Who is let in for any task is counted, as `study_app.estimate` does.
    """
    limits = [_workers(task, task.limit) for task in plan.tasks if task.opens_study]
    finite = [limit for limit in limits if limit is not None]
    return max(finite) if finite and len(finite) == len(limits) else None


def _workers(task: TaskPlan, limit: int | None) -> int | None:
    topics = [topic for topic in task.topics if not topic.is_closed]
    places = sum(len(topic.units) for topic in topics) if task.kind.has_units else len(topics)
    return workers_to_fill(places, limit, task.wanted) if places else 0


def task_of(plan: StudyPlan, number: int) -> TaskPlan:
    """Return a task by its number from 1; raises `InputError` when there is none."""
    if not 1 <= number <= len(plan.tasks):
        raise input_fault(f"there is no task {number}", cure=f"tasks are 1 to {len(plan.tasks)}")
    return plan.tasks[number - 1]


def answers_each(task: TaskPlan) -> int | None:
    """Return how many answers each query, pair or stream gets at the most, as the study file says it; None without a limit."""
    key = task.kind.limit_key
    limit: int | None = None if key is None else getattr(task.entry, key)
    return limit


def raising(plan: StudyPlan, task: TaskPlan, limit: int) -> Steer:
    """Say what a higher limit of a task will do.

    Raises
    ------
    InputError
        If the task has no limit, or one that is as high: answers beyond a lower one could not be taken back.
    """
    key, old = task.kind.limit_key, answers_each(task)
    if key is None or old is None:
        raise input_fault(f"task {task.entry.name} has no limit", cure="nothing is to be raised")
    if not old < limit <= MOST:
        raise input_fault(
            f"{key} is {old} now, and {limit} is not more",
            cure=f"take a number above {old}; to have fewer answers, close queries or pause",
        )
    before, after = _workers(task, task.limit), _workers(task, task.kind.places(task.entry, limit))
    more = (after or 0) - (before or 0)
    return Steer(
        title=f"Raise {key} of task {task.entry.name} from {old} to {limit}",
        effects=(
            f"Up to {counted(more, 'more worker')} can come for this task: {after} instead of {before}.",
            *_cost(plan, more),
            "Nothing changes for workers who have come already.",
            "Workers who were sent away because the study was full are not called back: say on the platform that there are places again.",
            f"Write {key}: {limit} into the study file too: a file with the old number will not load any more.",
        ),
    )


def _cost(plan: StudyPlan, workers: int) -> tuple[str, ...]:
    reward = plan.entry.reward
    if reward is None:
        return ()
    amount = workers * reward * (1 + plan.entry.platform_fee)
    return (f"That costs up to {amount:.2f} {plan.entry.currency} more, the platform's fee included.",)


def raise_limit(session: Session, plan: StudyPlan, task: TaskPlan, limit: int) -> Steer:
    """Raise the limit of a task; raises `InputError` as `raising` does."""
    steer = raising(plan, task, limit)
    _set(session, plan, task, str(task.kind.limit_key), limit)
    return steer


def _set(session: Session, plan: StudyPlan, task: TaskPlan, key: str, value: float) -> None:
    """Store a new number of a task, and let every server read the study anew."""
    study = _locked(session, plan)
    row = session.get_one(Task, task.id)
    row.config = {**row.config, key: value}
    tasks: list[Any] = list(study.config["tasks"])
    tasks[task.number - 1] = row.config
    study.config = {**study.config, "tasks": tasks}
    study.version += 1
    session.flush()


def _locked(session: Session, plan: StudyPlan) -> LoadedStudy:
    """Return the study's row, kept from others; raises `InputError` when it was changed since the plan was read."""
    study = session.scalars(
        select(LoadedStudy).where(LoadedStudy.id == plan.id).with_for_update(key_share=True)
    ).one()
    if study.version != plan.version:
        raise input_fault("somebody has changed the study just now", cure="look at the page again")
    return study


def topic_of(plan: StudyPlan, row: int) -> tuple[TaskPlan, TopicPlan]:
    """Return a topic and its task; raises `InputError` when it is none of this study."""
    for task in plan.tasks:
        for topic in task.topics:
            if topic.id == row and task.opens_study:
                return task, topic
    raise input_fault("this study has no such query", cure="look at the page again")


def closing(session: Session, plan: StudyPlan, row: int, *, now: datetime) -> Steer:
    """Say what closing a query, an event or a profile will do; raises `InputError` when it is closed, or none."""
    task, topic = topic_of(plan, row)
    name = f"{task.kind.topic.lower()} {topic.name}"
    if topic.is_closed:
        raise input_fault(f"{name} is closed already", cure="nothing is to be done")
    at_work = _at_work(session, topic, now=now)
    left = _open_after(session, task, topic, now=now)
    return Steer(
        title=f"Close {name} of task {task.entry.name}: {topic.text}",
        effects=(
            "No new worker gets it. Its answers stay, and count.",
            f"Workers who have it now go on with it to the end: {counted(at_work, 'worker')}.",
            f"Others of this task that have room: {left}." if left else _nothing_left(plan, task),
            "It can be opened again here.",
        ),
    )


def _at_work(session: Session, topic: TopicPlan, *, now: datetime) -> int:
    held = (
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
    return session.scalar(held) or 0


def _open_after(session: Session, task: TaskPlan, topic: TopicPlan, *, now: datetime) -> int:
    """Return how many topics of a task have room when one is closed."""
    if not task.kind.has_units:
        return len(open_topics(session, task, besides={topic.id}, now=now))
    units = open_units(session, task, besides=topic.units, now=now)
    return sum(any(unit in units for unit in other.units) for other in task.topics)


def _nothing_left(plan: StudyPlan, task: TaskPlan) -> str:
    others = sum(other.opens_study for other in plan.tasks) > 1
    rest = "New workers get only the other tasks." if others else "So nobody new is let in."
    return f"Nothing else of task {task.entry.name} has room. {rest}"


def close_topic(session: Session, plan: StudyPlan, row: int, *, now: datetime) -> Steer:
    """Let nobody take a topic any more; raises `InputError` as `closing` does."""
    steer = closing(session, plan, row, now=now)
    _mark(session, plan, row, now)
    return steer


def open_topic(session: Session, plan: StudyPlan, row: int) -> str:
    """Let workers take a closed topic again, and return its name; raises `InputError` when it is not closed, or none."""
    _, topic = topic_of(plan, row)
    if not topic.is_closed:
        raise input_fault(f"{topic.name} is open", cure="nothing is to be done")
    _mark(session, plan, row, None)
    return topic.name


def _mark(session: Session, plan: StudyPlan, row: int, closed_at: datetime | None) -> None:
    study = _locked(session, plan)
    session.execute(update(Topic).where(Topic.id == row).values(closed_at=closed_at))
    study.version += 1
    session.flush()


def extending(session: Session, task: TaskPlan, days: float, *, now: datetime) -> Steer:
    """Say what more days of following will do.

    Raises
    ------
    InputError
        If the task has no days, or as many; or if somebody's days are over: people would have followed for different times.
    """
    if task.kind.page != "stream":
        raise input_fault(f"task {task.entry.name} has no days", cure="nothing is to be extended")
    old = task.following.days
    if not old < days <= MOST:
        raise input_fault(
            f"days is {old:g} now, and {days:g} is not more", cure=f"take a number above {old:g}"
        )
    over, following = (_follows(session, task, is_over=is_over, now=now) for is_over in (True, False))
    if over:
        raise input_fault(
            f"the days of {counted(over, 'stream')} are over, so that people would have followed for different times",
            cure="load the study under another name for more days",
        )
    return Steer(
        title=f"Extend the days of task {task.entry.name} from {old:g} to {days:g}",
        effects=(
            f"{counted(following, 'stream')} that people follow now go on until then, or until the event ends."
            if following
            else "Nobody follows a stream yet.",
            "Those who follow now were told fewer days: write to them, and pay for more.",
            f"Write days: {days:g} into the study file too: a file with the old number will not load any more.",
        ),
    )


def _follows(session: Session, task: TaskPlan, *, is_over: bool, now: datetime) -> int:
    mine = (
        select(func.count(Follow.id))
        .join(Follow.slot)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .where(Assignment.task_id == task.id, Worker.withdrawn_at.is_(None))
    )
    return session.scalar(mine.where(Follow.ends_at <= now if is_over else Follow.ends_at > now)) or 0


def extend_days(
    session: Session, plans: Plans, plan: StudyPlan, task: TaskPlan, days: float, *, now: datetime
) -> Steer:
    """Let everybody follow for more days, who follows now too; raises `InputError` as `extending` does."""
    steer = extending(session, task, days, now=now)
    _set(session, plan, task, "days", days)
    follows = select(Follow).join(Follow.slot).join(Slot.assignment).where(Assignment.task_id == task.id)
    for follow in session.scalars(follows):
        stream = plans.stream(session, plan, follow.slot.topic_id, follow.system_id)
        length = follow_length(stream.end - stream.start, days, task.following.clock_factor)
        follow.ends_at = follow.slot.done_at = follow.slot.expires_at = follow.started_at + length
    session.flush()
    return steer
