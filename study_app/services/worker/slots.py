"""Slots of workers: assignment, random content, leases and their renewal.

A slot's content is drawn from the study's seed, and stored before it is displayed.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from random import Random
from types import MappingProxyType
from typing import Any

from sqlalchemy import bindparam, case, insert, select, update
from sqlalchemy.orm import Session

from study_app.protocol.adaptive import DrawnPair
from study_app.protocol.domain import (
    PairTally,
    PlannedShowing,
    balanced_sides,
    has_room,
    least_shown,
    planned_showings,
    topic_order,
    with_gold,
)
from study_app.protocol.steps import Step, is_settled
from study_app.services.worker.adaptive import adaptive_pairs, load_search
from study_app.services.worker.availability import (
    closed_units,
    count_taken_slots,
    open_pairs,
    open_topics,
    open_units,
    taken_units,
)
from study_app.services.worker.ends import has_answer
from study_app.services.worker.tallies import gold_tallies, pair_tallies
from study_app.services.worker.worker_progress import WorkerProgress
from study_app.store.models import EPOCH, Assignment, Pair, Showing, Slot, Task
from study_app.store.study_cache import CachedTask, CachedTopic, SlotRow, WorkerRow, insert_row, update_rows
from study_app.store.task_models import Sheet
from study_app.study.entries import AssignedPairTask, ChosenTopicTask, JudgingTask, RatedTask

_ASSIGNMENT = select(Assignment.id).where(
    Assignment.worker_id == bindparam("worker"), Assignment.task_id == bindparam("task")
)
_NEW_ASSIGNMENT = insert(Assignment)
_NEW_SHOWING = insert(Showing)
_SHOWN = (
    update(Pair)
    .where(Pair.id == bindparam("pair"))
    .values(
        shown_a_left=Pair.shown_a_left + case((Pair.system_a_id == bindparam("left"), 1), else_=0),
        shown_b_left=Pair.shown_b_left + case((Pair.system_b_id == bindparam("left"), 1), else_=0),
    )
)
_REPEATS = (
    update(Showing).where(Showing.id == bindparam("repeat")).values({"repeats_id": bindparam("original")})
)
_NEW_SLOTS = insert(Slot).returning(Slot.id, sort_by_parameter_order=True)
_SHOWN_BEFORE = (
    select(Showing.id, Showing.pair_id, Showing.left_system_id, Showing.right_system_id, Showing.repeats_id)
    .join(Showing.slot)
    .where(Slot.assignment_id == bindparam("assignment"), Slot.id != bindparam("slot"))
    .order_by(Slot.position, Showing.position)
)
_LOCKED_TASK = select(Task.id).where(Task.id == bindparam("task")).with_for_update(key_share=True)
PAIRS_AT_ONCE = 4
"""Most pairs leased one by one that a worker gets at once.

These pairs share one count of taken slots.
"""
SIGN_OF_LIFE_EVERY = timedelta(seconds=30)
"""Shortest time between stored activities; a lease is many times as long."""


def _draw_query(
    session: Session,
    progress: WorkerProgress,
    task: CachedTask,
    entry: ChosenTopicTask,
    slot: SlotRow,
    *,
    now: datetime,
) -> None:
    planned = planned_showings(
        pair_tallies(session, slot.topic_id, now=now),
        pairs=entry.pairs_each,
        validation=entry.validation_pairs,
        swapped=entry.validation_swapped,
        rng=progress.rng(f"pairs {task.number}.{slot.position}"),
    )
    rng = progress.rng(f"gold {task.number}.{slot.position}")
    planned = with_gold(planned, _drawn_gold(session, task, entry, slot, rng), rng)
    repeats = [
        (place, showing.repeats) for place, showing in enumerate(planned) if showing.repeats is not None
    ]
    first = [showing for showing in planned if showing.repeats is None]
    _store(session, _showing_rows(progress, task, slot, planned), first)
    if repeats:
        _link_repeats(session, slot, repeats)


def _draw_pairs(
    session: Session,
    progress: WorkerProgress,
    task: CachedTask,
    entry: AssignedPairTask,
    slots: Sequence[SlotRow],
    tallies: Mapping[int, PairTally],
    *,
    is_last: bool,
    draws: Mapping[int, DrawnPair] = MappingProxyType({}),
) -> None:
    """Draw the sides of assigned pairs, one pair a slot.

    The worker's last slot has the repeats of earlier pairs and the gold pairs, too. ``tallies``: how often each pair was shown
    either way; ``is_last``: the worker gets no other pair after this one; ``draws``: how adaptive pairs were drawn, by pair.
    """
    rows, first = [], []
    for slot in slots:
        rng = progress.rng(f"pairs {task.number}.{slot.position}")
        left, right = balanced_sides(tallies[slot.unit], rng)
        shown = PlannedShowing(pair=slot.unit, left=left, right=right)
        again = [*_drawn_repeats(session, task, slot, entry, rng).items()] if is_last else []
        gold = _drawn_gold(session, task, entry, slot, rng) if is_last else []
        if gold:
            again += [(None, pair) for pair in gold]
            rng.shuffle(again)
        drawn_rows = _showing_rows(progress, task, slot, [shown, *(pair for _, pair in again)])
        if slot.unit in draws:
            drawn_rows[0] |= {"chance": draws[slot.unit].chance, "drawn": draws[slot.unit].drawn}
        for row, (original, _) in zip(drawn_rows[1:], again, strict=True):
            row["repeats_id"] = original
        rows += drawn_rows
        first += [shown, *gold]
    reveals = _reveals_silence(progress, task, entry)
    _store(session, [row | {"reveals_silence": reveals} for row in rows], first)


def _reveals_silence(progress: WorkerProgress, task: CachedTask, entry: AssignedPairTask) -> bool | None:
    """Return whether a worker sees which days were silent; None without days."""
    if entry.revealed != "random":
        return entry.revealed
    return progress.rng(f"silence {task.number}").random() < 0.5


def _drawn_gold(
    session: Session, task: CachedTask, entry: JudgingTask, slot: SlotRow, rng: Random
) -> list[PlannedShowing]:
    """Draw the gold pairs of a slot, those shown least so far, and their sides.

    They are those of the topic where workers choose it, and never one that the worker had before.
    """
    if not task.gold:
        return []
    before = {"assignment": slot.assignment_id, "slot": slot.id}
    shown = {showing.pair_id for showing in session.connection().execute(_SHOWN_BEFORE, before)}
    open_gold = [
        tally
        for topic, tally in gold_tallies(session, task.id)
        if tally.pair not in shown and topic in ({slot.topic_id} if task.kind.is_chosen else {topic})
    ]
    number = max(0, entry.gold_per_worker - len(shown & task.gold.keys()))
    planned = []
    for tally in least_shown(open_gold, number, rng):
        left, right = balanced_sides(tally, rng)
        planned.append(PlannedShowing(pair=tally.pair, left=left, right=right))
    return planned


def _drawn_repeats(
    session: Session, task: CachedTask, slot: SlotRow, entry: AssignedPairTask, rng: Random
) -> dict[int | None, PlannedShowing]:
    """Draw the earlier pairs that the last slot repeats.

    It returns the repeat by the repeated showing; no pair is repeated twice.
    """
    if not entry.validation_pairs:
        return {}
    before = {"assignment": slot.assignment_id, "slot": slot.id}
    shown = session.connection().execute(_SHOWN_BEFORE, before).all()
    repeated = {showing.repeats_id for showing in shown if showing.repeats_id is not None}
    once = [
        showing
        for showing in shown
        if showing.repeats_id is None and showing.id not in repeated and showing.pair_id not in task.gold
    ]
    repeat_count = min(max(0, entry.validation_pairs - len(repeated)), len(once))
    repeats = dict[int | None, PlannedShowing]()
    for showing in rng.sample(once, repeat_count):
        left, right = showing.left_system_id, showing.right_system_id
        left, right = (right, left) if entry.validation_swapped else (left, right)
        repeats[showing.id] = PlannedShowing(pair=showing.pair_id, left=left, right=right)
    return repeats


def _showing_rows(
    progress: WorkerProgress, task: CachedTask, slot: SlotRow, planned: Sequence[PlannedShowing]
) -> list[dict[str, Any]]:
    """Return the rows of showings to store.

    A name is of one showing in the database, also where the worker has the same pseudonym in several studies.
    """
    worker, plan = progress.worker, progress.plan
    stem = worker.pseudonym if plan.entry.pseudonyms is None else f"{worker.pseudonym}.{plan.name}"
    return [
        {
            "slot_id": slot.id,
            "pair_id": showing.pair,
            "position": position,
            "name": f"{stem}.{task.number}.{slot.position}.{position}",
            "left_system_id": showing.left,
            "right_system_id": showing.right,
            "repeats_id": None,
            "reveals_silence": None,
            "chance": None,
            "drawn": None,
        }
        for position, showing in enumerate(planned, start=1)
    ]


def _store(session: Session, rows: list[dict[str, Any]], first: Sequence[PlannedShowing]) -> None:
    """Store showings, and count the ``first`` showings of a pair.

    Repeats are not counted.
    """
    connection = session.connection()
    connection.execute(_NEW_SHOWING, rows)
    connection.execute(_SHOWN, [{"pair": showing.pair, "left": showing.left} for showing in first])


def _link_repeats(session: Session, slot: SlotRow, repeats: Sequence[tuple[int, int]]) -> None:
    """Store the showings that a slot repeats.

    ``repeats`` has indices (from 0) of the slot's showings.
    """
    stored = select(Showing.id).where(Showing.slot_id == slot.id).order_by(Showing.position)
    ids = list(session.scalars(stored))
    session.connection().execute(
        _REPEATS, [{"repeat": ids[repeat], "original": ids[original]} for repeat, original in repeats]
    )


def _draw_sheets(
    session: Session, progress: WorkerProgress, task: CachedTask, entry: RatedTask, slot: SlotRow
) -> None:
    """Draw the order of a query's iUnits, and cut it into pages of about equal length.

    The order is for one worker and intent.
    """
    iunits = list(task.topic(slot.topic_id).detail["iunits"])
    rng = progress.rng(f"iunits {task.number}.{slot.position}")
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


def assignment_of(session: Session, worker: WorkerRow, task: CachedTask, *, now: datetime) -> int:
    """Return the row of a worker's part in a task, a new one the first time."""
    assignment = session.connection().scalar(_ASSIGNMENT, {"worker": worker.id, "task": task.id})
    if assignment is None:
        row = {"worker_id": worker.id, "task_id": task.id, "started_at": now}
        assignment = insert_row(session, _NEW_ASSIGNMENT, row)
    return assignment


def listed_topics(progress: WorkerProgress, task: CachedTask) -> list[CachedTopic]:
    """Return every query of a task in the order of the worker's list.

    A query's number is its rank in that list. Queries that were added after the worker's consent come last, so that numbers on open
    pages hold.
    """
    consented_at = progress.worker.consented_at
    came = [
        topic.added_at if topic.added_at and consented_at and topic.added_at > consented_at else EPOCH
        for topic in task.topics
    ]
    listed: list[CachedTopic] = []
    for at in sorted(set(came)):
        topics = [topic for topic, time in zip(task.topics, came, strict=True) if time == at]
        purpose = f"topics {task.number}" if at == EPOCH else f"topics {task.number} {at.isoformat()}"
        listed += (topics[index] for index in topic_order(len(topics), progress.rng(purpose)))
    return listed


def take_slot(
    session: Session, progress: WorkerProgress, task: CachedTask, topic: int, *, now: datetime
) -> bool:
    """Assign a query to the worker and draw its pages.

    It returns False when another worker was faster.
    """
    queue_for(session, task)
    own_slots = progress.slots[task.number]
    if topic not in open_topics(session, task, besides={slot.topic_id for slot in own_slots}, now=now):
        return False
    (slot,) = _hold(session, progress, task, [(topic, 0)], now=now)
    if isinstance(task.entry, ChosenTopicTask):
        _draw_query(session, progress, task, task.entry, slot, now=now)
    return True


def take_units(session: Session, progress: WorkerProgress, task: CachedTask, *, now: datetime) -> bool:
    """Assign the open units with the fewest slots, of the current topic if any.

    Returns False when none is left. Several pairs are assigned at once, as `_at_once` says: one count serves
    for all of them.
    """
    queue_for(session, task)
    own_slots = progress.slots[task.number]
    if isinstance(task.entry, AssignedPairTask) and task.entry.adaptive is not None:
        return _take_adaptive_pairs(session, progress, task, task.entry, now=now)
    besides = {slot.unit for slot in own_slots}
    tallies = open_pairs(session, task, besides=besides, now=now) if task.pairs else {}
    counted = (
        {pair: tally.shown for pair, tally in tallies.items()}
        if task.pairs
        else open_units(session, task, besides=besides, now=now)
    )
    if not counted:
        return False
    is_last = len(own_slots) + 1 == progress.wanted(task) or len(counted) == 1
    places = _next_units(progress, task, counted)
    slots = _hold(session, progress, task, places, now=now)
    match task.entry:
        case AssignedPairTask() as entry:
            _draw_pairs(session, progress, task, entry, slots, tallies, is_last=is_last)
        case RatedTask() as entry:
            _draw_sheets(session, progress, task, entry, slots[0])
    return True


def _take_adaptive_pairs(
    session: Session, progress: WorkerProgress, task: CachedTask, entry: AssignedPairTask, *, now: datetime
) -> bool:
    """Assign pairs chosen by the answers so far; returns False when the best is known or the budget is used."""
    own_slots = progress.slots[task.number]
    besides = {slot.unit for slot in own_slots} | closed_units(task)
    search = load_search(session, task, now=now)
    left = search.open_pairs(besides)
    rng = progress.rng(f"adaptive {task.number}.{len(own_slots) + 1}")
    draws = {draw.pair: draw for draw in search.draw(besides, _at_once(progress, task, left), rng)}
    if not draws:
        return False
    topics = {unit: topic.id for topic in task.topics for unit in topic.units}
    slots = _hold(session, progress, task, [(topics[pair], pair) for pair in draws], now=now)
    tallies = {tally.pair: tally for each in search.searches for tally in each.tallies}
    is_last = len(own_slots) + 1 == progress.wanted(task) or left == 1
    _draw_pairs(session, progress, task, entry, slots, tallies, is_last=is_last, draws=draws)
    return True


def take_after(session: Session, progress: WorkerProgress, step: Step, *, now: datetime) -> Step | None:
    """Assign what follows all held slots, whose last page was just answered.

    Returns None where the progress has to be loaded anew to find the next step. ``progress`` is from before the
    answer: loading everything twice more would slow the most frequent request.
    """
    task, states = progress.task(step), progress.state.tasks[step.task - 1].slots
    others = [state for number, state in enumerate(states, start=1) if number != step.query]
    wants = task.kind.has_units and is_settled(others) and len(states) < progress.wanted(task)
    if not wants or progress.is_over(task) or not take_units(session, progress, task, now=now):
        return None
    return Step(step.kind, step.task, len(states) + 1, 1)


def _next_units(
    progress: WorkerProgress, task: CachedTask, counted: Mapping[int, int]
) -> list[tuple[int, int]]:
    """Choose the (topic, unit) that the worker gets now, among open units.

    It prefers the units least done, then one of the preceding topic, then chance decides.
    """
    own_slots = progress.slots[task.number]
    topics = {unit: topic.id for topic in task.topics for unit in topic.units}
    left, at_hand = dict(counted), own_slots[-1].topic_id if own_slots else None
    places: list[tuple[int, int]] = []
    for _ in range(_at_once(progress, task, len(counted))):
        fewest = min(left.values())
        if places and not has_room(fewest + 1, task.limit):
            break
        least = [unit for unit, number in left.items() if number == fewest]
        of_topic = [unit for unit in least if topics[unit] == at_hand]
        rng = progress.rng(f"unit {task.number}.{len(own_slots) + len(places) + 1}")
        unit = rng.choice(sorted(of_topic or least))
        at_hand = topics[unit]
        places.append((at_hand, unit))
        del left[unit]
    return places


def _at_once(progress: WorkerProgress, task: CachedTask, left: int) -> int:
    """Return the most units that a worker gets at once.

    The first is given alone, since many leave there, and so is the last, which comes with repeats of those
    before it; in between a pair is given ahead only while another slot of it is left (`_next_units`).
    """
    own_slots = len(progress.slots[task.number])
    if not task.pairs or not own_slots:
        return 1
    return max(1, min(PAIRS_AT_ONCE, progress.wanted(task) - own_slots - 1, left - 1))


def _hold(
    session: Session,
    progress: WorkerProgress,
    task: CachedTask,
    places: Sequence[tuple[int, int]],
    *,
    now: datetime,
) -> list[SlotRow]:
    """Store and return slots of (topic, unit); unit 0 is the whole topic."""
    own_slots = progress.slots[task.number]
    assignment = (
        own_slots[-1].assignment_id if own_slots else assignment_of(session, progress.worker, task, now=now)
    )
    entry = progress.plan.entry
    lease = entry.lease if own_slots or has_answer(progress) else entry.first_lease
    rows: list[dict[str, Any]] = [
        {
            "assignment_id": assignment,
            "topic_id": topic,
            "unit": unit,
            "position": position,
            "expires_at": now + lease,
            "late": False,
            "search_shown_at": None,
            "search_left_at": None,
            "done_at": None,
        }
        for position, (topic, unit) in enumerate(places, start=len(own_slots) + 1)
    ]
    ids = session.connection().scalars(_NEW_SLOTS, [row | {"leased_at": now} for row in rows])
    return [SlotRow(slot, **row) for slot, row in zip(ids, rows, strict=True)]


def take_next(session: Session, progress: WorkerProgress, *, now: datetime) -> bool:
    """Assign the next unit where the worker has no choice.

    It returns whether something was assigned.
    """
    for task, state in zip(progress.plan.tasks, progress.state.tasks, strict=True):
        if state.awaits_introduction:
            return False
        if state.wants_slot:
            if task.kind.has_units:
                return take_units(session, progress, task, now=now)
            own_slots = {slot.topic_id for slot in progress.slots[task.number]}
            left = [topic.id for topic in task.topics if topic.id not in own_slots]
            return not state.has_choice and take_slot(session, progress, task, left[0], now=now)
        if not all(slot.is_done for slot in state.slots):
            return False
    return False


def keep_alive(session: Session, progress: WorkerProgress, *, now: datetime, answers: bool = False) -> None:
    """Store activity and renew the worker's leases, from the first answer on.

    ``answers``: this is an answer. A worker who returns to an expired slot continues: it is renewed when the
    query has room for it once more, and late when another worker has taken the slot. The open page of somebody who gave the work
    back at the platform renews nothing; an answer does.
    """
    if now - progress.worker.last_seen_at >= SIGN_OF_LIFE_EVERY:
        update_rows(session, progress.worker, last_seen_at=now)
    if progress.worker.returned_at is not None:
        if not answers:
            return
        update_rows(session, progress.worker, returned_at=None)
    entry = progress.plan.entry
    if entry.first_lease < entry.lease and not answers and not has_answer(progress):
        return
    until = now + entry.lease
    own_slots = [(slot, task) for task in progress.plan.tasks for slot in progress.slots[task.number]]
    open_slots = [(slot, task) for slot, task in own_slots if slot.done_at is None]
    for slot, task in open_slots:
        if slot.expires_at <= now and not slot.late and not _has_place(session, slot, task, now=now):
            update_rows(session, slot, late=True)
    aging = [slot for slot, _ in open_slots if until - slot.expires_at >= SIGN_OF_LIFE_EVERY]
    if aging:
        update_rows(session, *aging, expires_at=until)


def _has_place(session: Session, slot: SlotRow, task: CachedTask, *, now: datetime) -> bool:
    """Return whether the topic, unit or pair of an expired slot has room again."""
    queue_for(session, task)
    if adaptive_pairs(task) is not None:
        return load_search(session, task, now=now).budget_left > 0
    if not task.kind.has_units:
        taken_so_far = count_taken_slots(session, [slot.topic_id], now=now, besides_slot=slot.id)[
            slot.topic_id
        ]
    else:
        topic = task.topic(slot.topic_id)
        taken_so_far = taken_units(session, task, now=now, topic=topic, besides_slot=slot.id)[slot.unit]
    return has_room(taken_so_far, task.limit)


def queue_for(session: Session, task: CachedTask) -> None:
    """Lock a task's slots until this transaction ends (a no-op on SQLite).

    SQLite lets one writer in anyway. One lock a task, and tasks only in their order, so that no two workers
    ever wait for each other.
    """
    connection = session.connection()
    if connection.dialect.name != "sqlite":
        connection.execute(_LOCKED_TASK, {"task": task.id})
