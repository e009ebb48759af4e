"""MSU of 1,000 users over 15 topics, beside pure Python and a compiled loop.

    python benchmarks/msu.py [SHARED] [--rounds N]

SHARED is the folder with the reference data (default: ``shared`` beside the checkout). The topics are those of 2014;
six runs are drawn from the sampled updates with a fixed seed, two each of 20, 100 and 400 updates a topic. Users come
from the population M_A = 3 h, S_A = 1.5 h, M_D = 2 min, S_D = 1 min, and L = 0.5. Three ways take turns in one process:

- package: `metrics.msu.score.msu_scores`, everything included but reading the files;
- bare loop: only the compiled loop, over the same users and streams, prepared beforehand;
- literal Python: `tests/metrics/stream_oracle.py`, over the same users and streams, prepared beforehand too.

The ratios are ones of medians. Then the package's peak memory, in processes of their own, for more users and runs.
"""

import argparse
import math
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np

from metrics.events import EventCollection, UpdateRun
from metrics.msu.kernels import read_stream
from metrics.msu.measures import MSU, ReadingSetting, StreamTopic
from metrics.msu.score import msu_scores
from metrics.msu.simulation import worth_of_lateness
from metrics.msu.trails import Population, SimulatedUsers, trails
from metrics.readers.tempsum import read_events
from tests.metrics import stream_oracle

ROOT = Path(__file__).resolve().parents[1]
HOUR = 3600
POPULATION = Population(
    away_mean_seconds=3 * HOUR, away_sd_seconds=1.5 * HOUR, session_mean_seconds=120, session_sd_seconds=60
)
USERS, DECAY = 1000, 0.5
UPDATES = (20, 100, 400) * 2
SETTING, ONLY_NEW = ReadingSetting("since_last_read", 30), False


def judgments(shared: Path) -> EventCollection:
    folder = shared / "data/ts-2014/qrels"
    return read_events(
        topics=folder / "trec2014-ts-topics-test.xml",
        nuggets=folder / "nuggets.tsv",
        matches=folder / "matches.tsv",
        updates=folder / "updates_sampled.tsv",
    )


def drawn_run(collection: EventCollection, size: int, name: str, rng: Random) -> UpdateRun:
    """A run of so many sampled updates a topic, each up to an hour after its document."""
    lines = [
        (topic, update, int(update.partition("-")[0]) + rng.randrange(HOUR), rng.random())
        for topic, event in collection.topics.items()
        for update in rng.sample(list(event.updates), size)
    ]
    topics, updates, seconds, confidence = zip(*lines, strict=True)
    return UpdateRun(
        name=name,
        topics=tuple(topics),
        updates=tuple(updates),
        seconds=np.array(seconds, dtype=np.float64),
        confidence=np.array(confidence, dtype=np.float64),
    )


def package_way(collection: EventCollection, runs: list[UpdateRun], users: int) -> list[float]:
    scores = msu_scores(
        collection, runs, [MSU(lateness=DECAY)], SimulatedUsers(population=POPULATION, count=users)
    )
    return [score.value for score in scores if score.topic == "all"]


def bare_way(collection: EventCollection, runs: list[UpdateRun]) -> Callable[[], list[float]]:
    """Prepare everything; what is returned only loops."""
    crowd = trails(people(collection))
    streams = [
        [
            StreamTopic(event, {}, SETTING).stream(run, run.entries(collection.topics)[topic])
            for topic, event in collection.topics.items()
        ]
        for run in runs
    ]
    worth = worth_of_lateness([(DECAY, 0.0)], crowd.most_visits)

    def loop() -> list[float]:
        return [
            float(np.mean([read_stream(crowd, one, worth, ONLY_NEW)[0].mean() for one in of_run]))
            for of_run in streams
        ]

    return loop


def literal_way(collection: EventCollection, runs: list[UpdateRun]) -> Callable[[], list[float]]:
    """Prepare everything; what is returned only loops."""
    crowd = people(collection)
    streams = [
        [
            (stream_oracle.lines_of(event, run, topic), event.end - event.start)
            for topic, event in collection.topics.items()
        ]
        for run in runs
    ]

    def loop() -> list[float]:
        return [
            statistics.mean(
                stream_oracle.read_stream(lines, user, [DECAY], topic_seconds=length)[0][0]
                for lines, length in of_run
                for user in crowd
            )
            for of_run in streams
        ]

    return loop


def people(collection: EventCollection) -> list[tuple[float, list[tuple[float, float]]]]:
    """The package's users, drawn one by one: their visits to the longest topic."""
    longest = max(event.end - event.start for event in collection.topics.values())
    return [
        stream_oracle.draw_visits(POPULATION, np.random.default_rng((1, number)), longest)
        for number in range(USERS)
    ]


def timed(way: Callable[[], list[float]]) -> tuple[float, float, list[float]]:
    """Seconds on the wall and of the processor, and the result."""
    wall, processor = time.perf_counter(), time.process_time()
    result = way()
    return time.perf_counter() - wall, time.process_time() - processor, result


def peak_memory(shared: Path, users: int, runs: int) -> float:
    """MB at most in a process that scores so many users and runs."""
    command = [sys.executable, __file__, str(shared), "--memory", str(users), str(runs)]
    ended = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}
    )
    return float(ended.stdout)


def score_and_print_memory(collection: EventCollection, users: int, runs: int) -> None:
    rng = Random(1)
    package_way(collection, [drawn_run(collection, 100, f"run{one}", rng) for one in range(runs)], users)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("shared", nargs="?", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--memory", type=int, nargs=2, metavar=("USERS", "RUNS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    collection = judgments(options.shared)
    if options.memory:
        score_and_print_memory(collection, *options.memory)
        return
    rng = Random(2014)
    runs = [drawn_run(collection, size, f"run{number}", rng) for number, size in enumerate(UPDATES)]
    ways = {
        "package": lambda: package_way(collection, runs, USERS),
        "bare compiled loop": bare_way(collection, runs),
        "literal Python": literal_way(collection, runs),
    }
    ways["package"]()  # compiles, or finds the machine code
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    results = {}
    for _ in range(options.rounds):
        for name, way in ways.items():
            wall, processor, results[name] = timed(way)
            taken[name].append((wall, processor))
    for one in results.values():
        assert all(map(math.isclose, one, results["package"]))
    units = USERS * len(collection.topics) * len(runs)
    medians = {name: np.median(times, axis=0) for name, times in taken.items()}
    print(
        f"{USERS} users, {len(collection.topics)} topics, runs of {UPDATES} updates a topic; median of {options.rounds}"
    )
    for name, (wall, processor) in medians.items():
        each = processor / units * 1e6
        print(
            f"{name:20} {wall:8.3f} s wall {processor:8.3f} s processor {each:8.2f} us a user, topic and run"
        )
    for name, over in [("literal Python", "package"), ("package", "bare compiled loop")]:
        ratio = medians[name] / medians[over]
        print(f"{name} / {over}: {ratio[0]:.1f} wall, {ratio[1]:.1f} processor")
    for users, count in [(1_000, 3), (100_000, 3), (1_000, 60)]:
        print(f"{users} users, {count} runs: {peak_memory(options.shared, users, count):.0f} MB at most")


if __name__ == "__main__":
    main()
