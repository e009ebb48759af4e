"""Draws of populations and decays: they must say as much as the intervals they come from, and no more."""

import numpy as np
import pytest

from calibration.user_model.model import JointEntry, ParameterEntry, UserModel
from study_app.cli.score.stream_draws import draw_decay, draw_population

COUNT = 40_000


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def model_of(*, joint=(), **parameters):
    return UserModel(parameters=parameters, joint=joint)


def ends(drawn):
    return np.quantile(drawn, [0.025, 0.5, 0.975])


def column(drawn, name):
    return np.array([one[name] for one in drawn])


def test_a_parameter_is_drawn_as_wide_as_its_interval(rng):
    """On the log scale; what is a logarithm already, on its own."""
    model = model_of(
        away_mean_seconds=ParameterEntry(estimate=100, interval=(50, 200)),
        reading_speed_mu=ParameterEntry(estimate=-1, interval=(-1.5, -0.5)),
    )
    drawn = draw_population(model, list(model.parameters), COUNT, rng)
    assert ends(column(drawn, "away_mean_seconds")) == pytest.approx([50, 100, 200], rel=0.02)
    assert ends(column(drawn, "reading_speed_mu")) == pytest.approx([-1.5, -1, -0.5], rel=0.02)


def test_half_an_interval_will_do(rng):
    """An end is open, or 0 where a deviation may be none at all."""
    model = model_of(
        away_sd_seconds=ParameterEntry(estimate=100, interval=(0, 200)),
        session_sd_seconds=ParameterEntry(estimate=100, interval=(50, None)),
        away_mean_seconds=ParameterEntry(estimate=0, interval=(0, 1)),
    )
    drawn = draw_population(model, list(model.parameters), COUNT, rng)
    for name in ("away_sd_seconds", "session_sd_seconds"):
        assert ends(column(drawn, name)) == pytest.approx([50, 100, 200], rel=0.02)
    assert set(column(drawn, "away_mean_seconds")) == {0}


def test_what_was_fitted_together_is_drawn_together(rng):
    """Mean and deviation of one fit correlate strongly; the intervals do not say so."""
    joint = JointEntry(
        names=("away_mean_seconds", "away_sd_seconds"), covariance=((0.04, 0.03), (0.03, 0.09))
    )
    model = model_of(
        away_mean_seconds=ParameterEntry(estimate=100),
        away_sd_seconds=ParameterEntry(estimate=10),
        session_mean_seconds=ParameterEntry(estimate=5, interval=(4, 6)),
        joint=[joint],
    )
    drawn = draw_population(model, list(model.parameters), COUNT, rng)
    logs = np.log([column(drawn, "away_mean_seconds") / 100, column(drawn, "away_sd_seconds") / 10])
    assert np.cov(logs) == pytest.approx(np.array(joint.covariance), abs=0.003)


def test_a_covariance_that_is_no_square_is_refused(rng):
    """It was written by hand."""
    joint = JointEntry(names=("away_mean_seconds", "away_sd_seconds"), covariance=((1.0,),))
    model = model_of(away_mean_seconds=ParameterEntry(estimate=100), joint=[joint])
    with pytest.raises(ValueError, match="not square"):
        draw_population(model, ["away_mean_seconds"], 3, rng)


def test_decays_stay_between_nothing_and_one(rng):
    """Around the estimate as wide as the interval, cut at the ends."""
    model = model_of(lateness_decay=ParameterEntry(estimate=0.5, interval=(0.4, 0.6)))
    assert ends(draw_decay(model, "lateness_decay", COUNT, rng)) == pytest.approx([0.4, 0.5, 0.6], abs=0.005)
    edge = model_of(lateness_decay=ParameterEntry(estimate=0, interval=(None, 0.2)))
    assert ends(draw_decay(edge, "lateness_decay", COUNT, rng)) == pytest.approx([0, 0, 0.2], abs=0.005)
    open_ends = model_of(lateness_decay=ParameterEntry(estimate=0.5))
    with pytest.raises(ValueError, match="no interval"):
        draw_decay(open_ends, "lateness_decay", 1, rng)
