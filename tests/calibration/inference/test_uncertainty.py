"""Intervals and draws from replicates, a covariance and a likelihood curve."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from calibration.inference.uncertainty import LikelihoodCurve, Replicates, Scale, StudentT


def normal_curve(
    mean: float, sd: float, *, scale: Scale = Scale.IDENTITY, low: float = 0.0
) -> LikelihoodCurve:
    """Return the curve of a normal likelihood on a fine grid from ``low``."""
    grid = np.unique(np.append(np.linspace(low, mean + 8 * sd, 4001), mean))
    return LikelihoodCurve(grid=grid, drop=((grid - mean) / sd) ** 2, df=7, scale=scale)


def test_replicates_give_percentiles():
    """The plain percentile interval, a column a parameter."""
    values = np.stack([np.arange(101.0), 1000 + np.arange(101.0)], axis=1)

    assert np.array(Replicates(values=values).intervals(0.9)) == pytest.approx(
        np.array([[5, 95], [1005, 1095]])
    )


def test_percentiles_of_few_clusters_are_moved_outwards():
    """For a mean the result is the t interval with the unbiased variance, which a plain bootstrap misses by far."""
    data = np.random.default_rng(2).normal(size=8)
    draws = np.random.default_rng(3).choice(data, size=(200_000, 8)).mean(axis=1)
    ((low, high),) = Replicates(values=draws[:, None], clusters=8).intervals(0.95)
    exact = stats.t.interval(0.95, 7, data.mean(), stats.sem(data))

    assert high - low == pytest.approx(exact[1] - exact[0], rel=0.05)
    ((plain_low, plain_high),) = Replicates(values=draws[:, None]).intervals(0.95)
    assert plain_high - plain_low < 0.8 * (high - low)


def test_on_the_inverse_scale_an_interval_turns_around():
    """A small kappa is a large patience."""
    values = np.linspace(0.001, 0.002, 101)[:, None]

    ((low, high),) = Replicates(values=values, scale=Scale.INVERSE).intervals(0.95)
    assert 500 < low < 510
    assert 970 < high < 1000


def test_what_reaches_no_decay_has_no_upper_end():
    """kappa = 0 is an infinite patience: an interval that holds it is open."""
    centre, cov = np.array([0.0005]), np.array([[0.0004**2]])
    ((low, high),) = StudentT(centre=centre, cov=cov, df=7, scale=Scale.INVERSE).intervals(0.95)

    assert low == pytest.approx(1 / (0.0005 + 0.0004 * stats.t.ppf(0.975, 7)))
    assert high is None


def test_replicates_without_any_decay_leave_both_ends_open():
    """Nothing bounds a patience that nobody's stop shows."""
    assert Replicates(values=np.zeros((9, 1)), scale=Scale.INVERSE).intervals(0.95) == ((None, None),)


def test_student_intervals_are_estimate_plus_minus_t_standard_errors():
    """With few queries t, not z: 2.36 standard errors with 7 degrees of freedom."""
    centre, cov = np.array([3.0, 10.0]), np.diag([0.25, 4.0])
    intervals = StudentT(centre=centre, cov=cov, df=7).intervals(0.95)

    reach = stats.t.ppf(0.975, 7)
    assert intervals[0] == pytest.approx((3 - 0.5 * reach, 3 + 0.5 * reach))
    assert intervals[1] == pytest.approx((10 - 2 * reach, 10 + 2 * reach))


def test_the_set_of_a_normal_likelihood_is_the_student_interval():
    """Where the curve is a parabola, both ways of making an interval agree."""
    ((low, high),) = normal_curve(5.0, 0.5).intervals(0.95)

    reach = 0.5 * stats.t.ppf(0.975, 7)
    assert (low, high) == pytest.approx((5 - reach, 5 + reach), abs=1e-3)


def test_a_set_that_reaches_the_end_of_its_grid_is_open_there():
    """Beyond the grid nothing was looked at, so nothing is claimed."""
    ((low, high),) = normal_curve(1.0, 0.5).intervals(0.95)
    assert low is None
    assert high == pytest.approx(1 + 0.5 * stats.t.ppf(0.975, 7), abs=1e-3)

    ((low, high),) = normal_curve(0.001, 0.0005, scale=Scale.INVERSE).intervals(0.95)
    assert low == pytest.approx(1 / (0.001 + 0.0005 * stats.t.ppf(0.975, 7)), rel=1e-3)
    assert high is None


def test_a_set_in_two_parts_is_taken_whole():
    """Between two peaks lies no evidence for a gap worth reporting."""
    grid = np.arange(7.0)
    curve = LikelihoodCurve(grid=grid, drop=np.array([99, 0, 99, 99, 1, 99, 99.0]), df=1000)

    ((low, high),) = curve.intervals(0.95)
    assert 0 < low < 1
    assert 4 < high < 5


@pytest.mark.parametrize(
    "uncertainty",
    [
        StudentT(centre=np.array([5.0]), cov=np.array([[0.25]]), df=7),
        normal_curve(5.0, 0.5),
        Replicates(values=5 + 0.5 * stats.norm.ppf(np.linspace(0.0005, 0.9995, 1000))[:, None]),
    ],
    ids=["t", "curve", "replicates"],
)
def test_draws_have_the_mean_and_spread_of_the_estimate(uncertainty):
    """A metric that carries them carries the calibration's uncertainty, no more and no less."""
    draws = uncertainty.draws(20_000, np.random.default_rng(3))

    assert draws.shape == (20_000, 1)
    assert draws.mean() == pytest.approx(5, abs=0.02)
    assert draws.std() == pytest.approx(0.5, abs=0.02)
    assert np.sqrt(uncertainty.cov) == pytest.approx(np.array([[0.5]]), abs=0.01)


def test_a_wider_level_gives_a_wider_interval():
    """The level is chosen after the fit."""
    for uncertainty in (normal_curve(5.0, 0.5), StudentT(centre=np.array([5.0]), cov=np.eye(1), df=3)):
        (inner,), (outer,) = uncertainty.intervals(0.5), uncertainty.intervals(0.99)
        assert outer[0] < inner[0] < inner[1] < outer[1]


def test_a_design_effect_widens_a_set_but_never_narrows_it_below_independent_data():
    """Nine times the variance is three times the width; an effect far below 1 is taken for chance."""
    curve = normal_curve(50.0, 1.0)
    ((low, high),) = replace(curve, design_effect=9.0).intervals(0.95)
    assert (low, high) == pytest.approx(
        (50 - 3 * stats.t.ppf(0.975, 7), 50 + 3 * stats.t.ppf(0.975, 7)), abs=0.05
    )

    ((low, high),) = replace(curve, design_effect=0.1).intervals(0.95)
    assert (low, high) == pytest.approx((50 - 1.96, 50 + 1.96), abs=0.05)


@pytest.mark.parametrize(
    ("scale", "at", "working"),
    [
        (Scale.LOG, 3.0, math.log(3)),
        (Scale.LOGIT, 0.3, math.log(3 / 7)),
        (Scale.INVERSE, 4.0, 0.25),
        (Scale.IDENTITY, 2.0, 2.0),
    ],
)
def test_slopes_of_scales_are_their_derivatives(scale, at, working):
    """For the delta method."""
    step = 1e-6
    ends = scale.natural(np.array([working - step, working + step]))

    assert scale.natural(np.array([working]))[0] == pytest.approx(at)
    assert scale.slope(at) == pytest.approx((ends[1] - ends[0]) / (2 * step), rel=1e-6)


def test_each_parameter_may_have_a_scale_of_its_own():
    """A logarithm beside a share: intervals and draws go back to each."""
    scales = (Scale.LOG, Scale.LOGIT)
    both = StudentT(centre=np.array([1.0, 0.0]), cov=np.diag([0.04, 0.25]), df=np.inf, scale=scales)
    draws = both.draws(20_000, np.random.default_rng(1))

    assert both.intervals(0.95)[0] == pytest.approx((np.exp(1 - 0.392), np.exp(1 + 0.392)), rel=1e-3)
    assert both.intervals(0.95)[1] == pytest.approx(
        (1 / (1 + np.exp(0.98)), 1 / (1 + np.exp(-0.98))), rel=1e-3
    )
    assert np.log(draws[:, 0]).std() == pytest.approx(0.2, rel=0.03)
    assert ((draws[:, 1] > 0) & (draws[:, 1] < 1)).all()
