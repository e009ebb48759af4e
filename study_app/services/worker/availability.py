"""Free and taken slots of topics, units and pairs."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import Session

from study_app.protocol.domain import PairTally, has_room
from study_app.services.worker.adaptive import adaptive_pairs, load_search
from study_app.services.worker.tallies import slot_is_taken, task_tallies
from study_app.store.models import Assignment, Slot, Topic
from study_app.store.study_cache import CachedTask, CachedTopic, SlotRow

_OF_TASK = select(Topic.id).where(Topic.task_id == bindparam("task"))
_TAKEN_UNITS = (
    select(Slot.unit, func.count())
    .join(Slot.assignment)
    .join(Assignment.worker)
    .where(slot_is_taken(bindparam("now")), Slot.id != bindparam("besides"))
    .group_by(Slot.unit)
)
_UNITS_OF_TASK = _TAKEN_UNITS.where(Slot.topic_id.in_(_OF_TASK))
_UNITS_OF_TOPIC = _TAKEN_UNITS.where(Slot.topic_id == bindparam("topic"))


_TAKEN = (
    select(Slot.topic_id, func.count())
    .join(Slot.assignment)
    .join(Assignment.worker)
    .where(
        Slot.topic_id.in_(bindparam("topics", expanding=True)),
        slot_is_taken(bindparam("now")),
        Slot.id != bindparam("besides"),
    )
    .group_by(Slot.topic_id)
)


def count_taken_slots(
    session: Session, topics: Collection[int], *, now: datetime, besides_slot: int | None = None
) -> dict[int, int]:
    """Count the taken slots by topic, without ``besides_slot``."""
    values = {"topics": list(topics), "now": now, "besides": besides_slot or 0}
    numbers = {topic: number for topic, number in session.connection().execute(_TAKEN, values)}  # noqa: C416 - rows are not tuples to mypy
    return {topic: numbers.get(topic, 0) for topic in topics}


def taken_units(
    session: Session,
    task: CachedTask,
    *,
    now: datetime,
    topic: CachedTopic | None = None,
    besides_slot: int | None = None,
) -> dict[int, int]:
    """Count the taken slots by unit, of a task or of one of its topics.

    The task's topics have units. ``besides_slot`` is not counted.
    """
    values = {"now": now, "besides": besides_slot or 0}
    query, of = (
        (_UNITS_OF_TASK, {"task": task.id}) if topic is None else (_UNITS_OF_TOPIC, {"topic": topic.id})
    )
    numbers = {unit: number for unit, number in session.connection().execute(query, values | of)}  # noqa: C416 - rows are not tuples to mypy
    return {
        unit: numbers.get(unit, 0)
        for each_topic in ([topic] if topic else task.topics)
        for unit in each_topic.units
    }


def open_units(
    session: Session,
    task: CachedTask,
    *,
    besides: Collection[int],
    now: datetime,
    topic: CachedTopic | None = None,
) -> dict[int, int]:
    """Return the open units outside ``besides``, with their numbers of taken slots."""
    taken_so_far = taken_units(session, task, now=now, topic=topic)
    shut, limit = closed_units(task).union(besides), task.limit
    return {
        unit: number for unit, number in taken_so_far.items() if unit not in shut and has_room(number, limit)
    }


def open_pairs(
    session: Session, task: CachedTask, *, besides: Collection[int], now: datetime
) -> dict[int, PairTally]:
    """Return the tallies of the open pairs outside ``besides``, as `open_units` does.

    A slot of a pair that is leased by itself shows it once, repeats not counted: so a tally is the number of
    taken slots, too. Pairs that were added to the study a moment ago, after ``task`` was read, are left out.
    """
    shut, limit = closed_units(task).union(besides), task.limit
    tallies = task_tallies(session, task.id, now=now)
    return {
        tally.pair: tally
        for tally in tallies
        if tally.pair in task.pairs and tally.pair not in shut and has_room(tally.shown, limit)
    }


def closed_units(task: CachedTask) -> set[int]:
    """Return the units of closed topics."""
    return {unit for topic in task.topics if topic.is_closed for unit in topic.units}


def has_open(session: Session, task: CachedTask, *, held: Sequence[SlotRow], now: datetime) -> bool:
    """Return whether a task has something open that is not in ``held``.

    The topics of the held slots are checked first, as the cheaper query.
    """
    if not task.kind.has_units:
        return bool(open_topics(session, task, besides={slot.topic_id for slot in held}, now=now))
    units = {slot.unit for slot in held}
    if adaptive_pairs(task) is not None:
        search = load_search(session, task, now=now)
        return search.has_open(units | closed_units(task))
    if task.limit is None:
        return any(unit not in units for topic in task.topics if not topic.is_closed for unit in topic.units)
    at_hand = task.topic(held[-1].topic_id) if held else None
    return any(
        open_units(session, task, besides=units, now=now, topic=topic)
        for topic in ([at_hand, None] if at_hand else [None])
    )


def open_topics(session: Session, task: CachedTask, *, besides: Collection[int], now: datetime) -> set[int]:
    """Return the open queries of a task, without those in ``besides``."""
    topics = {topic.id for topic in task.topics if not topic.is_closed} - set(besides)
    if task.limit is None:
        return topics
    return {
        topic
        for topic, number in count_taken_slots(session, topics, now=now).items()
        if has_room(number, task.limit)
    }
