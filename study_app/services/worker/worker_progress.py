"""Progress of a worker in a study: stored state, held slots and open steps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import Any

from sqlalchemy import BigInteger, Connection, bindparam, case, exists, false, or_, select, type_coerce
from sqlalchemy.orm import Session

from study_app.protocol.domain import rng_for
from study_app.protocol.steps import SlotState, Step, TaskState, WorkerState, is_settled
from study_app.services.worker.availability import has_open
from study_app.store.models import (
    EPOCH,
    MILLISECOND,
    Assignment,
    Ballot,
    Judgment,
    LoadedStudy,
    Showing,
    Slot,
    UtcTime,
    Worker,
    time_of,
)
from study_app.store.study_cache import (
    CachedStudy,
    CachedTask,
    FollowRow,
    SlotRow,
    StudyCache,
    WorkerRow,
    columns,
)
from study_app.store.task_models import Follow, Introduction, Rating, Reply, Sheet

# Written once: these run with every page and every answer.
_OF_WORKER = Assignment.worker_id == bindparam("worker")
_WORKER = (
    select(LoadedStudy.version, *columns(Worker, WorkerRow))
    .join(LoadedStudy)
    .where(Worker.id == bindparam("worker"))
)
_LOCKED_WORKER = _WORKER.with_for_update(of=Worker, key_share=True)
_OF_SLOT = columns(Slot, SlotRow)
_IS_TIME = [isinstance(column.type, UtcTime) for column in _OF_SLOT]
_HAS_FORM = or_(exists().where(Ballot.slot_id == Slot.id), exists().where(Reply.slot_id == Slot.id))
_SLOTS_AND_PAIRS = (
    select(
        Slot.id.label("held"),
        Showing.id,
        exists().where(Judgment.showing_id == Showing.id),
        Assignment.task_id,
        case((Showing.id.is_(None), _HAS_FORM), else_=false()),  # what has pairs has no form of its own
        Follow.id,
        Follow.system_id,
        type_coerce(Follow.started_at, BigInteger),
        type_coerce(Follow.ends_at, BigInteger),
        *(
            type_coerce(column, BigInteger) if is_time else column
            for column, is_time in zip(_OF_SLOT, _IS_TIME, strict=True)
        ),
    )
    .join(Slot.assignment)
    .outerjoin(Slot.showings)
    .outerjoin(Follow, Follow.slot_id == Slot.id)
    .where(_OF_WORKER)
    .order_by(Slot.position, Showing.position)
)
"""Slots of a worker, a row for each pair.

Each slot says whether its form (a vote, a reply) is stored, and the stream followed in it.
"""
_RATED = (
    select(Sheet.slot_id, exists().where(Rating.sheet_id == Sheet.id))
    .join(Sheet.slot)
    .join(Slot.assignment)
    .where(_OF_WORKER)
    .order_by(Sheet.slot_id, Sheet.position)
)
_INTRODUCED = select(Introduction.task_id).where(
    Introduction.worker_id == bindparam("worker"), Introduction.passed
)
_OF_ONE_FORM = {"vote", "questions"}
"""Kinds of answer pages that a slot has only one of."""


class UnknownWorkerError(LookupError):
    """Token signed for a worker who is not in this database."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerProgress:
    """Progress of a worker: study, held slots by task number (from 1), and state.

    ``follows`` is the stream followed in each slot.
    """

    worker: WorkerRow
    plan: CachedStudy
    slots: dict[int, list[SlotRow]]
    follows: dict[int, FollowRow]
    state: WorkerState

    def wanted(self, task: CachedTask) -> int:
        """Return the number of queries, events or units of a task that the worker is asked to do."""
        return task.wanted_of(self.worker.consented_at)

    def rng(self, purpose: str) -> Random:
        """Return the random generator of the worker for one purpose."""
        return rng_for(self.plan.entry.seed, self.worker.number, purpose)

    def is_over(self, task: CachedTask) -> bool:
        """Return whether a task gives the worker nothing more, as `has_gone_on`, or for good."""
        return self.worker.at_end_at is not None or has_gone_on(self.plan, self.slots, task)

    def task(self, step: Step) -> CachedTask:
        """Return the task of a step."""
        return self.plan.tasks[step.task - 1]

    def slot(self, step: Step) -> SlotRow:
        """Return the slot of a step."""
        return self.slots[step.task][step.query - 1]

    def follow(self, step: Step) -> FollowRow:
        """Return the stream that is followed at a step."""
        return self.follows[self.slot(step).id]


def has_gone_on(loaded_study: CachedStudy, slots: Mapping[int, Sequence[SlotRow]], task: CachedTask) -> bool:
    """Return whether a worker with ``slots`` has something of a later task.

    The earlier task then has nothing more for the worker.
    """
    return any(slots[later.number] for later in loaded_study.tasks[task.number :])


def gets_more(session: Session, progress: WorkerProgress, task: CachedTask, *, now: datetime) -> bool:
    """Return whether a task has more for the worker than they hold."""
    if progress.is_over(task):
        return False
    return has_open(session, task, held=progress.slots[task.number], now=now)


def load_progress(
    session: Session, plans: StudyCache, worker_id: int, *, now: datetime, lock: bool = False
) -> WorkerProgress:
    """Load the progress of a worker.

    Parameters
    ----------
    session : Session
        Reading or writing.
    plans : StudyCache
        Of this server.
    worker_id : int
        From the worker's token.
    now : datetime
        Decides which leases live.
    lock : bool
        Keep other transactions off the worker until this one ends (SQLite keeps off everybody).

    Raises
    ------
    UnknownWorkerError
        If the worker is not in this database.
    """
    session.flush()
    connection = session.connection()
    row = connection.execute(_LOCKED_WORKER if lock else _WORKER, {"worker": worker_id}).one_or_none()
    if row is None:
        raise UnknownWorkerError(worker_id)
    worker = WorkerRow(*row[1:])
    loaded_study = plans.of(session, worker.study_id, row.version)
    slots, answered, follows = _slots(connection, worker, loaded_study)
    answered |= _rated(connection, worker, loaded_study, slots)
    answered |= {slot: [follow.ends_at <= now] for slot, follow in follows.items()}
    introduced = _introduced(connection, worker, loaded_study)
    tasks = tuple(
        _task_state(
            session,
            task,
            slots[task.number],
            answered,
            follows,
            introduced,
            wanted=0
            if worker.at_end_at is not None or has_gone_on(loaded_study, slots, task)
            else task.wanted_of(worker.consented_at),
            now=now,
        )
        for task in loaded_study.tasks
    )
    state = WorkerState(
        consented=worker.consented_at is not None,
        completed=worker.completed_at is not None,
        withdrawn=worker.withdrawn_at is not None,
        stopped=worker.stopped_at is not None,
        tasks=tasks,
    )
    return WorkerProgress(worker=worker, plan=loaded_study, slots=slots, follows=follows, state=state)


def _slots(
    connection: Connection, worker: WorkerRow, loaded_study: CachedStudy
) -> tuple[dict[int, list[SlotRow]], dict[int, list[bool]], dict[int, FollowRow]]:
    """Return a worker's slots by task, answered pages by slot, and followed streams."""
    slots_of_tasks: dict[int, list[SlotRow]] = {task.id: [] for task in loaded_study.tasks}
    one_form = {task.id for task in loaded_study.tasks if task.kind.page in _OF_ONE_FORM}
    answered: dict[int, list[bool]] = {}
    follows: dict[int, FollowRow] = {}
    rows = connection.execute(_SLOTS_AND_PAIRS, {"worker": worker.id}).all()
    for row in rows:
        slot, showing = row[0], row[1]
        if slot not in answered:
            task, has_form, follow, system, started, ends, *values = row[3:]
            slots_of_tasks[task].append(SlotRow(*map(_read, values, _IS_TIME)))
            answered[slot] = [bool(has_form)] if task in one_form else []
            if follow is not None:
                began, over = EPOCH + started * MILLISECOND, EPOCH + ends * MILLISECOND
                follows[slot] = FollowRow(follow, slot, system, began, over)
        if showing is not None:
            answered[slot].append(row[2])
    return {task.number: slots_of_tasks[task.id] for task in loaded_study.tasks}, answered, follows


def _read(stored: int | None, is_time: bool) -> Any:  # noqa: FBT001 - of `map`
    """Return the value of a slot's column, with times as datetimes.

    Times come with each pair of a slot and are converted once.
    """
    return time_of(stored) if is_time else stored


def _introduced(connection: Connection, worker: WorkerRow, loaded_study: CachedStudy) -> set[int]:
    """Return the tasks (rows) whose introduction the worker has passed."""
    if all(task.entry.instructions is None for task in loaded_study.tasks):
        return set()
    return set(connection.scalars(_INTRODUCED, {"worker": worker.id}))


def _rated(
    connection: Connection, worker: WorkerRow, loaded_study: CachedStudy, slots: dict[int, list[SlotRow]]
) -> dict[int, list[bool]]:
    """Return the answered sheets of each slot with iUnits to rate."""
    answered: dict[int, list[bool]] = {}
    if any(task.kind.page == "rate" and slots[task.number] for task in loaded_study.tasks):
        for slot_id, is_answered in connection.execute(_RATED, {"worker": worker.id}):
            answered.setdefault(slot_id, []).append(is_answered)
    return answered


def _task_state(
    session: Session,
    task: CachedTask,
    slots: Sequence[SlotRow],
    answered: dict[int, list[bool]],
    follows: dict[int, FollowRow],
    introduced: set[int],
    *,
    wanted: int,
    now: datetime,
) -> TaskState:
    """Return the state of a worker's progress with a task.

    ``wanted`` is 0 where it gives the worker nothing more: a skipped task stays closed to a worker who has gone on.
    """
    is_stream, has_search = task.kind.page == "stream", task.has_search
    states = tuple(
        SlotState(
            id=slot.id,
            topic=slot.topic_id,
            searched=not has_search or slot.search_left_at is not None,
            answered=tuple(answered[slot.id]) if slot.id in follows or not is_stream else (False,),
            followed=slot.id in follows,
        )
        for slot in slots
    )
    may_go_on = len(slots) < wanted and is_settled(states)
    return TaskState(
        page=task.kind.page,
        has_search=has_search,
        choices=len(task.topics) if task.kind.is_chosen else 0,
        wanted=wanted,
        has_room=may_go_on and has_open(session, task, held=slots, now=now),
        introduction=None if task.entry.instructions is None else task.id in introduced,
        opens_study=task.opens_study,
        slots=states,
    )
