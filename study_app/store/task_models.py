"""Tables of tasks, consent texts and platforms.

The rules of `study_app.store.models` hold here too.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from study_app.store.models import Base, Intent, Slot


class ConsentText(Base):
    """Consent text of some version of a study, kept as proof of the agreement."""

    __tablename__ = "consent_text"
    __table_args__ = (UniqueConstraint("study_id", "sha256"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"))
    sha256: Mapped[str]
    text: Mapped[str] = mapped_column(Text)
    loaded_at: Mapped[datetime]


class StudyLoad(Base):
    """Load of a changed study file while the study ran.

    ``changes`` lists [verdict, line] of each change.
    """

    __tablename__ = "study_load"
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"), index=True)
    version: Mapped[int]
    sha256: Mapped[str]
    at: Mapped[datetime]
    changes: Mapped[list[Any]]


class PastText(Base):
    """Text that was shown until it was mended.

    ``content``: the JSON of a `Side` of a system; of the topic itself (``system_id`` None) {"text", "detail", "intents": {intent: text}}.
    ``upto_version``: the last version of the study that showed it. ``sha256`` and ``new_sha256``: of what was seen before and after.
    """

    __tablename__ = "past_text"
    __table_args__ = (UniqueConstraint("topic_id", "system_id", "upto_version"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"))
    system_id: Mapped[int | None] = mapped_column(ForeignKey("system.id"))
    upto_version: Mapped[int]
    mended_at: Mapped[datetime]
    sha256: Mapped[str]
    new_sha256: Mapped[str]
    content: Mapped[dict[str, Any]]


class Introduction(Base):
    """Form of the page before a task.

    ``answers`` are the options picked in its check, from 1, [] without a check.

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
    """Page of iUnits to rate for an intent, drawn before display.

    ``iunits`` lists their ids in order.
    """

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
    """Revision of the ratings of a sheet.

    ``ratings`` is {iunit: 0 to 4}, with every iUnit of the sheet.
    """

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
    """Revision of the answers to a task's questions.

    ``answers`` is {question: text, number or list of options}.

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
    """Code that was displayed to a worker for the first time.

    ``entry_id`` is the arrival of a code per visit.
    """

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
    """Platform's record of one submission of a worker: id, and state in its words.

    ``finding``: what was advised when the list was read; None where an earlier prefcal read it. ``marked_paid_at``: when the
    researcher said that it was paid, whatever the list says. ``prolific_study_id``: where the list was read from Prolific's API, which
    of the studies there it belongs to.
    """

    __tablename__ = "platform_record"
    __table_args__ = (UniqueConstraint("identity_id", "submission"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    identity_id: Mapped[int] = mapped_column(ForeignKey("platform_identity.id"), index=True)
    submission: Mapped[str]
    status: Mapped[str]
    confirmed: Mapped[bool]
    paid: Mapped[bool]
    read_at: Mapped[datetime]
    finding: Mapped[str | None]
    marked_paid_at: Mapped[datetime | None]
    prolific_study_id: Mapped[int | None] = mapped_column(ForeignKey("prolific_study.id"))


class StoredStream(Base):
    """A system's stream of one event, ready for display.

    ``content`` is the JSON of a `study_app.protocol.streams.UpdateStream`. An update's *place* is its number
    there, from 1.
    """

    __tablename__ = "stream"
    __table_args__ = (UniqueConstraint("topic_id", "system_id"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"))
    system_id: Mapped[int] = mapped_column(ForeignKey("system.id"))
    content: Mapped[dict[str, Any]]


class Follow(Base):
    """Follow of one system's stream of one event by a worker.

    It lasts from enrolment to the end of the stream days.

    ``started_at``: this worker's own enrolment, at which the stream begins for them. ``ends_at``: wall time at which
    its days are over.
    """

    __tablename__ = "follow"
    id: Mapped[int] = mapped_column(primary_key=True)
    slot_id: Mapped[int] = mapped_column(ForeignKey("slot.id"), unique=True)
    system_id: Mapped[int] = mapped_column(ForeignKey("system.id"), index=True)
    started_at: Mapped[datetime]
    ends_at: Mapped[datetime]
    slot: Mapped[Slot] = relationship()
    views: Mapped[list["StreamView"]] = relationship(back_populates="follow", order_by="StreamView.id")


class StreamView(Base):
    """One page of a stream as it was served; ``key`` is the page load's.

    ``visit`` (from 1): the stay it belongs to. ``after``: place of the newest update read before this visit, 0 for
    none. ``upto``: place of the newest update there was. ``first``, ``last``: places shown, ``first`` the older one;
    both 0 when nothing was new. ``read``: places that the page's form named as read. ``left_at``: when that
    form was sent last.
    """

    __tablename__ = "stream_view"
    __table_args__ = (
        CheckConstraint("entry IN ('own', 'reminder', 'invitation')", name="entry"),
        CheckConstraint("after <= upto", name="places"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    follow_id: Mapped[int] = mapped_column(ForeignKey("follow.id"), index=True)
    key: Mapped[str] = mapped_column(unique=True)
    visit: Mapped[int]
    served_at: Mapped[datetime]
    entry: Mapped[str]
    after: Mapped[int]
    upto: Mapped[int]
    first: Mapped[int]
    last: Mapped[int]
    read: Mapped[list[Any]]
    left_at: Mapped[datetime | None]
    follow: Mapped[Follow] = relationship(back_populates="views")


class UsefulQuestion(Base):
    """Question whether an update was still of use, drawn before display."""

    __tablename__ = "useful_question"
    __table_args__ = (UniqueConstraint("follow_id", "nugget"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    follow_id: Mapped[int] = mapped_column(ForeignKey("follow.id"), index=True)
    visit: Mapped[int]
    place: Mapped[int]
    nugget: Mapped[str]
    visits_late: Mapped[int]
    asked_at: Mapped[datetime]
    answers: Mapped[list["UsefulAnswer"]] = relationship(
        back_populates="question", order_by="UsefulAnswer.revision"
    )


class UsefulAnswer(Base):
    """One revision of the answer to a question about an update."""

    __tablename__ = "useful_answer"
    __table_args__ = (UniqueConstraint("question_id", "revision"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    question_id: Mapped[int] = mapped_column(ForeignKey("useful_question.id"))
    revision: Mapped[int]
    useful: Mapped[bool]
    page_key: Mapped[str]
    answered_at: Mapped[datetime]
    question: Mapped[UsefulQuestion] = relationship(back_populates="answers")


class Prompt(Base):
    """A reminder that the researcher was given to send to the follower of a stream."""

    __tablename__ = "prompt"
    id: Mapped[int] = mapped_column(primary_key=True)
    follow_id: Mapped[int] = mapped_column(ForeignKey("follow.id"), index=True)
    sent_at: Mapped[datetime]
