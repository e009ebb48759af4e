"""Many simulated workers on one clock."""

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import httpx
import numpy as np

from study_app.simulate.clock import CrowdClock
from study_app.simulate.people.person import DESKTOP, PHONE, Person
from study_app.simulate.site import Site
from study_app.simulate.truth import Truth
from study_app.simulate.worlds.world import KnownTask

SHARE_ON_PHONES = 0.7
ARRIVAL_SECONDS = 6 * 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdReport:
    """What a crowd did: how many finished, how often each disturbance happened, how many events were sent."""

    workers: int
    finished: int
    habits: Mapping[str, int]
    events_sent: int

    def sentence(self) -> str:
        """Say it in one line."""
        return f"{self.finished} of {self.workers} workers finished"


def run_crowd(
    http: httpx.Client,
    entrance: Callable[[int], str],
    *,
    people: Sequence[np.random.Generator],
    clock: CrowdClock,
    tasks: Mapping[int, KnownTask],
    truth: Truth,
    arrival_seconds: float = ARRIVAL_SECONDS,
    on_end: Callable[[], object] = lambda: None,
) -> CrowdReport:
    """Let a crowd go through a study.

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
    queue: list[tuple[datetime, int, Iterator[float]]] = []
    for number, own in enumerate(people, start=1):
        agent, size = PHONE if own.random() < SHARE_ON_PHONES else DESKTOP
        person = Person(Site(http, agent), size=size, clock=clock, tasks=tasks, truth=truth, rng=own)
        lives.append(person)
        arrival = clock.after(float(own.uniform(0, arrival_seconds)))
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
