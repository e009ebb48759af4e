"""Fleiss' kappa and Krippendorff's alpha: worked cases, laws, and against other implementations."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from calibration.raters.agreement import (
    Ratings,
    coefficient_uncertainty,
    fleiss_kappa,
    krippendorff_alpha,
)

METRICS = ("nominal", "ordinal", "interval")
TABLES = st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=2, max_size=8)


def slow_alpha(counts: list[list[int]], distance) -> float:
    """Krippendorff's definition, pair of ratings by pair of ratings."""
    units = [[c for c, n in enumerate(row) for _ in range(n)] for row in counts]
    units = [unit for unit in units if len(unit) > 1]
    n = sum(map(len, units))
    seen = sum(
        sum(distance(a, b) for a, b in itertools.permutations(unit, 2)) / (len(unit) - 1) for unit in units
    )
    everything = [value for unit in units for value in unit]
    expected = sum(distance(a, b) for a, b in itertools.permutations(everything, 2)) / (n - 1)
    return 1 - seen / expected


def ordinal_distance(counts: list[list[int]]):
    used = np.array([row for row in counts if sum(row) > 1]).sum(axis=0)

    def distance(a: int, b: int) -> float:
        low, high = min(a, b), max(a, b)
        return (used[low : high + 1].sum() - (used[low] + used[high]) / 2) ** 2

    return distance


def varied(counts: list[list[int]]) -> bool:
    """At least two categories among the items with two ratings."""
    rated = [row for row in counts if sum(row) > 1]
    return sum(any(row[c] for row in rated) for c in range(3)) > 1


def test_fleiss_by_hand():
    """Two items of three raters: P = (1 + 1/3) / 2, P_e = (5/6)^2 + (1/6)^2."""
    chance = (5 / 6) ** 2 + (1 / 6) ** 2

    assert fleiss_kappa([[3, 0], [2, 1]]) == pytest.approx((2 / 3 - chance) / (1 - chance))


def test_alpha_by_hand():
    """Two items of two raters, 0 0 and 0 1: o_01 = 1 of 4, n = (3, 1), alpha = 1 - 3 * 2 / 6 = 0."""
    assert krippendorff_alpha([[2, 0], [1, 1]]) == pytest.approx(0)


@given(st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=4), min_size=2, max_size=8))
def test_fleiss_with_equal_numbers_of_raters_is_that_of_statsmodels(ratings):
    """Its special case: everybody rated everything."""
    counts = np.array([np.bincount(row, minlength=3) for row in ratings])
    assume((counts.sum(axis=0) > 0).sum() > 1)

    assert fleiss_kappa(counts) == pytest.approx(statsmodels_fleiss(counts))


@given(TABLES)
def test_alpha_is_the_definition(counts):
    """Sums over categories against sums over pairs of ratings, for all three distances and missing ratings."""
    assume(varied(counts))

    assert krippendorff_alpha(counts) == pytest.approx(slow_alpha(counts, lambda a, b: a != b))
    assert krippendorff_alpha(counts, "interval") == pytest.approx(
        slow_alpha(counts, lambda a, b: (a - b) ** 2)
    )
    assert krippendorff_alpha(counts, "ordinal") == pytest.approx(
        slow_alpha(counts, ordinal_distance(counts))
    )


@pytest.mark.parametrize("metric", METRICS)
def test_full_agreement_is_one(metric):
    """Whatever the distance, and with one or many raters an item."""
    assert krippendorff_alpha([[2, 0, 0], [0, 0, 5]], metric) == pytest.approx(1)
    assert fleiss_kappa([[2, 0, 0], [0, 0, 5]]) == pytest.approx(1)


def test_a_single_rating_says_nothing():
    """An item that one person rated changes neither coefficient."""
    assert fleiss_kappa([[2, 1], [0, 3], [1, 0]]) == fleiss_kappa([[2, 1], [0, 3]])
    assert krippendorff_alpha([[2, 1], [0, 3], [1, 0]]) == krippendorff_alpha([[2, 1], [0, 3]])


@pytest.mark.parametrize("counts", [[[3, 0], [2, 0]], [[1, 0], [0, 1]]])
def test_undefined_is_nan(counts):
    """Every rating the same, or no item rated twice: 0 / 0, and no number."""
    assert np.isnan(fleiss_kappa(counts))
    assert np.isnan(krippendorff_alpha(counts))


def test_interval_alpha_uses_the_values():
    """Ratings 0, 1 and 10: the middle is close to the first."""
    near, far = [[1, 1, 0], [0, 0, 2]], [[0, 1, 1], [2, 0, 0]]

    assert krippendorff_alpha(near, "interval", values=[0, 1, 10]) > 0.9
    assert krippendorff_alpha(far, "interval", values=[0, 1, 10]) < 0.3


def exchangeable(counts: np.ndarray, *, is_exchangeable: bool = True) -> Ratings:
    """One cluster an item; the worker is the place among an item's ratings."""
    rows = [
        (item, place, category)
        for item, row in enumerate(counts)
        for place, category in enumerate(np.repeat(range(len(row)), row))
    ]
    item, worker, category = np.array(rows).T
    return Ratings(
        item=item,
        worker=worker,
        category=category,
        cluster=np.arange(len(counts)),
        values=np.arange(counts.shape[1], dtype=float),
        exchangeable=is_exchangeable,
    )


@given(st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=2, max_size=8), st.data())
def test_calling_the_other_system_the_first_changes_nothing(rows, data):
    """Swap the first two categories of any items: which system of a pair is called the first is arbitrary."""
    counts = np.array(rows)
    assume((counts.sum(axis=1) > 1).all())
    assume((counts[:, :2].sum() > 0) and (counts[:, 2].sum() > 0))
    swapped = counts.copy()
    which = data.draw(st.lists(st.booleans(), min_size=len(counts), max_size=len(counts)))
    swapped[which] = swapped[which][:, [1, 0, 2]]
    whole = np.ones((1, len(counts)))

    np.testing.assert_allclose(
        exchangeable(swapped).coefficients(whole), exchangeable(counts).coefficients(whole), atol=1e-12
    )


def test_without_exchangeable_names_the_coefficients_are_the_plain_ones():
    """Sums by cluster and samples come to the same as the functions of counts, items rated once among them."""
    counts = np.array([[3, 1, 0], [0, 2, 2], [1, 1, 2], [4, 0, 1], [0, 0, 1]])
    ratings = exchangeable(counts, is_exchangeable=False)

    np.testing.assert_allclose(
        ratings.coefficients(np.ones((1, 5)))[0], [fleiss_kappa(counts), krippendorff_alpha(counts)]
    )
    np.testing.assert_allclose(
        ratings.coefficients(np.array([[2.0, 0, 1, 1, 0]]))[0],
        [fleiss_kappa(counts[[0, 0, 2, 3]]), krippendorff_alpha(counts[[0, 0, 2, 3]])],
    )


def test_workers_who_rate_several_topics_are_a_second_source_of_error():
    """The two-way interval comes first where workers cross topics, and is at least as wide; nowhere else is there one."""
    rng = np.random.default_rng(1)
    counts = rng.multinomial(6, [0.5, 0.3, 0.2], size=12)
    crossed = exchangeable(counts)
    nested = Ratings(
        item=crossed.item,
        worker=np.arange(len(crossed.item)),
        category=crossed.category,
        cluster=crossed.cluster,
        values=crossed.values,
    )

    methods = coefficient_uncertainty(crossed, rng=rng, resamples=50)
    assert list(methods) == ["two_way_jackknife", "topic_jackknife", "topic_bootstrap"]
    assert (
        np.diag(methods["two_way_jackknife"].cov) >= np.diag(methods["topic_jackknife"].cov) - 1e-12
    ).all()
    assert list(coefficient_uncertainty(nested, rng=rng, resamples=50)) == [
        "topic_jackknife",
        "topic_bootstrap",
    ]


def test_the_two_way_covariance_is_one():
    """Raising its variances leaves it symmetric and positive semidefinite: one can draw from it."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        ratings = exchangeable(rng.multinomial(5, [0.4, 0.4, 0.2], size=6))
        cov = coefficient_uncertainty(ratings, rng=rng, resamples=10)["two_way_jackknife"].cov
        assert np.linalg.eigvalsh(cov).min() > -1e-12 * cov.max()


def test_four_workers_say_nothing_about_others():
    """Student's t with three degrees of freedom would be of no use: they are taken as they are."""
    rng = np.random.default_rng(2)
    few = exchangeable(rng.multinomial(4, [0.5, 0.3, 0.2], size=12))

    assert "two_way_jackknife" not in coefficient_uncertainty(few, rng=rng, resamples=10)
