"""The interval of the vote-weighted agreement: queries and people are both samples."""

import math

import numpy as np
import pytest
from scipy.special import stdtrit

from calibration.agree.judged_task import judged_tasks
from calibration.agree.task_agreement import votes_by_person
from metrics.agreement.agreement import agreement
from tests.calibration.judged_summaries import study, table


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


def slow_interval(task, difference):
    """The formula with loops over votes."""
    lead = {
        (row.topic, row.system_a, row.system_b): (np.sign(d), row.votes)
        for row, d in zip(task.pairs.itertuples(), difference, strict=True)
    }
    worth = {"votes_a": 1.0, "votes_b": 0.0}
    value = agreement(difference, task.share, task.topics, ties="weighted").value
    sums = {"query": {}, "worker": {}, "both": {}}
    for row in task.judgments.itertuples():
        sign, votes = lead[row.topic, row.system_a, row.system_b]
        credit = 0.5 + sign * (worth.get(row.vote, 0.5) - 0.5)
        part = (credit - value) / votes / len(task.pairs)
        for kind, key in (("query", row.topic), ("worker", row.worker), ("both", (row.topic, row.worker))):
            sums[kind][key] = sums[kind].get(key, 0.0) + part
    v = {kind: len(s) / (len(s) - 1) * sum(x**2 for x in s.values()) for kind, s in sums.items()}
    variance = max(v["query"], v["query"] + v["worker"] - v["both"])
    units = min(len(sums["query"]), len(sums["worker"]))
    reach = stdtrit(units - 1, 0.975) * math.sqrt(variance)
    return value - reach, value + reach


def test_it_is_the_two_way_formula():
    """Against loops over single votes."""
    (task,) = judged_tasks(study(topics=5, workers=6))
    difference = np.random.default_rng(1).normal(size=len(task.pairs))

    assert votes_by_person(task).interval(difference) == pytest.approx(slow_interval(task, difference))


def test_where_every_worker_judges_one_query_it_is_the_interval_over_queries():
    """The paper's design: people are nested in queries, so queries hold all that people vary."""
    rng = np.random.default_rng(2)
    task = task_of(votes([0.9, 0.6, 0.7, 0.8], [range(5 * q, 5 * q + 5) for q in range(4)], rng))
    difference = np.ones(len(task.pairs))

    over_queries = agreement(difference, task.share, task.topics, ties="weighted").mean.confidence_interval()
    assert votes_by_person(task).interval(difference) == pytest.approx(over_queries)


def test_people_who_judge_many_queries_widen_it():
    """Their tastes do not average out over queries."""
    rng = np.random.default_rng(3)
    task = task_of(votes([0.7] * 12, [range(5)] * 12, rng, taste=0.25))
    difference = np.ones(len(task.pairs))

    low, high = votes_by_person(task).interval(difference)
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
            ("both", votes_by_person(task).interval(difference)),
            ("queries", mean.confidence_interval()),
        ):
            held += name == "both" and low <= 0.7 <= high
            held_by_queries += name == "queries" and low <= 0.7 <= high

    assert held >= 36
    assert held_by_queries < 32


def test_one_query_has_none_and_one_worker_the_one_over_queries():
    """Nothing is known about a spread that was not seen."""
    rng = np.random.default_rng(5)
    alone = task_of(votes([0.7], [range(5)], rng))
    one = task_of(votes([0.9, 0.5, 0.7], [[0]] * 3, rng))
    same = np.ones(len(one.pairs))

    assert np.isnan(votes_by_person(alone).interval(np.ones(len(alone.pairs)))).all()
    mean = agreement(same, one.share, one.topics, ties="weighted").mean
    assert votes_by_person(one).interval(same) == pytest.approx(mean.confidence_interval())
