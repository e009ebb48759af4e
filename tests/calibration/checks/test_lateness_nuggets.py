"""Nuggets that several workers were asked about: clusters beside the workers."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

from calibration.checks.lateness.nuggets_differ import nugget_test
from calibration.checks.registry import run_checks
from calibration.models.lateness.answers import LatenessCounts, lateness_counts
from calibration.models.lateness.fit import DECAY, P0, LatenessFit, fit_lateness
from calibration.models.lateness.simulate import LatenessRaters, simulate_lateness, simulate_lateness_counts
from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES


def drawn(seed: int, **raters) -> LatenessCounts:
    return simulate_lateness_counts(LatenessRaters(decay=0.5, **raters), np.random.default_rng([seed, 12]))


def late_by_nugget(seed: int, nuggets: int = 15, workers: int = 50, nugget_sd: float = 1.0) -> pd.DataFrame:
    """Draw answers on nuggets that come as late to everybody: which one is late by how much is chance."""
    rng = np.random.default_rng([seed, 13])
    late, own = rng.permutation(np.arange(nuggets) % 5), nugget_sd * rng.standard_normal(nuggets)
    worker, nugget = np.repeat(np.arange(workers), 20), rng.integers(0, nuggets, 20 * workers)
    p0 = 1 / (1 + np.exp(-np.log(4) - own[nugget]))
    rows = {
        "worker": [f"w{n}" for n in worker],
        "topic": "E",
        "nugget": [f"N{n}" for n in nugget],
        "visits_late": late[nugget],
        "useful": rng.random(len(worker)) < p0 * 0.5 ** late[nugget],
    }
    return check_frame(pd.DataFrame(rows), TABLES["lateness"])


def warnings_of(fit: LatenessFit) -> set[str]:
    return {finding.name for finding in run_checks(fit, fit.counts) if finding.severity == "warning"}


def test_intervals_allow_for_nuggets_that_are_late_together(seeds):
    """Nuggets are drawn as workers are: with workers alone 15 nuggets leave L out in a quarter of the studies, p0 in half."""
    fits = [fit_lateness(lateness_counts(late_by_nugget(seed))) for seed in seeds(100, least=50)]
    ends = [fit.conf_int() for fit in fits]

    assert np.mean([one[DECAY][0] <= 0.5 <= one[DECAY][1] for one in ends]) >= 0.88
    covered = [one[P0][0] <= 0.76 <= one[P0][1] for one in ends]
    warned = ["nuggets_differ" in warnings_of(fit) for fit in fits]
    assert np.mean(np.array(covered) | warned) >= 0.9


def test_nuggets_that_differ_are_named(seeds):
    """Forty nuggets with an sd of 1 on the logit of p0, and equal ones."""
    different = [warnings_of(fit_lateness(drawn(n, nuggets=40, nugget_sd=1.0))) for n in seeds(50)]
    equal = [warnings_of(fit_lateness(drawn(n, nuggets=40, worker_sd=1.5))) for n in seeds(100)]

    assert np.mean(["nuggets_differ" in names for names in different]) >= 0.4
    assert np.mean(["nuggets_differ" in names for names in equal]) <= 0.05


def test_a_nugget_for_each_answer_is_no_cluster():
    """Then there is nothing but workers, as before."""
    counts = drawn(1)
    answers = simulate_lateness(LatenessRaters(decay=0.5), np.random.default_rng([1, 12]))

    assert "nugget" not in lateness_counts(answers).shared_ways
    assert fit_lateness(lateness_counts(answers)).conf_int() == fit_lateness(counts).conf_int()
    assert nugget_test(counts) is None


def test_few_nuggets_are_named():
    """Nine are few; with one nothing is known about others, and the interval is by workers."""
    few, one = drawn(1, nuggets=9), drawn(1, nuggets=1)

    assert "few_nuggets" in warnings_of(fit_lateness(few))
    assert "one_nugget" in warnings_of(fit_lateness(one))
    assert fit_lateness(one).uncertainty["sandwich"].df.tolist() == [49, 49]


def test_nuggets_of_two_events_are_two_nuggets():
    """A nugget's name counts within its topic."""
    answers = late_by_nugget(1)
    both = answers.assign(topic=np.where(np.arange(len(answers)) % 2, "E", "F"))
    counts = lateness_counts(both)

    assert (counts.nuggets, counts.topics) == (30, 2)
    assert counts.shared_ways["nugget"].alone.total_asked.sum() == len(answers)


@pytest.mark.parametrize("p0", [0.8, 1.0])
def test_counts_by_nugget_hold_the_same_answers(p0):
    """Each way of counting adds up to the same totals, also for some of the workers."""
    counts = drawn(2, nuggets=12, p0=p0)
    some = counts.of(np.arange(0, 50, 3))

    for of in (counts, some):
        cells = of.cells
        for other in (*of.shared_ways["nugget"], of.by(cells.topic)):
            assert other.total_asked.tolist() == of.total_asked.tolist()
            assert other.total_useful.tolist() == of.total_useful.tolist()


def test_intervals_allow_for_topics_that_differ(seeds):
    """Twenty topics with an sd of 1 on the logit of p0: with workers and nuggets alone p0 is left out in a third of the studies."""
    raters = {"nuggets": 60, "topics": 20, "topic_sd": 1.0, "workers": 60}
    fits = [fit_lateness(drawn(seed, **raters)) for seed in seeds(200)]
    truth = expit(
        logit(0.8) + np.sqrt(0.7**2 + 1.0**2) * np.random.default_rng(1).standard_normal(400_000)
    ).mean()
    ends = [fit.conf_int()[P0] for fit in fits]

    assert np.mean([low <= truth <= high for low, high in ends]) >= 0.85
