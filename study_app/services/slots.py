"""Slots: taking one, keeping it alive, and coming back to one that had expired."""

from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from study_app.domain import drawn, has_room, planned_showings, topic_order
from study_app.models import Assignment, Showing, Slot, Topic, Worker
from study_app.plan import TaskPlan, TopicPlan
from study_app.services.quota import open_topics, pair_tallies, taken
from study_app.services.whereabouts import Whereabouts
from study_app.study_entries import SummaryPairs


def listed_topics(here: Whereabouts, task: TaskPlan) -> list[TopicPlan]:
    """Return every query of a task in the order of this worker's list; a query's number is its place in it."""
    rng = drawn(here.plan.entry.seed, here.worker.number, f"topics {task.number}")
    return [task.topics[place] for place in topic_order(len(task.topics), rng)]


def take_slot(session: Session, here: Whereabouts, task: TaskPlan, topic: int, *, now: datetime) -> bool:
    """Give the worker a query and draw its pairs, sides and repeats; False when somebody else was faster."""
    _queue_for(session, topic)
    held = here.slots[task.number]
    if topic not in open_topics(session, task, besides={slot.topic_id for slot in held}, now=now):
        return False
    slot = Slot(
        assignment=_assignment(session, here.worker, task, now=now),
        topic_id=topic,
        position=len(held) + 1,
        leased_at=now,
        expires_at=now + lease(here),
    )
    session.add(slot)
    session.flush()
    if isinstance(task.entry, SummaryPairs):
        _draw_showings(session, here, slot, task.number, task.entry, now=now)
    return True


def take_only_query(session: Session, here: Whereabouts, *, now: datetime) -> bool:
    """Take the next query when there is nothing to choose from; says whether something was taken."""
    for task, state in zip(here.plan.tasks, here.state.tasks, strict=True):
        if state.wants_slot:
            held = {slot.topic_id for slot in here.slots[task.number]}
            left = [topic.id for topic in task.topics if topic.id not in held]
            return not state.has_choice and take_slot(session, here, task, left[0], now=now)
        if not all(slot.is_done for slot in state.slots):
            return False
    return False


def keep_alive(session: Session, here: Whereabouts, *, now: datetime) -> None:
    """Note a sign of life: prolong what the worker holds.

    Who comes back to a slot that has expired goes on all the same: it is renewed when the query has room for it
    once more, and late when somebody else has taken the place.
    """
    here.worker.last_seen_at = max(now, here.worker.last_seen_at)
    for task in here.plan.tasks:
        for slot in here.slots[task.number]:
            if slot.done_at is None:
                renew(session, slot, limit=task.limit, until=now + lease(here), now=now)


def renew(session: Session, slot: Slot, *, limit: int | None, until: datetime, now: datetime) -> None:
    """Prolong one slot; it becomes late when it had expired and its query is full without it."""
    if slot.expires_at <= now and not slot.late:
        _queue_for(session, slot.topic_id)
        others = taken(session, [slot.topic_id], now=now, besides_slot=slot.id)[slot.topic_id]
        slot.late = not has_room(others, limit)
    slot.expires_at = max(until, slot.expires_at)


def lease(here: Whereabouts) -> timedelta:
    """Return how long a slot is held without a sign of life."""
    return timedelta(minutes=here.plan.entry.lease_minutes)


def _queue_for(session: Session, topic: int) -> None:
    """Keep others from counting a query's slots until this transaction ends (in SQLite it keeps off everybody anyway)."""
    session.execute(select(Topic.id).where(Topic.id == topic).with_for_update())


def _assignment(session: Session, worker: Worker, task: TaskPlan, *, now: datetime) -> Assignment:
    found = session.scalars(
        select(Assignment).where(Assignment.worker_id == worker.id, Assignment.task_id == task.id)
    ).one_or_none()
    return found or Assignment(worker_id=worker.id, task_id=task.id, started_at=now)


def _draw_showings(
    session: Session, here: Whereabouts, slot: Slot, task: int, entry: SummaryPairs, *, now: datetime
) -> None:
    worker = here.worker
    planned = planned_showings(
        pair_tallies(session, slot.topic_id, now=now),
        pairs=None if entry.pairs == "all" else entry.pairs,
        validation=entry.validation_pairs,
        swapped=entry.validation_swapped,
        rng=drawn(here.plan.entry.seed, worker.number, f"pairs {task}.{slot.position}"),
    )
    showings = [
        Showing(
            slot_id=slot.id,
            pair_id=plan.pair,
            position=position,
            name=f"{worker.pseudonym}.{task}.{slot.position}.{position}",
            left_system_id=plan.left,
            right_system_id=plan.right,
        )
        for position, plan in enumerate(planned, start=1)
    ]
    session.add_all(showings)
    session.flush()
    for showing, plan in zip(showings, planned, strict=True):
        if plan.repeats is not None:
            showing.repeats_id = showings[plan.repeats].id
