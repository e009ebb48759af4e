"""Tables of the researcher's console: keys, sessions, audit and jobs.

Beside `study_app.store.models`, whose rules hold here too. Of a key and of a browser's session only the
SHA-256 is stored.
"""

import hashlib
import json
from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from study_app.store.models import EPOCH, MILLISECOND, Base


class ResearcherKey(Base):
    """Key to one study's console: ``watch`` to look, ``manage`` to act too."""

    __tablename__ = "researcher_key"
    __table_args__ = (CheckConstraint("role IN ('watch', 'manage')", name="role"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"), index=True)
    role: Mapped[str]
    name: Mapped[str]
    sha256: Mapped[str] = mapped_column(unique=True)
    made_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]


class ConsoleSession(Base):
    """Browser session signed in to one study's console.

    ``key_id`` is None for the key of the installation.
    """

    __tablename__ = "console_session"
    id: Mapped[int] = mapped_column(primary_key=True)
    sha256: Mapped[str] = mapped_column(unique=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"))
    key_id: Mapped[int | None] = mapped_column(ForeignKey("researcher_key.id"))
    began_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]


class AuditEntry(Base):
    """Audit line of a study: person, action and time.

    ``who`` is the key's name at that time.

    The lines of a study are a chain: ``number`` counts them from 1, ``previous`` is the ``sha256`` of the line before, empty for the
    first, and ``sha256`` is over both and all that the line says. So no line can be changed or taken out without a trace, but the
    last ones can be cut off.
    """

    __tablename__ = "audit"
    __table_args__ = (UniqueConstraint("study_id", "number"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"), index=True)
    key_id: Mapped[int | None] = mapped_column(ForeignKey("researcher_key.id"))
    who: Mapped[str]
    at: Mapped[datetime]
    what: Mapped[str]
    detail: Mapped[str] = mapped_column(Text)
    number: Mapped[int]
    previous: Mapped[str]
    sha256: Mapped[str]

    @property
    def digest(self) -> str:
        """SHA-256 of the line as it stands, which ``sha256`` has to equal."""
        at = (self.at - EPOCH) // MILLISECOND
        fields = [
            self.study_id,
            self.number,
            self.previous,
            self.key_id,
            self.who,
            at,
            self.what,
            self.detail,
        ]
        return hashlib.sha256(json.dumps(fields, separators=(",", ":")).encode()).hexdigest()


class Job(Base):
    """Long work on a study that the console started.

    ``step`` is what it does now; ``message`` what ended it where it failed or was interrupted, and what is
    missing from its result where it is done; ``folder`` the name of the folder with its results, below those
    of the server, None once they were removed.
    """

    __tablename__ = "job"
    __table_args__ = (
        CheckConstraint("state IN ('waiting', 'running', 'done', 'failed', 'interrupted')", name="state"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"), index=True)
    key_id: Mapped[int | None] = mapped_column(ForeignKey("researcher_key.id"))
    kind: Mapped[str]
    state: Mapped[str]
    step: Mapped[str]
    message: Mapped[str | None] = mapped_column(Text)
    folder: Mapped[str | None]
    made_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]


FORGET_RESULTS = "UPDATE job SET folder = NULL"
"""Statement that removes the results of jobs from a restored backup.

Their folders are those of the server that the backup was made of.
"""


class ResultsView(Base):
    """View of results, or download of votes, at a number of judgments.

    Every later export mentions it.
    """

    __tablename__ = "results_look"
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id"), index=True)
    at: Mapped[datetime]
    judgments: Mapped[int]
