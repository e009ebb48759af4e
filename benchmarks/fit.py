"""Time of `prefcal fit`: 300 workers with every table, and tables of 1e6 rows.

    python -m benchmarks.fit [--workers 300] [--large]

Wall and processor time of the whole command in a process of its own, reading and writing included. With ``--large`` also
tables of a million rows, most of them page events.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.command import run_prefcal, shown_use
from calibration.models.durations.simulate import ObservationDesign
from calibration.simulate import SimulatedStudy, simulate_study
from calibration.tables.definition import Tables
from calibration.tables.files import write_tables

LARGE = SimulatedStudy(
    workers=3000, topics=20, items=100, diary=ObservationDesign(days=14, topics=2, enrol_by_visit=0.5)
)


def report(label: str, tables: Tables) -> None:
    with tempfile.TemporaryDirectory() as name:
        write_tables(tables, Path(name))
        began = time.perf_counter()
        used = run_prefcal("fit", name, "-o", f"{name}/model.json")
        wall = time.perf_counter() - began
    rows = sum(len(table) for table in tables.values())
    print(f"| {label} | {rows:,} | {wall:.1f} s | {shown_use(used)} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=300)
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    study = simulate_study(SimulatedStudy(workers=options.workers), np.random.default_rng(1))
    print("| tables | rows | wall | processor | peak memory |\n|---|---|---|---|---|")
    report(f"{options.workers} workers", study)
    if options.large:
        report("3,000 workers", simulate_study(LARGE, np.random.default_rng(1)))
