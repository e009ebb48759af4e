"""What a fresh slot will show, drawn from the study's seed and stored before anything is displayed."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.orm import Session

from study_app.protocol.domain import PlannedShowing, balanced_sides, drawn, planned_showings
from study_app.services.worker.quota import open_units, pair_tallies
from study_app.services.worker.whereabouts import Whereabouts
from study_app.store.models import Assignment, Showing, Slot
from study_app.store.plan import TaskPlan
from study_app.store.rows import SlotRow, WorkerRow, store
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


def draw_pages(session: Session, here: Whereabouts, task: TaskPlan, slot: SlotRow, *, now: datetime) -> None:
    """Draw the pages of a slot that was just taken: showings of pairs, or sheets of iUnits."""
    match task.entry:
        case ChosenPairs() as entry:
            _draw_query(session, here, task, entry, slot, now=now)
        case TakenPairs() as entry:
            _draw_pair(session, here, task, entry, slot, now=now)
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
        pairs=None if entry.pairs == "all" else entry.pairs,
        validation=entry.validation_pairs,
        swapped=entry.validation_swapped,
        rng=drawn(here.plan.entry.seed, here.worker.number, f"pairs {task.number}.{slot.position}"),
    )
    _store(session, _showing_rows(here.worker, task, slot, planned))
    repeats = [(place, plan.repeats) for place, plan in enumerate(planned) if plan.repeats is not None]
    if repeats:
        _link_repeats(session, slot, repeats)


def _draw_pair(
    session: Session, here: Whereabouts, task: TaskPlan, entry: TakenPairs, slot: SlotRow, *, now: datetime
) -> None:
    """Draw the sides of one pair; the last slot of the worker has the repeats of earlier ones too."""
    seed, worker = here.plan.entry.seed, here.worker
    rng = drawn(seed, worker.number, f"pairs {task.number}.{slot.position}")
    (tally,) = (tally for tally in pair_tallies(session, slot.topic_id, now=now) if tally.pair == slot.unit)
    left, right = balanced_sides(tally, rng)
    repeated = []
    if _is_last(session, here, task, slot, now=now):
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


def _is_last(session: Session, here: Whereabouts, task: TaskPlan, slot: SlotRow, *, now: datetime) -> bool:
    """Say whether the worker gets no pair after this one: as many as wanted, or nothing else has room."""
    held = {other.unit for other in here.slots[task.number]} | {slot.unit}
    return slot.position == task.wanted or not open_units(session, task, besides=held, now=now)


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
    found = session.connection().scalar(_ASSIGNMENT, {"worker": worker.id, "task": task.id})
    if found is None:
        row = {"worker_id": worker.id, "task_id": task.id, "started_at": now}
        found = store(session, _NEW_ASSIGNMENT, row)
    return found
