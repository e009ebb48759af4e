"""Reminders of followed streams; the platform sends them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from study_app.store.models import Assignment, PageLoad, PlatformIdentity, Slot, StoredEvent, Topic, Worker
from study_app.store.study_cache import CachedStudy
from study_app.store.task_models import Follow, Prompt, StreamView
from study_app.study.entries import FollowedTask


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminder:
    """A followed stream: its follower's platform id and row, its title and its row."""

    platform_worker: str
    title: str
    worker: int
    follow: int


def remind(
    session: Session, loaded_study: CachedStudy, *, quiet_hours: float | None, now: datetime
) -> list[Reminder]:
    """Return every stream whose days are not over, and store its reminder; see `due_reminders`."""
    reminders = due_reminders(session, loaded_study, quiet_hours=quiet_hours, now=now)
    note_reminders(session, reminders, now=now)
    return reminders


def note_reminders(session: Session, reminders: Iterable[Reminder], *, now: datetime) -> None:
    """Store that followers are reminded now."""
    session.add_all(Prompt(follow_id=reminder.follow, sent_at=now) for reminder in reminders)
    session.flush()


def due_reminders(
    session: Session, loaded_study: CachedStudy, *, quiet_hours: float | None, now: datetime
) -> list[Reminder]:
    """Return every stream whose days are not over.

    Parameters
    ----------
    quiet_hours : float or None
        Leave out workers with activity in the stream's last hours, by its own clock; enrolling is activity.
    """
    follows = session.execute(
        select(Follow, Assignment.task_id, Worker.id, PlatformIdentity.platform_worker, Topic.text)
        .join(Follow.slot)
        .join(Slot.assignment)
        .join(Slot.topic)
        .join(Assignment.worker)
        .join(PlatformIdentity, PlatformIdentity.worker_id == Worker.id)
        .where(
            Worker.study_id == loaded_study.id,
            Worker.withdrawn_at.is_(None),
            Worker.completed_at.is_(None),
            Worker.stopped_at.is_(None),
            Follow.ends_at > now,
        )
        .order_by(Worker.number, Follow.id)
    ).all()
    signs = _last_signs(session)
    reminders = []
    for follow, task, worker, platform_worker, title in follows:
        entry = loaded_study.task(task).following
        if quiet_hours is None or not _was_here(
            signs.get(follow.id, follow.started_at), quiet_hours, entry, now=now
        ):
            reminders.append(
                Reminder(platform_worker=platform_worker, title=title, worker=worker, follow=follow.id)
            )
    return reminders


def _was_here(last_sign: datetime, hours: float, entry: FollowedTask, *, now: datetime) -> bool:
    return now - last_sign < timedelta(hours=hours / entry.clock_factor)


def _last_signs(session: Session) -> dict[int, datetime]:
    """Return the last event or form of each follow that has any."""
    sent = select(StreamView.follow_id, func.max(StreamView.left_at)).group_by(StreamView.follow_id)
    received = (
        select(StreamView.follow_id, func.max(StoredEvent.received_at))
        .join(PageLoad, PageLoad.key == StreamView.key)
        .join(StoredEvent, StoredEvent.page_load_id == PageLoad.id)
        .group_by(StreamView.follow_id)
    )
    last: dict[int, datetime] = {}
    for query in (sent, received):
        for follow, moment in session.execute(query):
            if moment is not None:
                last[follow] = max(moment, last.get(follow, moment))
    return last
