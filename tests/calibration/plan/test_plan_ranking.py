"""A planned ranking is one that `prefcal rank` would print: its truth, its interval and its chance."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from calibration.plan.ranking import RankDesign
from calibration.plan.search import plan_row
from calibration.plan.votes import JudgePopulation, draw_votes
from calibration.rank.ranking import rank_systems
from calibration.tables.files import check_frame
from calibration.tables.study_json import StudyRecord, TaskRecord
from calibration.tables.tables import TABLES
from metrics.errors import InputError

SERVED = StudyRecord(study="s", study_sha256="0" * 64, tasks={"t": TaskRecord(kind="summary_pairs")})
SMALL = RankDesign(queries=30, pairs=6, workers=6, difference=0.15)


def differences_by_topic(design, rng):
    """Win rate of the first of four systems less that of the second in each topic, drawn vote by vote."""
    people, shape = design.judges, (design.queries, design.workers)
    liked = rng.standard_normal((design.queries, 4)) + np.array([design.gap, -design.gap, 0, 0])
    own, wins = np.exp(people.sensitivity_sd * rng.standard_normal(shape)), np.zeros((design.queries, 4))
    for first, second in combinations(range(4), 2):
        odds = people.strength / math.sqrt(2) * (liked[:, first] - liked[:, second])[:, None] * own
        for_first, for_second = np.exp(odds / 2), np.exp(-odds / 2)
        total, drawn = for_first + for_second + people.tie_weight, rng.random(shape)
        vote = np.where(
            drawn < for_first / total, 1, np.where(drawn < (for_first + for_second) / total, 0, 0.5)
        )
        wins[:, first] += vote.mean(axis=1) / 3
        wins[:, second] += (1 - vote.mean(axis=1)) / 3
    return wins[:, 0] - wins[:, 1]


def test_chance_and_width_are_those_of_studies_drawn_and_computed_apart():
    """Where nobody judges two topics, the interval is Student's t over topics, for six differences at once."""
    design, rng = SMALL.ready(), np.random.default_rng(4)
    drawn = np.array([differences_by_topic(design, rng) for _ in range(400)])
    error = drawn.std(axis=1, ddof=1) / math.sqrt(design.queries)
    reach = t.ppf(1 - 0.05 / 2 / 6, design.queries - 1) * error
    chance = np.mean(drawn.mean(axis=1) > reach)
    row = plan_row(design, "queries", studies=200, seed=1)

    assert drawn.mean() == pytest.approx(0.15, abs=3 * drawn.mean(axis=1).std() / 20)
    assert 0.3 < chance < 0.9
    assert row.power == pytest.approx(chance, abs=3 * math.sqrt(chance * (1 - chance) * (1 / 400 + 1 / 200)))
    assert row.width == pytest.approx(2 * np.median(reach), rel=0.05)


@pytest.mark.parametrize("queries_each", [1, 4])
def test_systems_are_told_apart_where_prefcal_rank_gives_them_ranks_of_their_own(queries_each, seeds):
    """The same draws as tables, people of one topic and of several: two systems, so that ranks say it."""
    people = JudgePopulation(taste_sd=0.6)
    design = RankDesign(
        queries=12, pairs=1, workers=8, difference=0.25, queries_each=queries_each, judges=people
    ).ready()
    told = []
    for seed in seeds(15, least=6):
        planned = design.simulated(np.random.default_rng(seed))
        quality = np.array([design.gap, -design.gap])
        drawn = draw_votes(design.sizes, people, np.random.default_rng(seed), quality=quality)
        query, _, _ = np.indices(drawn.votes.shape)
        frame = pd.DataFrame({"topic": query.ravel(), "worker": drawn.judges.ravel()}).astype(str)
        frame = frame.assign(
            task="t", judgment=[f"j{row}" for row in range(len(frame))], system_left="a", system_right="b"
        )
        votes = drawn.votes.ravel()
        frame["choice"] = np.select([votes == 1, votes == 0], ["left", "right"], "equally_good")
        tables = {"preferences": check_frame(frame, TABLES["preferences"])}
        rows = rank_systems(tables, study=SERVED).ranking.set_index("system")

        assert planned.estimate == pytest.approx(rows["win_rate"]["a"] - rows["win_rate"]["b"])
        assert planned.told == (rows["rank_high"]["a"] < rows["rank_low"]["b"])
        told.append(planned.told)
    assert 0 < sum(told) < len(told)


@pytest.mark.parametrize(("pairs", "taste"), [(1, 0.0), (21, 0.0), (6, 0.8)])
def test_the_distance_that_is_searched_is_the_mean_of_the_studies(pairs, taste):
    """With two systems and with seven, people alike and unlike."""
    design = RankDesign(
        queries=400, pairs=pairs, workers=4, difference=0.1, judges=JudgePopulation(taste_sd=taste)
    ).ready()
    rng = np.random.default_rng(2)
    estimates = [design.simulated(rng).estimate for _ in range(20)]

    assert np.mean(estimates) == pytest.approx(0.1, abs=3.5 * np.std(estimates) / math.sqrt(20))


def test_more_topics_help_more_than_more_people_of_the_same_topics():
    """What people like differs from topic to topic."""
    base, topics, workers = (
        plan_row(design, "queries", studies=60, seed=1)
        for design in (
            SMALL.ready(),
            SMALL.ready().resized("queries", 60),
            SMALL.ready().resized("workers", 12),
        )
    )

    assert base.width / topics.width == pytest.approx(math.sqrt(2), rel=0.12)
    assert 1 < base.width / workers.width < base.width / topics.width
    assert topics.detectable < workers.detectable < base.detectable


def test_what_cannot_be_planned_is_refused_or_tells_nothing():
    """Five pairs are not all pairs of any systems; three topics tell nothing, as in prefcal rank."""
    with pytest.raises(
        InputError, match=r"5 pairs are not all pairs .*; give 3 pairs \(3 systems\) or 6 \(4"
    ):
        replace(SMALL, pairs=5).ready()
    with pytest.raises(InputError, match=r"win rates cannot be 0\.5 apart"):
        replace(SMALL, difference=0.5, judges=JudgePopulation(strength=0.01)).ready()

    row = plan_row(replace(SMALL, queries=3).ready(), "queries", studies=20, seed=1)
    assert (row.power, row.width) == (0.0, math.inf)
