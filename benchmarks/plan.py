"""Widths of intervals: as `prefcal plan` says, and as real studies have them.

    python benchmarks/plan.py [STUDIES]

"Real" studies here are made with collections, tables and the estimators as `prefcal agree` and `prefcal fit` call them; plans
come from the designs, which draw the same people without tables. docs/evidence.md shows the table.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from calibration.agree.judged_task import judged_tasks
from calibration.agree.task_agreement import score_differences
from calibration.models.durations.fit import fit_exposure
from calibration.models.durations.from_tables import away_exposure
from calibration.models.durations.simulate import ObservationDesign, simulate_visits
from calibration.models.patience.pairs import summary_pairs
from calibration.models.patience.preferences import NAME, fit_patience_from_preferences
from calibration.models.patience.simulate import SimulatedJudges, simulate_preferences, simulate_summaries
from calibration.plan.agreement import AgreementDesign
from calibration.plan.patience import PatienceDesign
from calibration.plan.search import plan_row
from calibration.plan.simulation import Design
from calibration.plan.streams import AwayDesign
from calibration.plan.votes import JudgePopulation
from calibration.tables.preferences import pair_votes
from metrics.agreement.agreement import QueryMean, agreement
from metrics.msu.trails import Population
from metrics.summaries.score import m_from_positions

TEXT_CHARS = 2400.0
PATIENCE = 1500.0


def agreement_of_a_study(queries: int, workers: int, rng: np.random.Generator) -> QueryMean:
    tables, probabilities = simulate_summaries(queries, rng)
    people = SimulatedJudges(patience_chars=800, per_topic=workers, effect=0.84, unexplained_sd=0.6)
    judged = simulate_preferences(tables["positions"], probabilities, people, rng)
    task = judged_tasks({"preferences": judged})[0]
    scores = m_from_positions(tables["positions"], probabilities, [people.patience_chars])
    difference = score_differences(task, scores.droplevel("task"))[:, 0]
    return agreement(difference, task.share, task.topics).mean


def patience_of_a_study(queries: int, workers: int, rng: np.random.Generator) -> float:
    tables, probabilities = simulate_summaries(queries, rng)
    positions = tables["positions"]
    ends = positions[positions["importance"] > 0].groupby("topic")["offset_chars"].max().mean()
    positions = positions.assign(offset_chars=positions["offset_chars"] * TEXT_CHARS / ends)
    people = SimulatedJudges(patience_chars=PATIENCE, per_topic=workers, unexplained_sd=0.4)
    votes = pair_votes(simulate_preferences(positions, probabilities, people, rng))
    fit = fit_patience_from_preferences(
        summary_pairs(votes, positions, probabilities), n_workers=queries * workers
    )
    low, high = fit.conf_int()[NAME]
    return (np.inf if high is None else high) - (low or 0)


def time_away_of_a_study(workers: int, rng: np.random.Generator) -> float:
    population = Population(
        away_mean_seconds=86_400, away_sd_seconds=43_200, session_mean_seconds=120, session_sd_seconds=60
    )
    fit = fit_exposure(
        away_exposure(simulate_visits(population, ObservationDesign(workers=workers, days=7), rng))
    )
    low, high = fit.conf_int()["away_mean_seconds"]
    return ((high or np.inf) - (low or 0)) / 3600


def lines(studies: int) -> Iterator[tuple[str, float, float]]:
    """Yield what is planned, the median width of real studies, and the planned one."""
    rng = np.random.default_rng(20)

    def planned(design: Design, vary: str) -> float:
        return plan_row(design, vary, studies=4 * studies, seed=1).width

    for queries, workers in ((10, 5), (25, 14), (50, 7)):
        means = [agreement_of_a_study(queries, workers, rng) for _ in range(studies)]
        true = float(np.mean([mean.value for mean in means]))
        real = float(np.median([np.diff(mean.confidence_interval())[0] for mean in means]))
        design = AgreementDesign(
            queries=queries, pairs=21, workers=workers, true=true, judges=JudgePopulation(query_spread=0)
        )
        what = f"agreement of {true:.2f}, {queries} queries x 21 pairs x {workers} workers"
        yield what, real, planned(design.ready(), "queries")
    base = PatienceDesign(queries=10, pairs=21, workers=6, true=PATIENCE, text_chars=TEXT_CHARS).ready()
    for queries, workers in ((10, 6), (25, 14)):
        design = replace(base, queries=queries, workers=workers)
        real = float(np.median([patience_of_a_study(queries, workers, rng) for _ in range(studies)]))
        yield f"L = 1,500 characters, {queries} x 21 x {workers}", real, planned(design, "queries")
    for workers in (40, 150):
        design = AwayDesign(workers=workers, days=7, mean_hours=24, sd_hours=12)
        real = float(np.median([time_away_of_a_study(workers, rng) for _ in range(studies)]))
        yield f"M_A = 24 hours, {workers} workers x 7 days", real, planned(design, "workers")


def main() -> None:
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    print(f"{studies} real studies each, {4 * studies} planned ones; median width of the 95 % interval\n")
    print("| study | real | planned |\n|---|---|---|")
    for what, real, planned in lines(studies):
        print(f"| {what} | {real:.3g} | {planned:.3g} |", flush=True)


if __name__ == "__main__":
    main()
