"""Simulated coverage of patience, persistence and intents.

Tables of docs/evidence.md.

    python -m benchmarks.coverage_patience [--replications 1000] [--only preferences|grid|stops|lists|intents]
                                           [--jobs 1] [--scheduler ADDRESS]

Each line is one regime: median relative error and its robust standard deviation, and the share of 95 % intervals that
hold the truth. The Monte-Carlo error of a share of .95 is .007 at 1000 replications. Judgments are of 100 collections in
turn, which take longer to draw than to judge.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import TypeAlias

import numpy as np

from benchmarks.replications import holds, replicated, run_parts
from calibration.inference.choice import Votes, choice_probabilities
from calibration.inference.results import CalibrationResult, NotIdentifiedError
from calibration.inference.uncertainty import Interval
from calibration.models.intents import IntentBallots, fit_intents
from calibration.models.patience.grid import fit_patience_on_grid
from calibration.models.patience.pairs import JudgedSummaries, summary_pairs
from calibration.models.patience.preferences import fit_patience_from_preferences
from calibration.models.patience.simulate import (
    Habits,
    SimulatedJudges,
    simulate_preferences,
    simulate_stops,
    simulate_summaries,
    simulate_votes,
)
from calibration.models.patience.stops import fit_patience_from_stops, stops_of_texts
from calibration.models.persistence import ListReaders, fit_persistence, list_steps, simulate_list_stops
from calibration.tables.preferences import pair_votes
from metrics.arrays import Floats
from metrics.parallel import Executor
from metrics.summaries.trailtext import Probabilities

Found: TypeAlias = tuple[float, dict[str, Interval]]
"""An estimate, and its interval by each method."""

# topics, judges a topic, L, effect, unexplained
PREFERENCES = (
    (8, 7, 840, 3.0, 0.0),
    (8, 7, 840, 3.0, 0.4),
    (8, 7, 840, 1.0, 0.4),
    (8, 7, 400, 1.0, 0.4),
    (8, 7, 1500, 1.0, 0.4),
    (8, 7, 840, 0.4, 0.4),
    (8, 7, 840, 1.0, 1.2),
    (8, 7, 6000, 1.0, 0.4),
    (25, 14, 840, 1.0, 0.4),
    (25, 14, 1500, 0.4, 1.2),
    (4, 5, 840, 1.0, 0.4),
)
# workers, texts, coefficient of variation of L, finishers, the L whose line is closest to the truth
STOPS = (
    (20, 4, 0.0, 0.0),
    (60, 4, 0.0, 0.0),
    (60, 20, 0.0, 0.0),
    (100, 4, 0.4, 0.0),
    (100, 4, 0.0, 0.1),
)
# persistence, workers, lists each, entries of a list, lists in all
LISTS = (
    (0.8, 20, 4, 20, 40),
    (0.8, 60, 4, 20, 40),
    (0.8, 60, 20, 20, 40),
    (0.8, 40, 6, 20, 6),
    (0.9, 60, 4, 10, 40),
    (0.95, 20, 4, 10, 40),
)
# topics, voters per topic
VOTES = ((8, 3), (8, 5), (8, 10), (8, 30), (25, 5), (25, 10))
COLLECTIONS = 100
SENSITIVITY_SD, TIE_WEIGHT = 0.3, 0.6
STOPPED = 1500.0
"""Patience of those who stop."""


def line(label: str, fits: list[Found], truth: float) -> str:
    """Summarise fits of one regime: error and spread on the log scale, coverage by interval method."""
    estimates = np.array([estimate for estimate, _ in fits])
    logs = np.log(np.minimum(estimates, 1e9) / truth)
    spread = np.subtract(*np.quantile(logs, [0.75, 0.25])) / 1.349
    shares = {how: np.mean([holds(i[how], truth) for _, i in fits]) for how in fits[0][1]}
    widths = [math.log(high / low) for _, i in fits for low, high in [next(iter(i.values()))] if low and high]
    covered = "  ".join(f"{how} {share:.3f}" for how, share in shares.items())
    closed = len(widths) / len(fits)
    return (
        f"{label:44} {np.median(logs):+.3f} {spread:.3f}  {covered}  (both ends {closed:.2f}, n={len(fits)})"
    )


def intervals(fit: CalibrationResult) -> Found:
    (name, estimate), *_ = fit.parameters.items()
    return estimate, {how: fit.conf_int(method=how)[name] for how in fit.uncertainty}


@cache
def collection(topics: int, number: int) -> JudgedSummaries:
    """All pairs of a drawn collection, each judged once; the votes are then replaced."""
    rng = np.random.default_rng([number, topics])
    tables, probabilities = simulate_summaries(topics, rng)
    judges = SimulatedJudges(patience_chars=1000, per_topic=1)
    votes = pair_votes(simulate_preferences(tables["positions"], probabilities, judges, rng))
    return summary_pairs(votes, tables["positions"], probabilities)


def drawn_votes(pairs: JudgedSummaries, regime: tuple[float, ...], rng: np.random.Generator) -> Votes:
    """Votes by the model of `simulate_preferences`, without a table: for many replications."""
    topics, per_topic, patience, effect, unexplained = regime
    difference = pairs.differences(np.array([1 / patience]))[0]
    liking = rng.normal(0, unexplained, pairs.summaries.count)
    log_odds = effect * difference / difference.std() + liking[pairs.first] - liking[pairs.second]
    own = np.exp(rng.normal(0, SENSITIVITY_SD, (int(topics), int(per_topic))))
    chances = choice_probabilities(log_odds[:, None] * own[pairs.topic], np.log([TIE_WEIGHT]))
    u = rng.random(chances[0].shape)
    first, second = u < chances[0], (u >= chances[0]) & (u < chances[0] + chances[1])
    counts = [votes.sum(axis=1).astype(np.float64) for votes in (first, second, ~(first | second))]
    return Votes(first=counts[0], second=counts[1], ties=counts[2])


def judged(regime: tuple[float, ...], seed: int) -> tuple[JudgedSummaries, np.random.Generator]:
    topics, _, patience, *_ = regime
    rng = np.random.default_rng([seed, int(topics), int(patience)])
    pairs = collection(int(topics), seed % COLLECTIONS)
    return replace(pairs, votes=drawn_votes(pairs, regime, rng)), rng


def fitted_to_preferences(regime: tuple[float, ...], seed: int) -> Found | None:
    pairs, _ = judged(regime, seed)
    try:
        return intervals(fit_patience_from_preferences(pairs, n_workers=1))
    except NotIdentifiedError:
        return None


def fitted_on_grid(regime: tuple[float, ...], seed: int) -> Found | None:
    pairs, rng = judged(regime, seed)
    try:
        return intervals(fit_patience_on_grid(pairs, n_workers=1, rng=rng))
    except NotIdentifiedError:
        return None


def preferences(replications: int, engine: Executor) -> None:
    report_pairs(replications, engine, fitted_to_preferences)


def grid(replications: int, engine: Executor) -> None:
    report_pairs(replications, engine, fitted_on_grid)


def report_pairs(
    replications: int, engine: Executor, fit: Callable[[tuple[float, ...], int], Found | None]
) -> None:
    for regime in PREFERENCES:
        found = replicated(engine, partial(fit, regime), replications)
        fits = [one for one in found if one is not None]
        refused = len(found) - len(fits)
        label = "{} topics, {} judges, L={}, effect {}, unexpl. {}".format(*regime)
        print(line(label, fits, regime[2]) + (f", refused {refused}" if refused else ""), flush=True)


def stops_target(cv: float, finishers: float, patience: float) -> float:
    """Return the L whose line is closest to the survival curve of the regime, from a very large sample."""
    rng = np.random.default_rng(0)
    many = simulate_stops(
        patience, rng, workers=20_000, texts_per_worker=4, habits=Habits(patience_cv=cv, finishers=finishers)
    )
    return intervals(fit_patience_from_stops(stops_of_texts(many), rng=rng, resamples=2))[0]


def fitted_to_stops(workers: int, texts: int, habits: Habits, seed: int) -> Found:
    rng = np.random.default_rng([seed, workers, texts])
    table = simulate_stops(STOPPED, rng, workers=workers, texts_per_worker=texts, habits=habits)
    return intervals(fit_patience_from_stops(stops_of_texts(table), rng=rng))


def stops(replications: int, engine: Executor) -> None:
    for workers, texts, cv, finishers in STOPS:
        fit = partial(fitted_to_stops, workers, texts, Habits(patience_cv=cv, finishers=finishers))
        fits = replicated(engine, fit, replications)
        target = stops_target(cv, finishers, STOPPED)
        label = f"{workers} workers x {texts}, CV {cv}, finishers {finishers}: target {target:.0f}"
        print(line(label, fits, target), flush=True)


def fitted_to_lists(persistence: float, readers: ListReaders, seed: int) -> Found:
    fit = fit_persistence(list_steps(simulate_list_stops(persistence, np.random.default_rng(seed), readers)))
    return float(fit.estimates[0]), {"default": fit.conf_int()["rbp_p"]}


def lists(replications: int, engine: Executor) -> None:
    for persistence, workers, each, ranks, of in LISTS:
        readers = ListReaders(workers=workers, lists_each=each, ranks=ranks, lists=of)
        found = replicated(engine, partial(fitted_to_lists, persistence, readers), replications)
        label = f"{workers} workers x {each} of {of} lists of {ranks}, p {persistence}"
        print(line(label, found, persistence), flush=True)


@cache
def true_probabilities(topics: int) -> Probabilities:
    return simulate_summaries(topics, np.random.default_rng(topics))[1]


def fitted_to_votes(topics: int, voters: int, seed: int) -> Floats:
    """Return of every P(i|q) whether its interval holds, how far the estimate is off, and how far the raw share, (3, intents)."""
    probabilities, rng = true_probabilities(topics), np.random.default_rng([seed, voters])
    tables = simulate_votes(probabilities, rng, voters=voters)
    entries = fit_intents(
        IntentBallots(votes=tables["intent_votes"], offered=tables["intents"]), rng=rng
    ).entries()
    found = [(entries[topic][intent], p) for topic, of in probabilities.items() for intent, p in of.items()]
    errors = [
        (holds(entry.interval, p), abs(entry.estimate - p), abs((entry.raw or 0) - p)) for entry, p in found
    ]
    return np.array(errors, dtype=np.float64).T


def intents(replications: int, engine: Executor) -> None:
    for topics, voters in VOTES:
        found = replicated(engine, partial(fitted_to_votes, topics, voters), replications)
        held, error, raw_error = np.mean(found, axis=(0, 2))
        print(
            f"{topics} topics, {voters} voters: coverage {held:.3f}, mean absolute error "
            f"{error:.4f}, of the raw shares {raw_error:.4f}",
            flush=True,
        )


if __name__ == "__main__":
    run_parts(
        __doc__,
        1000,
        {"preferences": preferences, "grid": grid, "stops": stops, "lists": lists, "intents": intents},
    )
