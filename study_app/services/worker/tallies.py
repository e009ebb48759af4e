"""Showings and taken slots of pairs, counted in the database."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import BindParameter, ColumnElement, Connection, Select, and_, bindparam, not_, or_, select
from sqlalchemy.orm import Session

from study_app.protocol.domain import PairTally
from study_app.store.models import Assignment, Pair, Showing, Slot, Topic, Worker


def slot_is_taken(now: datetime | BindParameter[datetime]) -> ColumnElement[bool]:
    """Return the condition that a slot counts as taken.

    The query joins `Slot` with its assignment and worker. A worker who has stopped holds nothing, whatever an
    open page of theirs logs.
    """
    live = and_(Slot.expires_at > now, Worker.stopped_at.is_(None))
    return and_(or_(Slot.done_at.is_not(None), live), Worker.withdrawn_at.is_(None))


_OF_TASK = select(Topic.id).where(Topic.task_id == bindparam("task"))
_PAIRS = (
    select(Pair.id, Pair.system_a_id, Pair.system_b_id, Pair.shown_a_left, Pair.shown_b_left)
    .where(Pair.gold.is_(None))
    .order_by(Pair.id)
)
_GOLD_OF_TASK = (
    select(
        Pair.topic_id,
        Pair.id,
        Pair.system_a_id,
        Pair.system_b_id,
        Pair.shown_a_left,
        Pair.shown_b_left,
    )
    .where(Pair.topic_id.in_(_OF_TASK), Pair.gold.is_not(None))
    .order_by(Pair.id)
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


def pair_tallies(session: Session, topic: int, *, now: datetime) -> Sequence[PairTally]:
    """Return the tallies of every pair of a query, without repeats and gold pairs."""
    return _tallies(session, _PAIRS_OF_TOPIC, _IN_VAIN_OF_TOPIC, {"topic": topic}, now=now)


def task_tallies(session: Session, task: int, *, now: datetime) -> Sequence[PairTally]:
    """Return the tallies of every pair of a task (row), without repeats and gold pairs."""
    return _tallies(session, _PAIRS_OF_TASK, _IN_VAIN_OF_TASK, {"task": task}, now=now)


def gold_tallies(session: Session, task: int) -> Sequence[tuple[int, PairTally]]:
    """Return the topic and the tally of every gold pair of a task (row), whatever became of its showings."""
    return [
        (topic, PairTally(pair=pair, system_a=a, system_b=b, a_left=a_left, b_left=b_left))
        for topic, pair, a, b, a_left, b_left in session.connection().execute(_GOLD_OF_TASK, {"task": task})
    ]


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
