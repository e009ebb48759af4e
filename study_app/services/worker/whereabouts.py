"""Where a worker stands in a study: what is stored of them, what they hold, what they may open next, and how much room is left."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    exists,
    func,
    not_,
    or_,
    select,
)
from sqlalchemy.orm import Session

from study_app.protocol.domain import PairTally, has_room
from study_app.protocol.steps import SlotState, Step, TaskState, WorkerState
from study_app.store.models import Assignment, Ballot, Judgment, LoadedStudy, Pair, Showing, Slot, Worker
from study_app.store.plan import Plans, SlotRow, StudyPlan, TaskPlan, WorkerRow, columns
from study_app.store.task_models import Follow, Introduction, Rating, Reply, Sheet
from study_app.tasks.task_kind import Page

# Written once: these run with every page and every answer.
_OF_WORKER = Assignment.worker_id == bindparam("worker")
_WORKER = (
    select(LoadedStudy.version, *columns(Worker, WorkerRow))
    .join(LoadedStudy)
    .where(Worker.id == bindparam("worker"))
)
_LOCKED_WORKER = _WORKER.with_for_update(of=Worker, key_share=True)
_SLOTS = (
    select(Assignment.task_id, *columns(Slot, SlotRow))
    .join(Slot.assignment)
    .where(_OF_WORKER)
    .order_by(Slot.position)
)
_SHOWN = (
    select(Showing.slot_id, exists().where(Judgment.showing_id == Showing.id))
    .join(Showing.slot)
    .join(Slot.assignment)
    .where(_OF_WORKER)
    .order_by(Showing.slot_id, Showing.position)
)
_VOTED = (
    select(Ballot.slot_id)
    .join(Slot, Slot.id == Ballot.slot_id)
    .join(Slot.assignment)
    .where(_OF_WORKER)
    .distinct()
)
_RATED = (
    select(Sheet.slot_id, exists().where(Rating.sheet_id == Sheet.id))
    .join(Sheet.slot)
    .join(Slot.assignment)
    .where(_OF_WORKER)
    .order_by(Sheet.slot_id, Sheet.position)
)
_REPLIED = (
    select(Reply.slot_id)
    .join(Slot, Slot.id == Reply.slot_id)
    .join(Slot.assignment)
    .where(_OF_WORKER)
    .distinct()
)
_INTRODUCED = select(Introduction.task_id).where(
    Introduction.worker_id == bindparam("worker"), Introduction.passed
)
_FOLLOWS = select(Follow).join(Follow.slot).join(Slot.assignment).where(_OF_WORKER)
_NUMBERED_PAGES: Mapping[Page, Select[int, bool]] = {"pair": _SHOWN, "rate": _RATED}
_SINGLE_PAGES: Mapping[Page, Select[int]] = {"vote": _VOTED, "questions": _REPLIED}
"""Kind of answer pages -> which of them have an answer, of a slot with several of them and of one with one."""


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

_JUDGED = (
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
    numbers = {topic: number for topic, number in session.execute(query)}  # noqa: C416 - rows are not tuples to mypy
    return {topic: numbers.get(topic, 0) for topic in topics}


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
    numbers = {unit: number for unit, number in session.execute(query)}  # noqa: C416 - rows are not tuples to mypy
    return {unit: numbers.get(unit, 0) for topic in task.topics for unit in topic.units}


def open_units(
    session: Session, task: TaskPlan, *, besides: Collection[int], now: datetime
) -> dict[int, int]:
    """Return the units that can take one more, without those in ``besides``, with how many slots count."""
    taken_so_far = taken_units(session, task, now=now)
    shut = {unit for topic in task.topics if topic.is_closed for unit in topic.units}.union(besides)
    return {
        unit: number
        for unit, number in taken_so_far.items()
        if unit not in shut and has_room(number, task.limit)
    }


def has_open(session: Session, task: TaskPlan, *, held: Sequence[SlotRow], now: datetime) -> bool:
    """Say whether something of a task that is not in ``held`` can take one more."""
    if task.kind.has_units:
        return bool(open_units(session, task, besides={slot.unit for slot in held}, now=now))
    return bool(open_topics(session, task, besides={slot.topic_id for slot in held}, now=now))


def open_topics(session: Session, task: TaskPlan, *, besides: Collection[int], now: datetime) -> set[int]:
    """Return the queries of a task that can take one more, without those in ``besides``."""
    topics = {topic.id for topic in task.topics if not topic.is_closed} - set(besides)
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
        _JUDGED, {"topic": topic}
    ):  # later: what is new counts here only
        times[pair, left] += number
    return [
        PairTally(pair=pair, system_a=a, system_b=b, a_left=times[pair, a], b_left=times[pair, b])
        for pair, a, b in connection.execute(_PAIRS, {"topic": topic})
    ]


class UnknownWorkerError(LookupError):
    """A token signed for a worker who is not in this database."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Whereabouts:
    """A worker, the study, what the worker holds in each task (by task number, from 1), and how far that is.

    ``follows``: slot -> the stream that is followed in it.
    """

    worker: WorkerRow
    plan: StudyPlan
    slots: dict[int, list[SlotRow]]
    follows: dict[int, Follow]
    state: WorkerState

    def task(self, step: Step) -> TaskPlan:
        """Return the task of a step."""
        return self.plan.tasks[step.task - 1]

    def slot(self, step: Step) -> SlotRow:
        """Return the slot of a step."""
        return self.slots[step.task][step.query - 1]

    def follow(self, step: Step) -> Follow:
        """Return the stream that is followed at a step."""
        return self.follows[self.slot(step).id]


def locate(
    session: Session, plans: Plans, worker_id: int, *, now: datetime, lock: bool = False
) -> Whereabouts:
    """Find out where a worker is.

    Parameters
    ----------
    session : Session
        Reading or writing.
    plans : Plans
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
        If there is no such worker.
    """
    session.flush()
    connection = session.connection()
    row = connection.execute(_LOCKED_WORKER if lock else _WORKER, {"worker": worker_id}).one_or_none()
    if row is None:
        raise UnknownWorkerError(worker_id)
    worker = WorkerRow(*row[1:])
    plan = plans.of(session, worker.study_id, row.version)
    slots = _slots(connection, worker, plan)
    follows = _follows(session, worker, plan, slots)
    answered = _answered(connection, worker, plan, slots)
    answered |= {slot: [follow.ends_at <= now] for slot, follow in follows.items()}
    introduced = _introduced(connection, worker, plan)
    tasks = tuple(
        _task_state(
            session,
            task,
            slots[task.number],
            answered,
            follows,
            introduced,
            is_passed=any(slots[later.number] for later in plan.tasks[task.number :]),
            now=now,
        )
        for task in plan.tasks
    )
    state = WorkerState(
        consented=worker.consented_at is not None,
        completed=worker.completed_at is not None,
        withdrawn=worker.withdrawn_at is not None,
        stopped=worker.stopped_at is not None,
        tasks=tasks,
    )
    return Whereabouts(worker=worker, plan=plan, slots=slots, follows=follows, state=state)


def _slots(connection: Connection, worker: WorkerRow, plan: StudyPlan) -> dict[int, list[SlotRow]]:
    slots: dict[int, list[SlotRow]] = {task.number: [] for task in plan.tasks}
    for task, *values in connection.execute(_SLOTS, {"worker": worker.id}):
        slots[plan.task(task).number].append(SlotRow(*values))
    return slots


def _follows(
    session: Session, worker: WorkerRow, plan: StudyPlan, slots: dict[int, list[SlotRow]]
) -> dict[int, Follow]:
    if not any(task.kind.page == "stream" and slots[task.number] for task in plan.tasks):
        return {}
    return {follow.slot_id: follow for follow in session.scalars(_FOLLOWS, {"worker": worker.id})}


def _introduced(connection: Connection, worker: WorkerRow, plan: StudyPlan) -> set[int]:
    """Return the tasks (rows) whose introduction the worker has passed."""
    if all(task.entry.instructions is None for task in plan.tasks):
        return set()
    return set(connection.scalars(_INTRODUCED, {"worker": worker.id}))


def _answered(
    connection: Connection, worker: WorkerRow, plan: StudyPlan, slots: dict[int, list[SlotRow]]
) -> dict[int, list[bool]]:
    """Return, for each slot, which of its pages have an answer."""
    answered: dict[int, list[bool]] = {slot.id: [] for held in slots.values() for slot in held}
    held = {task.kind.page for task in plan.tasks if slots[task.number]}
    for page, numbered in _NUMBERED_PAGES.items():
        if page in held:
            for slot_id, is_answered in connection.execute(numbered, {"worker": worker.id}):
                answered[slot_id].append(is_answered)
    for page, single in _SINGLE_PAGES.items():
        if page in held:
            done = set(connection.scalars(single, {"worker": worker.id}))
            of_page = [task.number for task in plan.tasks if task.kind.page == page]
            answered |= {slot.id: [slot.id in done] for number in of_page for slot in slots[number]}
    return answered


def _task_state(
    session: Session,
    task: TaskPlan,
    slots: Sequence[SlotRow],
    answered: dict[int, list[bool]],
    follows: dict[int, Follow],
    introduced: set[int],
    *,
    is_passed: bool,
    now: datetime,
) -> TaskState:
    """Say how far a worker is with a task; one that was passed over has no room for them again once they have gone on."""
    is_stream = task.kind.page == "stream"
    return TaskState(
        page=task.kind.page,
        has_search=task.has_search,
        choices=len(task.topics) if task.kind.is_chosen else 0,
        wanted=task.wanted,
        has_room=not is_passed and len(slots) < task.wanted and has_open(session, task, held=slots, now=now),
        introduction=None if task.entry.instructions is None else task.id in introduced,
        opens_study=task.opens_study,
        slots=tuple(
            SlotState(
                id=slot.id,
                topic=slot.topic_id,
                searched=not task.has_search or slot.search_left_at is not None,
                answered=tuple(answered[slot.id]) if slot.id in follows or not is_stream else (False,),
                followed=slot.id in follows,
            )
            for slot in slots
        ),
    )
