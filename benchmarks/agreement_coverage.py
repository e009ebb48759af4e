"""How honest the intervals and tests of agreement are, by simulation; of its ceilings see `coverage_ceilings`.

    python benchmarks/agreement_coverage.py [STUDIES]

Prints coverage of nominal 95 % intervals and rejections of a true null hypothesis at 5 %. What the package refuses to offer stands beside what it offers: the binomial interval and
McNemar's test, which take the pairs of a query for independent. docs/agreement.md quotes the tables.
"""

import math
import sys
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import binomtest

from calibration.agree.judged_task import judged_tasks
from calibration.agree.task_agreement import votes_by_person
from calibration.tables.files import checked
from calibration.tables.tables import TABLES
from metrics.agreement.agreement import agreement, pair_credit
from metrics.agreement.comparison import compare
from metrics.agreement.query_mean import QueryMean, simultaneous_band
from tests.metrics.simulated_votes import Votes, simulate

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
        rows = [
            {"worker": f"w{worker}", "task": "t", "topic": f"q{query:03d}", "pair": f"q{query}"}
            | {"system_left": "a", "system_right": "b", "choice": "left" if chose[query, worker] else "right"}
            for query, worker in np.ndindex(chose.shape)
        ]
        (task,) = judged_tasks({"preferences": checked(pd.DataFrame(rows), TABLES["preferences"])})
        difference = np.ones(len(task.pairs))
        mean = agreement(difference, task.share, task.topics, ties="weighted").mean
        intervals = (mean.confidence_interval(LEVEL), votes_by_person(task).interval(difference, LEVEL))
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


if __name__ == "__main__":
    main()
