"""Coefficients of many rows at once are those of each row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from metrics.agreement.correlation import (
    COEFFICIENTS,
    bootstrap_interval,
    kendall_tau_b,
    pearson,
    tau_ap,
    tau_ap_b,
)
from metrics.agreement.correlation_intervals import correlations
from metrics.agreement.resampled import RankedRows, draws, resampled_sums, row_coefficients

shapes = st.tuples(st.integers(1, 4), st.integers(1, 30))
rows = shapes.flatmap(
    lambda shape: st.tuples(
        *(arrays.arrays(np.float64, shape, elements=st.integers(0, st_max).map(float)) for st_max in (4, 40))
    )
)


@given(rows)
def test_each_row_has_the_coefficients_of_two_scorings(both):
    """Ties in either, or in both, are counted as they are for one."""
    found = row_coefficients(*map(RankedRows.of, both))
    assert list(found) == list(COEFFICIENTS)
    for name, coefficient in COEFFICIENTS.items():
        wanted = [coefficient(x, y) for x, y in zip(*both, strict=True)]
        assert found[name] == pytest.approx(wanted, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("n", [2, 180, 182, 500])
def test_long_rows_have_them_too(n):
    """Past what every two systems are compared for, and what fits into small integers."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(3, n))
    y = np.round(x + rng.normal(size=(3, n)), 1)
    found = row_coefficients(RankedRows.of(x), RankedRows.of(y))
    for name, coefficient in (
        ("tau-b", kendall_tau_b),
        ("tau-AP", tau_ap),
        ("tau-AP-sym", tau_ap_b),
        ("pearson", pearson),
    ):
        assert found[name] == pytest.approx([coefficient(a, b) for a, b in zip(x, y, strict=True)], abs=1e-12)


def test_intervals_over_topics_are_those_of_resampled_means():
    """The same draws give the percentiles of tau-b that drawing topic by topic does."""
    rng = np.random.default_rng(2)
    x = np.arange(6)[:, None] + rng.normal(size=(6, 20))
    y = x + rng.normal(size=(6, 20))
    (tau, *_) = correlations({"x": x, "y": y}, [("x", "y")], rng=np.random.default_rng(3))
    assert (tau.low, tau.high) == pytest.approx(bootstrap_interval(x, y, rng=np.random.default_rng(3)))
    assert tau.value == kendall_tau_b(x.mean(axis=1), y.mean(axis=1))


def test_systems_with_the_same_scores_on_other_topics_are_equal_over_all():
    """The mean of .1, .2, .3 does not hang on their order, so the tie is one."""
    x = np.array([[0.1, 0.2, 0.3, 0.7], [0.7, 0.3, 0.2, 0.1], [0.3, 0.1, 0.7, 0.2], [0.9, 0.9, 0.9, 0.9]])
    y = np.array([[1.0], [2.0], [3.0], [4.0]]) + np.zeros((4, 4))
    (tau, *_) = correlations({"x": x, "y": y}, [("x", "y")], rng=np.random.default_rng(1))
    assert tau.value == pytest.approx(3 / np.sqrt(3 * 6))


def test_sums_over_drawn_topics_are_equal_where_they_differ_by_noise_alone():
    """And a constant that every system has on a topic changes nothing, however large."""
    rng = np.random.default_rng(4)
    scores = rng.random((3, 50)).round(2)
    scores = np.concatenate([scores, scores[:1]])
    (counts,) = draws(50, 30, rng)
    sums = resampled_sums(scores, counts)
    assert np.array_equal(sums[:, 0], sums[:, 3])
    shifted = RankedRows.of(resampled_sums(scores + 2.0**40, counts)).ranks
    assert np.array_equal(RankedRows.of(sums).ranks, shifted)


def test_topics_are_drawn_alike_in_parts_and_at_once(monkeypatch):
    """What fits into memory decides nothing."""
    whole = np.concatenate(list(draws(7, 20, np.random.default_rng(5))))
    monkeypatch.setattr("metrics.agreement.resampled.CELLS", 21)
    parts = list(draws(7, 20, np.random.default_rng(5)))
    assert len(parts) == 7
    assert np.array_equal(np.concatenate(parts), whole)
    assert (whole.sum(axis=1) == 7).all()
