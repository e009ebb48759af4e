"""Time and memory of `prefcal agree` on many judgments.

    python -m benchmarks.agree [JUDGMENTS]

500 people judge 9,000 pairs of ten systems on 200 queries, a million judgments by default; three measures score the systems. The
whole command in a process of its own, reading and writing included. Its tables are written by another one, for the peak of memory of
a process begins with that of the process that starts it.
"""

import sys
import tempfile
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.command import run_prefcal, shown_use

PEOPLE, TOPICS, SYSTEMS, MILLION = 500, 200, 10, 1_000_000
MEASURES = {"A": 0.3, "B": 0.5, "C": 1.0}
"""Each with the spread of its errors."""
SIDES = ["left", "right", "equally_good", "equally_bad"]


def write_study(folder: Path, judgments: int) -> None:
    """Write preferences.csv and scores.csv of people who differ in taste."""
    rng = np.random.default_rng(1)
    worth = rng.normal(0, 0.7, (TOPICS, SYSTEMS))
    taste = rng.normal(0, 0.4, (PEOPLE, SYSTEMS))
    worker, topic = rng.integers(0, PEOPLE, judgments), rng.integers(0, TOPICS, judgments)
    left = rng.integers(0, SYSTEMS, judgments)
    right = (left + rng.integers(1, SYSTEMS, judgments)) % SYSTEMS
    ahead = worth[topic, left] - worth[topic, right] + taste[worker, left] - taste[worker, right]
    ahead += rng.logistic(size=judgments)
    choice = np.select([ahead > 0.5, ahead < -0.5], [0, 1], 2 + rng.integers(0, 2, judgments))
    low, high = np.minimum(left, right), np.maximum(left, right)
    pd.DataFrame(
        {
            "judgment": [f"j{number}" for number in range(judgments)],
            "worker": [f"w{number}" for number in worker],
            "task": "pairs",
            "topic": [f"t{number}" for number in topic],
            "pair": [f"t{t}:s{a}:s{b}" for t, a, b in zip(topic, low, high, strict=True)],
            "system_left": [f"s{number}" for number in left],
            "system_right": [f"s{number}" for number in right],
            "choice": np.array(SIDES)[choice],
            "shown_at": "2026-03-01T10:00:00.000Z",
            "decided_at": "2026-03-01T10:00:30.000Z",
            "position": 1,
            "timing": "server",
            "decision_seconds": 30,
        }
    ).to_csv(folder / "preferences.csv", index=False)
    scores = [
        (f"s{system}", f"t{t}", measure, worth[t, system] + rng.normal(0, spread))
        for measure, spread in MEASURES.items()
        for t in range(TOPICS)
        for system in range(SYSTEMS)
    ]
    columns = ["run", "topic", "metric", "value"]
    pd.DataFrame(scores, columns=columns).to_csv(folder.parent / "scores.csv", index=False)


def main(judgments: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        tables = Path(name) / "tables"
        tables.mkdir()
        writer = get_context("spawn").Process(target=write_study, args=(tables, judgments))
        writer.start()
        writer.join()
        used = run_prefcal("agree", "tables", "--scores", "scores.csv", "-o", "results", folder=Path(name))
    print("| judgments | processor | peak memory |\n|---|---|---|")
    print(f"| {judgments:,} | {shown_use(used)} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else MILLION)
