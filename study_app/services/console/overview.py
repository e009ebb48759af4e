"""How a study goes, at a glance: people over time, minutes, pay, and when it will be full.

What each query has is in `study_app.services.researcher.progress`. A rate is that of the last hour; of the last day where the hour
had too few people to tell; there is none before an hour is over.
"""

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from study_app.services.console.limits import planned_workers
from study_app.services.researcher.progress import QueryProgress
from study_app.store.models import Assignment, Slot, Worker
from study_app.store.plan import StudyPlan

FEWEST_CONSENTED = 3
"""People who must have consented within a window before a rate is made of them."""
WINDOWS = (timedelta(hours=1), timedelta(days=1))
SHORTEST = WINDOWS[0]
"""Below this, show the count and no rate: many come in the first minutes."""
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
        if since >= FEWEST_CONSENTED:
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
