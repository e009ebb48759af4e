"""M and S of 1e5 workers, beside lifelines' log-normal fit of the same rows.

Each worker has 10 intervals.

    python benchmarks/durations.py [--workers 100000] [--rounds 3]

Ours fits the model of `calibration.models.durations.likelihood` to rows (worker, seconds, complete), the sums included. lifelines'
`LogNormalFitter` fits one log-normal law to all rows, censored ones too: another model, and not the right one, as its
mean shows. They take turns in one process; times are medians. lifelines is not part of prefcal: put it into an
environment of its own beside prefcal (`pip install lifelines`); without it only ours runs.
"""

import argparse
import importlib
import math
import statistics
import time
from collections.abc import Callable

import numpy as np

from calibration.models.durations.exposure import WorkerTotals
from calibration.models.durations.fit import fit_durations

HOUR = 3600
MEAN = SD = 24.0 * HOUR
INTERVALS = 10
CUT = 0.1


def rows(workers: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Worker, seconds and completeness of each interval; one in ten is cut at a time of its own."""
    variance = math.log1p((SD / MEAN) ** 2)
    means = np.exp(rng.normal(math.log(MEAN) - variance / 2, math.sqrt(variance), workers))
    worker = np.repeat(np.arange(workers), INTERVALS)
    seconds = rng.standard_exponential(worker.size) * means[worker]
    cut = rng.standard_exponential(worker.size) * means[worker] * (1 - CUT) / CUT
    return worker, np.minimum(seconds, cut), seconds <= cut


def ours(worker: np.ndarray, seconds: np.ndarray, complete: np.ndarray) -> tuple[float, float]:
    size = int(worker.max()) + 1
    totals = WorkerTotals(
        events=np.bincount(worker, complete, minlength=size),
        seconds=np.bincount(worker, seconds, minlength=size),
    )
    fit = fit_durations(totals)
    return fit.mean, fit.sd


def theirs() -> Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[float, float]] | None:
    """lifelines' pooled log-normal fit, where it is installed."""
    try:
        fitter = importlib.import_module("lifelines").LogNormalFitter
    except ModuleNotFoundError:
        return None

    def fit(_: np.ndarray, seconds: np.ndarray, complete: np.ndarray) -> tuple[float, float]:
        found = fitter().fit(np.maximum(seconds, 1e-3), complete)
        mean = math.exp(found.mu_ + found.sigma_**2 / 2)
        return mean, mean * math.sqrt(math.expm1(found.sigma_**2))

    return fit


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--workers", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    data = rows(chosen.workers, np.random.default_rng(1))
    fits = {"prefcal": ours}
    lifelines = theirs()
    if lifelines is None:
        print("lifelines is not installed here; to compare, install it beside prefcal: pip install lifelines")
    else:
        fits["lifelines LogNormalFitter"] = lifelines
    times: dict[str, list[float]] = {name: [] for name in fits}
    found = {}
    for _ in range(chosen.rounds):
        for name, fit in fits.items():
            begun = time.perf_counter()
            found[name] = fit(*data)
            times[name].append(time.perf_counter() - begun)
    print(
        f"{len(data[0]):,} rows of {chosen.workers:,} workers; truth M = {MEAN / HOUR:g} h, S = {SD / HOUR:g} h"
    )
    print("| | seconds (median) | M, h | S, h |\n|---|---|---|---|")
    for name, (mean, sd) in found.items():
        print(f"| {name} | {statistics.median(times[name]):.2f} | {mean / HOUR:.1f} | {sd / HOUR:.1f} |")
    if lifelines is not None:
        ratio = statistics.median(times["lifelines LogNormalFitter"]) / statistics.median(times["prefcal"])
        print(f"{ratio:.0f} times as fast")


if __name__ == "__main__":
    main()
