"""What is wrong with a study now, in words, each with its cure: logs, checks, room, tasks that are full, backups."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session

from metrics.errors import counted
from study_app.services.researcher.progress import CheckRate, QueryProgress
from study_app.services.researcher.studies import BACKED_UP_AT, setting
from study_app.store.database import FULL_BYTES, LOW_BYTES
from study_app.store.models import Assignment, PageLoad, Slot, StoredEvent, Worker
from study_app.store.plan import StudyPlan, TaskPlan

RECENT = timedelta(minutes=15)
"""How long ago counts as now, for who is here and for pages that sent something."""
FEWEST_CONCERNED = 3
"""People who must be concerned before something is said about people."""
FAILING = 0.25
"""A check that a larger share of at least `JUDGED` workers fails is one to look at."""
JUDGED = 10
OLD_BACKUP = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """Something wrong, and what to do about it."""

    what: str
    cure: str


def troubles(
    session: Session,
    plan: StudyPlan,
    *,
    checks: Sequence[CheckRate],
    queries: Sequence[Sequence[QueryProgress]],
    free_bytes: int | None,
    now: datetime,
) -> tuple[Trouble, ...]:
    """Return what is wrong now, the worst first.

    Parameters
    ----------
    checks : sequence of CheckRate
        Checks of care.
    queries : sequence of sequence of QueryProgress
        How far the topics of each task are.
    free_bytes : int or None
        Room for the database; None where it cannot be seen.
    """
    return (
        *_room(free_bytes),
        *_logs(session, plan, now=now),
        *_checks(session, plan, checks),
        *_full(plan, queries),
        *_backup(session, plan, now=now),
    )


def _room(free_bytes: int | None) -> Iterator[Trouble]:
    if free_bytes is None or free_bytes >= LOW_BYTES:
        return
    megabytes = f"{free_bytes / 1e6:,.0f} MB"
    if free_bytes < FULL_BYTES:
        yield Trouble(
            what=f"The disk has {megabytes} left, so nobody new is let in.",
            cure="Make room on the disk of the database; people are let in again by themselves.",
        )
    else:
        yield Trouble(
            what=f"The disk of the database has only {megabytes} left.",
            cure=f"Make room: below {FULL_BYTES / 1e6:,.0f} MB nobody new is let in.",
        )


def _logs(session: Session, plan: StudyPlan, *, now: datetime) -> Iterator[Trouble]:
    """Say when pages send no events: of those who are here now, and of those who have answered."""
    here = select(Worker.id).where(
        Worker.study_id == plan.id,
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
        PageLoad.worker_id.in_(here), PageLoad.served_at > now - 4 * RECENT, newest > now - RECENT
    )
    people = session.scalar(select(func.count()).select_from(here.subquery())) or 0
    if people >= FEWEST_CONCERNED and session.scalar(heard.limit(1)) is None:
        minutes = RECENT // timedelta(minutes=1)
        yield Trouble(
            what=f"No page has sent a log for {minutes} minutes, though {counted(people, 'worker')} were here.",
            cure="See whether POST /e/ reaches the server through the proxy: prefcal doctor ADDRESS. Answers are not lost; reading "
            "times are.",
        )
    worked = (
        select(Worker.id, exists().where(PageLoad.worker_id == Worker.id).label("logged"))
        .join(Assignment, Assignment.worker_id == Worker.id)
        .join(Slot, Slot.assignment_id == Assignment.id)
        .where(Worker.study_id == plan.id, Slot.done_at <= now, Worker.withdrawn_at.is_(None))
        .distinct()
        .subquery()
    )
    of, silent = session.execute(
        select(func.count(), func.count().filter(~worked.c.logged)).select_from(worked)
    ).one()
    if silent >= FEWEST_CONCERNED and silent > FAILING * of:
        yield Trouble(
            what=f"{silent} of {counted(of, 'worker')} who have done a part never sent a log.",
            cure="They work without script, or something blocks it: try the study in a browser of your own. Their preferences count; "
            "their reading cannot be measured.",
        )


def _checks(session: Session, plan: StudyPlan, checks: Sequence[CheckRate]) -> Iterator[Trouble]:
    for check in checks:
        if check.judged >= JUDGED and check.rate is not None and check.rate > FAILING:
            yield Trouble(
                what=f"{check.failed} of {check.judged} workers fail the check {check.title}.",
                cure="Look at some of them under People: is the task hard to understand, or the pay too low? Nobody is left out before "
                "the answers are analysed.",
            )
    consented, stopped = session.execute(
        select(
            func.count(Worker.consented_at), func.count().filter(Worker.stopped_as == "failed_checks")
        ).where(Worker.study_id == plan.id)
    ).one()
    if consented >= JUDGED and stopped > FAILING * consented:
        yield Trouble(
            what=f"{stopped} of {consented} who consented failed the questions before a task, and had to stop.",
            cure="Pause, and read the instructions and the check as somebody new to them: prefcal study preview.",
        )


def _full(plan: StudyPlan, queries: Sequence[Sequence[QueryProgress]]) -> Iterator[Trouble]:
    """Say which tasks are full while others still let people in, who do less for the same pay."""
    tasks = [(task, topics) for task, topics in zip(plan.tasks, queries, strict=True) if task.opens_study]
    full = [task for task, topics in tasks if all(topic.room == 0 for topic in topics)]
    if full and len(full) < len(tasks):
        names = " and ".join(_name(task) for task in full)
        others = " and ".join(_name(task) for task, _ in tasks if task not in full)
        yield Trouble(
            what=f"Full: {names}. People who come now do only {others}, for the same pay.",
            cure="Raise the limit of what is full (Limits), or pause when the rest is enough for you.",
        )


def _name(task: TaskPlan) -> str:
    return f"task {task.number} ({task.entry.name})"


def _backup(session: Session, plan: StudyPlan, *, now: datetime) -> Iterator[Trouble]:
    consented = select(exists().where(Worker.study_id == plan.id, Worker.consented_at.is_not(None)))
    if not session.scalar(consented):
        return
    text = setting(session, BACKED_UP_AT)
    made = None if text is None else datetime.fromisoformat(text)
    if made is not None and now - made <= OLD_BACKUP:
        return
    last = "There is no backup." if made is None else f"The last backup is of {made:%Y-%m-%d %H:%M} UTC."
    yield Trouble(what=last, cure="Make one, every day while people work: prefcal db backup FILE.")
