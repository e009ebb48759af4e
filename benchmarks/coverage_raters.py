"""Simulated coverage of agreement among raters, consistency and side bias.

    python -m benchmarks.coverage_raters [--replications 1000] [--only preferences|importance|people] [--jobs 1] [--scheduler ADDRESS]

Prints a Markdown table for each: the truth (from a very large sample of such people; where the same people judge every
topic, of others like them), the median error of the estimate in units of its standard deviation, and for each interval method the share of 95 % intervals that hold the
truth. `naive` takes ratings or repeats as independent (for kappa it is statsmodels' asymptotic
interval). The Monte-Carlo error of a share of .95 is .007 at 1000 replications.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from statsmodels.stats.inter_rater import cohens_kappa, to_table

from benchmarks.replications import print_head, print_row, replicated, run_parts
from calibration.inference.results import CalibrationResult
from calibration.inference.uncertainty import Interval
from calibration.raters.consistency import fit_consistency
from calibration.raters.importance import fit_importance
from calibration.raters.position_bias import fit_position_bias
from calibration.raters.preferences import fit_rater_agreement
from calibration.raters.simulate import Assessors, Crowd, simulate_importance, simulate_judgments
from metrics.parallel import Executor

RESAMPLES = 500
LARGE = 1500


@dataclass(frozen=True, slots=True, kw_only=True)
class Regime:
    """One way in which data come about.

    Attributes
    ----------
    label : str
        For people.
    draw : callable
        Topics and a generator -> table.
    topics : int
        As many topics as the study has.
    """

    label: str
    draw: Callable[[int, np.random.Generator], pd.DataFrame]
    topics: int


def judgments(own: Crowd, topics: int, pairs: int, n: int, rng: np.random.Generator) -> pd.DataFrame:
    return simulate_judgments(n, pairs, own if n == topics else replace(own, shared=False), rng)


def crowd(label: str, topics: int, pairs: int, **people: object) -> Regime:
    draw = partial(judgments, Crowd(**people), topics, pairs)
    return Regime(label=label, topics=topics, draw=draw)


def ratings(own: Assessors, iunits: int, n: int, rng: np.random.Generator) -> pd.DataFrame:
    return simulate_importance(n, iunits, own, rng)


def assessed(label: str, topics: int, iunits: int, **people: object) -> Regime:
    return Regime(label=label, topics=topics, draw=partial(ratings, Assessors(**people), iunits))


PREFERENCES = (
    crowd("8 topics x 21 pairs x 7 judges of their own", 8, 21, per_pair=7),
    crowd("25 x 21 x 7, a fifth missing", 25, 21, per_pair=7, missing=0.2),
    crowd("11 x 25 x 10, topics differ more", 11, 25, per_pair=10, topic_spread=0.15),
    crowd(
        "25 x 10 x 10, the same judges everywhere, care varies",
        25,
        10,
        per_pair=10,
        shared=True,
        care=0.7,
        care_spread=0.2,
    ),
)
IMPORTANCE = (
    assessed("25 topics x 20 iUnits, the same 2 assessors", 25, 20),
    assessed("25 x 20, 2 assessors of each topic's own", 25, 20, shared=False),
    assessed("8 x 30, the same 2 assessors", 8, 30),
    assessed("100 x 10, the same 2 assessors", 100, 10),
    assessed("25 x 20, the same 3, a third missing", 25, 20, per_topic=3, missing=1 / 3),
)
CARE = {"care": 0.7, "care_spread": 0.3, "left_habit": 0.5, "left_sd": 0.7}
PEOPLE = (
    crowd("12 workers x 21 pairs, 3 repeats", 4, 21, per_pair=3, repeats=3, **CARE),
    crowd("56 workers x 21, 3 repeats", 8, 21, per_pair=7, repeats=3, **CARE),
    crowd("175 workers x 21, 3 repeats", 25, 21, per_pair=7, repeats=3, **CARE),
    crowd("56 workers x 21, 10 repeats, no lean", 8, 21, per_pair=7, repeats=10, care=0.5, care_spread=0.3),
)


def binomial(table: pd.DataFrame) -> dict[str, Interval]:
    """What taking every repeat as independent gives."""
    fit = fit_consistency(table, rng=np.random.default_rng(0), resamples=2)
    return {
        f"consistency_{what}": (fit.details[f"{what}_exact_low"], fit.details[f"{what}_exact_high"])
        for what in ("share", "kappa")
    }


def asymptotic(table: pd.DataFrame) -> dict[str, Interval]:
    """What statsmodels gives for two assessors who rated everything."""
    wide = table.pivot_table(index=["topic", "intent", "iunit"], columns="worker", values="rating").dropna()
    if wide.shape[1] != 2:
        return {}
    kappa = cohens_kappa(to_table(wide.to_numpy(int), bins=5)[0], wt="quadratic")
    return {"importance_weighted_kappa": (float(kappa.kappa_low), float(kappa.kappa_upp))}


Fits: TypeAlias = tuple[CalibrationResult, ...]


def no_intervals(_: pd.DataFrame) -> dict[str, Interval]:
    return {}


def agreement(table: pd.DataFrame, *, rng: np.random.Generator) -> Fits:
    return (fit_rater_agreement(table, rng=rng, resamples=RESAMPLES),)


def of_assessors(table: pd.DataFrame, *, rng: np.random.Generator) -> Fits:
    return (fit_importance(table, rng=rng, resamples=RESAMPLES),)


def people(table: pd.DataFrame, *, rng: np.random.Generator) -> Fits:
    return fit_consistency(table, rng=rng, resamples=RESAMPLES), fit_position_bias(table)


@dataclass(slots=True)
class Tally:
    """Coverage of the intervals of one measure, and its estimates."""

    truth: float
    estimates: list[float] = field(default_factory=list)
    held: dict[str, list[bool]] = field(default_factory=dict)

    def note(self, method: str, interval: Interval) -> None:
        low, high = interval
        held = low is not None and high is not None and low <= self.truth <= high
        self.held.setdefault(method, []).append(held)

    def row(self, methods: tuple[str, ...]) -> list[str]:
        error = (np.median(self.estimates) - self.truth) / np.std(self.estimates)
        shares = [f"{np.mean(self.held[m]):.3f}" if m in self.held else "" for m in methods]
        return [f"{self.truth:.3f}", f"{error:+.2f}", *shares]


class Way(NamedTuple):
    """How the studies of a table are judged: what is fitted, the methods of its intervals, and intervals that take all as independent."""

    fit: Callable[..., Fits]
    methods: tuple[str, ...]
    naive: Callable[[pd.DataFrame], dict[str, Interval]]


class Found(NamedTuple):
    """What one study gave: estimates by measure, and (method, measure, interval) of every interval."""

    estimates: dict[str, float]
    intervals: list[tuple[str, str, Interval]]


def found_in(regime: Regime, way: Way, seed: int) -> Found:
    table = regime.draw(regime.topics, np.random.default_rng([seed, regime.topics]))
    results = way.fit(table, rng=np.random.default_rng(seed))
    intervals = [
        (method, name, interval)
        for result in results
        for method in result.uncertainty
        for name, interval in result.conf_int(method=method).items()
    ]
    intervals += [("naive", name, interval) for name, interval in way.naive(table).items()]
    return Found({name: value for one in results for name, value in one.parameters.items()}, intervals)


def study(regimes: tuple[Regime, ...], way: Way, replications: int, engine: Executor) -> None:
    print_head("data", "measure", "truth", "error / sd", *way.methods)
    for regime in regimes:
        large = way.fit(regime.draw(LARGE, np.random.default_rng(99)), rng=np.random.default_rng(0))
        tallies = {name: Tally(truth) for result in large for name, truth in result.parameters.items()}
        for found in replicated(engine, partial(found_in, regime, way), replications):
            for name, estimate in found.estimates.items():
                tallies[name].estimates.append(estimate)
            for method, name, interval in found.intervals:
                tallies[name].note(method, interval)
        for name, tally in tallies.items():
            print_row(regime.label, name, *tally.row(way.methods))


TOPICS = ("topic_jackknife", "topic_bootstrap")
PARTS = {
    "preferences": (PREFERENCES, Way(agreement, ("two_way_jackknife", *TOPICS), no_intervals)),
    "importance": (IMPORTANCE, Way(of_assessors, (*TOPICS, "naive"), asymptotic)),
    "people": (
        PEOPLE,
        Way(people, ("worker_jackknife", "worker_bootstrap", "worker_sandwich", "naive"), binomial),
    ),
}

if __name__ == "__main__":
    run_parts(__doc__, 1000, {part: partial(study, *of_part) for part, of_part in PARTS.items()})
