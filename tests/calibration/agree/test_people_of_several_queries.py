"""The same people judge several queries: queries and people are both samples, in every interval and test."""

import numpy as np
import pandas as pd
import pytest

import prefcal
from calibration.agree.judged_task import judged_tasks, wide_tastes
from metrics.agreement.agreement import agreement
from metrics.agreement.crossed_errors import crossing
from tests.calibration.judged_summaries import table
from tests.metrics.simulated_votes import judged_measures


def task_of(rows):
    (task,) = judged_tasks({"preferences": table("preferences", rows)})
    return task


def votes(share_of_query, workers_of_query, rng, *, pairs=4, taste=0.0):
    """Every worker of a query judges its pairs for the better system with the query's probability and their taste."""
    likes = rng.normal(0, taste, 1000)
    return [
        {
            "worker": f"w{worker}",
            "task": "t",
            "topic": f"q{query:02d}",
            "pair": f"q{query}-{pair}",
            "system_left": "a",
            "system_right": f"b{pair}",
            "choice": "left" if rng.random() < share + likes[worker] else "right",
        }
        for query, (share, workers) in enumerate(zip(share_of_query, workers_of_query, strict=True))
        for worker in workers
        for pair in range(pairs)
    ]


def variance_of_a_two_way_table(cells):
    """Of the mean of a (queries, workers) table, both being samples: (MS_query + MS_worker - MS_rest) / (Q W)."""
    q, w = cells.shape
    by_query, by_worker, whole = cells.mean(axis=1), cells.mean(axis=0), cells.mean()
    rest = cells - by_query[:, None] - by_worker + whole
    ms_query = w * ((by_query - whole) ** 2).sum() / (q - 1)
    ms_worker = q * ((by_worker - whole) ** 2).sum() / (w - 1)
    return (ms_query + ms_worker - (rest**2).sum() / ((q - 1) * (w - 1))) / (q * w)


def test_where_everybody_judges_everything_it_is_the_two_way_analysis_of_variance():
    """Queries add their part, people theirs, what is left neither's; of few people a little more, as the jackknife has it."""
    rng = np.random.default_rng(1)
    queries, workers = 7, 5
    credit = (
        rng.normal(0.6, 0.1, (queries, 1))
        + rng.normal(0, 0.5, workers)
        + rng.normal(0, 0.1, (queries, workers))
    )
    query, worker = np.indices(credit.shape).reshape(2, -1)
    weight = np.full(credit.size, 1 / credit.size)

    error = crossing(query, worker).error((credit.ravel() - credit.mean()) * weight, weight)

    unbiased = variance_of_a_two_way_table(credit)
    assert unbiased <= error.standard_error**2 <= unbiased * workers / (workers - 1) * 1.01
    assert workers - 1 <= error.df < queries + workers


def test_where_every_worker_judges_one_query_it_is_the_interval_over_queries():
    """The paper's design: people are nested in queries, so queries hold all that people vary."""
    rng = np.random.default_rng(2)
    task = task_of(votes([0.9, 0.6, 0.7, 0.8], [range(5 * q, 5 * q + 5) for q in range(4)], rng))
    difference = np.ones(len(task.pairs))

    over_queries = agreement(difference, task.share, task.topics, ties="weighted").mean.confidence_interval()
    assert task.votes.interval(difference, "weighted") == pytest.approx(over_queries)


def test_people_who_judge_many_queries_widen_it():
    """Their tastes do not average out over queries."""
    rng = np.random.default_rng(3)
    task = task_of(votes([0.7] * 12, [range(5)] * 12, rng, taste=0.25))
    difference = np.ones(len(task.pairs))

    low, high = task.votes.interval(difference, "weighted")
    narrow = agreement(difference, task.share, task.topics, ties="weighted").mean.confidence_interval()

    assert high - low > 1.5 * (narrow[1] - narrow[0])


def test_it_holds_the_truth_where_the_interval_over_queries_does_not():
    """Six people of different taste judge all queries: 40 simulated studies."""
    rng = np.random.default_rng(4)
    held, held_by_queries = 0, 0
    for _ in range(40):
        task = task_of(votes(rng.normal(0.7, 0.05, 24), [range(6)] * 24, rng, pairs=1, taste=0.14))
        difference = np.ones(len(task.pairs))
        mean = agreement(difference, task.share, task.topics, ties="weighted").mean
        for name, (low, high) in (
            ("both", task.votes.interval(difference, "weighted")),
            ("queries", mean.confidence_interval()),
        ):
            held += name == "both" and low <= 0.7 <= high
            held_by_queries += name == "queries" and low <= 0.7 <= high

    assert held >= 36
    assert held_by_queries < 32


@pytest.mark.parametrize(
    ("workers_of_query", "knows"),
    [
        ([range(5)] * 3, False),
        ([range(5)] * 4, True),
        ([range(3)] * 6, False),
        ([range(4)] * 6, True),
        ([[0]] * 12, False),
        ([[0]] * 30 + [[1], [2], [3], [4]], False),
    ],
    ids=["3 queries", "4 queries", "3 people", "4 people", "1 person", "5 people, one judged 30 of 34"],
)
def test_of_few_queries_or_people_there_is_no_interval(workers_of_query, knows):
    """Below four, or effectively below three, nothing is known about others, and no interval over queries alone takes its place."""
    rng = np.random.default_rng(5)
    share = np.linspace(0.5, 0.9, len(workers_of_query))
    task = task_of(votes(share, workers_of_query, rng))
    difference = np.ones(len(task.pairs))

    for ties in ("weighted", "half"):
        assert np.isfinite(task.votes.interval(difference, ties)).all() == knows


def unequal_study(rng, *, taste, queries=60, people=30):
    """People of whom one judges a third and ten judge two thirds, all queries shared; a measure, and its agreement's influence."""
    load = 1 / np.arange(1, people + 1) ** 1.4
    query = np.repeat(np.arange(queries), 8)
    worker = rng.choice(people, query.size, p=load / load.sum())
    vote = (rng.random(query.size) < 0.65 + (taste * rng.normal(size=people))[worker]).astype(float)
    crossed = crossing(query, np.unique(worker, return_inverse=True)[1])
    weight = np.full(query.size, 1 / query.size)
    return vote.mean(), crossed.error((vote - vote.mean()) * weight, weight)


def test_people_with_unequal_loads_keep_an_interval_that_says_something():
    """Degrees of freedom are the effective number of people less 1: with those of squared loads intervals were seven times as wide."""
    rng = np.random.default_rng(6)
    found = [unequal_study(rng, taste=0.08) for _ in range(300)]
    value, reach = np.array([mean for mean, _ in found]), np.array([error.half_width() for _, error in found])

    assert 0.92 <= np.mean(np.abs(value - value.mean()) <= reach) <= 0.985
    assert np.median(reach) < 1.3 * 1.96 * value.std()


def test_no_interval_over_queries_alone_stands_beside_one_over_both():
    """The degrees of freedom do not jump where the people's part is estimated just below 0."""
    rng = np.random.default_rng(7)
    errors = [unequal_study(rng, taste=0.0)[1] for _ in range(60)]

    assert all(error.df < 45 for error in errors)  # over 60 queries alone there are 59


def test_tastes_that_differ_widely_are_said():
    """The p of majorities is then too small; tastes of the usual width, and people who judged one query each, are left in peace."""

    def warned(seed, **settings):
        study = judged_measures(np.random.default_rng(seed), **settings)
        measures = {"A": study.first, "B": study.second, "alike": 0 * study.first}
        return [note.name for note in wide_tastes(study.votes, measures)]

    assert [warned(seed, workers=14, taste=1.8) for seed in range(3)] == [["tastes_differ"]] * 3
    assert [warned(seed, workers=14, taste=0.5) for seed in range(3)] == [[]] * 3
    assert warned(1, taste=1.8, own_people=True) == []


@pytest.mark.parametrize(("taste", "refused"), [(1.8, True), (0.0, False)])
def test_majorities_have_no_p_where_tastes_differ_widely(taste, refused):
    """Nor an interval; comparisons by weighted votes and by their model keep both, and the sentence names the cause."""
    rng = np.random.default_rng(5)
    scores = rng.normal(size=(2, 20, 5))
    likes = 0.8 + taste * rng.normal(size=(12, 2))
    rows = [
        {
            "worker": f"w{worker}",
            "task": "t",
            "topic": f"q{query:02d}",
            "pair": f"q{query}-{one}{other}",
            "system_left": f"s{one}",
            "system_right": f"s{other}",
            "choice": "left"
            if rng.logistic() < likes[worker] @ (scores[:, query, one] - scores[:, query, other])
            else "right",
        }
        for worker in range(12)
        for query in range(20)
        for one, other in ((0, 1), (2, 1), (2, 3), (4, 3), (4, 0))
    ]
    measures = pd.DataFrame(
        [
            (f"s{system}", f"q{query:02d}", name, scores[number, query, system])
            for number, name in enumerate(("first", "second"))
            for query in range(20)
            for system in range(5)
        ],
        columns=["run", "topic", "metric", "value"],
    )
    agreed = prefcal.agree({"preferences": table("preferences", rows)}, scores=measures)
    by = agreed.comparisons.set_index("by")
    numbers = ["low", "high", "minimum_detectable", "p_t", "p_holm"]

    assert by.loc["majority", numbers].isna().tolist() == [refused] * len(numbers)
    assert by.loc[["weighted", "votes"], numbers].notna().all(axis=None)
    assert not by["difference"].isna().any()
    assert (
        any("Comparisons by majority have no interval and no p" in line for line in agreed.warnings)
        is refused
    )
