"""Free and taken slots of topics, units and pairs."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    func,
    not_,
    or_,
    select,
)
from sqlalchemy.orm import Session

from study_app.protocol.domain import PairTally, has_room
from study_app.store.models import Assignment, Pair, Showing, Slot, Topic, Worker
from study_app.store.study_cache import CachedTask, CachedTopic, SlotRow


def slot_is_taken(now: datetime | BindParameter[datetime]) -> ColumnElement[bool]:
    """Return the condition that a slot counts as taken.

    The query joins `Slot` with its assignment and worker. A worker who has stopped holds nothing, whatever an
    open page of theirs logs.
    """
    live = and_(Slot.expires_at > now, Worker.stopped_at.is_(None))
    return and_(or_(Slot.done_at.is_not(None), live), Worker.withdrawn_at.is_(None))


_OF_TASK = select(Topic.id).where(Topic.task_id == bindparam("task"))
_PAIRS = select(Pair.id, Pair.system_a_id, Pair.system_b_id, Pair.shown_a_left, Pair.shown_b_left).order_by(
    Pair.id
)
_PAIRS_OF_TOPIC = _PAIRS.where(Pair.topic_id == bindparam("topic"))
_PAIRS_OF_TASK = _PAIRS.where(Pair.topic_id.in_(_OF_TASK))


def _in_vain(of: ColumnElement[bool]) -> Select[int]:
    """Return the slots that no longer count.

    Only workers who have not finished, or have withdrawn, have such slots: whoever finished has judged all
    they held.
    """
    return (
        select(Slot.id)
        .join(Slot.assignment)
        .join(Assignment.worker)
        .where(
            of,
            or_(Worker.completed_at.is_(None), Worker.withdrawn_at.is_not(None)),
            not_(slot_is_taken(bindparam("now"))),
        )
    )


_IN_VAIN_OF_TASK = _in_vain(Slot.topic_id.in_(_OF_TASK))
_IN_VAIN_OF_TOPIC = _in_vain(Slot.topic_id == bindparam("topic"))
_SHOWN_IN_SLOTS = select(Showing.pair_id, Showing.left_system_id).where(
    Showing.slot_id.in_(bindparam("slots", expanding=True)), Showing.repeats_id.is_(None)
)
_SLOTS_AT_A_TIME = 1000
"""Most slots whose showings are read in one statement.

A database limits the values of a statement.
"""

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
    shut, limit = _closed_units(task).union(besides), task.limit
    return {
        unit: number for unit, number in taken_so_far.items() if unit not in shut and has_room(number, limit)
    }


def open_pairs(
    session: Session, task: CachedTask, *, besides: Collection[int], now: datetime
) -> dict[int, PairTally]:
    """Return the tallies of the open pairs outside ``besides``, as `open_units` does.

    A slot of a pair that is leased by itself shows it once, repeats not counted: so a tally is the number of
    taken slots, too.
    """
    shut, limit = _closed_units(task).union(besides), task.limit
    tallies = task_tallies(session, task.id, now=now)
    return {tally.pair: tally for tally in tallies if tally.pair not in shut and has_room(tally.shown, limit)}


def _closed_units(task: CachedTask) -> set[int]:
    return {unit for topic in task.topics if topic.is_closed for unit in topic.units}


def has_open(session: Session, task: CachedTask, *, held: Sequence[SlotRow], now: datetime) -> bool:
    """Return whether a task has something open that is not in ``held``.

    The topic of the held slots is checked first, as the smaller question.
    """
    if not task.kind.has_units:
        return bool(open_topics(session, task, besides={slot.topic_id for slot in held}, now=now))
    units = {slot.unit for slot in held}
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


def pair_tallies(session: Session, topic: int, *, now: datetime) -> Sequence[PairTally]:
    """Return the tallies of every pair of a query, repeats not counted."""
    return _tallies(session, _PAIRS_OF_TOPIC, _IN_VAIN_OF_TOPIC, {"topic": topic}, now=now)


def task_tallies(session: Session, task: int, *, now: datetime) -> Sequence[PairTally]:
    """Return the tallies of every pair of a task (row), repeats not counted."""
    return _tallies(session, _PAIRS_OF_TASK, _IN_VAIN_OF_TASK, {"task": task}, now=now)


def _tallies(
    session: Session,
    pairs: Select[int, int, int, int, int],
    in_vain: Select[int],
    of: Mapping[str, int],
    *,
    now: datetime,
) -> Sequence[PairTally]:
    connection = session.connection()
    vain = _shown_in(connection, connection.scalars(in_vain, {**of, "now": now}).all())
    return [
        PairTally(
            pair=pair, system_a=a, system_b=b, a_left=a_left - vain[pair, a], b_left=b_left - vain[pair, b]
        )
        for pair, a, b, a_left, b_left in connection.execute(pairs, of)
    ]


def _shown_in(connection: Connection, slots: Sequence[int]) -> Counter[tuple[int, int]]:
    """Count the showings of some slots by pair and left system, repeats not counted.

    A statement of its own: joined to the slots, a database without statistics of its tables reads every
    showing there is.
    """
    times: Counter[tuple[int, int]] = Counter()
    for at in range(0, len(slots), _SLOTS_AT_A_TIME):
        some = slots[at : at + _SLOTS_AT_A_TIME]
        times.update((row[0], row[1]) for row in connection.execute(_SHOWN_IN_SLOTS, {"slots": some}))
    return times
