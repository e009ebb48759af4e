"""Draws of fitted parameters: they must say as much as the intervals they come from, and no more."""

import numpy as np
import pytest

from calibration.user_model.model import IntentEntry, JointEntry, ParameterEntry, UserModel
from study_app.cli.score.model_draws import draw_patience, draw_shares, joint_log_sd

COUNT = 40_000


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def ends(drawn):
    return np.quantile(drawn, [0.025, 0.5, 0.975])


def test_patience_is_drawn_as_wide_as_its_interval(rng):
    """On the log scale, where fitted patiences are least skewed: the interval comes back, and so does the estimate."""
    drawn = draw_patience(ParameterEntry(estimate=1000, interval=(500, 2000)), None, COUNT, rng)
    assert ends(drawn) == pytest.approx([500, 1000, 2000], rel=0.02)


def test_the_level_of_the_interval_is_taken_into_account(rng):
    """A 50 % interval of the same width means a wider distribution."""
    patience = ParameterEntry(estimate=1000, interval=(500, 2000), level=0.5)
    assert np.quantile(draw_patience(patience, None, COUNT, rng), [0.25, 0.75]) == pytest.approx(
        [500, 2000], rel=0.02
    )


def test_a_joint_fit_gives_its_own_standard_deviation(rng):
    """Covariances are exact where intervals only have ends."""
    joint = JointEntry(names=("away_mean_seconds", "patience_chars"), covariance=((1.0, 0.0), (0.0, 0.04)))
    log_sd = joint_log_sd(UserModel(joint=(joint,)), "patience_chars")
    drawn = draw_patience(ParameterEntry(estimate=1000), log_sd, COUNT, rng)
    assert np.log(drawn).std() == pytest.approx(0.2, rel=0.02)
    assert joint_log_sd(UserModel(), "patience_chars") is None


@pytest.mark.parametrize(("estimate", "endless"), [(None, 0.5), (2000.0, 0.054)])
def test_an_open_end_makes_some_draws_endless(rng, estimate, endless):
    """Half when the estimate is infinite; P(Z < -1.96 (1/2000) / (1/900 - 1/2000)) = 5.4 % when it is 2,000."""
    drawn = draw_patience(ParameterEntry(estimate=estimate, interval=(900, None)), None, COUNT, rng)
    assert np.isinf(drawn).mean() == pytest.approx(endless, abs=0.01)
    assert np.quantile(drawn, 0.025) == pytest.approx(900, rel=0.03)


@pytest.mark.parametrize("interval", [(None, None), (None, 2000.0), (0.0, None)])
def test_without_a_lower_end_nothing_can_be_drawn(rng, interval):
    """Patience could then be anything down to nothing."""
    with pytest.raises(ValueError, match="no lower end"):
        draw_patience(ParameterEntry(estimate=1000, interval=interval), None, 1, rng)


def test_shares_are_drawn_around_their_estimates_and_add_up_to_one(rng):
    """Each draw is a set of probabilities."""
    intents = {
        "q": {
            "a": IntentEntry(estimate=0.5, interval=(0.4, 0.6)),
            "b": IntentEntry(estimate=0.3, interval=(0.2, 0.4)),
            "c": IntentEntry(estimate=0.2, interval=(0.1, 0.3)),
        },
        "r": {"a": IntentEntry(estimate=1.0, interval=(0.9, 1.0))},
    }
    drawn = list(draw_shares(intents, 4000, rng))
    of_q = np.array([list(shares["q"].values()) for shares in drawn])
    assert of_q.sum(axis=1) == pytest.approx(1)
    assert of_q.mean(axis=0) == pytest.approx([0.5, 0.3, 0.2], abs=0.005)
    assert {shares["r"]["a"] for shares in drawn} == {1.0}


def test_shares_are_never_negative(rng):
    """The normal is cut at 0, not reflected: an intent that nobody wants stays improbable."""
    intents = {
        "q": {
            "a": IntentEntry(estimate=0, interval=(0, 0.2)),
            "b": IntentEntry(estimate=1, interval=(0.9, 1)),
        }
    }
    drawn = [shares["q"]["a"] for shares in draw_shares(intents, 4000, rng)]
    assert 0 <= min(drawn) < max(drawn) < 0.3


def test_a_share_without_width_stays_where_it_is(rng):
    """Certain numbers need no special case elsewhere."""
    intents = {
        "q": {
            "a": IntentEntry(estimate=0.25, interval=(0.25, 0.25)),
            "b": IntentEntry(estimate=0.75, interval=(0.75, 0.75)),
        }
    }
    assert next(draw_shares(intents, 1, rng))["q"] == pytest.approx({"a": 0.25, "b": 0.75})


def test_a_share_without_an_interval_cannot_be_drawn(rng):
    """A truth written by hand has estimates only."""
    with pytest.raises(ValueError, match="an intent has no interval"):
        next(draw_shares({"q": {"a": IntentEntry(estimate=1)}}, 1, rng))
