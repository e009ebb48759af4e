"""What the paired tests between two metrics are."""

import itertools
import math
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from metrics.agreement.agreement import agreement, mean_by_query
from metrics.agreement.comparison import compare, holm
from tests.metrics.simulated_votes import simulate

FIRST, SECOND = [0.5, 0.75, 0.6, 0.9, 0.7], [0.4, 0.8, 0.5, 0.7, 0.6]


def of_queries(means, pairs=4):
    return mean_by_query(np.repeat(means, pairs), np.repeat([f"q{n}" for n in range(len(means))], pairs))


def compared(first, second):
    return compare(of_queries(first), of_queries(second), rng=np.random.default_rng(1))


def test_it_is_the_paired_t_test_of_query_means():
    """With as many pairs in each query, scipy's test and its interval."""
    result, expected = compared(FIRST, SECOND), stats.ttest_rel(FIRST, SECOND)

    assert result.p_t == pytest.approx(expected.pvalue)
    assert result.confidence_interval() == pytest.approx(tuple(expected.confidence_interval()))


def test_no_interval_holds_a_difference_that_cannot_be():
    """Two agreements between 0 and 1 differ by 1 at most."""
    low, high = compared([1, 1, 0.25], [0, 0, 0.25]).confidence_interval()

    assert low < 0
    assert high == 1


def test_the_sign_flip_p_counts_every_exchange_of_the_two_metrics():
    """Brute force over 2^5 exchanges."""
    differences = np.subtract(FIRST, SECOND)
    sums = [abs(np.dot(signs, differences)) for signs in itertools.product([-1, 1], repeat=5)]

    expected = np.mean(np.array(sums) >= abs(differences.sum()) - 1e-12)

    assert compared(FIRST, SECOND).p_sign_flip == pytest.approx(expected)


def test_random_flips_estimate_the_exact_p():
    """Beyond the exact limit the flips are drawn; the observed one counts as one of them."""
    rng = np.random.default_rng(3)
    first = rng.random(16)
    second = first + rng.normal(loc=0.04, scale=0.1, size=16)

    result = compared(first, second)

    assert result.p_sign_flip == pytest.approx(result.p_t, abs=0.03)
    assert result.p_sign_flip > 0


def test_exchanged_pairs_that_count_for_one_metric_only_are_exchanged_with_their_number():
    """Under `drop` the two metrics drop different pairs; brute force over both queries' exchanges."""
    first = mean_by_query([1, 0, 1, math.nan, 1], ["a", "a", "b", "b", "b"])
    second = mean_by_query([0, math.nan, 1, 0, 0], ["a", "a", "b", "b", "b"])

    def difference(exchange_a, exchange_b):
        sides = [[(1, 2), (2, 2)], [(0, 1), (1, 3)]]  # (sum, count) of queries a, b for first and second
        for query, exchange in enumerate((exchange_a, exchange_b)):
            if exchange:
                sides[0][query], sides[1][query] = sides[1][query], sides[0][query]
        means = [sum(s for s, _ in side) / sum(n for _, n in side) for side in sides]
        return abs(means[0] - means[1])

    every = [difference(*flags) for flags in itertools.product([False, True], repeat=2)]
    expected = np.mean(np.array(every) >= difference(False, False) - 1e-12)

    assert compare(first, second, rng=np.random.default_rng(1)).p_sign_flip == pytest.approx(expected)


def test_a_metric_compared_with_itself_differs_in_nothing():
    """No variation, no t test; and no evidence either."""
    result = compared(FIRST, FIRST)

    assert result.difference == 0
    assert math.isnan(result.p_t)
    assert result.p_sign_flip == 1
    assert math.isnan(result.minimum_detectable())


def test_both_tests_keep_their_level_under_the_null():
    """Two equally noisy views of the same preferences, 300 studies: about 5 % are rejected."""
    rng = np.random.default_rng(12)
    rejected = np.zeros(2)
    for _ in range(300):
        study = simulate(rng, queries=12, pairs=10)
        noise = rng.normal(size=(2, study.preferred.size))
        first, second = (
            agreement(study.preferred + 1.5 * view, study.share, study.query).mean for view in noise
        )
        result = compare(first, second, flips=500, rng=rng)
        rejected += np.array([result.p_t, result.p_sign_flip]) < 0.05

    assert (rejected / 300 < 0.09).all()
    assert (rejected / 300 > 0.01).all()


def test_the_minimum_detectable_difference_is_detected_with_its_power():
    """At a true difference of that size four of five studies reject."""
    rng = np.random.default_rng(13)
    queries, spread = 20, 0.1
    shift = 2.95375 * spread / math.sqrt(queries)  # t(.975, 19) + t(.8, 19) = 2.0930 + 0.8610
    detected = 0
    minimum = []
    for _ in range(300):
        second = rng.uniform(0.3, 0.5, size=queries)
        result = compared(second + shift + rng.normal(scale=spread, size=queries), second)
        detected += result.p_t < 0.05
        minimum.append(result.minimum_detectable(power=0.8))

    assert 0.73 < detected / 300 < 0.87
    assert np.mean(minimum) == pytest.approx(shift, rel=0.05)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_statsmodels(p_values):
    """The library that everybody uses is the oracle; it collects all garbage each time, half a second of a long run."""
    with patch("gc.collect"):
        expected = multipletests(p_values, method="holm")[1]

    assert holm(p_values) == pytest.approx(expected)


def test_holm_leaves_undefined_comparisons_out_of_the_family():
    """A comparison that could not be made costs the others nothing."""
    assert holm([0.01, math.nan, 0.04]).tolist() == pytest.approx([0.02, math.nan, 0.04], nan_ok=True)


def test_metrics_judged_on_different_queries_cannot_be_paired():
    """The test is paired by query."""
    with pytest.raises(ValueError, match="same queries"):
        compared([0.5, 0.6], [0.5, 0.6, 0.7])
