"""Leaving clusters out and drawing them anew, for a statistic whose error is known."""

import numpy as np
import pytest

from calibration.inference.clusters import (
    cluster_uncertainty,
    crossed_unequal,
    crossed_variance,
    jackknife_covariance,
)

VALUES = np.random.default_rng(1).normal(size=(20, 2))


def means(weights):
    return weights @ VALUES / weights.sum(axis=1, keepdims=True)


def test_the_jackknife_of_a_mean_is_its_covariance():
    """s^2 / n, exactly; and the bootstrap comes close."""
    both = cluster_uncertainty(means, 20, rng=np.random.default_rng(2), resamples=4000)
    exact = np.cov(VALUES, rowvar=False) / 20

    np.testing.assert_allclose(both["topic_jackknife"].cov, exact)
    np.testing.assert_allclose(both["topic_jackknife"].centre, VALUES.mean(axis=0))
    np.testing.assert_allclose(both["topic_bootstrap"].cov, exact * 19 / 20, rtol=0.1, atol=1e-3)
    assert both["topic_jackknife"].df == 19


def test_no_interval_of_a_share_goes_beyond_one():
    """A worker less would move it, but nobody agrees in more than all cases."""
    values = np.array([[1.0], [1.0], [1.0], [0.9]])
    found = cluster_uncertainty(
        lambda weights: weights @ values / weights.sum(axis=1, keepdims=True),
        4,
        rng=np.random.default_rng(2),
        resamples=5,
    )

    ((low, high),) = found["topic_jackknife"].intervals(0.95)
    assert high == 1.0
    assert low == pytest.approx(0.975 - 3.182446 * 0.025)


def test_the_unit_is_in_the_names():
    """Workers, for example."""
    found = cluster_uncertainty(means, 20, rng=np.random.default_rng(2), resamples=5, unit="worker")

    assert list(found) == ["worker_jackknife", "worker_bootstrap"]


def test_more_than_fifty_clusters_are_left_out_in_groups():
    """Then the degrees of freedom are those of the groups."""
    values = np.random.default_rng(3).normal(size=(400, 1))
    found = cluster_uncertainty(
        lambda w: w @ values / w.sum(axis=1, keepdims=True), 400, rng=np.random.default_rng(4), resamples=5
    )

    assert found["topic_jackknife"].df == 49
    assert found["topic_jackknife"].cov[0, 0] == pytest.approx(values.var(ddof=1) / 400, rel=0.5)


def test_one_cluster_or_a_statistic_that_hangs_on_one_has_no_uncertainty():
    """Nothing is known about others."""

    def only_the_first(weights):
        return np.where(weights[:, :1] > 0, 1.0, np.nan)

    assert not cluster_uncertainty(means, 1, rng=np.random.default_rng(1), resamples=5)
    assert not cluster_uncertainty(only_the_first, 3, rng=np.random.default_rng(1), resamples=5)


def test_samples_that_say_nothing_are_dropped():
    """A bootstrap sample in which nothing varies, for example."""

    def sometimes(weights):
        return np.where(weights[:, :1] + weights[:, 1:2] > 0, weights[:, :1], np.nan)

    found = cluster_uncertainty(sometimes, 4, rng=np.random.default_rng(1), resamples=500)
    values = found["topic_bootstrap"].values

    assert 0 < len(values) < 500
    assert not np.isnan(values).any()


def test_covariance_of_two_groups_by_hand():
    """(2 - 1) / 2 times the squared distances from the mean: 1/2 (1 + 1) = 1."""
    np.testing.assert_allclose(jackknife_covariance(np.array([[0.0, 0.0], [2.0, 4.0]])), [[1, 2], [2, 4]])


def test_clusters_of_one_size_are_as_usual_and_unequal_ones_tell_less():
    """c / (c - 1) and c - 1 degrees of freedom; eight topics of which one has 70 % of the judgments leave 1.8 (Bell and McCaffrey 2002)."""
    influence = np.random.default_rng(3).normal(size=40)
    topic, worker = np.arange(40) % 8, np.arange(40) // 8
    even = crossed_unequal(influence, topic, worker, np.ones(40))
    heavy = crossed_unequal(influence[:8], np.arange(8), np.arange(8), np.array([49.0, 3, 3, 3, 3, 3, 3, 3]))

    assert even.variance == pytest.approx(crossed_variance(influence, topic, worker))
    assert even.df == pytest.approx((7, 4))
    assert heavy.df[0] == pytest.approx(1.83, abs=0.01)


def test_the_variance_by_unequal_clusters_is_right_on_average():
    """Of a mean of rows of unequal clusters: with c / (c - 1) it would be a third too small."""
    rng = np.random.default_rng(4)
    size = np.array([49, 3, 3, 3, 3, 3, 3, 3])
    group = np.repeat(np.arange(8), size)
    draws = [rng.normal(size=70) for _ in range(2000)]
    estimated = [crossed_unequal((x - x.mean()) / 70, group, group, np.ones(70)).variance for x in draws]

    assert np.mean(estimated) == pytest.approx(1 / 70, rel=0.08)
