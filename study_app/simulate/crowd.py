"""Run of a simulated crowd through a study, and the effects of its disturbances."""

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

import httpx
import numpy as np
from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from study_app.simulate.browser import Browser, CrowdClock
from study_app.simulate.crowd_parameters import CrowdParameters
from study_app.simulate.person import DESKTOP, PHONE, Person
from study_app.simulate.task_truth import KnownTask
from study_app.store.models import Judgment, LoadedStudy, PageLoad, StoredEvent, Worker
from study_app.store.task_models import StreamView, UsefulAnswer

SHARE_ON_PHONES = 0.7
ARRIVAL_SECONDS = 6 * 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdReport:
    """Counts of a crowd: finished workers, disturbances, and events sent."""

    workers: int
    finished: int
    habits: Mapping[str, int]
    events_sent: int

    def sentence(self) -> str:
        """Describe the outcome in one line."""
        return f"{self.finished} of {self.workers} workers finished"


def run_crowd(
    http: httpx.Client,
    entrance: Callable[[int], str],
    *,
    people: Sequence[np.random.Generator],
    clock: CrowdClock,
    tasks: Mapping[int, KnownTask],
    truth: CrowdParameters,
    arrival_seconds: float = ARRIVAL_SECONDS,
    on_end: Callable[[], object] = lambda: None,
) -> CrowdReport:
    """Send a simulated crowd through a study.

    Parameters
    ----------
    http : httpx.Client
        Whose base address is the server's.
    entrance : callable
        Worker's number (from 1) -> address that the platform would send them to.
    people : sequence of numpy.random.Generator
        One for each of them: the randomness of that person.
    arrival_seconds : float
        They arrive evenly over so long.
    on_end : callable
        Called each time a worker is through, for a progress bar.

    Raises
    ------
    PageError
        If a page is not what a worker could go on from.
    """
    lives = []
    media = set[str]()
    queue: list[tuple[datetime, int, Iterator[float]]] = []
    for number, own in enumerate(people, start=1):
        agent, size = PHONE if own.random() < SHARE_ON_PHONES else DESKTOP
        person = Person(
            Browser(http, agent, media), size=size, clock=clock, tasks=tasks, truth=truth, rng=own
        )
        lives.append(person)
        arrival = clock() + timedelta(seconds=float(own.uniform(0, arrival_seconds)))
        queue.append((arrival, number, person.live(entrance(number))))
    heapq.heapify(queue)
    while queue:
        time, number, life = heapq.heappop(queue)
        clock.go_to(time)
        wait = next(life, None)
        if wait is None:
            on_end()
        else:
            heapq.heappush(queue, (clock() + timedelta(seconds=wait), number, life))
    habits = sum((person.tally.done for person in lives), Counter[str]())
    finished = sum(person.tally.code is not None for person in lives)
    sent = sum(person.events_sent for person in lives)
    return CrowdReport(workers=len(people), finished=finished, habits=dict(habits), events_sent=sent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One disturbance, how often it happened, and what it did to the data."""

    habit: str
    times: int
    said: str


def effects(session: Session, report: CrowdReport) -> list[Effect]:
    """Return the effect on the stored data of each disturbance that happened.

    Parameters
    ----------
    session : Session
        Of a database that holds this crowd alone.
    report : CrowdReport
        What the crowd did.
    """
    return [
        Effect(habit=habit.replace("_", " "), times=times, said=_SAID[habit](session, report))
        for habit, times in sorted(report.habits.items())
        if times and habit in _SAID
    ]


def _unfinished(session: Session, report: CrowdReport) -> str:  # noqa: ARG001 - one form for all
    left = _count(session, select(Worker.id).where(Worker.completed_at.is_(None)))
    return f"{left} workers have no completion code; what they answered is kept"


def _refused(session: Session, report: CrowdReport) -> str:  # noqa: ARG001
    devices = {config["device"] for config in session.scalars(select(LoadedStudy.config))}
    reason = "the study was full" if devices == {"any"} else "the study was full, or not for their device"
    return f"{reason}; they were not asked for consent, and nothing of theirs is stored"


def _turned_away(session: Session, report: CrowdReport) -> str:
    ends = {"failed_checks": "failed a check twice", "screened_out": "were screened out by an answer"}
    stopped = {end: _count(session, select(Worker.id).where(Worker.stopped_as == end)) for end in ends}
    parts = [f"{stopped[end]} {words}" for end, words in ends.items() if stopped[end]]
    left = report.habits["turned_away"] - sum(stopped.values())
    if left > 0:
        parts.append(f"for {left} nothing was left to do")
    return "; ".join(parts)


def _loaded_again(session: Session, report: CrowdReport) -> str:  # noqa: ARG001
    loads = _count(session, select(PageLoad.id))
    visits = _count(session, select(StreamView.follow_id, StreamView.visit).distinct())
    return f"{loads} page loads were logged, each by itself" + (
        f", in {visits} visits to streams" if visits else ""
    )


def _sent_again(session: Session, report: CrowdReport) -> str:
    stored = _count(session, select(StoredEvent.id))
    highest = select(func.max(StoredEvent.number)).group_by(StoredEvent.page_load_id).subquery()
    holes = int(session.scalar(select(func.sum(highest.c[0]))) or 0) - stored
    again = report.events_sent - stored
    return f"{report.events_sent:,} events were sent, {again:,} of them again; {stored:,} are stored once, {holes} missing"


def _answers(session: Session, report: CrowdReport) -> str:  # noqa: ARG001
    stored = [_count(session, select(model.id)) for model in (Judgment, UsefulAnswer)]
    changed = [
        _count(session, select(model.id).where(model.revision > 1)) for model in (Judgment, UsefulAnswer)
    ]
    return f"{sum(stored)} answers to pairs and on updates are stored, {sum(changed)} of them as changes"


def _clock(session: Session, report: CrowdReport) -> str:  # noqa: ARG001
    steps = _count(session, select(StoredEvent.id).where(StoredEvent.kind == "sleep"))
    return f"{steps} steps of the clock are in the logs; times are those of the page's own clock"


def _unlogged(session: Session, report: CrowdReport) -> str:  # noqa: ARG001
    views = _count(
        session,
        select(StreamView.id)
        .outerjoin(PageLoad, PageLoad.key == StreamView.key)
        .where(PageLoad.id.is_(None)),
    )
    return f"{views} stream pages have no log; what is known of their visits comes from the forms"


_SAID: Mapping[str, Callable[[Session, CrowdReport], str]] = MappingProxyType(
    {
        "quit": _unfinished,
        "refused_at_the_door": _refused,
        "turned_away": _turned_away,
        "reload": _loaded_again,
        "two_tabs": _loaded_again,
        "offline": _sent_again,
        "retry": _sent_again,
        "double_click": _answers,
        "careless": _answers,
        "left_bias": _answers,
        "clock_jump": _clock,
        "no_script": _unlogged,
    }
)
"""Effect of a habit on the data in words, by name."""


def _count(session: Session, query: Select[*tuple[Any, ...]]) -> int:
    return session.scalar(select(func.count()).select_from(query.subquery())) or 0
