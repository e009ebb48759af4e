"""Push track of 2015 for 40 runs, beside a literal implementation in Python.

Reading is included.

    python benchmarks/push.py [SHARED] [--rounds N]

SHARED is the folder with the reference data (default: ``shared`` beside the checkout). Runs are drawn from the judgment
pool with a fixed seed, in the size that the track allowed: up to ten pushes a day for each of 225 topics, of which 51
are judged. Both ways read the same files and compute ELG-1, ELG-0, nCG-1, nCG-0 and T11U; the literal one splits
lines and walks over pushes (`tests/metrics/push_oracle.py`, which the tests compare the package with). They take
turns in one process; the ratios are ones of medians.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeVar

import numpy as np

from metrics.push.days import TRACK
from metrics.push.measures import ELG, NCG, T11U
from metrics.push.score import push_scores
from metrics.push.streams import GAIN_OF_GRADE, Created, PushCollection, PushRun, days_between
from metrics.readers.push import read_push_collection, read_push_run
from tests.metrics import push_oracle

ROOT = Path(__file__).resolve().parents[1]
DAYS = days_between("20150720", "20150729")
RUNS, TOPICS, DAILY = 40, range(226, 451), 10
MEASURES = [ELG(), ELG(silent_days=0), NCG(), NCG(silent_days=0), T11U()]

Scores = dict[tuple[str, str], float]
T = TypeVar("T")


def write_runs(folder: Path, epochs: Path, rng: Random) -> list[Path]:
    """Write runs that push, each day for each topic, 0 to 10 tweets of the pool, up to two hours late."""
    posted: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    for line in epochs.read_text().splitlines():
        tweet, day, epoch = line.split()
        posted[day].append((tweet, int(epoch)))
    paths = [folder / f"run{number:02}" for number in range(RUNS)]
    for path in paths:
        lines = [
            f"MB{topic} {tweet} {epoch + rng.randrange(7200)} {path.name}\n"
            for topic in TOPICS
            for day in DAYS
            for tweet, epoch in rng.sample(posted[day], rng.randint(0, DAILY))
        ]
        path.write_text("".join(lines))
    return paths


def read_judgments(qrels: Path, clusters: Path, epochs: Path) -> PushCollection:
    return read_push_collection(qrels=qrels, clusters=clusters, epochs=epochs, days=DAYS)


def package_way(qrels: Path, clusters: Path, epochs: Path, runs: list[Path]) -> Scores:
    scores = push_scores(read_judgments(qrels, clusters, epochs), map(read_push_run, runs), MEASURES)
    return {(score.run, score.metric): score.value for score in scores if score.topic == "all"}


def literal_way(qrels: Path, clusters: Path, epochs: Path, runs: list[Path]) -> Scores:
    collection = literal_collection(qrels, clusters, epochs)
    scores: Scores = {}
    for path in runs:
        days = push_oracle.count_days(collection, literal_run(path), TRACK)
        for silent_days in (1, 0):
            options = {"silent_days": silent_days, "redundant_silent": True}
            scores[path.name, f"ELG-{silent_days}"] = push_oracle.elg(days, **options)
            scores[path.name, f"nCG-{silent_days}"] = push_oracle.ncg(days, **options)
        scores[path.name, "T11U"] = push_oracle.t11u(days, alpha=0.66)
    return scores


def literal_collection(qrels: Path, clusters: Path, epochs: Path) -> PushCollection:
    """Read line by line, without any check."""
    gains: dict[str, dict[str, float]] = {}
    with qrels.open() as lines:
        for line in lines:
            topic, _, tweet, grade = line.split()
            gains.setdefault(f"MB{topic}", {})[tweet] = GAIN_OF_GRADE[int(grade)]
    created: dict[str, Created] = {}
    with epochs.open() as lines:
        for line in lines:
            tweet, day, epoch = line.split()
            created[tweet] = Created(day, int(epoch))
    found = json.loads(clusters.read_text())["topics"]
    return PushCollection(
        name="literal",
        days=dict.fromkeys(gains, DAYS),
        gains=gains,
        clusters={
            topic: tuple(map(tuple, found.get(topic, {"clusters": []})["clusters"])) for topic in gains
        },
        created=created,
    )


def literal_run(path: Path) -> PushRun:
    with path.open() as lines:
        topics, tweets, epochs, _ = zip(*(line.split() for line in lines), strict=True)
    return PushRun(name=path.name, topics=topics, tweets=tweets, epochs=np.array(list(map(int, epochs))))


class Clocks(NamedTuple):
    """Seconds on the wall and of this process."""

    wall: float
    cpu: float


def timed(work: Callable[[], T]) -> tuple[Clocks, T]:
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return Clocks(time.perf_counter() - wall, time.process_time() - cpu), result


def median(measured: list[Clocks]) -> Clocks:
    return Clocks(*map(statistics.median, zip(*measured, strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("shared", nargs="?", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    folder = options.shared / "data/mb-2015/qrels"
    if not folder.is_dir():
        sys.exit(f"{folder} is not there: name the folder with the reference data")
    judgments = folder / "qrels.txt", folder / "clusters-2015.json", folder / "tweet2dayepoch.txt"
    times: defaultdict[str, list[Clocks]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as place:
        runs = write_runs(Path(place), judgments[2], Random(2015))
        pushes = sum(path.read_bytes().count(b"\n") for path in runs)
        print(f"{RUNS} runs, {pushes:,} pushes, {sum(path.stat().st_size for path in runs) / 1e6:.0f} MB")
        for _ in range(options.rounds):
            ours, found = timed(lambda: package_way(*judgments, runs))
            literal, wanted = timed(lambda: literal_way(*judgments, runs))
            assert all(abs(found[key] - value) < 1e-9 for key, value in wanted.items())
            times["package"].append(ours)
            times["literal"].append(literal)
            times["judgments alone"].append(timed(lambda: read_judgments(*judgments))[0])
    print(f"{'median of ' + str(options.rounds):20} {'wall':>8} {'cpu':>8}")
    for name, measured in times.items():
        print(f"{name:20} {median(measured).wall:6.2f} s {median(measured).cpu:6.2f} s")
    ours, literal = median(times["package"]), median(times["literal"])
    print(f"{'literal / package':20} {literal.wall / ours.wall:8.1f} {literal.cpu / ours.cpu:8.1f}")


if __name__ == "__main__":
    main()
