"""The database: typed tables, their constraints, and nothing else.

Platform ids stand in `PlatformIdentity` and `PlatformEntry` only; everything else knows a worker by a pseudonym.
Answers are append-only: a changed answer is a new revision. Event rows are stored once per page and number.
"""

import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    Dialect,
    ForeignKey,
    LargeBinary,
    MetaData,
    Text,
    TypeDecorator,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)
HOUR_MS = 3_600_000


class UtcTime(TypeDecorator[datetime]):
    """Aware UTC time, stored as whole milliseconds since 1970.

    Every database then reads the same time.
    """

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:  # noqa: ARG002
        """Return milliseconds; a naive time is a programming error."""
        return None if value is None else (value - EPOCH) // MILLISECOND

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Return an aware UTC time."""
        return time_of(value)


def time_of(milliseconds: int | None) -> datetime | None:
    """Return the time that a column of `UtcTime` has stored."""
    return None if milliseconds is None else EPOCH + milliseconds * MILLISECOND


class Base(DeclarativeBase):
    """Base of every table; constraints are named so that migrations can refer to them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(column_0_N_label)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {datetime: UtcTime, dict[str, Any]: JSON, list[Any]: JSON}  # noqa: RUF012 - SQLAlchemy's


class Setting(Base):
    """A value of the installation, such as the key that signs tokens."""

    __tablename__ = "setting"
    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str]


class LoadedStudy(Base):
    """Loaded study file.

    ``version`` grows with each load of a changed file. While ``paused_at`` is set no new worker is accepted. ``file_name``: of the
    study file in ``folder``; None where an earlier prefcal loaded it.
    """

    __tablename__ = "study"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    sha256: Mapped[str]
    source: Mapped[str] = mapped_column(Text)
    folder: Mapped[str]
    config: Mapped[dict[str, Any]]
    consent_sha256: Mapped[str]
    loaded_at: Mapped[datetime]
    version: Mapped[int]
    paused_at: Mapped[datetime | None]
    file_name: Mapped[str | None]
    tasks: Mapped[list["Task"]] = relationship(back_populates="study", order_by="Task.position")


class Task(Base):
    """Task of a study.

    ``config`` is its validated entry of the study file, ``files`` its collection's files.
    """

    __tablename__ = "task"
    __table_args__ = (UniqueConstraint("study_id", "name"), UniqueConstraint("study_id", "position"))
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"))
    position: Mapped[int]
    name: Mapped[str]
    kind: Mapped[str]
    language: Mapped[str]
    config: Mapped[dict[str, Any]]
    files: Mapped[dict[str, Any]]
    study: Mapped[LoadedStudy] = relationship(back_populates="tasks")
    topics: Mapped[list["Topic"]] = relationship(back_populates="task", order_by="Topic.position")
    systems: Mapped[list["System"]] = relationship(back_populates="task", order_by="System.position")


class TaskTable(Base):
    """Table, such as ``positions``, derived from collection and runs at loading.

    It is stored as Parquet.
    """

    __tablename__ = "task_table"
    __table_args__ = (UniqueConstraint("task_id", "name"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    task_id: Mapped[int] = mapped_column(ForeignKey("task.id"))
    name: Mapped[str]
    content: Mapped[bytes] = mapped_column(LargeBinary)


class Topic(Base):
    """Query, event or interest profile of a task.

    ``detail`` is what a kind of task needs besides.

    Where iUnits are rated {"iunits": {iunit: text}}; of push streams {"description", "days": [YYYYMMDD, ...], "silent": [YYYYMMDD,
    ...]}; of ranked lists {"windows": [window, ...], "asked_at": YYYY-MM-DD where it is known}; of pairs "shows" besides, what of
    `TaskKind.optional` the sides have. While ``closed_at`` is set nobody takes it
    any more; workers who have begun go on. ``added_at``: when it came to a study that people had begun; None where it was there from the
    beginning.
    """

    __tablename__ = "topic"
    __table_args__ = (UniqueConstraint("task_id", "name"), UniqueConstraint("task_id", "position"))
    id: Mapped[int] = mapped_column(primary_key=True)
    task_id: Mapped[int] = mapped_column(ForeignKey("task.id"))
    position: Mapped[int]
    name: Mapped[str]
    text: Mapped[str] = mapped_column(Text)
    detail: Mapped[dict[str, Any] | None]
    closed_at: Mapped[datetime | None]
    added_at: Mapped[datetime | None]
    task: Mapped[Task] = relationship(back_populates="topics")
    intents: Mapped[list["Intent"]] = relationship(order_by="Intent.position")


class Intent(Base):
    """Intent of a query.

    ``probability`` is the collection's P(i|q), or None without one.
    """

    __tablename__ = "intent"
    __table_args__ = (UniqueConstraint("topic_id", "name"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"))
    position: Mapped[int]
    name: Mapped[str]
    text: Mapped[str] = mapped_column(Text)
    probability: Mapped[float | None]


class System(Base):
    """A system of a task; its name never leaves the server towards a worker."""

    __tablename__ = "system"
    __table_args__ = (UniqueConstraint("task_id", "name"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    task_id: Mapped[int] = mapped_column(ForeignKey("task.id"))
    position: Mapped[int]
    name: Mapped[str]
    path: Mapped[str]
    sha256: Mapped[str]
    task: Mapped[Task] = relationship(back_populates="systems")


class StoredSummary(Base):
    """Side of a system for a topic of pairs, ready for display.

    ``content`` is the JSON of a `study_app.protocol.sides.Side`.
    """

    __tablename__ = "summary"
    __table_args__ = (UniqueConstraint("topic_id", "system_id"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"))
    system_id: Mapped[int] = mapped_column(ForeignKey("system.id"))
    content: Mapped[dict[str, Any]]


class StoredMedia(Base):
    """Picture of sides, without metadata.

    ``sha256`` is that of ``bytes``.
    """

    __tablename__ = "media"
    sha256: Mapped[str] = mapped_column(primary_key=True)
    mime: Mapped[str]
    width: Mapped[int | None]
    height: Mapped[int | None]
    bytes: Mapped[bytes]


class Pair(Base):
    """An unordered couple of systems of one query; ``name`` is its id in every table.

    ``shown_a_left`` and ``shown_b_left``: of how many showings that repeat no other either system stands on the left, whatever became of
    them. They are counted as showings are drawn, since to count the showings of a large study takes too long with every worker who begins.
    ``gold`` is the known answer of a pair that nobody's opinion is wanted of: which of a and b is better, or that neither is.
    ``added_at`` is as in `Topic`.
    """

    __tablename__ = "pair"
    __table_args__ = (
        UniqueConstraint("topic_id", "system_a_id", "system_b_id"),
        UniqueConstraint("topic_id", "name"),
        CheckConstraint("system_a_id <> system_b_id", name="two_systems"),
        CheckConstraint("gold IN ('a', 'b', 'equally_good')", name="gold"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"))
    system_a_id: Mapped[int] = mapped_column(ForeignKey("system.id"))
    system_b_id: Mapped[int] = mapped_column(ForeignKey("system.id"))
    name: Mapped[str]
    shown_a_left: Mapped[int] = mapped_column(default=0, server_default="0")
    shown_b_left: Mapped[int] = mapped_column(default=0, server_default="0")
    gold: Mapped[str | None]
    added_at: Mapped[datetime | None]


class Worker(Base):
    """Person in one study, known by a pseudonym.

    ``number`` (from 1, in order of arrival) seeds the random assignment.

    Who does not finish is stopped, as screened_out, failed_checks or partial; ``completion_code`` is then the code for that, if there
    is one. ``times_moved_ms`` is drawn once: an export moves all times of the worker by it. ``returned_at``: when the platform said
    that the worker had given the work back or run out of time; None again from the next answer or arrival. ``at_end_at``: the study was
    extended when only the last button was missing; then nothing more is given to this worker.
    """

    __tablename__ = "worker"
    __table_args__ = (
        UniqueConstraint("study_id", "pseudonym"),
        UniqueConstraint("study_id", "number"),
        CheckConstraint("stopped_as IN ('screened_out', 'failed_checks', 'partial')", name="stopped_as"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"))
    number: Mapped[int]
    pseudonym: Mapped[str]
    withdrawal_code: Mapped[str] = mapped_column(unique=True)
    arrived_at: Mapped[datetime]
    last_seen_at: Mapped[datetime]
    consented_at: Mapped[datetime | None]
    consent_sha256: Mapped[str | None]
    completed_at: Mapped[datetime | None]
    completion_code: Mapped[str | None]
    withdrawn_at: Mapped[datetime | None]
    stopped_at: Mapped[datetime | None]
    stopped_as: Mapped[str | None]
    times_moved_ms: Mapped[int] = mapped_column(
        default=lambda: secrets.randbelow(HOUR_MS), server_default="0"
    )
    returned_at: Mapped[datetime | None]
    at_end_at: Mapped[datetime | None]
    study: Mapped[LoadedStudy] = relationship()


class PlatformIdentity(Base):
    """Identity of a worker on the platform; the only place of that id."""

    __tablename__ = "platform_identity"
    __table_args__ = (UniqueConstraint("study_id", "platform", "platform_worker"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"))
    worker_id: Mapped[int] = mapped_column(ForeignKey("worker.id"), unique=True)
    platform: Mapped[str]
    platform_worker: Mapped[str]


class PlatformEntry(Base):
    """One arrival from the platform with the submission and session ids it gave."""

    __tablename__ = "platform_entry"
    id: Mapped[int] = mapped_column(primary_key=True)
    identity_id: Mapped[int] = mapped_column(ForeignKey("platform_identity.id"), index=True)
    arrived_at: Mapped[datetime]
    parameters: Mapped[dict[str, Any]]


class Assignment(Base):
    """A worker's part in one task."""

    __tablename__ = "assignment"
    __table_args__ = (UniqueConstraint("worker_id", "task_id"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    worker_id: Mapped[int] = mapped_column(ForeignKey("worker.id"))
    task_id: Mapped[int] = mapped_column(ForeignKey("task.id"))
    started_at: Mapped[datetime]
    worker: Mapped[Worker] = relationship()
    task: Mapped[Task] = relationship()
    slots: Mapped[list["Slot"]] = relationship(back_populates="assignment", order_by="Slot.position")


class Slot(Base):
    """Right to do one query's pairs or votes, held until ``expires_at`` unless done.

    A slot counts against the query's limit while it is done or live (``expires_at`` in the future). ``done_at`` is
    set with the last answer it needs; a followed stream needs nothing but its time, so there it is the end of its days,
    known from the beginning. ``late``: the lease had expired and the query was full without it when it
    was taken up again; its answers count as over quota. ``unit`` is what of the topic is held where that is not all of it: a pair
    that is leased by itself, an intent whose iUnits are rated (the row's id); else 0.
    """

    __tablename__ = "slot"
    __table_args__ = (
        UniqueConstraint("assignment_id", "topic_id", "unit"),
        UniqueConstraint("assignment_id", "position"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignment.id"))
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"), index=True)
    unit: Mapped[int] = mapped_column(default=0, server_default="0")
    position: Mapped[int]
    leased_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    late: Mapped[bool] = mapped_column(default=False)
    search_shown_at: Mapped[datetime | None]
    search_left_at: Mapped[datetime | None]
    done_at: Mapped[datetime | None]
    assignment: Mapped[Assignment] = relationship(back_populates="slots")
    topic: Mapped[Topic] = relationship()
    showings: Mapped[list["Showing"]] = relationship(back_populates="slot", order_by="Showing.position")


class Showing(Base):
    """Pair as one worker gets it: sides and position, drawn before display.

    ``name`` is the judgment's id in every table. ``repeats_id`` is set for a validation pair. ``reveals_silence``: whether it says
    which days were silent, None where no such thing exists.
    """

    __tablename__ = "showing"
    __table_args__ = (
        UniqueConstraint("slot_id", "position"),
        CheckConstraint("drawn IN ('uniform', 'adaptive')", name="drawn"),
        CheckConstraint("left_system_id <> right_system_id", name="two_sides"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    slot_id: Mapped[int] = mapped_column(ForeignKey("slot.id"))
    pair_id: Mapped[int] = mapped_column(ForeignKey("pair.id"), index=True)
    position: Mapped[int]
    name: Mapped[str] = mapped_column(unique=True)
    left_system_id: Mapped[int] = mapped_column(ForeignKey("system.id"))
    right_system_id: Mapped[int] = mapped_column(ForeignKey("system.id"))
    repeats_id: Mapped[int | None] = mapped_column(ForeignKey("showing.id"))
    reveals_silence: Mapped[bool | None]
    chance: Mapped[float | None]
    drawn: Mapped[str | None]
    slot: Mapped[Slot] = relationship(back_populates="showings")
    pair: Mapped[Pair] = relationship()
    judgments: Mapped[list["Judgment"]] = relationship(back_populates="showing", order_by="Judgment.revision")


class Judgment(Base):
    """One revision of the answer to a showing.

    ``strength``: how much better the chosen side is, of a task with graded choices. ``criteria`` is {name: [choice, strength]} of the
    criteria that were asked on the same page, and ``reason`` the worker's own words; None where nothing was asked, or said.
    ``study_version``: of the study whose texts the page showed; None where an earlier prefcal stored it.
    """

    __tablename__ = "judgment"
    __table_args__ = (
        UniqueConstraint("showing_id", "revision"),
        CheckConstraint("choice IN ('left', 'right', 'equally_good', 'equally_bad')", name="choice"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    showing_id: Mapped[int] = mapped_column(ForeignKey("showing.id"))
    revision: Mapped[int]
    choice: Mapped[str]
    strength: Mapped[int | None]
    criteria: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    reason: Mapped[str | None] = mapped_column(Text)
    page_key: Mapped[str]
    shown_at: Mapped[datetime]
    decided_at: Mapped[datetime]
    decision_ms: Mapped[int]
    timing: Mapped[str]
    layout: Mapped[str | None]
    late: Mapped[bool]
    study_version: Mapped[int | None]
    showing: Mapped[Showing] = relationship(back_populates="judgments")


class Ballot(Base):
    """Revision of a worker's intent votes for a query.

    ``intents`` lists the names ticked, [] for none.
    """

    __tablename__ = "ballot"
    __table_args__ = (UniqueConstraint("slot_id", "revision"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    slot_id: Mapped[int] = mapped_column(ForeignKey("slot.id"))
    revision: Mapped[int]
    intents: Mapped[list[Any]]
    page_key: Mapped[str]
    decided_at: Mapped[datetime]


class PageLoad(Base):
    """One page load that sent events; written with its first batch.

    ``upto`` is the number up to which every event is stored; missing numbers above it are gaps. ``study_version`` is as in `Judgment`.
    """

    __tablename__ = "page_load"
    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(unique=True)
    worker_id: Mapped[int] = mapped_column(ForeignKey("worker.id"), index=True)
    step: Mapped[str]
    showing_id: Mapped[int | None] = mapped_column(ForeignKey("showing.id"), index=True)
    served_at: Mapped[datetime]
    first_received_at: Mapped[datetime]
    upto: Mapped[int] = mapped_column(default=0)
    study_version: Mapped[int | None]


class StoredEvent(Base):
    """Event of a page, stored once per page and number.

    ``page_ms`` is the page's monotonic clock (since the load), ``wall_ms`` its wall clock (since 1970).
    """

    __tablename__ = "event"
    __table_args__ = (UniqueConstraint("page_load_id", "number"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    page_load_id: Mapped[int] = mapped_column(ForeignKey("page_load.id"))
    number: Mapped[int]
    kind: Mapped[str]
    page_ms: Mapped[int] = mapped_column(BigInteger)
    wall_ms: Mapped[int] = mapped_column(BigInteger)
    received_at: Mapped[datetime]
    detail: Mapped[dict[str, Any]]
