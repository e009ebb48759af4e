"""Recovery of reading speed, and coverage of its intervals.

Tables of docs/evidence.md.

    python -m benchmarks.coverage_reading [--replications 1000] [--only coverage|naive|speed] [--jobs 1] [--scheduler ADDRESS]

Each line of the first table is one regime: mean error of mu, mean relative error of sigma, both with their
standard deviations, and the share of 95 % intervals that hold the truth. The Monte-Carlo error of a share of
.95 is .007 at 1000 replications.
"""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain

import numpy as np
import pandas as pd

from benchmarks.naive.reading import NAIVE
from benchmarks.replications import print_head, print_row, replicated, run_parts
from calibration.inference.results import NotIdentifiedError
from calibration.models.reading.fit import NAMES, ReadingSpeedFit, fit_reading_speed
from calibration.models.reading.law import SimulatedReaders, simulate_reads
from calibration.models.reading.rows import readings
from metrics.parallel import Executor

AT_ONCE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Regime:
    label: str
    readers: SimulatedReaders
    workers: int = 100
    items: int = 20

    def studies(self, count: int, lot: int) -> Iterator[pd.DataFrame]:
        """Draw one of the lots of fifty into which so many studies go: small tables are slow to make."""
        rows, first = self.workers * self.items, AT_ONCE * lot
        rng = np.random.default_rng([first, self.workers, self.items])
        many = simulate_reads(self.readers, rng, workers=AT_ONCE * self.workers, items=self.items)
        for number in range(min(AT_ONCE, count - first)):
            yield many[rows * number : rows * (number + 1)]


REGIMES = (
    Regime(label="clean", readers=SimulatedReaders()),
    Regime(label="15 % idle, 10 % skimmed", readers=SimulatedReaders(idle=0.15, skimmed=0.10)),
    Regime(label="30 % idle, 10 % skimmed", readers=SimulatedReaders(idle=0.30, skimmed=0.10)),
    Regime(label="5 % idle, visits of 1 min", readers=SimulatedReaders(idle=0.05, mean_visit_seconds=60)),
    Regime(
        label="15 % idle, 10 % skimmed",
        readers=SimulatedReaders(idle=0.15, skimmed=0.10),
        workers=30,
        items=10,
    ),
    Regime(
        label="5 % idle, visits of 10 s",
        readers=SimulatedReaders(idle=0.05, mean_visit_seconds=10),
        workers=30,
        items=10,
    ),
)


def fitted(regime: Regime, count: int, lot: int) -> list[ReadingSpeedFit]:
    found = []
    for reads in regime.studies(count, lot):
        with contextlib.suppress(NotIdentifiedError):
            found.append(fit_reading_speed(readings(reads)))
    return found


def coverage(replications: int, engine: Executor) -> None:
    print_head("reads", "workers x items", "mu: bias (sd)", "sigma: bias (sd)", "mu held", "sigma held")
    for regime in REGIMES:
        lots = replicated(engine, partial(fitted, regime, replications), -(-replications // AT_ONCE))
        each = list(chain.from_iterable(lots))
        refused = f" {replications - len(each)} refused" if len(each) < replications else ""
        print(line(regime, each) + refused, flush=True)


def line(regime: Regime, fits: list[ReadingSpeedFit]) -> str:
    truth = np.array([regime.readers.mu, regime.readers.sigma])
    estimates = np.array([fit.estimates for fit in fits])
    bias, sd = np.mean(estimates, axis=0) - truth, np.std(estimates, axis=0)
    ends = np.array([[fit.conf_int()[name] for name in NAMES] for fit in fits])
    share = np.mean((ends[:, :, 0] <= truth) & (truth <= ends[:, :, 1]), axis=0)
    what = f"| {regime.label} | {regime.workers} x {regime.items} | {bias[0]:+.3f} ({sd[0]:.3f}) "
    return f"{what}| {bias[1] / truth[1]:+.3f} ({sd[1] / truth[1]:.3f}) | {share[0]:.3f} | {share[1]:.3f} |"


def naive_values(regime: Regime, name: str, count: int, lot: int) -> list[list[float]]:
    return [list(NAIVE[name](reads).values()) for reads in regime.studies(count, lot)]


def naive(replications: int, engine: Executor) -> None:
    print_head("reads", *NAIVE)
    for regime in REGIMES:
        cells, count = [], max(1, replications // 10)
        for name in NAIVE:
            lots = replicated(engine, partial(naive_values, regime, name, count), -(-count // AT_ONCE))
            values = list(chain.from_iterable(lots))
            cells.append("{:.3f} / {:.3f}".format(*np.median(values, axis=0)))
        print_row(f"{regime.label}, {regime.workers} x {regime.items}", *cells)


def speed(_: int, __: Executor) -> None:
    readers = SimulatedReaders(idle=0.15, skimmed=0.10, mean_visit_seconds=60)
    for workers, items in ((300, 50), (300, 3300)):
        reads = simulate_reads(readers, np.random.default_rng(1), workers=workers, items=items)
        begun = time.perf_counter()
        fit_reading_speed(readings(reads))
        print(f"{workers} workers x {items} items: {time.perf_counter() - begun:.2f} s")


if __name__ == "__main__":
    run_parts(__doc__, 1000, {"coverage": coverage, "naive": naive, "speed": speed})
