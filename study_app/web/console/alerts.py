"""Alerts about a running study, each with a hint to mend it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session

from metrics.errors import pluralise
from study_app.services.researcher.progress import CheckRate, StudyProgress, TaskProgress
from study_app.services.researcher.studies import BACKED_UP_AT, setting
from study_app.store.database import FULL_BYTES, LOW_BYTES
from study_app.store.models import Assignment, PageLoad, Slot, StoredEvent, Worker
from study_app.store.study_cache import CachedStudy

RECENT = timedelta(minutes=15)
"""Age of the last activity below which a worker is here, and logs arrive."""
MIN_CONCERNED = 3
"""Fewest workers of an alert about logs.

One page without a log may be a browser that blocks it.
"""
MAX_FAILING = 0.25
"""Largest share of failures of a quality check without an alert.

The check needs at least `MIN_JUDGED` workers.
"""
MIN_JUDGED = 10
OLD_BACKUP = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """Something wrong, and what to do about it."""

    what: str
    hint: str


def find_alerts(
    session: Session, study: CachedStudy, progress: StudyProgress, *, free_bytes: int | None, now: datetime
) -> tuple[Alert, ...]:
    """Return the current alerts, the worst first.

    Parameters
    ----------
    progress : StudyProgress
        How far the tasks are, and how many workers fail each quality check.
    free_bytes : int or None
        Free space for the database; None where it cannot be seen.
    """
    return (
        *_disk(free_bytes),
        *_logs(session, study, now=now),
        *_checks(session, study, progress.checks),
        *_full(study, progress.tasks),
        *_backup(session, study, now=now),
    )


def _disk(free_bytes: int | None) -> Iterator[Alert]:
    if free_bytes is None or free_bytes >= LOW_BYTES:
        return
    megabytes = f"{free_bytes / 1e6:,.0f} MB"
    if free_bytes < FULL_BYTES:
        yield Alert(
            what=f"The disk has {megabytes} left, so nobody new is let in.",
            hint="Make room on the disk of the database; people are let in again by themselves.",
        )
    else:
        yield Alert(
            what=f"The disk of the database has only {megabytes} left.",
            hint=f"Make room: below {FULL_BYTES / 1e6:,.0f} MB nobody new is let in.",
        )


def _logs(session: Session, study: CachedStudy, *, now: datetime) -> Iterator[Alert]:
    """Yield alerts about workers, here now or before, whose pages send no log."""
    present = select(Worker.id).where(
        Worker.study_id == study.id,
        Worker.last_seen_at > now - RECENT,
        Worker.consented_at < now - RECENT / 3,
        Worker.withdrawn_at.is_(None),
    )
    newest = (
        select(StoredEvent.received_at)
        .where(StoredEvent.page_load_id == PageLoad.id)
        .order_by(StoredEvent.number.desc())
        .limit(1)
        .scalar_subquery()
    )
    heard = select(PageLoad.id).where(
        PageLoad.worker_id.in_(present), PageLoad.served_at > now - 4 * RECENT, newest > now - RECENT
    )
    people = session.scalar(select(func.count()).select_from(present.subquery())) or 0
    if people >= MIN_CONCERNED and session.scalar(heard.limit(1)) is None:
        minutes = RECENT // timedelta(minutes=1)
        yield Alert(
            what=f"No page has sent a log for {minutes} minutes, though {pluralise(people, 'worker')} were here.",
            hint="See whether POST /e/ reaches the server through the proxy: prefcal doctor ADDRESS. Answers are not lost; reading "
            "times are.",
        )
    worked = (
        select(Worker.id, exists().where(PageLoad.worker_id == Worker.id).label("logged"))
        .join(Assignment, Assignment.worker_id == Worker.id)
        .join(Slot, Slot.assignment_id == Assignment.id)
        .where(Worker.study_id == study.id, Slot.done_at <= now, Worker.withdrawn_at.is_(None))
        .distinct()
        .subquery()
    )
    answered, silent = session.execute(
        select(func.count(), func.count().filter(~worked.c.logged)).select_from(worked)
    ).one()
    if silent >= MIN_CONCERNED and silent > MAX_FAILING * answered:
        yield Alert(
            what=f"{silent} of {pluralise(answered, 'worker')} who have done a part never sent a log.",
            hint="They work without script, or something blocks it: try the study in a browser of your own. Their preferences count; "
            "their reading cannot be measured.",
        )


def _checks(session: Session, study: CachedStudy, checks: Sequence[CheckRate]) -> Iterator[Alert]:
    for check in checks:
        if check.judged >= MIN_JUDGED and check.rate is not None and check.rate > MAX_FAILING:
            yield Alert(
                what=f"{check.failed} of {check.judged} workers fail the check {check.title}.",
                hint="Look at some of them under People: is the task hard to understand, or the pay too low? Nobody is left out before "
                "the answers are analysed.",
            )
    consented, stopped = session.execute(
        select(
            func.count(Worker.consented_at), func.count().filter(Worker.stopped_as == "failed_checks")
        ).where(Worker.study_id == study.id)
    ).one()
    if consented >= MIN_JUDGED and stopped > MAX_FAILING * consented:
        yield Alert(
            what=f"{stopped} of {consented} who consented failed the questions before a task, and had to stop.",
            hint="Pause, and read the instructions and the check as somebody new to them: prefcal study preview.",
        )


def _full(study: CachedStudy, tasks: Sequence[TaskProgress]) -> Iterator[Alert]:
    """Yield an alert about full tasks while others still let people in."""
    names = [
        (f"task {task.number} ({task.entry.name})", all(query.room == 0 for query in progress.queries))
        for task, progress in zip(study.tasks, tasks, strict=True)
        if task.opens_study
    ]
    full, others = (
        " and ".join(name for name, full in names if full is is_full) for is_full in (True, False)
    )
    if full and others:
        yield Alert(
            what=f"Full: {full}. People who come now do only {others}, for the same pay.",
            hint="Raise the limit of what is full (Limits), or pause when the rest is enough for you.",
        )


def _backup(session: Session, study: CachedStudy, *, now: datetime) -> Iterator[Alert]:
    consented = select(exists().where(Worker.study_id == study.id, Worker.consented_at.is_not(None)))
    if not session.scalar(consented):
        return
    text = setting(session, BACKED_UP_AT)
    made = None if text is None else datetime.fromisoformat(text)
    if made is not None and now - made <= OLD_BACKUP:
        return
    last = "There is no backup." if made is None else f"The last backup is of {made:%Y-%m-%d %H:%M} UTC."
    yield Alert(what=last, hint="Make one, every day while people work: prefcal db backup FILE.")
