"""Time and memory of joining two folders of a million rows.

python -m benchmarks.join_tables [ROWS] writes two waves of one study with shared pseudonyms (a fifth of the rows judgments, the others
reads of their texts) into a temporary folder and prints the seconds and the largest memory of `prefcal tables join`.
"""

import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from calibration.tables.files import write_tables
from calibration.tables.study_json import StudyRecord, table_records, write_study

ROWS = 1_000_000
JUDGMENTS_EACH, READS_EACH, TOPICS, SYSTEMS = 20, 4, 200, 10


def wave(folder: Path, number: int, rows: int) -> None:
    """Write a wave about its own topics; half of its workers stand in the other wave too."""
    rng = np.random.default_rng(number)
    count = rows // (1 + READS_EACH)
    worker = np.arange(count) // JUDGMENTS_EACH + number * (count // JUDGMENTS_EACH // 2)
    topic = rng.integers(0, TOPICS, count) + number * TOPICS
    left = rng.integers(0, SYSTEMS, count)
    right = (left + rng.integers(1, SYSTEMS, count)) % SYSTEMS
    low, high = np.minimum(left, right), np.maximum(left, right)
    names = pd.Series(worker).map("w{:07d}".format)
    topics = pd.Series(topic).map("topic-{:04d}".format)
    systems = np.array([f"system-{number}" for number in range(SYSTEMS)])
    judgments = names + f".{number}." + pd.Series(np.arange(count) % JUDGMENTS_EACH).astype("str")
    preferences = pd.DataFrame(
        {
            "judgment": judgments,
            "worker": names,
            "task": "pairs",
            "topic": topics,
            "pair": topics + ":" + systems[low] + "~" + systems[high],
            "system_left": systems[left],
            "system_right": systems[right],
            "choice": rng.choice(["left", "right", "equally_good"], count),
            "decision_seconds": rng.gamma(2, 8, count).round(3),
            "position": np.arange(count) % JUDGMENTS_EACH + 1,
        }
    )
    each = np.repeat(np.arange(count), READS_EACH)
    reads = pd.DataFrame(
        {
            "worker": names.to_numpy()[each],
            "topic": topics.to_numpy()[each],
            "system": systems[left][each],
            "page": judgments.to_numpy()[each] + "-page",
            "judgment": judgments.to_numpy()[each],
            "side": "left",
            "item": pd.Series(rng.integers(0, 40, len(each))).map("iunit-{:03d}".format),
            "kind": "iunit",
            "words": rng.integers(3, 30, len(each)),
            "first_seen": pd.Timestamp("2026-03-01T12:00Z")
            + pd.to_timedelta(rng.integers(0, 10**9, len(each)), unit="ms"),
            "dwell_seconds": rng.gamma(2, 2, len(each)).round(3),
            "fully_seen": True,
        }
    )
    workers = pd.DataFrame({"worker": names.drop_duplicates(), "excluded": False})
    write_tables({"workers": workers, "preferences": preferences, "reads": reads}, folder)
    counts = {"workers": len(workers), "preferences": len(preferences), "reads": len(reads)}
    record = StudyRecord(
        study=folder.name, pseudonyms="0123456789abcdef", tables=table_records(folder, counts)
    )
    write_study(record, folder)


def main(rows: int) -> None:
    """Print what a join takes."""
    with TemporaryDirectory() as where:
        folders = [Path(where) / "wave-1", Path(where) / "wave-2"]
        for number, folder in enumerate(folders):
            wave(folder, number, rows)
        began = time.perf_counter()
        command = [
            sys.executable,
            "-m",
            "prefcal",
            "tables",
            "join",
            *map(str, folders),
            "-o",
            f"{where}/joined",
        ]
        subprocess.run(command, check=True)
        seconds = time.perf_counter() - began
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
        print(f"two folders of {rows:,} rows: {seconds:.0f} s, {most:.2f} GB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS)
