"""Summary of a running study: forecast, times and pay, and workers over time.

A rate is that of the last hour, or of the last day where the hour had too few people; the first hour has
none.
"""

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from metrics.errors import pluralise
from study_app.services.researcher.progress import StudyProgress, TaskProgress
from study_app.store.models import Assignment, Slot, Worker
from study_app.store.study_cache import CachedStudy
from study_app.web.console.limits import planned_workers

MIN_CONSENTED = 3
"""Fewest people who consented within a window for a rate.

With fewer a longer window is used.
"""
WINDOWS = (timedelta(hours=1), timedelta(days=1))
SHORTEST = WINDOWS[0]
"""Shortest window with a rate; below it, the count is displayed.

Rates of the first minutes would be too high.
"""
MIN_FOR_QUARTILES = 4
CURVE_STEPS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerCurve:
    """Workers who had arrived and finished at evenly spread moments."""

    times: tuple[datetime, ...]
    arrived: tuple[int, ...]
    finished: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySummary:
    """Summary of a study.

    Attributes
    ----------
    forecast, minutes, pay : str
        Sentences; ``minutes`` is empty while nobody has finished, ``pay`` where the study file names no reward.
    workers : tuple of (int, int)
        Workers who have begun each task, and who have done all that it asks; without those who have withdrawn.
    curve : WorkerCurve or None
        None before anybody came.
    """

    forecast: str
    minutes: str
    pay: str
    workers: tuple[tuple[int, int], ...]
    curve: WorkerCurve | None


def summarise(
    session: Session,
    study: CachedStudy,
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
    study : CachedStudy
    progress : StudyProgress
        How far its tasks are.
    now : datetime
        The end of the curve, and of the windows in which people came.
    complete : mapping of int to datetime
        When the data of each worker (row) were complete, as `completion.complete_workers` returns them.
    """
    times = session.execute(
        select(Worker.id, Worker.arrived_at, Worker.consented_at).where(Worker.study_id == study.id)
    ).all()
    consented = {row.id: row.consented_at for row in times if row.consented_at is not None}
    minutes = [
        (complete[worker] - at).total_seconds() / 60 for worker, at in consented.items() if worker in complete
    ]
    left = _workers_left(study, progress.tasks)
    return StudySummary(
        forecast=completion_forecast(left, sorted(consented.values()), now=now),
        minutes=working_minutes(minutes),
        pay=_pay(study, len(complete)),
        workers=_task_workers(session, study, now=now),
        curve=_curve(sorted(row.arrived_at for row in times), sorted(complete.values()), now=now),
    )


def _task_workers(session: Session, study: CachedStudy, *, now: datetime) -> tuple[tuple[int, int], ...]:
    each = (
        select(Assignment.task_id, func.count().filter(Slot.done_at <= now).label("done"))
        .select_from(Assignment)
        .join(Assignment.worker)
        .outerjoin(Assignment.slots)
        .where(Worker.study_id == study.id, Worker.withdrawn_at.is_(None))
        .group_by(Assignment.id)
        .subquery()
    )
    counts = session.execute(select(each.c.task_id, each.c.done, func.count()).group_by(*each.c)).all()
    return tuple(
        (
            sum(workers for row, _, workers in counts if row == task.id),
            sum(workers for row, done, workers in counts if row == task.id and done >= task.wanted),
        )
        for task in study.tasks
    )


def _pay(study: CachedStudy, finished: int) -> str:
    """Format the cost so far and of a full study, as `study_app.estimate` does."""
    if study.entry.reward is None:
        return ""
    each, workers = study.entry.reward * (1 + study.entry.platform_fee), planned_workers(study)
    so_far = f"Pay so far for the {finished} who finished, with the platform’s fee: {finished * each:.2f} {study.entry.currency}"
    full = "" if workers is None else f" of {workers * each:.2f} for a full study of {workers} workers"
    return f"{so_far}{full}. Pay for those who ended early is not included."


def _workers_left(study: CachedStudy, tasks: Sequence[TaskProgress]) -> int | None:
    """Return for how many more workers some task has room; None without a limit."""
    left = []
    for task, progress in zip(study.tasks, tasks, strict=True):
        if task.opens_study:
            if progress.search is not None:
                judgments = 0 if progress.search.is_over else progress.search.budget - progress.search.shown
                left.append(math.ceil(judgments / task.wanted))
                continue
            rooms = [query.room for query in progress.queries]
            if any(room is None for room in rooms):
                return None
            left.append(math.ceil(sum(room or 0 for room in rooms) / task.wanted))
    return max(left, default=None)


def completion_forecast(left: int | None, consented: Sequence[datetime], *, now: datetime) -> str:
    """Format when a study will be full.

    Parameters
    ----------
    left : int or None
        How many more workers there is room for; None without a limit.
    consented : sequence of datetime
        When people consented, sorted.
    now : datetime
    """
    if left == 0:
        return "The study is full."
    room = (
        "The number of workers has no limit."
        if left is None
        else f"There is room for {pluralise(left, 'more worker')}."
    )
    for window in WINDOWS:
        recent = len(consented) - bisect_right(consented, now - window)
        if recent >= MIN_CONSENTED:
            passed = min(window, now - consented[0])
            hours = passed / timedelta(hours=1)
            rate = f", which is {recent / hours:.2g} an hour" if hours > 1 else ""
            if left is not None and passed >= SHORTEST:
                full_at = now + passed * (left / recent)
                rate += f"; if it goes on so, the study is full on {full_at:%Y-%m-%d %H:%M} UTC"
            return f"{room} {recent} consented in the last {_time(passed)}{rate}."
    return room if left is None else f"{room} Too few came within the last day to say when it will be full."


def _time(passed: timedelta) -> str:
    """Format a time that has passed: minutes below an hour, hours from then on."""
    if passed < SHORTEST:
        minutes = max(1, math.ceil(passed / timedelta(minutes=1)))
        return "minute" if minutes == 1 else f"{minutes} minutes"
    hours = f"{passed / timedelta(hours=1):.2g}"
    return "hour" if hours == "1" else f"{hours} hours"


UNITS = (("days", 1440, 2880), ("hours", 60, 120), ("minutes", 1, 2), ("seconds", 1 / 60, 0))
"""Unit, its length in minutes, and the minutes from which on it is used."""


def working_minutes(minutes: Sequence[float]) -> str:
    """Format the working times of workers who finished; empty without any.

    Few workers have the shortest and the longest time, `MIN_FOR_QUARTILES` and more the quartiles.
    """
    if not minutes:
        return ""
    are_few = len(minutes) < MIN_FOR_QUARTILES
    times = np.quantile(minutes, (0, 0.5, 1) if are_few else (0.25, 0.5, 0.75))
    unit, length, _ = next(unit for unit in UNITS if times[1] >= unit[2])
    low, middle, high = (_number(time / length) for time in times)
    if len(minutes) == 1:
        return f"The one worker who finished took {middle} {unit} from consent to the end."
    who = f"of the {len(minutes)} workers who finished"
    if low == high:
        return f"{'Each' if are_few else 'At least half'} {who} took about {middle} {unit} from consent to the end."
    if are_few:
        return f"Each {who} took {low} to {high} {unit} from consent to the end."
    return f"Half {who} took less than {middle} {unit} from consent to the end; the middle half took {low} to {high}."


def _number(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def format_minutes(minutes: float) -> str:
    """Format a time in the unit that suits it."""
    unit, length, _ = next(unit for unit in UNITS if minutes >= unit[2])
    return f"{_number(minutes / length)} {unit}"


def _curve(arrived: Sequence[datetime], finished: Sequence[datetime], *, now: datetime) -> WorkerCurve | None:
    """Count from the first arrival to now, or an hour after the last event."""
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
