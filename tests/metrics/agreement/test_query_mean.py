"""What intervals over queries are."""

import math

import numpy as np
import pytest
from scipy import stats

from metrics.agreement.agreement import agreement, mean_by_query, simultaneous_band
from tests.metrics.simulated_votes import simulate

LEVEL = 0.95


def of_queries(means, pairs=4):
    """Pairs of equal number whose query means are given."""
    return mean_by_query(np.repeat(means, pairs), np.repeat([f"q{n}" for n in range(len(means))], pairs))


def test_with_as_many_pairs_in_each_query_it_is_the_t_interval_of_the_query_means():
    """The textbook interval of a mean, from scipy."""
    means = [0.5, 0.75, 0.6, 0.9, 0.7]

    expected = stats.ttest_1samp(means, 0).confidence_interval(LEVEL)

    assert of_queries(means).confidence_interval(LEVEL) == pytest.approx((expected.low, expected.high))


def test_queries_with_more_pairs_weigh_more_in_mean_and_error():
    """The mean is over pairs; its error is the jackknife's in the limit of many queries."""
    rng = np.random.default_rng(2)
    query = rng.integers(0, 60, size=900).astype(str)
    values = rng.random(900)
    mean = mean_by_query(values, query)

    left_out = np.array([values[query != name].mean() for name in mean.queries])
    jackknife = math.sqrt(59 / 60 * ((left_out - left_out.mean()) ** 2).sum())

    assert mean.value == pytest.approx(values.mean())
    assert mean.standard_error == pytest.approx(jackknife, rel=0.02)


@pytest.mark.parametrize("means", [[0.7], [1.0, 1.0, 1.0], [0.3, 0.3]])
def test_without_variation_between_queries_there_is_no_interval(means):
    """Three perfect queries do not prove a perfect metric: an interval of width 0 would claim that."""
    mean = of_queries(means)

    assert all(map(math.isnan, mean.confidence_interval()))


def test_pairs_that_do_not_count_leave_mean_and_error_alone():
    """A query of nothing but dropped pairs is no unit."""
    with_dropped = mean_by_query([0, 1, 1, 1, math.nan], ["a", "a", "b", "b", "c"])
    without = mean_by_query([0, 1, 1, 1], ["a", "a", "b", "b"])

    assert with_dropped.confidence_interval() == without.confidence_interval()


def test_no_pair_at_all_gives_nan():
    """The mean of nothing is undefined."""
    mean = mean_by_query([math.nan, math.nan], ["a", "b"])

    assert math.isnan(mean.value)
    assert all(map(math.isnan, mean.confidence_interval()))


def test_intervals_hold_the_true_agreement():
    """95 % intervals over 300 small studies, truth from one huge study (benchmarks/ has the full table)."""
    rng = np.random.default_rng(8)
    big = simulate(rng, queries=4000, pairs=10)
    truth = agreement(big.difference, big.share, big.query).value

    covered = 0
    for _ in range(300):
        study = simulate(rng, queries=12, pairs=10)
        low, high = agreement(study.difference, study.share, study.query).mean.confidence_interval(LEVEL)
        covered += low <= truth <= high

    assert 0.91 <= covered / 300 <= 0.99


def test_a_band_of_one_point_is_its_interval():
    """With nothing to be simultaneous about, the band is the t interval (up to the draws)."""
    mean = of_queries([0.5, 0.75, 0.6, 0.9, 0.7])

    low, high = simultaneous_band([mean], draws=200_000, rng=np.random.default_rng(1))

    assert (low[0], high[0]) == pytest.approx(mean.confidence_interval(), abs=0.01)


def test_a_band_is_wider_than_its_pointwise_intervals_and_widest_for_unrelated_points():
    """Points that move together cost nothing extra; unrelated ones do."""
    rng = np.random.default_rng(6)
    base = rng.random(30)
    together = [of_queries(base), of_queries(base * 0.9), of_queries(base * 0.8)]
    unrelated = [of_queries(rng.random(30)) for _ in range(12)]

    def width_over_interval(means):
        low, high = simultaneous_band(means, rng=np.random.default_rng(1))
        widths = [np.subtract(*reversed(mean.confidence_interval())) for mean in means]
        return (high - low) / widths

    assert width_over_interval(together) == pytest.approx(1, abs=0.03)
    assert (width_over_interval(unrelated) > 1.3).all()


def test_a_band_holds_the_whole_true_curve():
    """95 % of bands over 200 studies hold all of five correlated points."""
    rng = np.random.default_rng(9)
    truth = np.array([0.5, 0.55, 0.6, 0.65, 0.7])
    covered = 0
    for _ in range(200):
        queries = truth + rng.normal(scale=0.1, size=(15, 1)) + rng.normal(scale=0.1, size=(15, 5))
        low, high = simultaneous_band([of_queries(point) for point in queries.T], draws=2000, rng=rng)
        covered += bool(((low <= truth) & (truth <= high)).all())

    assert 0.90 <= covered / 200 <= 0.99


def test_a_point_without_variation_has_no_band_and_does_not_disturb_the_others():
    """A curve that starts where every pair is tied is common: M is 0 everywhere at a tiny L."""
    means = [of_queries([0.0, 0.0, 0.0]), of_queries([0.5, 0.6, 0.7])]

    low, high = simultaneous_band(means, rng=np.random.default_rng(1))

    assert math.isnan(low[0])
    assert math.isnan(high[0])
    assert low[1] < 0.6 < high[1]


def test_points_over_different_queries_make_no_curve():
    """Their correlation is unknown."""
    with pytest.raises(ValueError, match="same queries"):
        simultaneous_band([of_queries([0.1, 0.2]), of_queries([0.1, 0.2, 0.3])], rng=np.random.default_rng(1))


def test_values_and_queries_of_different_length_are_refused():
    """A value without a query belongs nowhere."""
    with pytest.raises(ValueError, match="one length"):
        mean_by_query([0.1, 0.2], ["a"])
