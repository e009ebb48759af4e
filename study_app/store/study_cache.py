"""Cached values of every page: a loaded study, rows of workers, their updates.

A study is read from the database once and kept until it is loaded again. The database's own objects (`study_app.store.models`) cost ten
times as much to read and to write: too much for what happens with every page.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cache, cached_property
from threading import Lock
from typing import Any, TypeVar, cast

from sqlalchemy import Insert, Update, bindparam, select, update
from sqlalchemy.orm import Session, selectinload
from sqlalchemy.orm.attributes import InstrumentedAttribute

from study_app.protocol.sides import Side
from study_app.protocol.streams import UpdateStream
from study_app.store.models import EPOCH, LoadedStudy, Pair, Slot, StoredSummary, Task, Topic, Worker
from study_app.store.task_models import ConsentText, StoredStream
from study_app.study.entries import (
    FollowedTask,
    StudyEntry,
    TaskEntry,
    TaskWithSearch,
    expect_entry_type,
    read_study_entry,
)
from study_app.tasks.kinds import KINDS, CheckItem, check_of, kind_of
from study_app.tasks.task_kind import TaskKind

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedTopic:
    """Query with ``intents`` (name, text), event, or profile with ``text`` as title.

    ``detail`` is what the pages need besides, as `models.Topic` describes it. ``units``: what of the topic is leased one by
    one, rows of pairs or intents; () where the topic is leased as a whole. ``is_closed``: nobody takes it any more. ``added_at`` is as in `models.Topic`.
    """

    id: int
    name: str
    text: str
    intents: tuple[tuple[str, str], ...]
    detail: dict[str, Any]
    units: tuple[int, ...] = ()
    is_closed: bool = False
    added_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class CachedTask:
    """Task with ``entry`` of the study file, and ``systems`` by row in order.

    ``pairs`` is the two systems of each pair leased by itself (rows), or empty; ``gold`` the topic of each gold pair (rows).
    ``later_pairs``: when those of the pairs came that were added to a running study.
    """

    id: int
    number: int
    entry: TaskEntry
    topics: tuple[CachedTopic, ...]
    systems: dict[int, str]
    pairs: Mapping[int, tuple[int, int]]
    gold: Mapping[int, int] = field(default_factory=dict)
    later_pairs: Mapping[int, datetime] = field(default_factory=dict)

    @cached_property
    def kind(self) -> TaskKind:
        """Definition of the task's kind."""
        return kind_of(self.entry)

    @cached_property
    def limit(self) -> int | None:
        """Number of slots of a query, an event or a unit; None for no limit.

        The limit of an event covers all its streams.
        """
        return self.kind.limit(self.entry)

    @cached_property
    def wanted(self) -> int:
        """Number of queries, events or units that a worker is asked to do."""
        units = sum(len(topic.units) for topic in self.topics) if self.kind.has_units else len(self.topics)
        return min(self.kind.wanted(self.entry), units)

    def wanted_of(self, consented_at: datetime | None) -> int:
        """Return that number for a worker by the time of the consent.

        What was added to the study after it asks nothing more of the worker.
        """
        if consented_at is None or not self._growth or consented_at >= self._growth[-1][0]:
            return self.wanted
        units = sum(number for at, number in self._growth if at <= consented_at)
        return min(self.kind.wanted(self.entry), units)

    @cached_property
    def _growth(self) -> tuple[tuple[datetime, int], ...]:
        """Numbers of topics or units by the time at which they came, () where all were there from the beginning."""
        added: Counter[datetime] = Counter()
        for topic in self.topics:
            for unit in topic.units if self.kind.has_units else (0,):
                added[self.later_pairs.get(unit) or topic.added_at or EPOCH] += 1
        return tuple(sorted(added.items())) if set(added) - {EPOCH} else ()

    @cached_property
    def opens_study(self) -> bool:
        """True if free places in this task open the study to new workers."""
        return self.kind.unit != "all"

    @property
    def following(self) -> FollowedTask:
        """Entry of the study file of a task with streams.

        It raises TypeError for another task.
        """
        return expect_entry_type(self.entry, FollowedTask)

    @cached_property
    def has_search(self) -> bool:
        """True if a search page comes before the answers."""
        return isinstance(self.entry, TaskWithSearch) and self.entry.search_seconds > 0

    @cached_property
    def shows(self) -> frozenset[str]:
        """Features of `TaskKind.optional` that the pages of the task have."""
        return self.shows_of(*self.topics)

    def shows_of(self, *topics: CachedTopic) -> frozenset[str]:
        """Return the features of `TaskKind.optional` that pages of some topics have.

        It returns all where the topics do not say.
        """
        sides = topics if self.kind.side is not None else ()
        of_topics = (topic.detail.get("shows", self.kind.optional) for topic in sides)
        return frozenset(self.kind.says(self.entry)).union(*of_topics)

    @cached_property
    def check(self) -> tuple[CheckItem, ...]:
        """The check before the task, () for none."""
        return check_of(self.entry, self.shows)

    def topic(self, topic: int) -> CachedTopic:
        """Return the query in row ``topic``."""
        return next(each for each in self.topics if each.id == topic)


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedStudy:
    """A study: what its file says, and its tasks with what they are made of.

    ``consent`` is the text that workers agree to; ``consent_sha256`` is its hash.
    """

    id: int
    name: str
    entry: StudyEntry
    consent: str
    consent_sha256: str
    version: int
    tasks: tuple[CachedTask, ...]

    @property
    def shares_pseudonyms(self) -> bool:
        """True if pseudonyms come from a key that other studies have too; False in a rehearsal."""
        return isinstance(self.entry.pseudonyms, tuple)

    @property
    def language(self) -> str:
        """Language of the pages that belong to no task: that of the first."""
        return self.tasks[0].entry.language

    def task(self, task: int) -> CachedTask:
        """Return the task in row ``task``."""
        return next(each for each in self.tasks if each.id == task)


class StudyCache:
    """The plans of one server; read again when a study was loaded anew."""

    def __init__(self) -> None:
        self._plans: dict[int, CachedStudy] = {}
        self._sides: dict[int, dict[tuple[int, int, int, bool], Any]] = {}
        self._streams: dict[int, dict[tuple[int, int], UpdateStream]] = {}
        self._lock = Lock()

    def of(self, session: Session, study: int, version: int) -> CachedStudy:
        """Return the plan of a study in a version."""
        plan = self._plans.get(study)
        if plan is None or plan.version != version:
            plan = read_plan(session, study)
            with self._lock:
                self._sides[study], self._streams[study] = {}, {}
                self._plans[study] = plan
        return plan

    def side(
        self,
        session: Session,
        plan: CachedStudy,
        topic: CachedTopic,
        system: int,
        make: Callable[[Side, CachedTopic, bool], Made],
        *,
        reveals_silence: bool,
    ) -> Made:
        """Return the value that ``make`` builds of a system's side, built once.

        ``make`` gets the side, its query, and whether silent days are revealed.
        """
        sides, key = self._sides[plan.id], (plan.version, topic.id, system, reveals_silence)
        if key not in sides:
            query = select(StoredSummary.content).where(
                StoredSummary.topic_id == topic.id, StoredSummary.system_id == system
            )
            sides[key] = make(Side.of(session.scalars(query).one()), topic, reveals_silence)
        return cast("Made", sides[key])

    def stream(self, session: Session, plan: CachedStudy, topic: int, system: int) -> UpdateStream:
        """Return a system's updates about an event."""
        streams = self._streams[plan.id]
        if (topic, system) not in streams:
            query = select(StoredStream.content).where(
                StoredStream.topic_id == topic, StoredStream.system_id == system
            )
            streams[topic, system] = UpdateStream.of(session.scalars(query).one())
        return streams[topic, system]


def read_plan(session: Session, study_id: int) -> CachedStudy:
    """Read a study from the database."""
    deep = selectinload(LoadedStudy.tasks)
    loaded = session.scalars(
        select(LoadedStudy)
        .where(LoadedStudy.id == study_id)
        .options(deep.selectinload(Task.systems), deep.selectinload(Task.topics).selectinload(Topic.intents))
    ).one()
    entry = read_study_entry(loaded.config, KINDS)
    consent = select(ConsentText.text).where(
        ConsentText.study_id == study_id, ConsentText.sha256 == loaded.consent_sha256
    )
    return CachedStudy(
        id=loaded.id,
        name=loaded.name,
        entry=entry,
        consent=session.scalars(consent).one(),
        consent_sha256=loaded.consent_sha256,
        version=loaded.version,
        tasks=tuple(
            _task_plan(session, task, number, entry.tasks[number - 1])
            for number, task in enumerate(loaded.tasks, start=1)
        ),
    )


def _pairs(session: Session, task: Task, entry: TaskEntry) -> Sequence[Pair]:
    """Return the pairs that are leased one by one."""
    if kind_of(entry).unit != "pair":
        return ()
    of_task = select(Pair).join(Topic).where(Topic.task_id == task.id, Pair.gold.is_(None))
    return session.scalars(of_task.order_by(Pair.id)).all()


def _units(task: Task, entry: TaskEntry, pairs: Sequence[Pair]) -> Mapping[int, Sequence[int]]:
    """Return the units of each topic that are leased one by one.

    A query without iUnits has no units.
    """
    units: dict[int, list[int]] = {topic.id: [] for topic in task.topics}
    if kind_of(entry).unit == "intent":
        rated = [topic for topic in task.topics if (topic.detail or {}).get("iunits")]
        return units | {topic.id: [intent.id for intent in topic.intents] for topic in rated}
    for pair in pairs:
        units[pair.topic_id].append(pair.id)
    return units


def _task_plan(session: Session, task: Task, number: int, entry: TaskEntry) -> CachedTask:
    pairs = _pairs(session, task, entry)
    units = _units(task, entry, pairs)
    gold = select(Pair.id, Pair.topic_id).join(Topic).where(Topic.task_id == task.id, Pair.gold.is_not(None))
    return CachedTask(
        id=task.id,
        number=number,
        entry=entry,
        systems={system.id: system.name for system in task.systems},
        topics=tuple(
            CachedTopic(
                id=topic.id,
                name=topic.name,
                text=topic.text,
                intents=tuple((intent.name, intent.text) for intent in topic.intents),
                detail=topic.detail or {},
                units=tuple(units[topic.id]),
                is_closed=topic.closed_at is not None,
                added_at=topic.added_at,
            )
            for topic in task.topics
        ),
        pairs={pair.id: (pair.system_a_id, pair.system_b_id) for pair in pairs},
        gold={pair: topic for pair, topic in session.execute(gold)},  # noqa: C416 - rows are not tuples to mypy
        later_pairs={pair.id: pair.added_at for pair in pairs if pair.added_at is not None},
    )


@dataclass(slots=True)
class WorkerRow:
    """A person in one study: what `models.Worker` says of them."""

    id: int
    study_id: int
    number: int
    pseudonym: str
    withdrawal_code: str
    last_seen_at: datetime
    consented_at: datetime | None
    consent_sha256: str | None
    completed_at: datetime | None
    completion_code: str | None
    withdrawn_at: datetime | None
    stopped_at: datetime | None
    stopped_as: str | None
    returned_at: datetime | None
    at_end_at: datetime | None


@dataclass(slots=True)
class SlotRow:
    """Slot of a worker: a query, a unit of it, or a stream, as in `models.Slot`."""

    id: int
    assignment_id: int
    topic_id: int
    unit: int
    position: int
    expires_at: datetime
    late: bool
    search_shown_at: datetime | None
    search_left_at: datetime | None
    done_at: datetime | None


@dataclass(slots=True)
class FollowRow:
    """A stream that a worker follows: what `task_models.Follow` says of it."""

    id: int
    slot_id: int
    system_id: int
    started_at: datetime
    ends_at: datetime


@dataclass(slots=True)
class StreamViewRow:
    """A page of a stream as it was served: what `task_models.StreamView` says of it."""

    id: int
    follow_id: int
    key: str
    visit: int
    served_at: datetime
    entry: str
    after: int
    upto: int
    first: int
    last: int
    read: list[int]
    left_at: datetime | None


def columns(model: type[Any], row: type[Any]) -> list[InstrumentedAttribute[Any]]:
    """Return the columns of ``model`` for a row class, in order of its fields."""
    return [getattr(model, field.name) for field in fields(row)]


def insert_row(session: Session, statement: Insert, values: Mapping[str, object]) -> int:
    """Store a row; return its number."""
    key: Any = session.connection().execute(statement, values).inserted_primary_key
    return int(key[0])


def update_rows(session: Session, *rows: WorkerRow | SlotRow, **values: object) -> None:
    """Store new values in one row or several of one kind, and in ``rows``."""
    statement = _changing(Worker if isinstance(rows[0], WorkerRow) else Slot, tuple(values))
    new = {f"new_{name}": value for name, value in values.items()}
    session.connection().execute(statement, [{"row": row.id, **new} for row in rows])
    for row in rows:
        for name, value in values.items():
            setattr(row, name, value)


@cache
def _changing(model: type[Worker | Slot], names: tuple[str, ...]) -> Update:
    """Return the statement that updates columns of one row.

    It is cached for each combination of columns that `update_rows` gets.
    """
    changed = update(model).where(model.id == bindparam("row"))
    return changed.values({name: bindparam(f"new_{name}") for name in names})
