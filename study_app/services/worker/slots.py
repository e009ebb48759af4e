"""Slots: taking one, keeping it alive, and coming back to one that had expired."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import bindparam, insert, select
from sqlalchemy.orm import Session

from study_app.protocol.domain import drawn, has_room, topic_order
from study_app.services.worker.draw import assignment_of, draw_pages
from study_app.services.worker.quota import open_topics, open_units, taken, taken_units
from study_app.services.worker.whereabouts import Whereabouts
from study_app.store.models import Slot, Task
from study_app.store.plan import TaskPlan, TopicPlan
from study_app.store.rows import SlotRow, change, store

_NEW_SLOT = insert(Slot)
_LOCKED_TASK = select(Task.id).where(Task.id == bindparam("task")).with_for_update(key_share=True)
SIGN_OF_LIFE_EVERY = timedelta(seconds=30)
"""Signs of life closer than this to the last one noted are not noted: a lease is many times as long."""


def listed_topics(here: Whereabouts, task: TaskPlan) -> list[TopicPlan]:
    """Return every query of a task in the order of this worker's list; a query's number is its place in it."""
    rng = drawn(here.plan.entry.seed, here.worker.number, f"topics {task.number}")
    return [task.topics[place] for place in topic_order(len(task.topics), rng)]


def take_slot(session: Session, here: Whereabouts, task: TaskPlan, topic: int, *, now: datetime) -> bool:
    """Give the worker a query and draw its pages; False when somebody else was faster."""
    queue_for(session, task)
    held = here.slots[task.number]
    if topic not in open_topics(session, task, besides={slot.topic_id for slot in held}, now=now):
        return False
    _hold(session, here, task, topic, now=now)
    return True


def take_unit(session: Session, here: Whereabouts, task: TaskPlan, *, now: datetime) -> bool:
    """Give the worker the unit that was done and is held least, of the topic at hand if it has one; False when none is left."""
    queue_for(session, task)
    held = here.slots[task.number]
    counted = open_units(session, task, besides={slot.unit for slot in held}, now=now)
    if not counted:
        return False
    topics = {unit: topic.id for topic in task.topics for unit in topic.units}
    unit = _next_unit(here, task, counted, topics, held)
    _hold(session, here, task, topics[unit], unit=unit, now=now)
    return True


def _next_unit(
    here: Whereabouts,
    task: TaskPlan,
    counted: dict[int, int],
    topics: dict[int, int],
    held: Sequence[SlotRow],
) -> int:
    """Choose among open units: the least done; of these one of the worker's last topic; of these by chance."""
    fewest = min(counted.values())
    least = [unit for unit, number in counted.items() if number == fewest]
    at_hand = [unit for unit in least if held and topics[unit] == held[-1].topic_id]
    rng = drawn(here.plan.entry.seed, here.worker.number, f"unit {task.number}.{len(held) + 1}")
    return rng.choice(sorted(at_hand or least))


def _hold(
    session: Session, here: Whereabouts, task: TaskPlan, topic: int, *, unit: int = 0, now: datetime
) -> None:
    row: dict[str, Any] = {
        "assignment_id": assignment_of(session, here.worker, task, now=now),
        "topic_id": topic,
        "unit": unit,
        "position": len(here.slots[task.number]) + 1,
        "expires_at": now + lease(here),
        "late": False,
        "search_shown_at": None,
        "search_left_at": None,
        "done_at": None,
    }
    slot = store(session, _NEW_SLOT, row | {"leased_at": now})
    draw_pages(session, here, task, SlotRow(slot, **row), now=now)


def take_next(session: Session, here: Whereabouts, *, now: datetime) -> bool:
    """Take what is next where there is nothing to choose from; says whether something was taken."""
    for task, state in zip(here.plan.tasks, here.state.tasks, strict=True):
        if state.awaits_introduction:
            return False
        if state.wants_slot:
            if task.kind.has_units:
                return take_unit(session, here, task, now=now)
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
    if now - here.worker.last_seen_at >= SIGN_OF_LIFE_EVERY:
        change(session, here.worker, last_seen_at=now)
    for task in here.plan.tasks:
        for slot in here.slots[task.number]:
            if slot.done_at is None:
                renew(session, slot, task, until=now + lease(here), now=now)


def renew(session: Session, slot: SlotRow, task: TaskPlan, *, until: datetime, now: datetime) -> None:
    """Prolong one slot; it becomes late when it had expired and what it holds is full without it."""
    if slot.expires_at <= now and not slot.late:
        queue_for(session, task)
        others = (
            taken_units(session, task, now=now, besides_slot=slot.id)[slot.unit]
            if task.kind.has_units
            else taken(session, [slot.topic_id], now=now, besides_slot=slot.id)[slot.topic_id]
        )
        if not has_room(others, task.limit):
            change(session, slot, late=True)
    if until - slot.expires_at >= SIGN_OF_LIFE_EVERY:
        change(session, slot, expires_at=until)


def lease(here: Whereabouts) -> timedelta:
    """Return how long a slot is held without a sign of life."""
    return timedelta(minutes=here.plan.entry.lease_minutes)


def queue_for(session: Session, task: TaskPlan) -> None:
    """Keep others from counting what a task gives out until this transaction ends (SQLite keeps off everybody anyway).

    One lock a task, and tasks only in their order, so that no two workers ever wait for each other.
    """
    session.connection().execute(_LOCKED_TASK, {"task": task.id})
