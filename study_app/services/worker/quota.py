"""Who counts against a query's limit: slots that are done or live, of workers who have not withdrawn."""

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import BindParameter, ColumnElement, and_, bindparam, func, not_, or_, select
from sqlalchemy.orm import Session

from study_app.protocol.domain import PairTally, has_room
from study_app.store.models import Assignment, Pair, Showing, Slot, Worker
from study_app.store.plan import TaskPlan
from study_app.store.rows import SlotRow


def counts(now: datetime | BindParameter[datetime]) -> ColumnElement[bool]:
    """Return the condition that a slot counts; the query joins `Slot` with its assignment and worker.

    Who has stopped holds nothing, whatever a page of theirs that is still open logs.
    """
    live = and_(Slot.expires_at > now, Worker.stopped_at.is_(None))
    return and_(or_(Slot.done_at.is_not(None), live), Worker.withdrawn_at.is_(None))


_PAIRS = (
    select(Pair.id, Pair.system_a_id, Pair.system_b_id)
    .where(Pair.topic_id == bindparam("topic"))
    .order_by(Pair.id)
)
_SHOWN = (
    select(Showing.pair_id, Showing.left_system_id, func.count())
    .where(
        Showing.pair_id.in_(select(Pair.id).where(Pair.topic_id == bindparam("topic"))),
        Showing.repeats_id.is_(None),
    )
    .group_by(Showing.pair_id, Showing.left_system_id)
)
"""All that is read is an index: a study has many thousands of showings, and they are counted whenever a worker begins."""

_SHOWN_IN_VAIN = (
    select(Showing.pair_id, Showing.left_system_id, func.count())
    .join(Showing.slot)
    .join(Slot.assignment)
    .join(Assignment.worker)
    .where(Slot.topic_id == bindparam("topic"), Showing.repeats_id.is_(None), not_(counts(bindparam("now"))))
    .group_by(Showing.pair_id, Showing.left_system_id)
)


def taken(
    session: Session, topics: Collection[int], *, now: datetime, besides_slot: int | None = None
) -> dict[int, int]:
    """Return topic -> how many slots count; ``besides_slot`` is left out."""
    query = (
        select(Slot.topic_id, func.count())
        .join(Slot.assignment)
        .join(Assignment.worker)
        .where(Slot.topic_id.in_(topics), counts(now), Slot.id != (besides_slot or 0))
        .group_by(Slot.topic_id)
    )
    found = {topic: number for topic, number in session.execute(query)}  # noqa: C416 - rows are not tuples to mypy
    return {topic: found.get(topic, 0) for topic in topics}


def taken_units(
    session: Session, task: TaskPlan, *, now: datetime, besides_slot: int | None = None
) -> dict[int, int]:
    """Return unit -> how many slots count, of a task whose topics have units; ``besides_slot`` is left out."""
    topics = [topic.id for topic in task.topics]
    query = (
        select(Slot.unit, func.count())
        .join(Slot.assignment)
        .join(Assignment.worker)
        .where(Slot.topic_id.in_(topics), counts(now), Slot.id != (besides_slot or 0))
        .group_by(Slot.unit)
    )
    found = {unit: number for unit, number in session.execute(query)}  # noqa: C416 - rows are not tuples to mypy
    return {unit: found.get(unit, 0) for topic in task.topics for unit in topic.units}


def open_units(
    session: Session, task: TaskPlan, *, besides: Collection[int], now: datetime
) -> dict[int, int]:
    """Return the units that can take one more, without those in ``besides``, with how many slots count."""
    taken_so_far = taken_units(session, task, now=now)
    return {
        unit: number
        for unit, number in taken_so_far.items()
        if unit not in besides and has_room(number, task.limit)
    }


def has_open(session: Session, task: TaskPlan, *, held: Sequence[SlotRow], now: datetime) -> bool:
    """Say whether something of a task that is not in ``held`` can take one more."""
    if task.kind.has_units:
        return bool(open_units(session, task, besides={slot.unit for slot in held}, now=now))
    return bool(open_topics(session, task, besides={slot.topic_id for slot in held}, now=now))


def open_topics(session: Session, task: TaskPlan, *, besides: Collection[int], now: datetime) -> set[int]:
    """Return the queries of a task that can take one more, without those in ``besides``."""
    topics = {topic.id for topic in task.topics} - set(besides)
    if task.limit is None:
        return topics
    return {
        topic for topic, number in taken(session, topics, now=now).items() if has_room(number, task.limit)
    }


def pair_tallies(session: Session, topic: int, *, now: datetime) -> Sequence[PairTally]:
    """Return every pair of a query with how often it was shown each way, repeats not counted."""
    connection = session.connection()
    times: Counter[tuple[int, int]] = Counter()
    for pair, left, number in connection.execute(_SHOWN_IN_VAIN, {"topic": topic, "now": now}):
        times[pair, left] = -number
    for pair, left, number in connection.execute(
        _SHOWN, {"topic": topic}
    ):  # later: what is new counts here only
        times[pair, left] += number
    return [
        PairTally(pair=pair, system_a=a, system_b=b, a_left=times[pair, a], b_left=times[pair, b])
        for pair, a, b in connection.execute(_PAIRS, {"topic": topic})
    ]
