"""Sweeps of MSU over populations: effort ahead, and execution.

Source: Baruah, Smucker, Clarke: Evaluating Streams of Evolving News Events (SIGIR 2015), section 4.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from metrics.errors import input_fault, join_names, pluralise
from metrics.events import EventCollection, UpdateRun
from metrics.msu.measures import MSU
from metrics.msu.simulation import Lengths, PreparedRuns
from metrics.msu.trails import BLOCK_USERS, BLOCK_VISITS
from metrics.parallel import open_engine
from metrics.results import Score
from metrics.sweep.parts import PopulationTotals, SweepFolder, SweepGrid, SweepWork, population_totals
from metrics.sweep.result import MSUSweep
from metrics.sweep.tables import own_references, references, write_tables

if TYPE_CHECKING:
    import pandas as pd

TRIED_POPULATIONS = 6
TRIED_USERS = (8, 32)
"""Two numbers of users to try, to separate the costs of populations and users."""
PROGRAM_MB = 220
"""Memory of a process in MB before it reads data.

Python, numpy, numba and pandas take it.
"""
VISIT_BYTES = 72
"""Bytes per visit of the largest block: times, starts, durations, their copies."""
GAIN_COPIES = 6


class SweepPlan(NamedTuple):
    """Effort of a sweep: populations, and time and memory in words.

    Attributes
    ----------
    populations, missing : int
        How many there are, and how many are still to be computed.
    words : str
        Two lines for people.
    """

    populations: int
    missing: int
    words: str

    def __str__(self) -> str:
        """Return the two lines for people."""
        return self.words


def planned(work: SweepWork, missing: list[int], workers: int) -> SweepPlan:
    """Estimate a sweep's effort from trials with a few users of some populations.

    Only populations whose results are missing are tried.
    """
    workers = max(1, min(workers, len(missing)))
    populations, prepared = work.grid.population_count, work.prepared
    seconds = len(missing) * _seconds_each(work, missing) / workers
    megabytes = (workers + (workers > 1)) * (PROGRAM_MB + _bytes(work) / 2**20)
    done = populations - len(missing)
    there = f"; {pluralise(done, 'population')} {'is' if done == 1 else 'are'} there already" if done else ""
    size = (
        f"{pluralise(len(work.grid), 'point')}: {pluralise(populations, 'population')} x"
        f" {pluralise(len(work.grid.lateness), 'lateness decay')}{there}; {pluralise(len(prepared.runs), 'run')} on"
        f" {pluralise(len(prepared.topics), 'topic')}, {pluralise(work.users, 'user')} of each population"
    )
    effort = "nothing is left to compute; the tables are written anew"
    if missing:
        effort = (
            f"about {_time(seconds)} with {pluralise(workers, 'process', 'processes')}, then the tables;"
            f" at most {megabytes:,.0f} MB of memory"
        )
    return SweepPlan(populations, len(missing), f"{size}\n{effort}")


def _seconds_each(work: SweepWork, missing: list[int]) -> float:
    """Return the mean seconds per missing population."""
    if not missing:
        return 0.0
    places = {missing[len(missing) * number // TRIED_POPULATIONS] for number in range(TRIED_POPULATIONS)}
    population_totals(work, min(places), 1)  # compiles, or finds the machine code
    few, more = (
        sum(_seconds(work, population_index, users) for population_index in places) for users in TRIED_USERS
    )
    a_user = max(0.0, more - few) / (TRIED_USERS[1] - TRIED_USERS[0])
    return (few + max(0, work.users - TRIED_USERS[0]) * a_user) / len(places)


def _seconds(work: SweepWork, population_index: int, users: int) -> float:
    begun = time.perf_counter()
    population_totals(work, population_index, users)
    return time.perf_counter() - begun


def _bytes(work: SweepWork) -> float:
    """Return the memory of one process for users, gains and runs."""
    streams = [
        stream for of_run in work.prepared.streams for of_setting in of_run.values() for stream in of_setting
    ]
    run_bytes = sum(np.asarray(values).nbytes for stream in streams for values in stream)
    block = min(work.users, BLOCK_USERS)
    gains = 8 * (len(work.prepared.topics) + 1) * len(work.grid.lateness) * block * GAIN_COPIES
    return run_bytes + gains + VISIT_BYTES * BLOCK_VISITS


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1.0, seconds):.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 48 * 3600 else f"{seconds / 86_400:,.0f} days"


Part: TypeAlias = tuple[int, PopulationTotals]
Watch: TypeAlias = Callable[[SweepPlan, Iterator[Part]], Iterator[Part]]
"""Progress callback: it is given the effort, and wraps the loop over parts.

It receives the effort before anything is computed.
"""


def unwatched(plan: SweepPlan, parts: Iterator[Part]) -> Iterator[Part]:  # noqa: ARG001 - as Watch
    """Report no progress (the default `Watch`)."""
    return parts


def sweep_msu(  # noqa: PLR0913 - one argument an option of the command
    collection: EventCollection,
    runs: Iterable[UpdateRun],
    folder: str | Path,
    *,
    grid: SweepGrid | None = None,
    users: int = 1000,
    seed: int = 1,
    lengths: Lengths | None = None,
    scores: "pd.DataFrame | Iterable[Score] | None" = None,
    jobs: int = 1,
    scheduler: str | None = None,
    watch: Watch = unwatched,
) -> MSUSweep:
    """Score runs by MSU for every population of a grid.

    Each ranking is compared with those of other measures.

    At every point the numbers are those of `metrics.msu.score.score_msu` for the same population, users, seed and lateness: the
    users of every population are drawn with one seed, and differ by the population alone. Every lateness comes from one
    simulation. What is computed is kept in the folder at once; a sweep that was stopped goes on where it was.

    Parameters
    ----------
    collection : EventCollection
        Judgments.
    runs : iterable of UpdateRun
        Of different names.
    folder : str or Path
        Where its parts and tables are; docs/sweep.md says what they hold.
    grid : SweepGrid, optional
        The points; those of the paper by default.
    users, seed : int
        How many users each population has, and the seed that they are drawn with.
    lengths : mapping of topic to mapping of update to float, optional
        Words of updates; of others the words in their texts are counted.
    scores : DataFrame or iterable of Score, optional
        Run, topic, metric, value: further measures that MSU is held against, besides ELG and LC.
    jobs, scheduler
        Who computes, see `metrics.parallel.open_engine`. The result is the same.
    watch : callable
        As `Watch`.

    Returns
    -------
    MSUSweep
        Its tables, read when they are asked for.

    Raises
    ------
    InputError
        If a run has no update about a judged topic, the folder has parts of another sweep, something in it is damaged, a
        file cannot be written, or a run lacks a score.
    PrefcalError
        If the workers are lost. Parts that are whole stay.
    ValueError
        If there are no users.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> import prefcal
    >>> folder = "examples/two_layered/streams"
    >>> events = prefcal.read_events(
    ...     topics=f"{folder}/topics.xml",
    ...     nuggets=f"{folder}/nuggets.tsv",
    ...     matches=f"{folder}/matches.tsv",
    ...     updates=f"{folder}/updates.tsv",
    ... )
    >>> run = prefcal.read_update_run(f"{folder}/runs/prompt.txt")
    >>> grid = prefcal.SweepGrid(
    ...     away_seconds=(3600,), session_seconds=(90,), spread=(0.5,), lateness=(0.5,)
    ... )
    >>> other = prefcal.read_update_run(f"{folder}/runs/late.txt")
    >>> found = prefcal.sweep_msu(events, [run, other], mkdtemp(), grid=grid, users=20)
    >>> found.best()["run"].tolist()
    ['prompt', 'prompt', 'late']
    """
    if users < 1:
        raise ValueError(f"a population needs at least one user, got {users}")
    runs, grid = list(runs), grid or SweepGrid()
    _check_runs(collection, runs)
    names, topics = [run.name for run in runs], list(collection.topics)
    against = own_references(collection, runs)
    if scores is not None:
        further = scores if not hasattr(scores, "itertuples") else _rows(scores)
        against += references(further, names, topics)
    measures = [MSU(lateness=decay) for decay in grid.lateness]
    work = SweepWork(PreparedRuns(collection, runs, measures, lengths or {}, "judged"), grid, users, seed)
    kept = SweepFolder(folder, work.manifest())
    missing = kept.missing()
    with open_engine(jobs=jobs, scheduler=scheduler) as engine:
        plan = planned(work, missing, engine.workers)
        kept.begin()
        for population_index, totals in watch(plan, engine.results(population_totals, work, missing)):
            kept.write(population_index, totals)
    write_tables(kept, names, against)
    return MSUSweep(kept.folder)


def _rows(frame: "pd.DataFrame") -> Iterator[Score]:
    return (
        Score(str(row.run), str(row.topic), str(row.metric), float(row.value)) for row in frame.itertuples()
    )


def _check_runs(collection: EventCollection, runs: list[UpdateRun]) -> None:
    """Raise `InputError` if there is no run to sweep."""
    empty = [run.name for run in runs if not run.entries(collection.topics)]
    if empty or not runs:
        what = f"no update about a judged topic: {join_names(empty)}" if empty else "there is no run"
        number = pluralise(len(collection.topics), "judged topic")
        raise input_fault(
            what,
            path=empty[0] if empty else collection.name,
            cure=f"give runs with updates about the {number}",
        )
