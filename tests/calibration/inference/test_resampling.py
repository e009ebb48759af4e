"""Resampling by clusters."""

import numpy as np
import pytest

from calibration.inference.clusters import cluster_counts, jackknife_covariance, jackknife_groups


def test_a_bootstrap_sample_draws_as_many_clusters_as_there_are():
    """Each cluster is drawn once on average, by the seed alone."""
    counts = cluster_counts(6, 4000, np.random.default_rng(1))

    assert (counts.sum(axis=1) == 6).all()
    assert counts.mean(axis=0) == pytest.approx(np.ones(6), abs=0.06)
    assert (counts == cluster_counts(6, 4000, np.random.default_rng(1))).all()


def test_the_jackknife_of_a_mean_is_its_textbook_variance():
    """s^2 / n, exactly."""
    values = np.array([3.0, 1.0, 4.0, 1.0, 5.0])
    without = (values.sum() - values) / 4

    assert jackknife_covariance(without[:, None])[0, 0] == pytest.approx(values.var(ddof=1) / 5)


def test_up_to_fifty_clusters_are_left_out_one_at_a_time():
    """Beyond that groups of clusters are, so that time does not grow with the square."""
    assert jackknife_groups(np.arange(50)).tolist() == list(range(50))
    assert set(jackknife_groups(np.arange(120))) == set(range(50))
    assert jackknife_groups(np.array([0, 0, 70])).tolist() == [0, 0, 20]
