"""Time of correlations: tau-b beside scipy's, `prefcal correlate` on 2e6 rows.

    python -m benchmarks.correlate

Processor time, so that a busy machine says the same; memory is the most that the command had at a time.
"""

import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau

from benchmarks.command import run_prefcal, shown_use
from metrics.agreement.correlation import kendall_tau_b

SYSTEMS = (50, 500, 2_000, 10_000)
TABLES = ((100, 10_000, 2), (50, 4_000, 10), (1_000, 500, 4))
"""Systems, topics and measures of tables with two million rows."""
ROUNDS, CALLS = 7, 20


def main() -> None:
    """Print a line a size."""
    rng = np.random.default_rng(1)
    for systems in SYSTEMS:
        x, y = rng.normal(size=(2, systems))
        ours = least_seconds(partial(kendall_tau_b, x, y))
        theirs = least_seconds(partial(kendalltau, x, y))
        print(f"tau-b of {systems:,} systems: {1e6 * ours:,.0f} us, {ours / theirs:.2f} times scipy's")
    with tempfile.TemporaryDirectory() as folder:
        for systems, topics, measures in TABLES:
            table = Path(folder) / "scores.csv"
            write_table(table, systems, topics, measures, rng)
            used = shown_use(run_prefcal("correlate", str(table)))
            print(f"correlate, {systems:,} systems x {topics:,} topics x {measures} measures: {used}")


def least_seconds(call: Callable[[], object]) -> float:
    """Return the processor time of a call, the least of several rounds."""
    call()
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        for _ in range(CALLS):
            call()
        best = min(best, (time.process_time() - start) / CALLS)
    return best


def write_table(path: Path, systems: int, topics: int, measures: int, rng: np.random.Generator) -> None:
    """Write a long table of scores of systems that differ."""
    worth = rng.normal(size=systems) / 10
    with path.open("w", encoding="utf-8") as file:
        file.write("run,topic,metric,value\n")
        for system in range(systems):
            scores = np.clip(rng.random((topics, measures)) + worth[system], 0, 1)
            file.writelines(
                f"system{system},q{topic},m{measure},{value:.4f}\n"
                for topic, row in enumerate(scores.tolist())
                for measure, value in enumerate(row)
            )


if __name__ == "__main__":
    main()
