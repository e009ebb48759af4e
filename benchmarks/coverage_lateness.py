"""Simulated coverage of the lateness decay: tables of docs/evidence.md.

    python -m benchmarks.coverage_lateness [--only plain|people] [--replications 1000] [--jobs 1] [--scheduler ADDRESS]

Plain: each line is one regime, with median error and standard deviation of L, the share of 95 % intervals that hold the truth (L and
p0), that of intervals that take answers for independent, and how often L is at an edge. People: who are not as the model says, with the share of
intervals that hold the truth, their median width in units of a good estimator's (log scale; with fewer than 30 people times t / 1.96), and how
often a check warns (few_* apart), and the interval, the range of other laws or a named cause holds L. The Monte-Carlo error of a share of .95 is
.007 at 1000 replications.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, roots_hermitenorm

from benchmarks.naive.lateness import unclustered_error
from benchmarks.replications import few, holds, print_head, print_row, replicated, run_parts, warned
from calibration.checks.registry import run_checks
from calibration.inference.results import NotIdentifiedError
from calibration.models.lateness.answers import LatenessCounts
from calibration.models.lateness.fit import DECAY, P0, fit_lateness
from calibration.models.lateness.simulate import LatenessRaters, simulate_lateness_counts
from metrics.parallel import Executor


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
COLUMNS = (
    "L, workers x ratings, p0",
    "target L",
    "median error",
    "sd",
    "L",
    "p0",
    "unclustered: L",
    "at an edge",
)


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
    decay, p0 = fit_lateness(drawn(regime, 1, workers=100_000)).estimates.tolist()
    return (decay if regime.concentration else regime.decay), p0


def shown(held: np.ndarray) -> str:
    """The mean of what there is: an interval that does not exist holds nothing and misses nothing."""
    return f"{held.mean():.3f}" if len(held) else "-"


def replication(regime: Regime, target: tuple[float, float], seed: int) -> tuple[float, ...]:
    decay, p0 = target
    counts = drawn(regime, seed)
    fit = fit_lateness(counts)
    ends = fit.conf_int()
    model = unclustered_error(*fit.estimates[:2], counts)
    notes = {note.name for note in fit.diagnostics}
    return (
        fit.parameters[DECAY],
        holds(ends[DECAY], decay),
        holds(ends[P0], p0),
        np.nan if model is None else holds(model.intervals(0.95)[0], decay),
        bool(notes & {"decay_at_zero", "decay_at_one"}),
    )


def line(regime: Regime, replications: int, engine: Executor) -> str:
    target = targets(regime)
    columns = np.array(replicated(engine, partial(replication, regime, target), replications), dtype=float)
    own = "own L, " if regime.concentration else ""
    shares = " | ".join(shown(column[~np.isnan(column)]) for column in columns.T[1:])
    return (
        f"| {own}{regime.decay}, {regime.workers} x {regime.ratings}, {regime.p0} | {target[0]:.3f} | "
        f"{np.median(columns[:, 0]) - target[0]:+.4f} | {columns[:, 0].std():.4f} | {shares} |"
    )


def plain(replications: int, engine: Executor) -> None:
    print_head(*COLUMNS)
    for regime in REGIMES:
        print(line(regime, replications, engine), flush=True)


PEOPLE = {
    "as the model says, L .5": LatenessRaters(decay=0.5),
    "the same, L .95": LatenessRaters(decay=0.95),
    "the same, 20 x 8": LatenessRaters(decay=0.5, workers=20, ratings_per_worker=8),
    "30 alike nuggets of 2 topics": LatenessRaters(decay=0.5, nuggets=30, topics=2),
    "60 alike nuggets of 8 topics": LatenessRaters(decay=0.5, nuggets=60, topics=8),
    "40 nuggets, sd 1": LatenessRaters(decay=0.5, nuggets=40, nugget_sd=1.0),
    "10 nuggets, sd 1": LatenessRaters(decay=0.5, nuggets=10, nugget_sd=1.0),
    "5 topics, sd 1, 60 workers": LatenessRaters(decay=0.5, workers=60, nuggets=50, topics=5, topic_sd=1.0),
    "20 topics, sd 1, 60 workers": LatenessRaters(
        decay=0.5, workers=60, nuggets=100, topics=20, topic_sd=1.0
    ),
    "a floor of .15": LatenessRaters(decay=0.5, floor=0.15),
    "a floor of .3, 100 workers": LatenessRaters(decay=0.5, floor=0.3, workers=100),
    "a fifth answers alike": LatenessRaters(decay=0.5, careless=0.2),
    "own decays, Beta(2, 2)": LatenessRaters(decay=0.5, decay_concentration=4.0),
}
CAUSES = frozenset({"lateness_floor", "not_geometric", "alike_answers", "workers_decay_differently"})


def mean_p0(raters: LatenessRaters) -> float:
    """Return the mean over workers, nuggets and topics of the chance in time, which is what p0 is of them all."""
    sd = np.sqrt(raters.worker_sd**2 + raters.nugget_sd**2 + raters.topic_sd**2)
    nodes, weights = roots_hermitenorm(31)
    return float(expit(logit(raters.p0) + sd * nodes) @ weights / weights.sum())


def person_study(raters: LatenessRaters, seed: int) -> tuple[float, ...] | None:
    """Return L, log width of its interval, and whether it holds L, p0 is held, a check warns, and anything holds L."""
    counts = simulate_lateness_counts(raters, np.random.default_rng([seed, 77]))
    try:
        fit = fit_lateness(counts)
    except NotIdentifiedError:
        return None
    findings = run_checks(fit, counts)
    names = warned(findings)
    low, high = fit.conf_int()[DECAY]
    laws = [law for each in findings for law in each.sensitivity.get(DECAY, ())]
    ends = [(low, high), *((law.low or law.estimate, law.high or law.estimate) for law in laws)]
    whole = min(end or 0.0 for end, _ in ends), max(1.0 if end is None else end for _, end in ends)
    held = holds((low, high), raters.decay)
    somehow = held or bool(names & CAUSES) or whole[0] <= raters.decay <= whole[1]
    width = np.log(high / low) if low and high else np.nan
    return (
        fit.parameters[DECAY],
        width,
        held,
        holds(fit.conf_int()[P0], mean_p0(raters)),
        bool(names),
        somehow,
    )


def people(replications: int, engine: Executor) -> None:
    print_head("regime", "L covers", "p0 covers", "width", "warned", "held")
    for label, raters in PEOPLE.items():
        found = [one for one in replicated(engine, partial(person_study, raters), replications) if one]
        decay, width, held, p0, warns, somehow = np.array(found, dtype=float).T
        good = 2 * 1.96 * np.std(np.log(decay[decay > 0])) * few(raters.workers)
        shares = f"{np.nanmedian(width) / good:.2f}", f"{warns.mean():.2f}", f"{somehow.mean():.2f}"
        print_row(label, f"{held.mean():.3f}", f"{p0.mean():.3f}", *shares)


if __name__ == "__main__":
    run_parts(__doc__, 1000, {"plain": plain, "people": people})
