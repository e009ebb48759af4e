"""Pairs of summaries as arrays, and M of every summary at any patience."""

import numpy as np
import pandas as pd
import pytest

from calibration.inference.results import NotIdentifiedError
from calibration.models.patience.pairs import summary_pairs
from calibration.models.patience.simulate import SimulatedJudges, simulate_summaries
from metrics.summaries.score import m_from_positions
from tests.calibration.studies import ONE_INTENT, drawn_pairs, positions, votes

PATIENCES = np.array([100.0, 400.0, 840.0, 1500.0, np.inf])


def test_m_is_the_metric_of_the_metrics_package():
    """The same M at every patience, an infinite one included, by another way of computing it."""
    tables, probabilities = simulate_summaries(3, np.random.default_rng(4))
    m = m_from_positions(tables["positions"], probabilities, PATIENCES)
    rows = [
        (t, a, b, 1, 0, 0) for t in probabilities for a, b in [("good-order", "short"), ("random", "short")]
    ]
    pairs = summary_pairs(votes(*rows), tables["positions"].assign(task=None), probabilities)
    expected = [
        m.loc[("summaries", topic, one)] - m.loc[("summaries", topic, other)]
        for topic, one, other, *_ in rows
    ]

    np.testing.assert_allclose(pairs.differences(1 / PATIENCES).T, expected)


def test_the_slope_of_m_is_its_derivative():
    """Against finite differences, between the kappa at which an iUnit falls out of reach."""
    pairs = drawn_pairs(SimulatedJudges(patience_chars=840), topics=2)
    kappa, step = np.array([0.0003, 0.0011, 0.0042]), 1e-9
    numeric = (pairs.differences(kappa + step) - pairs.differences(kappa - step)) / (2 * step)

    assert pairs.difference_slopes(kappa) == pytest.approx(numeric, rel=1e-4, abs=1e-3)


def test_without_decay_m_is_the_sum_of_what_is_met():
    """kappa = 0: an ordinary point at which position does not matter."""
    table = positions(("q1", "A", "u1", 3, 10), ("q1", "A", "u2", 1, 5000), ("q1", "B", "u1", 3, 10))
    pairs = summary_pairs(votes(("q1", "A", "B", 1, 0, 0)), table, ONE_INTENT)

    assert pairs.differences(np.array([0.0])) == [[1.0]]


def test_a_summary_that_meets_nothing_in_one_topic_has_m_zero():
    """A system with positions elsewhere was there; its summary of this topic just has nothing of importance."""
    table = positions(("q1", "A", "u1", 2, 0), ("q2", "A", "u1", 2, 0), ("q2", "B", "u1", 1, 0))
    pairs = summary_pairs(votes(("q1", "A", "B", 1, 0, 0)), table, ONE_INTENT)

    assert pairs.differences(np.array([0.001])) == [[2.0]]
    assert pairs.left_out == 0


def test_pairs_without_positions_are_left_out_and_counted():
    """A topic or a system that positions do not know would silently score 0."""
    table = positions(("q1", "A", "u1", 2, 0), ("q1", "B", "u1", 1, 0))
    rows = [("q1", "A", "B", 1, 0, 0), ("q1", "A", "C", 0, 1, 0), ("q2", "A", "B", 1, 0, 0)]
    pairs = summary_pairs(votes(*rows), table, ONE_INTENT)

    assert (len(pairs.topic), pairs.left_out, pairs.topics) == (1, 2, ("q1",))


def test_no_pair_with_positions_is_refused():
    """There is nothing to fit a patience to; the line on stderr says so."""
    with pytest.raises(NotIdentifiedError, match="no judged pair has positions"):
        summary_pairs(votes(("q1", "A", "B", 1, 0, 0)), positions(("q2", "A", "u1", 2, 0)), ONE_INTENT)


def test_positions_of_another_task_are_another_summary():
    """Two tasks may show the same system in another form; without a task, positions hold for all."""
    both = pd.concat(
        [positions(("q1", "A", "u1", 2, 0), ("q1", "B", "u1", 1, 0), task=task) for task in "tu"]
    )
    both.loc[both["task"] == "u", "importance"] = 9.0
    judged = votes(("q1", "A", "B", 1, 0, 0))

    assert summary_pairs(judged, both, ONE_INTENT).differences(np.array([0.0])) == [[1.0]]
    with pytest.raises(NotIdentifiedError):
        summary_pairs(judged.assign(task="x"), both, ONE_INTENT)
    assert summary_pairs(judged.assign(task="x"), both[:2].assign(task=None), ONE_INTENT).left_out == 0


def test_equally_good_and_equally_bad_are_the_same_tie():
    """Neither favours a system; the two labels are told apart elsewhere."""
    table = positions(("q1", "A", "u1", 2, 0), ("q1", "B", "u1", 1, 0))
    judged = votes(("q1", "A", "B", 3, 1, 2)).assign(equally_bad=4)
    pairs = summary_pairs(judged, table, ONE_INTENT)

    assert (pairs.votes.first, pairs.votes.second, pairs.votes.ties) == ([3], [1], [6])
    assert pairs.votes.total == [10]
