"""How a study goes, at a glance, and what is wrong with it now.

How a study goes, at a glance: people over time, minutes, pay, when it will be full, and what is wrong now with its cure.

What each query has is in `study_app.services.researcher.progress`. A rate is that of the last hour; of the last day where the hour
had too few people to tell; there is none before an hour is over.

What is wrong with a study now, in words, each with its cure: logs, checks, room, tasks that are full, backups.
"""

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session

from metrics.errors import counted
from study_app.services.console.limits import planned_workers
from study_app.services.researcher.progress import CheckRate, QueryProgress
from study_app.services.researcher.studies import BACKED_UP_AT, setting
from study_app.store.database import FULL_BYTES, LOW_BYTES
from study_app.store.models import Assignment, PageLoad, Slot, StoredEvent, Worker
from study_app.store.plan import StudyPlan, TaskPlan

FEWEST = 3
"""So many people must have come for a rate."""
WINDOWS = (timedelta(hours=1), timedelta(days=1))
SHORTEST = WINDOWS[0]
"""Of a shorter time it is said how many came, and no rate is made of it: many come in the first minutes."""
FEW = 4
"""Fewer times have no quarters."""
STEPS = 60
"""Points of a curve at the most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One task: how many workers who have not withdrawn have begun it, and how many have done all that it asks of them."""

    name: str
    kind: str
    begun: int
    finished: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Minutes:
    """Minutes from consent to the last button of those who finished: a quarter took less than ``low``, half less than ``middle``.

    Of fewer than `FEW` workers ``low`` and ``high`` are the shortest and the longest time.
    """

    low: float
    middle: float
    high: float
    workers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pay:
    """What those who finished cost so far, the platform's fee included, and what a full study costs (None without a limit)."""

    currency: str
    so_far: float
    finished: int
    total: float | None
    workers: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """When the study will be full.

    Attributes
    ----------
    left : int or None
        How many more workers there is room for; None without a limit.
    consented : int or None
        How many consented within ``seen``; None where too few came to tell.
    seen : timedelta
        The last hour or day, or the time since the first one consented if that is shorter.
    full_at : datetime or None
        When the last of ``left`` comes at this rate; None also where ``seen`` is shorter than `SHORTEST`.
    """

    left: int | None
    consented: int | None
    seen: timedelta
    full_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """How many had arrived, and how many had finished, at each of some moments, the last of which is the last one."""

    times: tuple[datetime, ...]
    arrived: tuple[int, ...]
    finished: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyGlance:
    """What the top of the overview shows."""

    parts: tuple[Part, ...]
    minutes: Minutes | None
    pay: Pay | None
    outlook: Outlook
    curve: Curve | None


def glance(
    session: Session,
    plan: StudyPlan,
    queries: Sequence[Sequence[QueryProgress]],
    *,
    now: datetime,
    complete: Mapping[int, datetime],
) -> StudyGlance:
    """Return how a study goes.

    Parameters
    ----------
    session : Session
        Only read from.
    plan : StudyPlan
        The study.
    queries : sequence of sequence of QueryProgress
        How far the topics of each task are.
    now : datetime
        The end of the curve, and of the windows in which people came.
    complete : mapping of int to datetime
        Worker (row) -> when the data were complete, as `completion.complete_workers` returns them.
    """
    times = session.execute(
        select(Worker.id, Worker.arrived_at, Worker.consented_at)
        .where(Worker.study_id == plan.id)
        .order_by(Worker.number)
    ).all()
    arrived = sorted(row.arrived_at for row in times)
    consented = sorted(row.consented_at for row in times if row.consented_at is not None)
    finished = sorted(complete.values())
    return StudyGlance(
        parts=parts(session, plan, now=now),
        minutes=_minutes(
            [
                (complete[row.id] - row.consented_at).total_seconds() / 60
                for row in times
                if row.id in complete and row.consented_at is not None
            ]
        ),
        pay=_pay(plan, len(finished)),
        outlook=outlook(_left(plan, queries), consented, now=now),
        curve=_curve(arrived, finished, now=now),
    )


def parts(session: Session, plan: StudyPlan, *, now: datetime) -> tuple[Part, ...]:
    """Return how many have begun and done each task."""
    each = (
        select(Assignment.task_id, func.count().filter(Slot.done_at <= now).label("done"))
        .select_from(Assignment)
        .join(Assignment.worker)
        .outerjoin(Assignment.slots)
        .where(Worker.study_id == plan.id, Worker.withdrawn_at.is_(None))
        .group_by(Assignment.id)
        .subquery()
    )
    done_by: dict[int, list[tuple[int, int]]] = {task.id: [] for task in plan.tasks}
    for task, done, workers in session.execute(
        select(each.c.task_id, each.c.done, func.count()).group_by(*each.c)
    ):
        done_by[task].append((done, workers))
    return tuple(
        Part(
            name=str(task.entry.name),
            kind=task.entry.kind,
            begun=sum(workers for _, workers in done_by[task.id]),
            finished=sum(workers for done, workers in done_by[task.id] if done >= task.wanted),
        )
        for task in plan.tasks
    )


def _minutes(minutes: Sequence[float]) -> Minutes | None:
    if not minutes:
        return None
    ends = (0.0, 1.0) if len(minutes) < FEW else (0.25, 0.75)
    low, middle, high = (float(one) for one in np.quantile(minutes, (ends[0], 0.5, ends[1])))
    return Minutes(low=low, middle=middle, high=high, workers=len(minutes))


def _pay(plan: StudyPlan, finished: int) -> Pay | None:
    """Return what is paid, as `study_app.estimate` reckons it; None where the study file names no reward."""
    if plan.entry.reward is None:
        return None
    each, workers = plan.entry.reward * (1 + plan.entry.platform_fee), planned_workers(plan)
    return Pay(
        currency=plan.entry.currency,
        so_far=finished * each,
        finished=finished,
        total=None if workers is None else workers * each,
        workers=workers,
    )


def _left(plan: StudyPlan, queries: Sequence[Sequence[QueryProgress]]) -> int | None:
    """Return for how many more workers there is room in some task, when each does all that it asks."""
    lefts = []
    for task, topics in zip(plan.tasks, queries, strict=True):
        if not task.opens_study:
            continue
        rooms = [topic.room for topic in topics]
        if any(room is None for room in rooms):
            return None
        lefts.append(math.ceil(sum(room or 0 for room in rooms) / task.wanted))
    return max(lefts, default=None)


def outlook(left: int | None, consented: Sequence[datetime], *, now: datetime) -> Outlook:
    """Say when a study will be full, from the times at which people consented, in order."""
    for window in WINDOWS:
        since = len(consented) - bisect_right(consented, now - window)
        if since >= FEWEST:
            seen = min(window, now - consented[0])
            is_rate = left is not None and seen >= SHORTEST
            full_at = now + seen * ((left or 0) / since) if is_rate else None
            return Outlook(left=left, consented=since, seen=seen, full_at=full_at)
    return Outlook(left=left, consented=None, seen=WINDOWS[-1], full_at=None)


def _curve(arrived: Sequence[datetime], finished: Sequence[datetime], *, now: datetime) -> Curve | None:
    """Count at moments evenly spread from the first arrival to now; after the last sign of anything nothing is drawn."""
    if not arrived:
        return None
    end = max(
        min(now, max([*arrived[-1:], *finished[-1:]]) + timedelta(hours=1)), arrived[0] + timedelta(minutes=1)
    )
    length = (end - arrived[0]) / STEPS
    times = (*(arrived[0] + length * step for step in range(STEPS)), end)
    return Curve(
        times=times,
        arrived=tuple(bisect_right(arrived, time) for time in times),
        finished=tuple(bisect_right(finished, time) for time in times),
    )


RECENT = timedelta(minutes=15)
"""So many people must be concerned before something is said about people."""
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
    if people >= FEWEST and session.scalar(heard.limit(1)) is None:
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
    if silent >= FEWEST and silent > FAILING * of:
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
