"""How often the intervals of the lateness decay hold the truth: tables of docs/evidence.md.

    python -m benchmarks.coverage_lateness [--replications 1000] [--bootstrap 0] [--jobs 1] [--scheduler ADDRESS]

Each line is one regime: median error and standard deviation of L, the share of 95 % intervals that hold the truth (L and
p0), that of intervals that take answers for independent, and how often the diagnostics speak. The Monte-Carlo
error of a share of .95 is .007 at 1000 replications.
"""

import argparse
from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks.naive.lateness import unclustered_error
from benchmarks.replications import engine_arguments, replicated
from calibration.inference.uncertainty import Interval
from calibration.models.lateness.answers import LatenessCounts
from calibration.models.lateness.fit import DECAY, P0, fit_lateness_counts
from calibration.models.lateness.simulate import LatenessRaters, simulate_lateness_counts
from metrics.parallel import Engine, open_engine


class Regime(NamedTuple):
    decay: float
    workers: int
    p0: float = 0.8
    ratings: int = 20
    concentration: float | None = None


REGIMES = (
    *(Regime(decay, workers) for workers in (20, 50, 300) for decay in (0.5, 0.1, 0.95)),
    Regime(0.9, 50, p0=0.95, ratings=8),
    Regime(0.5, 10),
    Regime(0.5, 50, concentration=4.0),
    Regime(0.8, 50, concentration=4.0),
    Regime(0.02, 50),
    *(Regime(1.0, workers) for workers in (20, 50, 300)),
    *(Regime(0.0, workers) for workers in (20, 50, 300)),
)
HEADER = (
    "| L, workers x ratings, p0 | target L | median error | sd | sandwich: L | p0 | bootstrap: L | unclustered: L | "
    "at an edge | workers differ | not geometric |"
)


def holds(interval: Interval, truth: float) -> bool:
    low, high = interval
    return (low is None or low <= truth) and (high is None or truth <= high)


def drawn(regime: Regime, seed: int, workers: int | None = None) -> LatenessCounts:
    rng = np.random.default_rng([seed, regime.workers, int(1000 * regime.decay)])
    raters = LatenessRaters(
        decay=regime.decay,
        p0=regime.p0,
        workers=workers or regime.workers,
        ratings_per_worker=regime.ratings,
        decay_concentration=regime.concentration,
    )
    return simulate_lateness_counts(raters, rng)


def targets(regime: Regime) -> tuple[float, float]:
    """What the fit tends to: the geometric curve closest to that of everybody, from a very large sample."""
    decay, p0 = fit_lateness_counts(drawn(regime, 1, workers=100_000)).estimates.tolist()
    return (decay if regime.concentration else regime.decay), p0


def shown(held: np.ndarray) -> str:
    """The mean of what there is: an interval that does not exist holds nothing and misses nothing."""
    return f"{held.mean():.3f}" if len(held) else "-"


def replication(regime: Regime, target: tuple[float, float], bootstrap: int, seed: int) -> tuple[float, ...]:
    decay, p0 = target
    counts = drawn(regime, seed)
    rng = np.random.default_rng(seed) if bootstrap else None
    fit = fit_lateness_counts(counts, rng=rng, resamples=bootstrap)
    ends = fit.conf_int()
    model = unclustered_error(*fit.estimates[:2], counts)
    notes = {note.name for note in fit.diagnostics}
    return (
        fit.parameters[DECAY],
        holds(ends[DECAY], decay),
        holds(ends[P0], p0),
        holds(fit.conf_int(method="bootstrap")[DECAY], decay) if bootstrap else np.nan,
        np.nan if model is None else holds(model.intervals(0.95)[0], decay),
        bool(notes & {"decay_at_zero", "decay_at_one"}),
        "workers_decay_differently" in notes,
        "not_geometric" in notes,
    )


def line(regime: Regime, replications: int, bootstrap: int, engine: Engine) -> str:
    target = targets(regime)
    rows = replicated(engine, partial(replication, regime, target, bootstrap), replications)
    columns = np.array(rows, dtype=np.float64)
    own = "own L, " if regime.concentration else ""
    shares = " | ".join(shown(column[~np.isnan(column)]) for column in columns.T[1:])
    return (
        f"| {own}{regime.decay}, {regime.workers} x {regime.ratings}, {regime.p0} | {target[0]:.3f} | "
        f"{np.median(columns[:, 0]) - target[0]:+.4f} | {columns[:, 0].std():.4f} | {shares} |"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=1000)
    parser.add_argument("--bootstrap", type=int, default=0, help="resamples; 0 leaves the bootstrap out")
    engine_arguments(parser)
    options = parser.parse_args()
    print(HEADER)
    print("|" + "---|" * (HEADER.count("|") - 1))
    with open_engine(jobs=options.jobs, scheduler=options.scheduler) as engine:
        for regime in REGIMES:
            print(line(regime, options.replications, options.bootstrap, engine), flush=True)
