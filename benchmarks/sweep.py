"""The paper's sweep of MSU: 2,646 points, 1,000 users each, 26 runs, 9 topics.

    python benchmarks/sweep.py [SHARED] [--users N] [--jobs N] [--spread R,...] [-o DIR]
    python benchmarks/sweep.py [SHARED] --start

SHARED is the folder with the reference data (default: ``shared`` beside the checkout). The topics are the first nine of
2014; 26 runs are drawn from the sampled updates with a fixed seed, of 10 to 600 updates a topic. First the whole sweep is timed, with
the processor time and the peak memory of all its processes. Then, for every 21st population, the package in one process beside
the bare compiled loop, over the same users and streams, both prepared beforehand: the ratio of their processor times.

With --start, the command `prefcal sweep msu` for ten populations and 26 runs on the 15 topics of 2014, from its start until it has
printed its plan: then the first population begins. Once without the machine code of an earlier run, then three times with it.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

from benchmarks.msu import drawn_run, judgments
from metrics.events import EventCollection, UpdateRun
from metrics.msu.kernels import read_stream
from metrics.msu.measures import MSU
from metrics.msu.simulation import PreparedRuns, worth_of_lateness
from metrics.msu.trails import SimulatedUsers
from metrics.sweep.parts import SweepGrid, SweepWork, population_totals
from metrics.sweep.sweep import Part, SweepPlan, sweep_msu

ROOT = Path(__file__).resolve().parents[1]
TOPICS, RUNS, FEWEST, MOST = 9, 26, 10, 600
EVERY = 21
ONLY_NEW = False


def material(shared: Path) -> tuple[EventCollection, list[UpdateRun]]:
    whole = judgments(shared)
    collection = replace(whole, topics=dict(list(whole.topics.items())[:TOPICS]))
    rng = Random(2014)
    sizes = [round(FEWEST * (MOST / FEWEST) ** (number / (RUNS - 1))) for number in range(RUNS)]
    return collection, [drawn_run(collection, size, f"run{size}", rng) for size in sizes]


def processor_seconds() -> float:
    """User time of this process and of those that it waited for."""
    return sum(resource.getrusage(who).ru_utime for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def watched(plan: SweepPlan, parts: Iterator[Part]) -> Iterator[Part]:
    print(plan, flush=True)
    return parts


def bare_seconds(work: SweepWork, place: int) -> float:
    """Processor seconds of the compiled loop alone."""
    users = SimulatedUsers(population=work.grid.population(place), count=work.users, seed=work.seed)
    blocks = list(users.blocks(work.prepared.horizon))
    worths = [worth_of_lateness(work.prepared.decays, block.most_visits) for block in blocks]
    begun = time.process_time()
    for block, worth in zip(blocks, worths, strict=True):
        for of_run in work.prepared.streams:
            for streams in of_run.values():
                for stream in streams:
                    read_stream(block, stream, worth, ONLY_NEW)
    return time.process_time() - begun


def package_seconds(work: SweepWork, place: int) -> float:
    begun = time.process_time()
    population_totals(work, place)
    return time.process_time() - begun


PROGRAM = "from study_app.cli import main; main()"
TEN = ["--away", "30m,1h,3h,6h,12h", "--session", "2m,5m", "--spread", "0.5", "--lateness", "0.5"]


def print_starts(shared: Path) -> None:
    """Say how long a small sweep takes until its first population begins."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runs = [str(_written(run, folder)) for run in material(shared)[1]]
        qrels = shared / "data/ts-2014/qrels"
        options = ["--topics-file", qrels / "trec2014-ts-topics-test.xml", "--nuggets", qrels / "nuggets.tsv"]
        options += ["--matches", qrels / "matches.tsv", "--updates", qrels / "updates_sampled.tsv", *TEN]
        for number, what in enumerate(["without machine code", *["with it"] * 3]):
            out = ["-o", str(folder / str(number))]
            wall, processor = _start([*map(str, options), *out, *runs], folder / "machine-code")
            print(f"{what}: {wall:.1f} s wall, {processor:.1f} s processor")


def _written(run: UpdateRun, folder: Path) -> Path:
    path = folder / f"{run.name}.txt"
    rows = zip(run.topics, run.updates, run.seconds, run.confidence, strict=True)
    path.write_text(
        "".join(
            f"{topic} team {run.name} {' '.join(update.rsplit('-', 1))} {seconds:.0f} {confidence}\n"
            for topic, update, seconds, confidence in rows
        )
    )
    return path


def _start(words: list[str], cache: Path) -> tuple[float, float]:
    """Run the command until it has said its plan; return the wall and the processor time of that."""
    begun, environment = time.perf_counter(), os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", PROGRAM, "sweep", "msu", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        next(line for line in process.stderr or () if line.startswith("about "))
        wall, ticks = (
            time.perf_counter() - begun,
            Path(f"/proc/{process.pid}/stat").read_text().split()[13:15],
        )
        process.terminate()
    return wall, sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("shared", nargs="?", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--start", action="store_true")
    parser.add_argument("--users", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--spread", default="0.5,1,2")
    parser.add_argument("-o", "--out", type=Path)
    options = parser.parse_args()
    if options.start:
        print_starts(options.shared)
        return
    collection, runs = material(options.shared)
    grid = SweepGrid(spread=tuple(map(float, options.spread.split(","))))
    folder = options.out or Path(tempfile.mkdtemp())
    wall, processor = time.perf_counter(), processor_seconds()
    found = sweep_msu(
        collection, runs, folder, grid=grid, users=options.users, jobs=options.jobs, watch=watched
    )
    print(found.summary())
    print(
        f"{time.perf_counter() - wall:.0f} s wall, {processor_seconds() - processor:.0f} s processor (user), {options.jobs} processes"
    )
    own, children = (
        resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    print(f"{own:.0f} MB at most in this process, {children:.0f} MB in the largest of the others")
    measures = [MSU(lateness=decay) for decay in grid.lateness]
    work = SweepWork(PreparedRuns(collection, runs, measures, {}, "judged"), grid, options.users, 1)
    population_totals(work, 0, 1)
    places = range(0, grid.population_count, EVERY)
    bare = sum(bare_seconds(work, place) for place in places)
    package = sum(package_seconds(work, place) for place in places)
    print(
        f"{len(places)} populations in one process: {package:.1f} s processor, bare loops {bare:.1f} s, ratio {package / bare:.2f}"
    )


if __name__ == "__main__":
    main()
