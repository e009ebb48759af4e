"""What a sweep will take: said before it begins."""

import time
from dataclasses import dataclass

import numpy as np

from metrics.msu.trails import BLOCK_USERS, BLOCK_VISITS
from metrics.sweep.parts import SweepWork, population_totals
from metrics.wording import counted

TRIED_POPULATIONS = 6
TRIED_USERS = (8, 32)
"""Two numbers, so that what every population costs and what every user costs can be told apart."""
PROGRAM_MB = 220
"""What a process needs before it reads anything: Python, numpy, numba, pandas."""
VISIT_BYTES = 72
"""Of a block of visits at its largest: times, starts, durations, and their copies."""
GAIN_COPIES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPlan:
    """What a sweep will take.

    Attributes
    ----------
    points, populations, missing : int
        How many there are, and how many populations are still to be computed.
    decays, runs, topics, users : int
        What each population costs.
    workers : int
        How many populations are computed at a time.
    seconds : float
        How long it will take, about.
    megabytes : float
        Memory of all processes together, at most.
    """

    points: int
    populations: int
    missing: int
    decays: int
    runs: int
    topics: int
    users: int
    workers: int
    seconds: float
    megabytes: float

    def __str__(self) -> str:
        """Say it in two lines."""
        populations = counted(self.populations, "population")
        done = self.populations - self.missing
        there = f", {done:,} of them there already" if done else ""
        return (
            f"{counted(self.points, 'point')}: {populations} x {counted(self.decays, 'lateness decay')}{there};"
            f" {counted(self.runs, 'run')} on {counted(self.topics, 'topic')},"
            f" {counted(self.users, 'user')} of each population\n"
            f"about {_time(self.seconds)} with {counted(self.workers, 'worker')}, at most {self.megabytes:,.0f} MB of memory"
        )


def planned(work: SweepWork, missing: list[int], workers: int) -> SweepPlan:
    """Return what a sweep will take, by trying a few users of a few of the missing populations."""
    workers = max(1, min(workers, len(missing)))
    return SweepPlan(
        points=len(work.grid),
        populations=work.grid.population_count,
        missing=len(missing),
        decays=len(work.grid.lateness),
        runs=len(work.prepared.runs),
        topics=len(work.prepared.topics),
        users=work.users,
        workers=workers,
        seconds=len(missing) * _seconds_each(work, missing) / workers,
        megabytes=(workers + (workers > 1)) * (PROGRAM_MB + _bytes(work) / 2**20),
    )


def _seconds_each(work: SweepWork, missing: list[int]) -> float:
    """Return the mean time of a missing population."""
    if not missing:
        return 0.0
    places = {missing[len(missing) * number // TRIED_POPULATIONS] for number in range(TRIED_POPULATIONS)}
    population_totals(work, min(places), 1)  # compiles, or finds the machine code
    few, more = (sum(_seconds(work, place, users) for place in places) for users in TRIED_USERS)
    a_user = max(0.0, more - few) / (TRIED_USERS[1] - TRIED_USERS[0])
    return (few + max(0, work.users - TRIED_USERS[0]) * a_user) / len(places)


def _seconds(work: SweepWork, place: int, users: int) -> float:
    begun = time.perf_counter()
    population_totals(work, place, users)
    return time.perf_counter() - begun


def _bytes(work: SweepWork) -> float:
    """Return what one process holds of users, of gains, and of the runs."""
    streams = [
        stream for of_run in work.prepared.streams for of_setting in of_run.values() for stream in of_setting
    ]
    held = sum(np.asarray(values).nbytes for stream in streams for values in stream)
    block = min(work.users, BLOCK_USERS)
    gains = 8 * (len(work.prepared.topics) + 1) * len(work.grid.lateness) * block * GAIN_COPIES
    return held + gains + VISIT_BYTES * BLOCK_VISITS


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1.0, seconds):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
