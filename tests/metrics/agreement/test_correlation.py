"""What the correlation coefficients are."""

import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from metrics.agreement.correlation import (
    COEFFICIENTS,
    bootstrap_interval,
    correlate,
    kendall_tau_b,
    pearson,
    tau_ap,
    tau_ap_b,
)
from metrics.agreement.correlation_intervals import exact_interval

FUNCTIONS = {
    "kendall_tau_b": kendall_tau_b,
    "tau_ap_y_given_x": tau_ap,
    "tau_ap_x_given_y": lambda x, y: tau_ap(y, x),
    "tau_ap_symmetric": lambda x, y: (tau_ap(x, y) + tau_ap(y, x)) / 2,
    "tau_ap_a": tau_ap,
    "tau_ap_b": tau_ap_b,
}
coarse_scores = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=7)
scorings = st.integers(2, 7).flatmap(
    lambda n: st.tuples(st.permutations(range(n)), st.lists(st.integers(0, 3), min_size=n, max_size=n))
)


def tau_ap_by_definition(x, order):
    """Yilmaz et al.'s sum, for the systems in the order under test."""
    n = len(order)
    total = sum(
        sum(x[above] > x[item] for above in order[:rank]) / rank for rank, item in enumerate(order) if rank
    )
    return 2 / (n - 1) * total - 1


def orders_of(y):
    """Every order of the systems that the scores allow."""
    ranked = [
        order
        for order in itertools.permutations(range(len(y)))
        if all(y[a] >= y[b] for a, b in itertools.pairwise(order))
    ]
    assert ranked
    return ranked


def test_five_systems_with_one_swap_at_the_top():
    """C(2..5) = 0, 2, 3, 4 of 1, 2, 3, 4: tau_AP = 2/4 * 3 - 1; one discordant pair of ten: tau = 0.8."""
    x, y = [5, 4, 3, 2, 1], [4, 5, 3, 2, 1]

    assert tau_ap(x, y) == pytest.approx(0.5)
    assert kendall_tau_b(x, y) == pytest.approx(0.8)


def test_gold_values_are_met(shared):
    """Reference values: scipy for tau-b, tau_AP by definition, tau_AP,a over all tie orders."""
    cases = json.loads((shared / "gold" / "correlation" / "cases.json").read_text())

    for case in cases:
        for name in FUNCTIONS.keys() & case["expected"].keys():
            value = FUNCTIONS[name](case["x"], case["y"])
            assert value == pytest.approx(case["expected"][name], abs=1e-9), (case["id"], name)


@given(scorings)
def test_tau_ap_with_ties_is_the_mean_over_every_order_of_the_tied_systems(scoring):
    """tau_AP,a by brute force."""
    x, y = scoring

    expected = np.mean([tau_ap_by_definition(x, order) for order in orders_of(y)])

    assert tau_ap(x, y) == pytest.approx(expected, abs=1e-12)


@given(coarse_scores)
def test_tau_b_is_scipys(pairs):
    """The library that everybody uses is the oracle, ties included."""
    x, y = zip(*pairs, strict=True)

    assert kendall_tau_b(x, y) == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("digits", [0, 1, 6])
def test_tau_b_of_many_systems_is_scipys_too(digits):
    """Past what every two systems are compared for; with ties, in another order, and undefined where all are equal."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=700).round(digits)
    y = (x + rng.normal(size=700)).round(digits)
    found = kendall_tau_b(x, y)
    assert found == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)
    assert found == pytest.approx(kendall_tau_b(x[::-1], y[::-1]), abs=1e-12)
    series = pd.Series(y, index=[f"s{n}" for n in range(700)])
    assert kendall_tau_b(pd.Series(x, index=series.index), series[::-1]) == found
    assert math.isnan(kendall_tau_b(x, np.zeros(700)))
    with pytest.raises(ValueError, match="NaN"):
        kendall_tau_b(x, np.full(700, np.nan))


@given(coarse_scores)
def test_tau_ap_b_by_loops(pairs):
    """Each half, written as the sentence that defines it."""
    x, y = zip(*pairs, strict=True)

    def half(test, reference):
        systems = range(len(test))
        above = {i: [j for j in systems if test[j] > test[i]] for i in systems}
        walked = [i for i in systems if above[i]]
        shares = [sum(reference[j] > reference[i] for j in above[i]) / len(above[i]) for i in walked]
        return 2 * np.mean(shares) - 1 if walked else math.nan

    assert tau_ap_b(x, y) == pytest.approx((half(x, y) + half(y, x)) / 2, abs=1e-12, nan_ok=True)


@given(st.permutations(range(8)), st.permutations(range(8)))
def test_without_ties_the_symmetric_forms_coincide(x, y):
    """tau_AP,b extends the mean of the two directions, it does not replace it."""
    assert tau_ap_b(x, y) == pytest.approx(FUNCTIONS["tau_ap_symmetric"](x, y), abs=1e-12)


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), min_size=2, max_size=20))
def test_every_coefficient_stays_between_minus_one_and_one(pairs):
    """Rounding must not carry a perfect correlation over the edge."""
    x, y = zip(*pairs, strict=True)

    for coefficient in (kendall_tau_b, tau_ap, tau_ap_b, pearson):
        value = coefficient(x, y)
        assert math.isnan(value) or -1 - 1e-12 <= value <= 1 + 1e-12


@given(scorings, st.randoms())
def test_the_order_of_the_systems_does_not_matter(scoring, random):
    """A table sorted by name gives what a table sorted by score gives."""
    x, y = map(np.array, scoring)
    order = random.sample(range(len(x)), len(x))

    for coefficient in (kendall_tau_b, tau_ap, tau_ap_b, pearson):
        assert coefficient(x[order], y[order]) == pytest.approx(coefficient(x, y), abs=1e-12, nan_ok=True)


def test_pearson_is_scipys_on_any_scale():
    """Scores in millions or billionths correlate alike."""
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 40))

    for scale in (1.0, 1e-150, 1e150):
        assert pearson(x * scale, y) == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-12)


@pytest.mark.parametrize("coefficient", [kendall_tau_b, tau_ap_b, pearson])
@pytest.mark.parametrize("x", [[], [1.0], [2.0, 2.0, 2.0]])
def test_a_scoring_without_two_different_scores_correlates_with_nothing(coefficient, x):
    """Undefined is NaN, never 0 and never a division warning."""
    assert math.isnan(coefficient(x, list(range(len(x)))))


def test_tau_ap_is_undefined_when_the_reference_has_ties():
    """tau_AP,a breaks ties of the ranking under test only."""
    assert math.isnan(tau_ap([1, 1, 2], [1, 2, 3]))
    assert not math.isnan(tau_ap([1, 2, 3], [1, 1, 2]))
    assert tau_ap([1, 2, 3], [1, 1, 1]) == pytest.approx(0)


@pytest.mark.parametrize(("x", "y"), [([1, 2], [1, 2, 3]), ([1, math.nan], [1, 2]), ([[1, 2]], [[1, 2]])])
def test_scores_that_cannot_be_paired_are_refused(x, y):
    """NaN is no rank, and vectors of different lengths are no two scorings of the same systems."""
    with pytest.raises(ValueError, match="x and y must"):
        kendall_tau_b(x, y)


SERIES = pd.Series({"a": 0.4, "b": 0.3, "c": 0.2, "d": 0.1})


@pytest.mark.parametrize("coefficient", COEFFICIENTS.values())
def test_two_series_are_paired_by_their_systems(coefficient):
    """Each sorted by its own scores, they would agree whatever the scores are."""
    other = pd.Series({"d": 0.9, "b": 0.7, "a": 0.5, "c": 0.3})
    by_place = coefficient([0.4, 0.3, 0.2, 0.1], [0.5, 0.7, 0.3, 0.9])

    assert coefficient(SERIES, other) == coefficient(SERIES, other.sort_index()) == by_place
    assert coefficient(SERIES, other.to_numpy()) == coefficient(SERIES.to_list(), other) != by_place


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (SERIES.rename({"b": "bm25"}), "only one side has 'b'"),
        (SERIES.iloc[:3], "only one side has 'd'"),
        (pd.Series([1.0, 2.0, 3.0, 4.0], ["b", "b", "a", "c"]), "only one side has 'd'"),
    ],
)
def test_series_of_other_systems_are_refused(other, why):
    """Scores of two systems are no two scores of one, wherever they stand."""
    with pytest.raises(ValueError, match=f"{why}; give both the same rows, or arrays"):
        correlate(SERIES, other)


def test_series_in_which_a_system_stands_twice_are_paired_only_as_they_stand():
    """In another order nobody could say which of the two belongs to which."""
    twice = SERIES.rename({"b": "a"})

    assert kendall_tau_b(twice, -twice) == -1
    with pytest.raises(ValueError, match="a label occurs several times"):
        kendall_tau_b(twice, twice.iloc[::-1])


def test_frames_are_paired_by_system_and_topic():
    """As columns and rows of a pivot may stand in any order."""
    rng = np.random.default_rng(3)
    x, y = (pd.DataFrame(rng.normal(size=(6, 9))) for _ in "xy")

    def ends(other):
        return bootstrap_interval(x, other, resamples=50, rng=np.random.default_rng(1))

    assert ends(y.iloc[::-1, ::-1]) == ends(y) == ends(y.to_numpy()) != ends(y.to_numpy()[::-1])


def test_at_the_ends_of_the_exact_interval_pearsons_coefficient_is_barely_usual():
    """Of 20,000 samples of six systems from two normal variables with that correlation, one in forty is as large, or as small."""
    low, high = exact_interval(0.6, 6, 0.95)
    rng = np.random.default_rng(1)

    def drawn(rho):
        x, noise = rng.normal(size=(2, 20_000, 6))
        y = rho * x + math.sqrt(1 - rho**2) * noise
        x, y = (one - one.mean(axis=1, keepdims=True) for one in (x, y))
        return (x * y).sum(axis=1) / np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))

    assert (drawn(low) >= 0.6).mean() == pytest.approx(0.025, abs=0.004)
    assert (drawn(high) <= 0.6).mean() == pytest.approx(0.025, abs=0.004)


def test_the_bootstrap_interval_holds_the_correlation_and_is_reproducible():
    """Two noisy views of the same systems: the interval has the point in it and depends on the seed alone."""
    rng = np.random.default_rng(5)
    quality = rng.normal(size=(12, 1))
    x, y = quality + rng.normal(size=(12, 30)), quality + rng.normal(size=(12, 30))

    low, high = bootstrap_interval(x, y, resamples=300, rng=np.random.default_rng(1))

    assert -1 <= low < kendall_tau_b(x.mean(axis=1), y.mean(axis=1)) < high <= 1
    assert (low, high) == bootstrap_interval(x, y, resamples=300, rng=np.random.default_rng(1))


def test_one_topic_has_no_interval():
    """Topics are the unit: there is nothing to resample."""
    one_topic = np.arange(4.0).reshape(4, 1)

    assert all(map(math.isnan, bootstrap_interval(one_topic, one_topic, rng=np.random.default_rng(1))))


def test_a_correlation_over_topics_needs_one_score_a_run_and_topic():
    """Vectors have no topics."""
    with pytest.raises(ValueError, match="runs, topics"):
        bootstrap_interval([1, 2, 3], [1, 2, 3], rng=np.random.default_rng(1))
