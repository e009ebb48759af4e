"""The database's tables of introductions, ratings, questions, consent texts, and what platforms were told.

Beside `study_app.store.models`, whose rules hold here too.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from study_app.store.models import Base, Intent, Slot


class ConsentText(Base):
    """A consent text that some version of a study had, so that it can be shown what somebody agreed to."""

    __tablename__ = "consent_text"
    __table_args__ = (UniqueConstraint("study_id", "sha256"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"))
    sha256: Mapped[str]
    text: Mapped[str] = mapped_column(Text)
    loaded_at: Mapped[datetime]


class Introduction(Base):
    """One form of the page before a task: ``answers`` are the options picked in its check, from 1, [] without a check.

    ``number``: which try, from 1. ``passed``: everything was right, and the task may begin.
    """

    __tablename__ = "introduction"
    __table_args__ = (UniqueConstraint("worker_id", "task_id", "number"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    worker_id: Mapped[int] = mapped_column(ForeignKey("worker.id"))
    task_id: Mapped[int] = mapped_column(ForeignKey("task.id"))
    number: Mapped[int]
    answers: Mapped[list[Any]]
    passed: Mapped[bool]
    page_key: Mapped[str]
    decided_at: Mapped[datetime]


class Sheet(Base):
    """A page of iUnits to rate for an intent, drawn and stored before it is shown; ``iunits`` lists their ids in order."""

    __tablename__ = "sheet"
    __table_args__ = (UniqueConstraint("slot_id", "position"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    slot_id: Mapped[int] = mapped_column(ForeignKey("slot.id"))
    position: Mapped[int]
    intent_id: Mapped[int] = mapped_column(ForeignKey("intent.id"))
    iunits: Mapped[list[Any]]
    slot: Mapped[Slot] = relationship()
    intent: Mapped[Intent] = relationship()
    ratings: Mapped[list["Rating"]] = relationship(back_populates="sheet", order_by="Rating.revision")


class Rating(Base):
    """One revision of the answer to a sheet: ``ratings`` is {iunit: 0 to 4}, with every iUnit of the sheet."""

    __tablename__ = "rating"
    __table_args__ = (UniqueConstraint("sheet_id", "revision"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    sheet_id: Mapped[int] = mapped_column(ForeignKey("sheet.id"))
    revision: Mapped[int]
    ratings: Mapped[dict[str, Any]]
    page_key: Mapped[str]
    decided_at: Mapped[datetime]
    sheet: Mapped[Sheet] = relationship(back_populates="ratings")


class Reply(Base):
    """One revision of the answers to a task's questions: ``answers`` is {question: text, number or list of options}.

    A question that was left out is not in it.
    """

    __tablename__ = "reply"
    __table_args__ = (UniqueConstraint("slot_id", "revision"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    slot_id: Mapped[int] = mapped_column(ForeignKey("slot.id"))
    revision: Mapped[int]
    answers: Mapped[dict[str, Any]]
    page_key: Mapped[str]
    decided_at: Mapped[datetime]


class CodeShown(Base):
    """A code that a worker was shown for the first time; ``entry_id``: the arrival it is for, for a code per visit."""

    __tablename__ = "code_shown"
    __table_args__ = (
        UniqueConstraint("worker_id", "kind", "entry_id"),
        CheckConstraint(
            "kind IN ('complete', 'screened_out', 'failed_checks', 'partial', 'visit')", name="kind"
        ),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    worker_id: Mapped[int] = mapped_column(ForeignKey("worker.id"), index=True)
    kind: Mapped[str]
    code: Mapped[str]
    shown_at: Mapped[datetime]
    entry_id: Mapped[int | None] = mapped_column(ForeignKey("platform_entry.id"))


class PlatformRecord(Base):
    """What the platform's own list says of one submission of a worker: its id and its state in the platform's words."""

    __tablename__ = "platform_record"
    __table_args__ = (UniqueConstraint("identity_id", "submission"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    identity_id: Mapped[int] = mapped_column(ForeignKey("platform_identity.id"), index=True)
    submission: Mapped[str]
    status: Mapped[str]
    confirmed: Mapped[bool]
    paid: Mapped[bool]
    read_at: Mapped[datetime]
