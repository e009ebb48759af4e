"""Plans keep what they promise: the search finds the smallest size, and a study of that size is as was said."""

import math
import pickle
from dataclasses import astuple, replace

import numpy as np
import pandas as pd
import pytest

from calibration.agree.judged_task import judged_tasks
from calibration.agree.task_agreement import score_differences
from calibration.models.durations.fit import fit_exposure
from calibration.models.durations.from_tables import away_exposure
from calibration.models.durations.simulate import ObservationDesign, simulate_visits
from calibration.models.patience.simulate import SimulatedJudges, simulate_preferences, simulate_summaries
from calibration.models.push.simulate import PushJudges, simulate_push_judgments
from calibration.models.push.weights import fit_push_weights
from calibration.plan.agreement import AgreementDesign, DifferenceDesign, _two_measures
from calibration.plan.patience import MAX_PAIRS, PatienceDesign, _some_queries
from calibration.plan.search import plan_row
from calibration.plan.streams import AwayDesign, SilenceDesign
from calibration.plan.votes import JudgePopulation, Sizes, draw_votes, systems_for
from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES
from metrics.agreement.agreement import agreement
from metrics.errors import InputError
from metrics.msu.trails import Population
from metrics.summaries.score import m_from_positions

ALIKE = JudgePopulation(query_spread=0.0)


def test_the_planned_width_is_that_of_studies_made_with_tables():
    """Collections, preferences, judged tasks and agreement as in a real study, with a measure of the same quality."""
    rng = np.random.default_rng(3)
    people = SimulatedJudges(patience_chars=800, per_topic=5, effect=0.84, unexplained_sd=0.6)
    means = [agreement_of_a_study(people, rng) for _ in range(6)]
    true = float(np.mean([mean.value for mean in means]))
    widths = [np.diff(mean.confidence_interval())[0] for mean in means]

    design = AgreementDesign(queries=10, pairs=21, workers=5, true=true, judges=ALIKE).ready()
    row = plan_row(design, "queries", studies=100, seed=1)

    assert row.width == pytest.approx(np.mean(widths), rel=0.15)


def agreement_of_a_study(people, rng):
    tables, probabilities = simulate_summaries(10, rng)
    judged = simulate_preferences(tables["positions"], probabilities, people, rng)
    task = judged_tasks({"preferences": judged})[0]
    scores = m_from_positions(tables["positions"], probabilities, [people.patience_chars])
    difference = score_differences(task, scores.droplevel("task"))[:, 0]
    return agreement(difference, task.share, task.topics).mean


def test_the_measure_of_a_plan_has_the_agreement_that_one_says():
    """What is searched is found: the studies' mean is the truth."""
    design = AgreementDesign(queries=40, pairs=10, workers=6, true=0.7, ties="half").ready()
    rng = np.random.default_rng(1)

    assert np.mean([design.simulated(rng).estimate for _ in range(60)]) == pytest.approx(0.7, abs=0.015)


def test_no_measure_agrees_better_than_people_let_it():
    """With three undecided people a pair .9 is out of reach, and the fault says what is within."""
    design = AgreementDesign(queries=25, pairs=6, workers=3, true=0.9, judges=JudgePopulation(strength=0.5))

    with pytest.raises(
        InputError, match=r"no measure can have an agreement of 0\.9 .* from 0\.\d+ to 0\.\d+; "
    ):
        design.ready()


def test_more_pairs_and_queries_help_as_they_should():
    """Twice the queries narrow the interval by the square root of two; pairs of one query by less."""
    design = AgreementDesign(queries=20, pairs=10, workers=6, true=0.65).ready()
    width, queries, pairs = (
        plan_row(study, "queries", studies=100, seed=1).width
        for study in (design, design.resized("queries", 40), design.resized("pairs", 20))
    )

    assert width / queries == pytest.approx(math.sqrt(2), rel=0.06)
    assert 1.02 < width / pairs < width / queries


@pytest.mark.parametrize(("pairs", "systems"), [(1, 2), (3, 3), (4, 4), (21, 7), (22, 8)])
def test_pairs_are_made_of_as_few_systems_as_can_be(pairs, systems):
    """21 pairs are all pairs of seven."""
    assert systems_for(pairs) == systems


def difference(other, same_choice=0.75):
    study = AgreementDesign(queries=20, pairs=10, workers=6, true=0.65)
    return DifferenceDesign(study=study, other=other, same_choice=same_choice).ready()


def test_two_equal_measures_are_rarely_told_apart():
    """At a true difference of 0 the chance is the size of the test, 5 %."""
    row = plan_row(difference(0.65), "queries", studies=250, seed=2)

    assert row.power == pytest.approx(0.05, abs=0.03)


def test_measures_that_choose_alike_are_easier_to_tell_apart():
    """Their common errors cancel in the difference."""
    apart, alike = (plan_row(difference(0.6, share), "queries", studies=60, seed=2) for share in (0.6, 0.85))

    assert alike.width < 0.8 * apart.width
    assert alike.detectable < apart.detectable


@pytest.mark.parametrize("same_choice", [0.6, 0.85])
def test_two_measures_choose_the_same_system_as_often_as_one_says(same_choice):
    """Over all pairs, though they do better on some queries than on others."""
    design = difference(0.6, same_choice)
    rng = np.random.default_rng(1)
    one, other = _two_measures(rng.standard_normal((4000, 5)), design, 0.4, rng)
    same = [np.sign(one[:, a] - one[:, b]) == np.sign(other[:, a] - other[:, b]) for a, b in [(0, 1), (2, 3)]]

    assert np.mean(same) == pytest.approx(same_choice, abs=0.015)


def test_measures_that_are_nearly_one_do_well_on_the_same_queries():
    """What a query does to one it does to the other, however much queries differ."""
    study = AgreementDesign(
        queries=20, pairs=10, workers=6, true=0.65, judges=JudgePopulation(query_spread=1.0)
    )
    one = DifferenceDesign(study=study, other=0.65, same_choice=0.99).ready()

    assert plan_row(one, "queries", studies=40, seed=1).width < 0.06


def test_measures_that_cannot_be_so_alike_are_refused_with_what_can_be():
    """.65 and .5 cannot choose the same system in 99 % of the pairs."""
    with pytest.raises(
        InputError, match=r"in 0\.99 of the pairs; give --same-choice from 0\.\d\d to 0\.\d\d"
    ):
        difference(0.5, 0.99)


def test_the_planned_interval_of_the_time_away_is_that_of_the_fit():
    """Visits drawn one by one and fitted as prefcal fit does give the same width."""
    population = Population(
        away_mean_seconds=86_400, away_sd_seconds=43_200, session_mean_seconds=120, session_sd_seconds=60
    )
    rng = np.random.default_rng(1)
    diary = ObservationDesign(workers=40, days=7)
    ends = [
        fit_exposure(away_exposure(simulate_visits(population, diary, rng))).conf_int()["away_mean_seconds"]
        for _ in range(5)
    ]
    row = plan_row(AwayDesign(workers=40, days=7, mean_hours=24, sd_hours=12), "workers", studies=40, seed=1)

    assert row.width == pytest.approx(np.mean([high - low for low, high in ends]) / 3600, rel=0.15)


def test_people_who_differ_are_harder_to_know_than_their_mean():
    """S_A needs several times the people that M_A needs."""
    design = AwayDesign(workers=60, days=7, mean_hours=24, sd_hours=12)
    mean, sd = (
        plan_row(replace(design, what=what), "workers", studies=12, seed=1) for what in ("mean", "sd")
    )

    assert (sd.width / 12) ** 2 > 3 * (mean.width / 24) ** 2


def test_the_planned_verdict_on_silence_is_that_of_the_fit():
    """The same draws, by way of the fit and by way of the plan."""
    design = SilenceDesign(workers=12, pairs=10, topics=8, true=0.4, judges=PushJudges())
    planned = design.simulated(np.random.default_rng(5))
    judges = PushJudges(workers=12, pairs_per_worker=10)
    silent = fit_push_weights(simulate_push_judgments(8, judges, np.random.default_rng(5))).silent

    assert planned.estimate == silent.ratio
    assert tuple(None if math.isinf(end) else end for end in (planned.low, planned.high)) == silent.interval
    assert planned.told == (silent.verdict == "supported")


@pytest.fixture(scope="module")
def patience() -> PatienceDesign:
    """Queries are made once."""
    return PatienceDesign(queries=10, pairs=21, workers=6, true=1500, text_chars=2400).ready()


def test_a_query_drawn_from_the_stock_keeps_its_summaries(patience):
    """Every difference of M in a study is that of the same pair in the stock."""
    stock = patience.stock
    rng = np.random.default_rng(1)
    drawn = np.random.default_rng(1).integers(len(stock.pairs.topics), size=5)
    study = _some_queries(stock, 5, MAX_PAIRS, rng)
    kappa = np.array([0.0, 1 / 1500])

    expected = stock.pairs.differences(kappa)[:, (drawn[:, None] * MAX_PAIRS + np.arange(MAX_PAIRS)).ravel()]
    assert study.differences(kappa) == pytest.approx(expected)
    assert study.summaries.count == 35


def test_patience_is_found_and_told_from_another(patience):
    """Of 15 small studies the median is near the truth; most tell 1,500 from 400."""
    design = replace(patience, tell_from=400.0)
    rng = np.random.default_rng(2)
    found = [design.simulated(rng) for _ in range(11)]

    assert np.median([one.estimate for one in found]) == pytest.approx(1500, rel=0.15)
    assert np.mean([one.told for one in found]) > 0.6


def test_the_planned_interval_is_that_of_agree():
    """The same votes as a table of preferences, people on several queries and some of them gone, to the last digit."""
    sizes = Sizes(queries=8, pairs=6, workers=5, fewest_pairs=3, queries_each=3)
    votes = draw_votes(sizes, JudgePopulation(taste_sd=0.6, drop_out=0.3), np.random.default_rng(2))
    scores = np.random.default_rng(3).standard_normal((8, 4))
    words = {1.0: "left", 0.0: "right", 0.5: "equally_good"}
    rows = [
        {
            "worker": f"w{votes.judges[place]}",
            "task": "t",
            "topic": f"q{place[0]}",
            "pair": f"q{place[0]}-{place[1]}",
            "system_left": f"s{votes.pairs[place[1]][0]}",
            "system_right": f"s{votes.pairs[place[1]][1]}",
            "choice": words[votes.votes[place]],
        }
        for place in zip(*np.nonzero(~np.isnan(votes.votes)), strict=True)
    ]
    (task,) = judged_tasks({"preferences": check_frame(pd.DataFrame(rows), TABLES["preferences"])})
    frame = pd.DataFrame(
        {"m": scores.ravel()},
        index=pd.MultiIndex.from_product([[f"q{n}" for n in range(8)], [f"s{n}" for n in range(4)]]),
    )
    real = score_differences(task, frame.rename_axis(["topic", "system"]))[:, 0]

    for ties in ("against", "weighted"):
        planned = votes.by_person().interval(votes.difference(scores), ties)
        assert planned == pytest.approx(task.votes.interval(real, ties), abs=1e-12)


@pytest.mark.parametrize(
    "design",
    [
        AgreementDesign(queries=8, pairs=6, workers=5, true=0.7, rho=0.5),
        DifferenceDesign(
            study=AgreementDesign(queries=8, pairs=6, workers=5, true=0.7, rho=0.5), other=0.6, rho_other=0.4
        ),
        AwayDesign(workers=20, days=5, mean_hours=8, sd_hours=4),
        SilenceDesign(workers=12, pairs=10, topics=8, true=0.4),
    ],
)
def test_a_design_simulates_the_same_study_in_another_process(design):
    """It is sent there, and brings all that it needs."""
    sent = pickle.loads(pickle.dumps(design))

    here, there = (one.simulated(np.random.default_rng(1)) for one in (design, sent))
    np.testing.assert_equal(astuple(there), astuple(here))  # nan too


def test_who_leaves_leaves_the_rest_undone():
    """A third of the people give half of their judgments on average: a sixth is missing, and of later queries more."""
    sizes = Sizes(queries=12, pairs=6, workers=600, queries_each=12)
    made = ~np.isnan(draw_votes(sizes, JudgePopulation(drop_out=1 / 3), np.random.default_rng(1)).votes)

    assert made.mean() == pytest.approx(5 / 6, abs=0.06)
    assert made[0].mean() > 0.9 > made[-1].mean()


def test_queries_have_as_many_pairs_as_one_says():
    """From 2 to 6, four on average."""
    sizes = Sizes(queries=500, pairs=6, workers=2, fewest_pairs=2)
    votes = draw_votes(sizes, JudgePopulation(), np.random.default_rng(1))
    pairs = np.bincount(votes.judged[:, 0])

    assert (pairs.min(), pairs.max()) == (2, 6)
    assert pairs.mean() == pytest.approx(4, abs=0.2)
    assert sizes.judgments == 4 * 500 * 2


@pytest.mark.parametrize("pairs_each", [None, 2])
def test_nobody_judges_a_pair_twice(pairs_each):
    """People take turns, each with as many queries and pairs as one says."""
    sizes = Sizes(queries=7, pairs=6, workers=4, queries_each=3, pairs_each=pairs_each)
    judges = sizes.judges()

    assert all(len(set(of_pair)) == 4 for of_query in judges for of_pair in of_query)
    queries = [len({query for query, *_ in np.argwhere(judges == person)}) for person in range(sizes.people)]
    assert max(queries) <= 3
    assert len(set(judges.ravel())) == sizes.people
