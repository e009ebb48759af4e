"""Agreement on importance: weighted kappa of assessors, missing ratings, intervals with topics as the unit."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa, to_table

from calibration.inference.results import CalibrationResult, NotIdentifiedError
from calibration.raters.agreement import krippendorff_alpha
from calibration.raters.importance import (
    ALPHA,
    KAPPA,
    fit_importance,
    fit_importance_alpha,
)
from calibration.raters.simulate import Assessors, simulate_importance
from tests.calibration.rated import importance


def fitted(table: pd.DataFrame) -> CalibrationResult:
    return fit_importance(table, rng=np.random.default_rng(1), resamples=50)


def kappa_of_statsmodels(one: list[int], other: list[int]) -> float:
    """Quadratic weighted kappa from the table of agreement, of ratings from 0 to 4."""
    table = np.zeros((5, 5))
    np.add.at(table, (one, other), 1)
    return float(cohens_kappa(table, wt="quadratic", return_results=False))


def of_two(one: list[int], other: list[int]) -> CalibrationResult:
    """What is fitted to the ratings of two assessors of the same iUnits."""
    rows = [(who, "q", str(unit), r) for who, own in (("A", one), ("B", other)) for unit, r in enumerate(own)]
    return fitted(importance(*rows))


def asymptotic_interval(table: pd.DataFrame) -> tuple[float, float]:
    """What statsmodels says of two assessors, taking every rating as independent."""
    wide = table.pivot_table(index=["topic", "iunit"], columns="worker", values="rating")
    kappa = cohens_kappa(to_table(wide.to_numpy(int), bins=5)[0], wt="quadratic")
    return float(kappa.kappa_low), float(kappa.kappa_upp)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=20))
def test_kappa_of_two_assessors_is_that_of_statsmodels(pairs):
    """From moments against from the table of agreement."""
    one, other = ([pair[side] for pair in pairs] for side in (0, 1))
    assume(len({*one, *other}) > 1)

    assert of_two(one, other).params[KAPPA] == pytest.approx(kappa_of_statsmodels(one, other))


def test_kappa_by_hand():
    """0 1 2 against 0 1 4: seen (0 + 0 + 4) / 3, by chance the mean of all nine squared differences."""
    chance = np.mean([(x - y) ** 2 for x in (0, 1, 2) for y in (0, 1, 4)])

    assert of_two([0, 1, 2], [0, 1, 4]).params[KAPPA] == pytest.approx(1 - 4 / 3 / chance)


def test_pairs_of_assessors_count_by_what_both_rated():
    """A and B share three iUnits, B and C two; A and C none. C rated one more alone."""
    table = importance(
        ("A", "q", "1", 0),
        ("A", "q", "2", 1),
        ("A", "q", "3", 4),
        ("B", "q", "1", 0),
        ("B", "q", "2", 2),
        ("B", "q", "3", 4),
        ("B", "r", "4", 1),
        ("B", "r", "5", 3),
        ("C", "r", "4", 3),
        ("C", "r", "5", 1),
        ("C", "r", "6", 4),
    )
    ab = kappa_of_statsmodels([0, 1, 4], [0, 2, 4])
    bc = kappa_of_statsmodels([1, 3], [3, 1])
    fit = fitted(table)

    assert fit.parameters[KAPPA] == pytest.approx((3 * ab + 2 * bc) / 5)
    assert fit.details["iunits"] == 6
    assert fit.details["iunits_rated_twice"] == 5
    assert "rated_once" in [note.name for note in fit.diagnostics]


@given(
    st.lists(
        st.tuples(st.sampled_from("ABC"), st.sampled_from("qr"), st.sampled_from("123"), st.integers(0, 4)),
        min_size=4,
        max_size=18,
        unique_by=lambda row: row[:3],
    )
)
def test_alpha_is_krippendorffs_with_the_interval_distance(rows):
    """By sums of squares against by coincidences."""
    table = importance(*rows)
    counts = pd.crosstab([table["topic"], table["iunit"]], table["rating"])
    expected = krippendorff_alpha(counts, "interval", values=counts.columns.astype(float))
    assume(not np.isnan(expected))
    try:
        fit = fitted(table)
    except NotIdentifiedError:
        return

    assert fit.parameters[ALPHA] == pytest.approx(expected)


@given(st.randoms())
def test_the_order_of_rows_and_the_names_of_assessors_do_not_matter(random):
    """Nobody is the first assessor."""
    table = simulate_importance(3, 4, Assessors(per_topic=3, missing=0.2), np.random.default_rng(5))
    names = ["A0", "A1", "A2"]
    renamed = random.sample(names, 3)
    shuffled = table.sample(frac=1, random_state=random.randint(0, 99))
    shuffled["worker"] = shuffled["worker"].map(dict(zip(names, renamed, strict=True)))

    assert fitted(shuffled).parameters == pytest.approx(fitted(table).parameters)


def test_a_pair_of_assessors_that_never_varies_has_no_kappa():
    """It is left out and counted; alpha uses its ratings."""
    table = importance(
        ("A", "q", "1", 2),
        ("B", "q", "1", 2),
        ("C", "r", "2", 0),
        ("D", "r", "2", 1),
        ("C", "r", "3", 3),
        ("D", "r", "3", 4),
    )
    fit = fitted(table)

    assert fit.parameters[KAPPA] == pytest.approx(kappa_of_statsmodels([0, 3], [1, 4]))
    assert "constant_assessors" in [note.name for note in fit.diagnostics]


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([("A", "q", "1", 2), ("B", "q", "2", 2)], "no iUnit has two assessors"),
        ([("A", "q", "1", 2), ("B", "q", "1", 2)], "do not vary"),
    ],
)
def test_what_cannot_be_told_is_refused(rows, reason):
    """By name, never as a number."""
    with pytest.raises(NotIdentifiedError, match=reason):
        fitted(importance(*rows))


@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval"])
def test_alpha_by_every_distance_has_an_interval(metric):
    """The same ratings as names, as an order, as numbers; the interval one is that of `fit_importance`."""
    table = simulate_importance(6, 10, Assessors(per_topic=3, missing=0.2), np.random.default_rng(5))
    fit = fit_importance_alpha(table, metric=metric, rng=np.random.default_rng(1), resamples=100)
    counts = pd.crosstab([table["topic"], table["iunit"]], table["rating"])
    (name, estimate), *_ = fit.parameters.items()
    low, high = fit.conf_int()[name]

    assert estimate == pytest.approx(krippendorff_alpha(counts, metric))
    assert low < estimate < high
    if metric == "interval":
        assert estimate == pytest.approx(fitted(table).parameters[ALPHA])
        assert (low, high) == pytest.approx(fitted(table).conf_int()[ALPHA])


def test_hundreds_of_different_ratings_are_no_categories():
    """Marks on a line, for example: the interval alpha of `fit_importance` takes them."""
    rows = [(w, "q", str(n), n / 25 + shift) for n in range(60) for w, shift in (("A", 0.0), ("B", 0.01))]
    table = importance(*rows)

    with pytest.raises(NotIdentifiedError, match="too many for categories"):
        fit_importance_alpha(table, metric="ordinal", rng=np.random.default_rng(1))
    assert fitted(table).parameters[ALPHA] > 0.99


def test_intervals_hold_the_truth_and_the_asymptotic_one_does_not(seeds):
    """An assessor's level differs from topic to topic: 8 topics are 8 observations, not 240."""
    held, naive = [], []
    for seed in seeds(100):
        table = simulate_importance(8, 30, Assessors(), np.random.default_rng([seed, 8]))
        low, high = fitted(table).conf_int()[KAPPA]
        held.append(low <= 0.539 <= high)
        low, high = asymptotic_interval(table)
        naive.append(low <= 0.539 <= high)

    assert np.mean(held) >= 0.9
    assert np.mean(naive) < np.mean(held) - 0.05
