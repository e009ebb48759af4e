"""Ends of a worker's part other than completion, and the codes for every end.

A part ends screened out, with failed checks, stopped or withdrawn.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from sqlalchemy import bindparam, exists, func, insert, or_, select, true, union_all
from sqlalchemy.orm import Session

from study_app.services.worker.worker_progress import WorkerProgress
from study_app.store.models import (
    Assignment,
    Ballot,
    Judgment,
    LoadedStudy,
    PageLoad,
    PlatformEntry,
    PlatformIdentity,
    Showing,
    Slot,
    Worker,
)
from study_app.store.study_cache import WorkerRow, columns, insert_row, update_rows
from study_app.store.task_models import CodeShown, Rating, Reply, Sheet, StreamView
from study_app.study.platforms import ReturnLink, way_back

End: TypeAlias = Literal["screened_out", "failed_checks", "partial"]
_ITS_SLOTS = (
    select(Slot.id)
    .join(Assignment, Assignment.id == Slot.assignment_id)
    .where(Assignment.worker_id == bindparam("worker"))
)
_LAST_ANSWERS = union_all(
    select(func.max(Judgment.decided_at)).join(Judgment.showing).where(Showing.slot_id.in_(_ITS_SLOTS)),
    select(func.max(Ballot.decided_at)).where(Ballot.slot_id.in_(_ITS_SLOTS)),
    select(func.max(Rating.decided_at)).join(Rating.sheet).where(Sheet.slot_id.in_(_ITS_SLOTS)),
    select(func.max(Reply.decided_at)).where(Reply.slot_id.in_(_ITS_SLOTS)),
)


def stop(session: Session, progress: WorkerProgress, end: End, *, now: datetime) -> None:
    """End a worker's part for good and free the unfinished slots.

    The code is the study's for that end; for a partial one only if some answer is stored. A worker whose part
    has ended already is left alone.
    """
    worker = progress.worker
    if worker.completed_at is not None or worker.stopped_at is not None:
        return
    code = getattr(progress.plan.entry.codes, end) if end != "partial" or has_answer(progress) else None
    at = time_of_end(session, worker, now=now)
    update_rows(session, worker, stopped_at=at, stopped_as=end, completion_code=code)
    held = [slot for slots in progress.slots.values() for slot in slots]
    live = [slot for slot in held if slot.done_at is None and slot.expires_at > now]
    if live:
        update_rows(session, *live, expires_at=now)


def time_of_end(session: Session, worker: WorkerRow, *, now: datetime) -> datetime:
    """Return the time at which a worker's part ends now.

    It is never before an answer, even when the clock was set back meanwhile.
    """
    return max(now, worker.last_seen_at, *last_answers(session, worker.id))


def last_answers(session: Session, worker: int) -> list[datetime]:
    """Return the time of a worker's last answer of each kind that has one.

    Kinds are pairs, votes, ratings and questions.
    """
    return [at for at in session.scalars(_LAST_ANSWERS, {"worker": worker}) if at is not None]


def has_answer(progress: WorkerProgress) -> bool:
    """Return whether any answer of a worker is stored, or any stream was followed."""
    return any(slot.followed or any(slot.answered) for task in progress.state.tasks for slot in task.slots)


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawal:
    """Withdrawal of a worker; ``again`` if the worker had withdrawn before.

    ``worker`` is a row; ``has_code`` is true if the worker keeps the code for the work that was done.
    """

    study: str
    worker: int
    pseudonym: str
    again: bool
    has_code: bool


def withdraw(session: Session, code: str, *, now: datetime) -> Withdrawal | None:
    """Withdraw the worker who holds a code; None for an unknown code.

    A code copied by hand may be in capitals.
    """
    if not code.isprintable():  # PostgreSQL refuses NUL even in a question
        return None
    row = session.execute(
        select(Worker, LoadedStudy.name)
        .join(LoadedStudy)
        .where(Worker.withdrawal_code == code.strip().lower())
        .with_for_update(of=Worker)
    ).one_or_none()
    if row is None:
        return None
    worker, study = row
    again = worker.withdrawn_at is not None
    worker.withdrawn_at = worker.withdrawn_at or now
    session.flush()
    return Withdrawal(
        study=study,
        worker=worker.id,
        pseudonym=worker.pseudonym,
        again=again,
        has_code=worker.completion_code is not None,
    )


@dataclass(frozen=True, slots=True)
class _Arrival:
    """Columns of `models.PlatformEntry` that describe an arrival."""

    id: int
    identity_id: int
    arrived_at: datetime
    parameters: dict[str, Any]


_LOCKED_WORKER = select(Worker.id).where(Worker.id == bindparam("worker")).with_for_update(key_share=True)

_NOTED = select(CodeShown.id).where(
    CodeShown.worker_id == bindparam("worker"),
    CodeShown.kind == bindparam("kind"),
    CodeShown.entry_id.is_not_distinct_from(bindparam("entry")),
)

_NEW_NOTE = insert(CodeShown)

_ID_THERE = select(PlatformIdentity.platform_worker).where(PlatformIdentity.worker_id == bindparam("worker"))

_LATEST = (
    select(*columns(PlatformEntry, _Arrival))
    .join(PlatformIdentity, PlatformIdentity.id == PlatformEntry.identity_id)
    .where(PlatformIdentity.worker_id == bindparam("worker"))
    .order_by(PlatformEntry.id.desc())
    .limit(1)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DueCode:
    """Code to be shown to a worker.

    Attributes
    ----------
    kind : str
        complete, screened_out, failed_checks, partial or visit.
    code : str or None
        None where the study has none for this end.
    back : ReturnLink or None
        Way to hand it in.
    entry : int or None
        For a visit, the arrival that it is for.
    """

    kind: str
    code: str | None
    back: ReturnLink | None
    entry: int | None = None

    @property
    def form_host(self) -> str | None:
        """Host to which the code is posted; None where it is not posted."""
        return None if self.back is None else self.back.host


def end_code(session: Session, progress: WorkerProgress) -> DueCode:
    """Return the code of a worker whose part has ended."""
    worker = progress.worker
    kind = "complete" if worker.stopped_as is None else worker.stopped_as
    latest = _latest(session, worker)
    parameters = {} if latest is None else latest.parameters
    return DueCode(
        kind=kind,
        code=worker.completion_code,
        back=_way_back(session, progress, kind, worker.completion_code, parameters),
    )


def visit_code(session: Session, progress: WorkerProgress) -> DueCode | None:
    """Return the code for the visit since the worker last came from the platform.

    It returns None without a visit or such a code.
    """
    code = progress.plan.entry.visit_code
    latest = None if code is None else _latest(session, progress.worker)
    if code is None or latest is None:
        return None
    entry = _first_of_submission(session, latest)
    if not visited_between(session, [follow.id for follow in progress.follows.values()], entry.arrived_at):
        return None
    back = _way_back(session, progress, "visit", code, entry.parameters)
    return DueCode(kind="visit", code=code, back=back, entry=entry.id)


def is_noted(session: Session, worker: WorkerRow, due: DueCode) -> bool:
    """Return whether it is stored that a code was shown; True without a code."""
    if due.code is None:
        return True
    which = {"worker": worker.id, "kind": due.kind, "entry": due.entry}
    return session.connection().scalar(_NOTED, which) is not None


def note_shown(session: Session, worker: WorkerRow, due: DueCode, *, now: datetime) -> None:
    """Store the time at which a code is shown, the first time only."""
    session.connection().execute(_LOCKED_WORKER, {"worker": worker.id})
    if due.code is not None and not is_noted(session, worker, due):
        note = {"worker_id": worker.id, "kind": due.kind, "code": due.code, "shown_at": now}
        insert_row(session, _NEW_NOTE, note | {"entry_id": due.entry})


def _latest(session: Session, worker: WorkerRow) -> _Arrival | None:
    """Return a worker's last arrival from the platform.

    It returns None once the retention command has deleted the worker's platform id.
    """
    row = session.connection().execute(_LATEST, {"worker": worker.id}).one_or_none()
    return None if row is None else _Arrival(*row)


def _first_of_submission(session: Session, latest: _Arrival) -> _Arrival:
    """Return the first arrival under the submission of the latest arrival.

    A submission may have been opened again; an arrival without one is its own first.
    """
    if not latest.parameters:
        return latest
    arrivals = select(*columns(PlatformEntry, _Arrival)).where(
        PlatformEntry.identity_id == latest.identity_id
    )
    rows = session.connection().execute(arrivals.order_by(PlatformEntry.id))
    return next(entry for entry in (_Arrival(*row) for row in rows) if entry.parameters == latest.parameters)


def visited_between(
    session: Session, follows: Collection[int], since: datetime, until: datetime | None = None
) -> bool:
    """Return whether any of these streams was read in a span of time.

    Reading means that a page of it logged something, or its form was sent.
    """
    logged = exists().where(PageLoad.key == StreamView.key)
    visited = exists().where(
        StreamView.follow_id.in_(follows),
        StreamView.served_at >= since,
        true() if until is None else StreamView.served_at < until,
        or_(StreamView.left_at.is_not(None), logged),
    )
    return bool(session.scalar(select(visited)))


def _way_back(
    session: Session, progress: WorkerProgress, kind: str, code: str | None, parameters: Mapping[str, Any]
) -> ReturnLink | None:
    known = session.connection().scalar(_ID_THERE, {"worker": progress.worker.id})
    return way_back(progress.plan.entry, kind, code, worker=known, parameters=parameters)
