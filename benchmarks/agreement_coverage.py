"""Simulated coverage of intervals, and levels of tests, of agreement.

Of its ceilings see `coverage_ceilings`.

    python -m benchmarks.agreement_coverage [STUDIES [STUDIES OF EACH REGIME]] [--only intervals|people|tastes|alike] [--jobs 1]
                                            [--scheduler ADDRESS]

Prints coverage of nominal 95 % intervals and rejections of a true null hypothesis at 5 %. What the package refuses to offer stands beside what it offers: the binomial interval and
McNemar's test, which take the pairs of a query for independent. The second half has people who are not as an interval over queries
says: the same ones judge several queries, with tastes of their own, and queries have any number of pairs. docs/evidence.md shows the tables.
"""

import argparse
import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import binomtest

from benchmarks.replications import opened, replicated
from calibration.agree.judged_task import wide_tastes
from calibration.agree.slopes import slope_difference
from metrics.agreement.agreement import QueryMean, Ties, agreement, pair_credit, simultaneous_band
from metrics.agreement.comparison import compare, holm
from metrics.agreement.crossed_errors import StandardError, VotesByPerson, crossing
from metrics.parallel import Executor
from tests.metrics.simulated_votes import JudgedMeasures, Votes, judged_measures, simulate

Rng: TypeAlias = np.random.Generator

LEVEL = 0.95
SEED = 20
SCALES = np.linspace(0.3, 3, 12)
"""Noise of the metrics on a curve."""
Shares: TypeAlias = dict[str, float]


def drawn(study: Callable[[Rng], Shares], line: tuple[int, int], number: int) -> Shares:
    """Draw one study of a line, by their numbers."""
    return study(np.random.default_rng([SEED, *line, number]))


class Studies(NamedTuple):
    """Simulator and number of the studies of every line."""

    engine: Executor
    count: int

    def found(self, study: Callable[[Rng], Shares], line: tuple[int, int]) -> pd.DataFrame:
        """Return a row a study."""
        return pd.DataFrame(replicated(self.engine, partial(drawn, study, line), self.count))

    def means(self, study: Callable[[Rng], Shares], line: tuple[int, int]) -> Shares:
        """Return the mean of everything over the studies that have it."""
        return {str(name): float(value) for name, value in self.found(study, line).mean().items()}


def binomial_interval(value: float, pairs: int) -> tuple[float, float]:
    reach = float(ndtri((1 + LEVEL) / 2)) * math.sqrt(value * (1 - value) / pairs)
    return value - reach, value + reach


def bootstrap_interval(mean: QueryMean, rng: Rng) -> tuple[float, float]:
    """Percentiles of the mean over resampled queries."""
    weights = rng.multinomial(mean.units, np.full(mean.units, 1 / mean.units), size=2000)
    means = weights @ mean.sums[mean.counts > 0] / (weights @ mean.counts[mean.counts > 0])
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def metric_views(study: Votes, rng: Rng, count: int) -> NDArray[np.float64]:
    """Equally good metrics: the preference plus an error that is shared in part by the pairs of a query."""
    names, codes = np.unique(study.query, return_inverse=True)
    shared = np.exp(0.6 * rng.normal(size=(count, names.size)))[:, codes]
    return study.preferred + 1.5 * shared * rng.normal(size=(count, codes.size))


def intervals_hold(queries: int, truth: float, rng: Rng) -> Shares:
    study = simulate(rng, queries=queries)
    mean = agreement(study.difference, study.share, study.query).mean
    intervals = {
        "binomial (not offered)": binomial_interval(mean.value, study.query.size),
        "query t": mean.confidence_interval(LEVEL),
        "query bootstrap": bootstrap_interval(mean, rng),
    }
    return {name: low <= truth <= high for name, (low, high) in intervals.items()}


def coverage_of_intervals(studies: Studies, *, queries: int) -> Shares:
    big = simulate(np.random.default_rng(SEED), queries=20_000, pairs=21)
    truth = agreement(big.difference, big.share, big.query).value
    return studies.means(partial(intervals_hold, queries, truth), (0, queries))


def weighted_intervals_hold(queries: int, workers: int, rng: Rng) -> Shares:
    """The same people, of different tastes, judge one pair of every query; truth .7."""
    chance = rng.normal(0.7, 0.05, (queries, 1)) + rng.normal(0, 0.14, workers)
    chose = rng.random(chance.shape) < chance
    query, worker = np.indices(chose.shape).reshape(2, -1)
    votes = VotesByPerson(pair=query, for_a=chose.ravel().astype(float), crossing=crossing(query, worker))
    difference, names = np.ones(queries), [f"q{query:03d}" for query in range(queries)]
    mean = agreement(difference, votes.share, names, ties="weighted").mean
    intervals = {
        "weighted: query t": mean.confidence_interval(LEVEL),
        "weighted: query and worker": votes.interval(difference, "weighted", LEVEL),
    }
    return {name: low <= 0.7 <= high for name, (low, high) in intervals.items()}


def null_rejected(queries: int, rng: Rng) -> Shares:
    study = simulate(rng, queries=queries)
    first, second = metric_views(study, rng, 2)
    apart = pair_credit(first, study.share, ties="against") - pair_credit(second, study.share, ties="against")
    wins, losses = int((apart > 0).sum()), int((apart < 0).sum())
    result = compare(
        *(agreement(view, study.share, study.query).mean for view in (first, second)), flips=1000, rng=rng
    )
    p_values = {
        "McNemar (not offered)": binomtest(wins, wins + losses).pvalue,
        "query t": result.p_t,
        "sign flips": result.p_sign_flip,
    }
    return {name: p < 1 - LEVEL for name, p in p_values.items()}


def curve(study: Votes, rng: Rng) -> list[QueryMean]:
    """Each point is a metric with more noise than the one before, sharing most of its error."""
    names, codes = np.unique(study.query, return_inverse=True)
    error = rng.normal(size=names.size)[codes] + rng.normal(size=codes.size)
    return [agreement(study.preferred + scale * error, study.share, study.query).mean for scale in SCALES]


def band_holds(queries: int, truth: NDArray[np.float64], rng: Rng) -> Shares:
    low, high = simultaneous_band(curve(simulate(rng, queries=queries), rng), draws=2000, rng=rng)
    return {"simultaneous band": bool(((low <= truth) & (truth <= high)).all())}


def coverage_of_bands(studies: Studies, *, queries: int) -> Shares:
    rng = np.random.default_rng(SEED)
    truth = np.array([mean.value for mean in curve(simulate(rng, queries=20_000), rng)])
    return studies.means(partial(band_holds, queries, truth), (1, queries))


REGIMES: dict[str, dict[str, Any]] = {
    "5 people judge all 20 queries": {"workers": 5},
    "8 people": {"workers": 8},
    "14 people": {"workers": 14},
    "50 people": {"workers": 50},
    "14 people, 21 pairs a query": {"workers": 14, "pairs": 21},
    "8 people, 21 pairs a query": {"workers": 8, "pairs": 21},
    "5 people, .8 of the votes ties": {"workers": 5, "ties": 12.0},
    "8 people, .5 of the votes ties": {"workers": 8, "ties": 3.0},
    "8 people, .8 ties": {"workers": 8, "ties": 12.0},
    "8 people, .8 ties, 21 pairs a query": {"workers": 8, "ties": 12.0, "pairs": 21},
    "14 people, .8 ties, 1 to 21 pairs": {"workers": 14, "ties": 12.0, "pairs": (1, 21)},
    "50 people, .8 ties": {"workers": 50, "ties": 12.0},
    "8 people, tastes twice as different": {"workers": 8, "taste": 1.2},
    "8 people of one taste": {"workers": 8, "taste": 0.0},
    "4 people judge 5 queries": {"workers": 4, "queries": 5},
    "14 people, 1 to 21 pairs a query": {"workers": 14, "pairs": (1, 21)},
    "14 people, 8 queries, 1 to 21 pairs": {"workers": 14, "queries": 8, "pairs": (1, 21)},
    "7 people of its own per query": {"workers": 7, "own_people": True},
    "3 of its own, 8 queries": {"workers": 3, "queries": 8, "own_people": True},
    "7 of its own, 1 to 21 pairs": {"workers": 7, "pairs": (1, 21), "own_people": True},
    "7 of its own, 8 queries, 1 to 21 pairs": {
        "workers": 7,
        "queries": 8,
        "pairs": (1, 21),
        "own_people": True,
    },
}
"""Name -> settings of `judged_measures`; where nothing else is said 20 queries of 6 pairs, tastes of sd 0.6."""
CONVENTIONS: tuple[Ties, ...] = ("against", "weighted")
TASTES: dict[str, dict[str, Any]] = {
    "sd .6, 5 people": {"workers": 5},
    "sd .6, 8 people": {"workers": 8},
    "sd .6, 8 people, 21 pairs a query": {"workers": 8, "pairs": 21},
    "sd .6, 8 people, 8 queries": {"workers": 8, "queries": 8},
    "sd .9, 8 people": {"workers": 8, "taste": 0.9},
    "sd .9, 14 people": {"workers": 14, "taste": 0.9},
    "sd 1.2, 5 people": {"workers": 5, "taste": 1.2},
    "sd 1.2, 8 people": {"workers": 8, "taste": 1.2},
    "sd 1.2, 8 people, 8 queries": {"workers": 8, "queries": 8, "taste": 1.2},
    "sd 1.2, 14 people": {"workers": 14, "taste": 1.2},
    "sd 1.2, 50 people": {"workers": 50, "taste": 1.2},
    "sd 1.5, 8 people": {"workers": 8, "taste": 1.5},
}
ALIKE: dict[str, dict[str, Any]] = {
    "25 queries, the same 14 people": {"queries": 25, "workers": 14},
    "25 queries, 7 people of its own each": {"queries": 25, "workers": 7, "own_people": True},
    "12 queries, the same 8 people": {"queries": 12, "workers": 8},
    "the same, tastes of sd .6 that tell both apart": {"queries": 12, "workers": 8, "taste": 0.6},
    "8 queries, 14 people of its own each": {"queries": 8, "workers": 14, "own_people": True},
    "12 queries, the same 8 people, correlation .65": {"queries": 12, "workers": 8, "alike": 0.65},
    "the same, correlation .996": {"queries": 12, "workers": 8, "alike": 0.996},
}
"""Measures that are nearly the same; people follow the mean of both, 21 pairs a query; ``alike``: correlation of differences."""


def agreement_of(study: JudgedMeasures, measure: int, ties: Ties) -> float:
    return float(np.nanmean(pair_credit(study.differences[measure], study.votes.share, ties=ties)))


def difference_of(
    study: JudgedMeasures, ties: Ties, *, over_people: bool = True
) -> tuple[float, StandardError]:
    """Difference of the first two measures, with its error over queries and people, or over queries alone."""
    votes = study.votes
    influence = votes.influence(study.first, ties) - votes.influence(study.second, ties)
    judged = votes.crossing if over_people else crossing(votes.crossing.query, votes.crossing.cell)
    difference = agreement_of(study, 0, ties) - agreement_of(study, 1, ties)
    return difference, judged.error(influence, votes.weight)


def p_of(found: tuple[float, StandardError]) -> float:
    return found[1].p_value(found[0])


def sign_flips(study: JudgedMeasures, rng: Rng) -> float:
    names = [f"{query:04d}" for query in study.query]
    means = [agreement(one, study.votes.share, names).mean for one in (study.first, study.second)]
    return compare(means[0], means[1], flips=1000, rng=rng).p_sign_flip


def one_study_of_people(settings: dict[str, Any], rng: Rng) -> Shares:
    """Return the p of equal measures in each way, and agreement and reach under two conventions."""
    study = judged_measures(rng, **settings)
    found = {
        "queries alone": p_of(difference_of(study, "against", over_people=False)),
        "majority": p_of(difference_of(study, "against")),
        "weighted": p_of(difference_of(study, "weighted")),
        "votes": p_of(slope_difference(study.votes, study.first, study.second)),
    }
    if not study.votes.crossing.is_crossed:
        found["flips"] = sign_flips(study, rng)
    for ties in CONVENTIONS:
        found[f"value, {ties}"] = agreement_of(study, 0, ties)
        found[f"reach, {ties}"] = study.votes.error(study.first, ties).half_width(LEVEL)
    return found


def people_who_judge(studies: Studies, settings: dict[str, Any], place: int) -> Shares:
    """Rejections of equal measures at 5 %, and coverage of the agreement's intervals (truth: mean of all studies)."""
    found = studies.found(partial(one_study_of_people, settings), (4, place))
    p = [name for name in found if "," not in name]
    shares = {name: float((found[name].dropna() < 1 - LEVEL).mean()) for name in p}
    for ties in CONVENTIONS:
        value, reach = found[f"value, {ties}"], found[f"reach, {ties}"]
        shares[f"covers, {ties}"] = float(((value - value.mean()).abs() <= reach).mean())
    return shares


def family_rejected(settings: dict[str, Any], rng: Rng) -> Shares:
    """Return whether Holm's correction finds a difference among equal measures.

    Of six comparisons, over seven measures.
    """
    study = judged_measures(rng, slopes=(0.3,) * 7, **settings)
    p = [
        p_of(difference_of(replace(study, differences=study.differences[[0, other]]), "against"))
        for other in range(1, 7)
    ]
    return {"family of 6, any rejected with Holm": bool((holm(p) < 1 - LEVEL).any())}


def told_apart(settings: dict[str, Any], rng: Rng) -> Shares:
    """Return whether a better measure is distinguished from a worse one.

    By the same judgments; slopes are 0.8 and 0.3.
    """
    study = judged_measures(rng, slopes=(0.8, 0.3), **settings)
    p = {
        "majority": p_of(difference_of(study, "against")),
        "weighted": p_of(difference_of(study, "weighted")),
        "votes": p_of(slope_difference(study.votes, study.first, study.second)),
    }
    return {name: value < 1 - LEVEL for name, value in p.items()}


def rejected_with_tastes(settings: dict[str, Any], rng: Rng) -> Shares:
    """Return whether each way distinguishes equal measures.

    Majorities have no p where `tastes_differ` is said; what it would be is the first.
    """
    study = judged_measures(rng, **settings)
    rejected = p_of(difference_of(study, "against")) < 1 - LEVEL
    refused = any(wide_tastes(study.votes, {"A": study.first, "B": study.second}))
    return {
        "majority, nothing refused": rejected,
        "tastes_differ": refused,
        "majority": rejected and not refused,
        "weighted": p_of(difference_of(study, "weighted")) < 1 - LEVEL,
        "votes": p_of(slope_difference(study.votes, study.first, study.second)) < 1 - LEVEL,
    }


def alike_rejected(settings: dict[str, Any], rng: Rng, alike: float = 0.95) -> Shares:
    """Return whether votes distinguish two measures whose mean people follow."""
    study = judged_measures(
        rng, **{"slopes": (1.0, 0.0), "taste": 0.0, "unexplained": 0.9, "pairs": 21} | settings
    )
    apart = math.sqrt((1 - alike) / (1 + alike)) * study.second
    found = slope_difference(study.votes, study.first + apart, study.first - apart)
    return {"votes": p_of(found) < 1 - LEVEL}


def tastes(studies: Studies) -> None:
    print(f"\ntastes of people's own, {studies.count} studies a line: equal measures rejected at 5 %")
    for place, (name, settings) in enumerate(TASTES.items()):
        print(
            f"  {name:40s} {shown(studies.means(partial(rejected_with_tastes, settings), (7, place)))}",
            flush=True,
        )


def alike(studies: Studies) -> None:
    print(f"\nmeasures that are nearly the same, {studies.count} studies a line: rejected at 5 %")
    for place, (name, settings) in enumerate(ALIKE.items()):
        others = {key: value for key, value in settings.items() if key != "alike"}
        study = partial(alike_rejected, others, alike=settings.get("alike", 0.95))
        print(f"  {name:48s} {shown(studies.means(study, (8, place)))}", flush=True)


def people_of_several_queries(studies: Studies) -> None:
    print(
        f"\nthe same people judge several queries, {studies.count} studies a line: rejections at 5 %, coverage"
    )
    for place, (name, settings) in enumerate(REGIMES.items()):
        print(f"  {name:40s} {shown(people_who_judge(studies, settings, place))}", flush=True)
    chosen = ("8 people", "14 people", "7 people of its own per query")
    for place, name in enumerate(chosen):
        family = studies.means(partial(family_rejected, REGIMES[name]), (5, place))
        print(f"  {name:40s} {shown(family)}", flush=True)
        power = studies.means(partial(told_apart, REGIMES[name]), (6, place))
        print(f"  {name:40s} power: {shown(power)}", flush=True)


def shown(shares: Shares) -> str:
    return "  ".join(f"{name} {share:.3f}" for name, share in shares.items())


def lines(shares: Shares) -> str:
    return "\n".join(f"  {name:26s} {share:.3f}" for name, share in shares.items())


def intervals(studies: Studies) -> None:
    print(f"{studies.count} studies, 21 pairs a query, 14 workers a pair")
    for queries in (8, 25):
        print(f"\n{queries} queries: coverage of 95 % intervals")
        print(lines(coverage_of_intervals(studies, queries=queries)))
        print(lines(studies.means(partial(weighted_intervals_hold, queries, 14), (2, queries))))
        print(lines(coverage_of_bands(studies, queries=queries)))
        print(f"{queries} queries: rejections of a true null hypothesis at 5 %")
        print(lines(studies.means(partial(null_rejected, queries), (3, queries))), flush=True)


PARTS = {"intervals": intervals, "people": people_of_several_queries, "tastes": tastes, "alike": alike}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("studies", nargs="?", type=int, default=1000)
    parser.add_argument("of_people", nargs="?", type=int, default=300, metavar="STUDIES OF EACH REGIME")
    parser.add_argument("--only", choices=PARTS)
    with opened(parser) as (options, engine):
        for name, part in PARTS.items():
            if options.only in (None, name):
                part(Studies(engine, options.studies if part is intervals else options.of_people))


if __name__ == "__main__":
    main()
