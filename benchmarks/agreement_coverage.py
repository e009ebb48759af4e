"""How honest the intervals and tests of agreement are, by simulation; of its ceilings see `coverage_ceilings`.

    python benchmarks/agreement_coverage.py [STUDIES [STUDIES OF EACH REGIME]]

Prints coverage of nominal 95 % intervals and rejections of a true null hypothesis at 5 %. What the package refuses to offer stands beside what it offers: the binomial interval and
McNemar's test, which take the pairs of a query for independent. The second half has people who are not as an interval over queries
says: the same ones judge several queries, with tastes of their own, and queries have any number of pairs. docs/agreement.md quotes the tables.
"""

import math
import sys
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import binomtest

from calibration.agree.comparisons import slope_difference
from metrics.agreement.agreement import QueryMean, Ties, agreement, pair_credit, simultaneous_band
from metrics.agreement.comparison import compare, holm
from metrics.agreement.people import Error, VotesByPerson, crossing
from tests.metrics.simulated_votes import JudgedMeasures, Votes, judged_measures, simulate

Rng: TypeAlias = np.random.Generator

LEVEL = 0.95


def binomial_interval(value: float, pairs: int) -> tuple[float, float]:
    reach = float(ndtri((1 + LEVEL) / 2)) * math.sqrt(value * (1 - value) / pairs)
    return value - reach, value + reach


def metric_views(study: Votes, rng: Rng, count: int) -> NDArray[np.float64]:
    """Equally good metrics: the preference plus an error that is shared in part by the pairs of a query."""
    names, codes = np.unique(study.query, return_inverse=True)
    shared = np.exp(0.6 * rng.normal(size=(count, names.size)))[:, codes]
    return study.preferred + 1.5 * shared * rng.normal(size=(count, codes.size))


def coverage_of_intervals(studies: int, rng: Rng, *, queries: int) -> dict[str, float]:
    big = simulate(rng, queries=20_000, pairs=21)
    truth = agreement(big.difference, big.share, big.query).value
    covered = dict.fromkeys(("binomial (not offered)", "query t", "query bootstrap"), 0)
    for _ in range(studies):
        study = simulate(rng, queries=queries)
        mean = agreement(study.difference, study.share, study.query).mean
        intervals = (
            binomial_interval(mean.value, study.query.size),
            mean.confidence_interval(LEVEL),
            mean.confidence_interval(LEVEL, "bootstrap", rng=rng),
        )
        for name, (low, high) in zip(covered, intervals, strict=True):
            covered[name] += low <= truth <= high
    return {name: count / studies for name, count in covered.items()}


def coverage_of_weighted_intervals(studies: int, rng: Rng, *, queries: int, workers: int) -> dict[str, float]:
    """The same people, of different tastes, judge one pair of every query; truth .7."""
    covered = dict.fromkeys(("weighted: query t", "weighted: query and worker"), 0)
    for _ in range(studies):
        chance = rng.normal(0.7, 0.05, (queries, 1)) + rng.normal(0, 0.14, workers)
        chose = rng.random(chance.shape) < chance
        query, worker = np.indices(chose.shape).reshape(2, -1)
        votes = VotesByPerson(pair=query, for_a=chose.ravel().astype(float), crossing=crossing(query, worker))
        difference, names = np.ones(queries), [f"q{query:03d}" for query in range(queries)]
        mean = agreement(difference, votes.share, names, ties="weighted").mean
        intervals = (mean.confidence_interval(LEVEL), votes.interval(difference, "weighted", LEVEL))
        for name, (low, high) in zip(covered, intervals, strict=True):
            covered[name] += low <= 0.7 <= high
    return {name: count / studies for name, count in covered.items()}


def rejections_under_the_null(studies: int, rng: Rng, *, queries: int) -> dict[str, float]:
    rejected = dict.fromkeys(("McNemar (not offered)", "query t", "sign flips"), 0)
    for _ in range(studies):
        study = simulate(rng, queries=queries)
        first, second = metric_views(study, rng, 2)
        apart = pair_credit(first, study.share, ties="against") - pair_credit(
            second, study.share, ties="against"
        )
        wins, losses = int((apart > 0).sum()), int((apart < 0).sum())
        result = compare(
            *(agreement(view, study.share, study.query).mean for view in (first, second)), flips=1000, rng=rng
        )
        p_values = (binomtest(wins, wins + losses).pvalue, result.p_t, result.p_sign_flip)
        for name, p in zip(rejected, p_values, strict=True):
            rejected[name] += p < 1 - LEVEL
    return {name: count / studies for name, count in rejected.items()}


def coverage_of_bands(studies: int, rng: Rng, *, queries: int, points: int = 12) -> float:
    """Each point is a metric with more noise than the one before, sharing most of its error."""
    scales = np.linspace(0.3, 3, points)

    def curve(study: Votes) -> list[QueryMean]:
        names, codes = np.unique(study.query, return_inverse=True)
        error = rng.normal(size=names.size)[codes] + rng.normal(size=codes.size)
        return [agreement(study.preferred + scale * error, study.share, study.query).mean for scale in scales]

    truth = np.array([mean.value for mean in curve(simulate(rng, queries=20_000))])
    covered = 0
    for _ in range(studies):
        low, high = simultaneous_band(curve(simulate(rng, queries=queries)), draws=2000, rng=rng)
        covered += bool(((low <= truth) & (truth <= high)).all())
    return covered / studies


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


def agreement_of(study: JudgedMeasures, measure: int, ties: Ties) -> float:
    return float(np.nanmean(pair_credit(study.differences[measure], study.votes.share, ties=ties)))


def difference_of(study: JudgedMeasures, ties: Ties, *, over_people: bool = True) -> tuple[float, Error]:
    """Difference of the first two measures, with its error over queries and people, or over queries alone."""
    votes = study.votes
    influence = votes.influence(study.first, ties) - votes.influence(study.second, ties)
    judged = votes.crossing if over_people else crossing(votes.crossing.query, votes.crossing.cell)
    difference = agreement_of(study, 0, ties) - agreement_of(study, 1, ties)
    return difference, judged.error(influence, votes.weight)


def p_of(found: tuple[float, Error]) -> float:
    return found[1].p_value(found[0])


def sign_flips(study: JudgedMeasures, rng: Rng) -> float:
    names = [f"{query:04d}" for query in study.query]
    means = [agreement(one, study.votes.share, names).mean for one in (study.first, study.second)]
    return compare(means[0], means[1], flips=1000, rng=rng).p_sign_flip


def people_who_judge(studies: int, rng: Rng, settings: dict[str, Any]) -> dict[str, float]:
    """Rejections of equal measures at 5 %, and coverage of the agreement's intervals (truth: mean of all studies)."""
    p: dict[str, list[float]] = {
        name: [] for name in ("queries alone", "majority", "weighted", "votes", "flips")
    }
    found: dict[Ties, list[tuple[float, float]]] = {"against": [], "weighted": []}
    for _ in range(studies):
        study = judged_measures(rng, **settings)
        p["queries alone"].append(p_of(difference_of(study, "against", over_people=False)))
        p["majority"].append(p_of(difference_of(study, "against")))
        p["weighted"].append(p_of(difference_of(study, "weighted")))
        p["votes"].append(p_of(slope_difference(study.votes, study.first, study.second)))
        if not study.votes.crossing.is_crossed:
            p["flips"].append(sign_flips(study, rng))
        for ties, values in found.items():
            values.append((agreement_of(study, 0, ties), study.votes.error(study.first, ties).reach(LEVEL)))
    shares = {name: float(np.mean(np.array(values) < 1 - LEVEL)) for name, values in p.items() if values}
    for ties, values in found.items():
        value, reach = np.array(values).T
        shares[f"covers, {ties}"] = float((np.abs(value - value.mean()) <= reach).mean())
    return shares


def families_rejected(studies: int, rng: Rng, settings: dict[str, Any]) -> float:
    """Share of studies in which Holm's correction over six comparisons finds any difference of seven equal measures."""
    rejected = 0
    for _ in range(studies):
        study = judged_measures(rng, slopes=(0.3,) * 7, **settings)
        p = [
            p_of(difference_of(replace(study, differences=study.differences[[0, other]]), "against"))
            for other in range(1, 7)
        ]
        rejected += bool((holm(p) < 1 - LEVEL).any())
    return rejected / studies


def power(studies: int, rng: Rng, settings: dict[str, Any]) -> dict[str, float]:
    """How often a better measure (slopes 0.8 and 0.3) is told from a worse one, by the same judgments."""
    p = []
    for _ in range(studies):
        study = judged_measures(rng, slopes=(0.8, 0.3), **settings)
        model = slope_difference(study.votes, study.first, study.second)
        p.append([p_of(difference_of(study, "against")), p_of(difference_of(study, "weighted")), p_of(model)])
    told = (np.array(p) < 1 - LEVEL).mean(axis=0).tolist()
    return dict(zip(("majority", "weighted", "votes"), told, strict=True))


def people_of_several_queries(studies: int, rng: Rng) -> None:
    print(f"\nthe same people judge several queries, {studies} studies a line: rejections at 5 %, coverage")
    for name, settings in REGIMES.items():
        print(f"  {name:40s} {shown(people_who_judge(studies, rng, settings))}", flush=True)
    chosen = ("8 people", "14 people", "7 people of its own per query")
    for name in chosen:
        family = families_rejected(studies, rng, REGIMES[name])
        print(f"  {name:40s} family of 6, any rejected with Holm: {family:.3f}", flush=True)
        print(f"  {name:40s} power: {shown(power(studies, rng, REGIMES[name]))}", flush=True)


def shown(shares: dict[str, float]) -> str:
    return "  ".join(f"{name} {share:.3f}" for name, share in shares.items())


def main() -> None:
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    rng = np.random.default_rng(20)
    print(f"{studies} studies, 21 pairs a query, 14 workers a pair")
    for queries in (8, 25):
        print(f"\n{queries} queries: coverage of 95 % intervals")
        for name, share in coverage_of_intervals(studies, rng, queries=queries).items():
            print(f"  {name:24s} {share:.3f}")
        for name, share in coverage_of_weighted_intervals(studies, rng, queries=queries, workers=14).items():
            print(f"  {name:26s} {share:.3f}")
        print(f"  {'simultaneous band':24s} {coverage_of_bands(studies, rng, queries=queries):.3f}")
        print(f"{queries} queries: rejections of a true null hypothesis at 5 %")
        for name, share in rejections_under_the_null(studies, rng, queries=queries).items():
            print(f"  {name:24s} {share:.3f}")
    people_of_several_queries(int(sys.argv[2]) if len(sys.argv) > 2 else 300, rng)


if __name__ == "__main__":
    main()
