"""Tables of what passes between this server and a platform's API.

Beside `study_app.store.models`, whose rules hold here too.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from study_app.store.models import Base


class ProlificStudy(Base):
    """Study on Prolific that sends workers to a loaded study.

    ``label``: its internal name there, by which a draft is found again whose answer was lost; empty for one that was added by its
    id. ``remote``: its id there, None as long as no answer named it.
    """

    __tablename__ = "prolific_study"
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"), index=True)
    label: Mapped[str]
    remote: Mapped[str | None] = mapped_column(unique=True)
    made_at: Mapped[datetime]


class PlatformCall(Base):
    """Call of a platform's API, stored before it is made and again after its answer.

    ``path`` has no id of a person. ``ended_at`` is None while no answer came; ``status`` is None where none ever came.
    """

    __tablename__ = "platform_call"
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"), index=True)
    method: Mapped[str]
    path: Mapped[str]
    began_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    status: Mapped[int | None]
    outcome: Mapped[str] = mapped_column(Text)


class PlatformOrder(Base):
    """Order to the platform to approve a submission, pay a bonus, or send a message, for one worker.

    ``state``: ``intended`` (nothing was sent), ``unknown`` (a call was made, and no answer says what it did), ``sent`` (the platform
    took it), ``confirmed`` (the platform shows it, or a person said so). It becomes unknown before the call and sent after its answer.

    ``purpose`` makes it one of its kind for a worker: the submission to approve, the words for which a bonus or message is. ``cents``:
    the amount in hundredths of ``currency``. ``batch``: the platform's name of the payment that it is in,
    else the row of the call. ``seen_before``: bonuses
    that the submission had before, in cents. ``note``: why it was not taken.
    """

    __tablename__ = "platform_order"
    __table_args__ = (
        UniqueConstraint("worker_id", "kind", "purpose"),
        CheckConstraint("kind IN ('approval', 'bonus', 'message')", name="kind"),
        CheckConstraint("state IN ('intended', 'unknown', 'sent', 'confirmed')", name="state"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"), index=True)
    worker_id: Mapped[int] = mapped_column(ForeignKey("worker.id"), index=True)
    prolific_study_id: Mapped[int] = mapped_column(ForeignKey("prolific_study.id"))
    kind: Mapped[str]
    purpose: Mapped[str]
    submission: Mapped[str]
    cents: Mapped[int | None]
    currency: Mapped[str | None]
    state: Mapped[str]
    batch: Mapped[str | None]
    seen_before: Mapped[list[Any] | None]
    note: Mapped[str] = mapped_column(Text)
    intended_at: Mapped[datetime]
    sent_at: Mapped[datetime | None]
    settled_at: Mapped[datetime | None]


class PlatformEvent(Base):
    """Event of which the platform told by a webhook, stored once.

    ``event`` and ``signature`` are digests. ``identity_id`` and ``submission`` are None where nobody here has such a submission.
    """

    __tablename__ = "platform_event"
    id: Mapped[int] = mapped_column(primary_key=True)
    event: Mapped[str] = mapped_column(unique=True)
    signature: Mapped[str] = mapped_column(unique=True)
    identity_id: Mapped[int | None] = mapped_column(ForeignKey("platform_identity.id"), index=True)
    submission: Mapped[str | None]
    status: Mapped[str]
    happened_at: Mapped[datetime]
    received_at: Mapped[datetime]
