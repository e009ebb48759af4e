"""Slots: taking one, what it will show (drawn from the study's seed and stored before), keeping it alive, coming back to an expired one."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.orm import Session

from study_app.protocol.domain import (
    PairTally,
    PlannedShowing,
    balanced_sides,
    drawn,
    has_room,
    planned_showings,
    topic_order,
)
from study_app.protocol.steps import Step, is_settled
from study_app.services.worker.ends import has_answer
from study_app.services.worker.room import (
    open_pairs,
    open_topics,
    open_units,
    pair_tallies,
    taken,
    taken_units,
)
from study_app.services.worker.whereabouts import Whereabouts, has_gone_on
from study_app.store.models import Assignment, Showing, Slot, Task
from study_app.store.plan import SlotRow, TaskPlan, TopicPlan, WorkerRow, change, store
from study_app.store.task_models import Sheet
from study_app.study.entries import ChosenPairs, RatedTask, TakenPairs

_ASSIGNMENT = select(Assignment.id).where(
    Assignment.worker_id == bindparam("worker"), Assignment.task_id == bindparam("task")
)
_NEW_ASSIGNMENT = insert(Assignment)
_NEW_SHOWING = insert(Showing)
_REPEATS = (
    update(Showing).where(Showing.id == bindparam("repeat")).values({"repeats_id": bindparam("original")})
)
_NEW_SLOT = insert(Slot)
_LOCKED_TASK = select(Task.id).where(Task.id == bindparam("task")).with_for_update(key_share=True)
SIGN_OF_LIFE_EVERY = timedelta(seconds=30)
"""Signs of life closer than this to the last one noted are not noted: a lease is many times as long."""


def _draw_pages(
    session: Session,
    here: Whereabouts,
    task: TaskPlan,
    slot: SlotRow,
    ways: tuple[int, int],
    *,
    is_last: bool,
    now: datetime,
) -> None:
    """Draw the pages of a slot that was just taken: showings of pairs, or sheets of iUnits.

    ``ways``: how often the pair that was taken was shown either way; ``is_last``: the worker gets no other unit after this one.
    """
    match task.entry:
        case ChosenPairs() as entry:
            _draw_query(session, here, task, entry, slot, now=now)
        case TakenPairs() as entry:
            _draw_pair(session, here, task, entry, slot, ways, is_last=is_last)
        case RatedTask() as entry:
            _draw_sheets(session, here, task, entry, slot)


def _draw_query(
    session: Session,
    here: Whereabouts,
    task: TaskPlan,
    entry: ChosenPairs,
    slot: SlotRow,
    *,
    now: datetime,
) -> None:
    planned = planned_showings(
        pair_tallies(session, slot.topic_id, now=now),
        pairs=entry.pairs_each,
        validation=entry.validation_pairs,
        swapped=entry.validation_swapped,
        rng=drawn(here.plan.entry.seed, here.worker.number, f"pairs {task.number}.{slot.position}"),
    )
    _store(session, _showing_rows(here.worker, task, slot, planned))
    repeats = [(place, plan.repeats) for place, plan in enumerate(planned) if plan.repeats is not None]
    if repeats:
        _link_repeats(session, slot, repeats)


def _draw_pair(
    session: Session,
    here: Whereabouts,
    task: TaskPlan,
    entry: TakenPairs,
    slot: SlotRow,
    ways: tuple[int, int],
    *,
    is_last: bool,
) -> None:
    """Draw the sides of one pair; the last slot of the worker has the repeats of earlier ones too."""
    seed, worker = here.plan.entry.seed, here.worker
    rng = drawn(seed, worker.number, f"pairs {task.number}.{slot.position}")
    (system_a, system_b), (a_left, b_left) = task.pairs[slot.unit], ways
    tally = PairTally(pair=slot.unit, system_a=system_a, system_b=system_b, a_left=a_left, b_left=b_left)
    left, right = balanced_sides(tally, rng)
    repeated = []
    if is_last:
        earlier, done = _unrepeated(session, slot)
        repeated = rng.sample(earlier, min(max(0, entry.validation_pairs - done), len(earlier)))
    repeats = [
        PlannedShowing(pair=first.pair_id, left=first.right_system_id, right=first.left_system_id)
        if entry.validation_swapped
        else PlannedShowing(pair=first.pair_id, left=first.left_system_id, right=first.right_system_id)
        for first in repeated
    ]
    planned = [PlannedShowing(pair=slot.unit, left=left, right=right), *repeats]
    rows = _showing_rows(worker, task, slot, planned)
    for row, first in zip(rows[1:], repeated, strict=True):
        row["repeats_id"] = first.id
    reveals = (
        drawn(seed, worker.number, f"silence {task.number}").random() < 0.5
        if entry.revealed == "random"
        else entry.revealed
    )
    _store(session, [row | {"reveals_silence": reveals} for row in rows])


def _unrepeated(session: Session, slot: SlotRow) -> tuple[list[Showing], int]:
    """Return the pairs that the worker judged in this task before and not twice, in order, and how many came twice."""
    query = (
        select(Showing)
        .join(Showing.slot)
        .where(Slot.assignment_id == slot.assignment_id, Slot.id != slot.id)
        .order_by(Slot.position, Showing.position)
    )
    shown = list(session.scalars(query))
    repeated = {showing.repeats_id for showing in shown if showing.repeats_id is not None}
    originals = [one for one in shown if one.repeats_id is None and one.id not in repeated]
    return originals, len(repeated)


def _showing_rows(
    worker: WorkerRow, task: TaskPlan, slot: SlotRow, planned: Sequence[PlannedShowing]
) -> list[dict[str, Any]]:
    return [
        {
            "slot_id": slot.id,
            "pair_id": plan.pair,
            "position": position,
            "name": f"{worker.pseudonym}.{task.number}.{slot.position}.{position}",
            "left_system_id": plan.left,
            "right_system_id": plan.right,
            "repeats_id": None,
            "reveals_silence": None,
        }
        for position, plan in enumerate(planned, start=1)
    ]


def _store(session: Session, rows: list[dict[str, Any]]) -> None:
    session.connection().execute(_NEW_SHOWING, rows)


def _link_repeats(session: Session, slot: SlotRow, repeats: Sequence[tuple[int, int]]) -> None:
    """Note of a slot's showings (by place, from 0) which repeats which."""
    stored = select(Showing.id).where(Showing.slot_id == slot.id).order_by(Showing.position)
    ids = list(session.scalars(stored))
    session.connection().execute(
        _REPEATS, [{"repeat": ids[place], "original": ids[original]} for place, original in repeats]
    )


def _draw_sheets(
    session: Session, here: Whereabouts, task: TaskPlan, entry: RatedTask, slot: SlotRow
) -> None:
    """Draw the order of the query's iUnits for this worker and intent, and cut it into pages of about equal length."""
    iunits = list(task.topic(slot.topic_id).detail["iunits"])
    rng = drawn(here.plan.entry.seed, here.worker.number, f"iunits {task.number}.{slot.position}")
    rng.shuffle(iunits)
    pages = -(-len(iunits) // entry.iunits_per_page)
    session.add_all(
        Sheet(
            slot_id=slot.id,
            position=page + 1,
            intent_id=slot.unit,
            iunits=iunits[len(iunits) * page // pages : len(iunits) * (page + 1) // pages],
        )
        for page in range(pages)
    )
    session.flush()


def assignment_of(session: Session, worker: WorkerRow, task: TaskPlan, *, now: datetime) -> int:
    """Return the row of the worker's part in a task, a new one before there is one."""
    assignment = session.connection().scalar(_ASSIGNMENT, {"worker": worker.id, "task": task.id})
    if assignment is None:
        row = {"worker_id": worker.id, "task_id": task.id, "started_at": now}
        assignment = store(session, _NEW_ASSIGNMENT, row)
    return assignment


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
    besides = {slot.unit for slot in held}
    ways = open_pairs(session, task, besides=besides, now=now) if task.pairs else {}
    counted = (
        {pair: sum(both) for pair, both in ways.items()}
        if task.pairs
        else open_units(session, task, besides=besides, now=now)
    )
    if not counted:
        return False
    topics = {unit: topic.id for topic in task.topics for unit in topic.units}
    unit = _next_unit(here, task, counted, topics, held)
    is_last = len(held) + 1 == task.wanted or len(counted) == 1
    _hold(session, here, task, topics[unit], unit=unit, ways=ways.get(unit, (0, 0)), is_last=is_last, now=now)
    return True


def take_after(session: Session, here: Whereabouts, step: Step, *, now: datetime) -> Step | None:
    """Take the unit after the one whose last page was just answered; None where the rest of the way is to be looked at.

    ``here`` is from before the answer: what a worker meets most often is not worth reading everything twice more.
    """
    task, states = here.task(step), here.state.tasks[step.task - 1].slots
    others = [state for number, state in enumerate(states, start=1) if number != step.query]
    wants = task.kind.has_units and is_settled(others) and len(states) < task.wanted
    if not wants or has_gone_on(here.plan, here.slots, task) or not take_unit(session, here, task, now=now):
        return None
    return Step(step.kind, step.task, len(states) + 1, 1)


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
    session: Session,
    here: Whereabouts,
    task: TaskPlan,
    topic: int,
    *,
    unit: int = 0,
    ways: tuple[int, int] = (0, 0),
    is_last: bool = False,
    now: datetime,
) -> None:
    held = here.slots[task.number]
    row: dict[str, Any] = {
        "assignment_id": held[-1].assignment_id
        if held
        else assignment_of(session, here.worker, task, now=now),
        "topic_id": topic,
        "unit": unit,
        "position": len(held) + 1,
        "expires_at": now + (lease(here) if has_answer(here) else here.plan.entry.first_lease),
        "late": False,
        "search_shown_at": None,
        "search_left_at": None,
        "done_at": None,
    }
    slot = store(session, _NEW_SLOT, row | {"leased_at": now})
    _draw_pages(session, here, task, SlotRow(slot, **row), ways, is_last=is_last, now=now)


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


def keep_alive(session: Session, here: Whereabouts, *, now: datetime, answers: bool = False) -> None:
    """Note a sign of life: prolong what the worker holds, from their first answer on; ``answers``: this is one.

    Who comes back to a slot that has expired goes on all the same: it is renewed when the query has room for it
    once more, and late when somebody else has taken the place.
    """
    if now - here.worker.last_seen_at >= SIGN_OF_LIFE_EVERY:
        change(session, here.worker, last_seen_at=now)
    entry = here.plan.entry
    if entry.first_lease < entry.lease and not answers and not has_answer(here):
        return
    for task in here.plan.tasks:
        for slot in here.slots[task.number]:
            if slot.done_at is None:
                renew(session, slot, task, until=now + lease(here), now=now)


def renew(session: Session, slot: SlotRow, task: TaskPlan, *, until: datetime, now: datetime) -> None:
    """Prolong one slot; it becomes late when it had expired and what it holds is full without it."""
    if slot.expires_at <= now and not slot.late:
        queue_for(session, task)
        others = (
            taken_units(session, task, now=now, topic=task.topic(slot.topic_id), besides_slot=slot.id)[
                slot.unit
            ]
            if task.kind.has_units
            else taken(session, [slot.topic_id], now=now, besides_slot=slot.id)[slot.topic_id]
        )
        if not has_room(others, task.limit):
            change(session, slot, late=True)
    if until - slot.expires_at >= SIGN_OF_LIFE_EVERY:
        change(session, slot, expires_at=until)


def lease(here: Whereabouts) -> timedelta:
    """Return how long a slot is held without a sign of life."""
    return here.plan.entry.lease


def queue_for(session: Session, task: TaskPlan) -> None:
    """Keep others from counting what a task gives out until this transaction ends (SQLite keeps off everybody anyway).

    One lock a task, and tasks only in their order, so that no two workers ever wait for each other.
    """
    connection = session.connection()
    if connection.dialect.name != "sqlite":
        connection.execute(_LOCKED_TASK, {"task": task.id})
