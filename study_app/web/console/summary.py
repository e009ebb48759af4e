"""Summary of a running study: workers over time, minutes, pay, and when it will be full.

A rate is that of the last hour, or of the last day where the hour had too few people; there is none before an hour is over.
"""

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from metrics.errors import counted
from study_app.services.researcher.progress import StudyProgress, TaskProgress
from study_app.store.models import Assignment, Slot, Worker
from study_app.store.plan import StudyPlan
from study_app.web.console.limits import planned_workers

MIN_CONSENTED = 3
"""Fewest people who consented within a window for a rate; with fewer a longer window is used."""
WINDOWS = (timedelta(hours=1), timedelta(days=1))
SHORTEST = WINDOWS[0]
"""Below this, show the count and no rate: many come in the first minutes."""
MIN_FOR_QUARTILES = 4
CURVE_STEPS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCompletion:
    """Workers of one task who have not withdrawn: how many have begun it, and how many have done all that it asks."""

    begun: int
    finished: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingMinutes:
    """Minutes from consent to the end of the workers who finished: quartiles.

    Of fewer than `MIN_FOR_QUARTILES` workers ``low`` and ``high`` are the shortest and the longest time.
    """

    low: float
    middle: float
    high: float
    workers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pay:
    """Cost so far of those who finished, the platform's fee included, and that of a full study (None without a limit)."""

    currency: str
    so_far: float
    finished: int
    total: float | None
    workers: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionForecast:
    """When the study will be full.

    Attributes
    ----------
    left : int or None
        How many more workers there is room for; None without a limit.
    consented : int or None
        How many consented within ``window``; None where too few came to tell.
    window : timedelta
        The last hour or day, or the time since the first one consented if that is shorter.
    full_at : datetime or None
        When the last of ``left`` comes at this rate; None also where ``window`` is shorter than `SHORTEST`.
    """

    left: int | None
    consented: int | None
    window: timedelta
    full_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerCurve:
    """Workers who had arrived and who had finished at evenly spread moments up to the last one."""

    times: tuple[datetime, ...]
    arrived: tuple[int, ...]
    finished: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySummary:
    """Summary of a study; ``tasks`` has its tasks in their order."""

    tasks: tuple[TaskCompletion, ...]
    minutes: WorkingMinutes | None
    pay: Pay | None
    forecast: CompletionForecast
    curve: WorkerCurve | None


def summarise(
    session: Session,
    study: StudyPlan,
    progress: StudyProgress,
    *,
    now: datetime,
    complete: Mapping[int, datetime],
) -> StudySummary:
    """Summarise a running study.

    Parameters
    ----------
    session : Session
        Only read from.
    study : StudyPlan
    progress : StudyProgress
        How far its tasks are.
    now : datetime
        The end of the curve, and of the windows in which people came.
    complete : mapping of int to datetime
        When the data of each worker (row) were complete, as `completion.complete_workers` returns them.
    """
    times = session.execute(
        select(Worker.id, Worker.arrived_at, Worker.consented_at)
        .where(Worker.study_id == study.id)
        .order_by(Worker.number)
    ).all()
    arrived = sorted(row.arrived_at for row in times)
    consented = sorted(row.consented_at for row in times if row.consented_at is not None)
    finished = sorted(complete.values())
    return StudySummary(
        tasks=task_completions(session, study, now=now),
        minutes=_working_minutes(
            [
                (complete[row.id] - row.consented_at).total_seconds() / 60
                for row in times
                if row.id in complete and row.consented_at is not None
            ]
        ),
        pay=_pay(study, len(finished)),
        forecast=forecast(_workers_left(study, progress.tasks), consented, now=now),
        curve=_curve(arrived, finished, now=now),
    )


def task_completions(session: Session, study: StudyPlan, *, now: datetime) -> tuple[TaskCompletion, ...]:
    """Return how many workers have begun and done each task."""
    each = (
        select(Assignment.task_id, func.count().filter(Slot.done_at <= now).label("done"))
        .select_from(Assignment)
        .join(Assignment.worker)
        .outerjoin(Assignment.slots)
        .where(Worker.study_id == study.id, Worker.withdrawn_at.is_(None))
        .group_by(Assignment.id)
        .subquery()
    )
    done_by: dict[int, list[tuple[int, int]]] = {task.id: [] for task in study.tasks}
    for task, done, workers in session.execute(
        select(each.c.task_id, each.c.done, func.count()).group_by(*each.c)
    ):
        done_by[task].append((done, workers))
    return tuple(
        TaskCompletion(
            begun=sum(workers for _, workers in done_by[task.id]),
            finished=sum(workers for done, workers in done_by[task.id] if done >= task.wanted),
        )
        for task in study.tasks
    )


def _working_minutes(minutes: Sequence[float]) -> WorkingMinutes | None:
    if not minutes:
        return None
    ends = (0.0, 1.0) if len(minutes) < MIN_FOR_QUARTILES else (0.25, 0.75)
    low, middle, high = map(float, np.quantile(minutes, (ends[0], 0.5, ends[1])))
    return WorkingMinutes(low=low, middle=middle, high=high, workers=len(minutes))


def _pay(study: StudyPlan, finished: int) -> Pay | None:
    """Return the cost, as `study_app.estimate` computes it; None where the study file names no reward."""
    if study.entry.reward is None:
        return None
    each, workers = study.entry.reward * (1 + study.entry.platform_fee), planned_workers(study)
    return Pay(
        currency=study.entry.currency,
        so_far=finished * each,
        finished=finished,
        total=None if workers is None else workers * each,
        workers=workers,
    )


def _workers_left(study: StudyPlan, tasks: Sequence[TaskProgress]) -> int | None:
    """Return for how many more workers some task has room, when each does all that it asks; None without a limit."""
    left = []
    for task, progress in zip(study.tasks, tasks, strict=True):
        if task.opens_study:
            rooms = [query.room for query in progress.queries]
            if any(room is None for room in rooms):
                return None
            left.append(math.ceil(sum(room or 0 for room in rooms) / task.wanted))
    return max(left, default=None)


def forecast(left: int | None, consented: Sequence[datetime], *, now: datetime) -> CompletionForecast:
    """Forecast when a study will be full, from the sorted times at which people consented."""
    for window in WINDOWS:
        recent = len(consented) - bisect_right(consented, now - window)
        if recent >= MIN_CONSENTED:
            seen = min(window, now - consented[0])
            is_rate = left is not None and seen >= SHORTEST
            full_at = now + seen * ((left or 0) / recent) if is_rate else None
            return CompletionForecast(left=left, consented=recent, window=seen, full_at=full_at)
    return CompletionForecast(left=left, consented=None, window=WINDOWS[-1], full_at=None)


def _curve(arrived: Sequence[datetime], finished: Sequence[datetime], *, now: datetime) -> WorkerCurve | None:
    """Count from the first arrival to now, or to an hour after the last arrival or end if that is earlier."""
    if not arrived:
        return None
    last = max([*arrived[-1:], *finished[-1:]]) + timedelta(hours=1)
    end = max(min(now, last), arrived[0] + timedelta(minutes=1))
    times = [arrived[0] + (end - arrived[0]) * step / CURVE_STEPS for step in range(CURVE_STEPS + 1)]
    return WorkerCurve(
        times=tuple(times),
        arrived=tuple(bisect_right(arrived, time) for time in times),
        finished=tuple(bisect_right(finished, time) for time in times),
    )


UNITS = (("days", 1440, 2880), ("hours", 60, 120), ("minutes", 1, 2), ("seconds", 1 / 60, 0))
"""Unit, its length in minutes, and the minutes from which on it is used."""


def format_minutes(minutes: WorkingMinutes) -> str:
    """Format how long workers took who finished, in the unit that suits half of them."""
    unit, length, _ = next(unit for unit in UNITS if minutes.middle >= unit[2])
    low, middle, high = (_number(time / length) for time in (minutes.low, minutes.middle, minutes.high))
    if minutes.workers == 1:
        return f"The one worker who finished took {middle} {unit} from consent to the end."
    who = f"of the {minutes.workers} workers who finished"
    are_few = minutes.workers < MIN_FOR_QUARTILES
    if low == high:
        return f"{'Each' if are_few else 'At least half'} {who} took about {middle} {unit} from consent to the end."
    if are_few:
        return f"Each {who} took {low} to {high} {unit} from consent to the end."
    return f"Half {who} took less than {middle} {unit} from consent to the end; the middle half took {low} to {high}."


def _number(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def format_forecast(ahead: CompletionForecast) -> str:
    """Format for how many there is room, how many came, and when the study will be full."""
    if ahead.left == 0:
        return "The study is full."
    sentences = ["The number of workers has no limit."]
    if ahead.left is not None:
        sentences = [f"There is room for {counted(ahead.left, 'more worker')}."]
    if ahead.consented is not None:
        sentences.append(f"{ahead.consented} consented in the last {_time(ahead.window)}{_rate(ahead)}.")
    elif ahead.left is not None:
        sentences.append("Too few came within the last day to say when it will be full.")
    return " ".join(sentences)


def _rate(ahead: CompletionForecast) -> str:
    """Format how many came an hour where the window is longer, and when the study is full at this rate."""
    hours = ahead.window / timedelta(hours=1)
    rate = f", which is {(ahead.consented or 0) / hours:.2g} an hour" if hours > 1 else ""
    if ahead.full_at is None:
        return rate
    return f"{rate}; if it goes on so, the study is full on {ahead.full_at:%Y-%m-%d %H:%M} UTC"


def _time(window: timedelta) -> str:
    """Format a time that has passed: minutes below an hour, hours from then on."""
    if window < SHORTEST:
        minutes = max(1, math.ceil(window / timedelta(minutes=1)))
        return "minute" if minutes == 1 else f"{minutes} minutes"
    hours = f"{window / timedelta(hours=1):.2g}"
    return "hour" if hours == "1" else f"{hours} hours"
