"""Draws of alpha and of the contingency weights have the spread that the model tells."""

import numpy as np
import pytest

from calibration.user_model.model import UserModel
from study_app.cli.score.push_draws import draw_alpha, draw_weights

COUNT = 20_000


def model(*, joint=(), **parameters):
    return UserModel.model_validate({"parameters": parameters, "joint": list(joint)})


def test_alpha_is_normal_on_the_logit_scale():
    """Its 95 % quantiles are the ends of the interval, and it stays inside (0, 1)."""
    one = model(push_alpha={"estimate": 0.8, "interval": [0.5, 0.95]})
    drawn = draw_alpha(one, "push_alpha", COUNT, np.random.default_rng(1))

    spread = (np.log(0.95 / 0.05) - np.log(0.5 / 0.5)) / 2
    ends = 1 / (1 + np.exp(-(np.log(4) + spread * np.array([-1, 1]))))
    assert np.quantile(drawn, [0.025, 0.975]) == pytest.approx(ends, abs=0.01)
    assert np.median(drawn) == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize("interval", [[0.7, None], [0.7, 1.0]])
def test_alpha_at_its_bound_is_cut_there(interval):
    """No pain at all was found: alpha is 1, with a lower bound only."""
    one = model(push_alpha={"estimate": 1.0, "interval": interval})
    drawn = draw_alpha(one, "push_alpha", COUNT, np.random.default_rng(1))

    assert drawn.max() == 1.0
    assert np.mean(drawn == 1.0) == pytest.approx(0.5, abs=0.02)
    assert np.quantile(drawn, 0.025) == pytest.approx(0.7, abs=0.01)


def test_weights_are_drawn_by_their_intervals_when_nothing_joins_them():
    """A weight may be negative; the level of an interval counts."""
    one = model(
        push_P_0={"estimate": -1.0, "interval": [-1.98, -0.02]},
        push_S_0={"estimate": 2.0, "interval": [2.0 - 1.645, 2.0 + 1.645], "level": 0.9},
    )
    drawn = draw_weights(one, ["push_P_0", "push_S_0"], COUNT, np.random.default_rng(1))

    assert drawn.mean(axis=0) == pytest.approx([-1.0, 2.0], abs=0.03)
    assert drawn.std(axis=0) == pytest.approx([0.5, 1.0], abs=0.02)
    assert np.corrcoef(drawn.T)[0, 1] == pytest.approx(0, abs=0.03)


def test_weights_fitted_together_are_drawn_together():
    """P_0 and S_0 of one fit are correlated (0.84 in a design of typical pairs), and their names may stand in any order."""
    covariance = [[0.04, 0.05], [0.05, 0.09]]
    one = model(
        push_P_0={"estimate": 0.5},
        push_S_0={"estimate": 0.4},
        joint=[{"names": ["push_S_0", "push_P_0"], "covariance": covariance}],
    )
    drawn = np.log(draw_weights(one, ["push_P_0", "push_S_0"], COUNT, np.random.default_rng(1)))

    assert drawn.mean(axis=0) == pytest.approx(np.log([0.5, 0.4]), abs=0.01)
    assert np.cov(drawn.T) == pytest.approx(np.array([[0.09, 0.05], [0.05, 0.04]]), abs=0.003)


def test_a_weight_that_is_not_positive_has_no_logarithm():
    """Then each is drawn by its own interval, whatever the joint fit says."""
    one = model(
        push_P_0={"estimate": 0.0, "interval": [-0.98, 0.98]},
        joint=[{"names": ["push_P_0"], "covariance": [[9.0]]}],
    )
    drawn = draw_weights(one, ["push_P_0"], COUNT, np.random.default_rng(1))
    assert drawn.std() == pytest.approx(0.5, abs=0.02)


def test_half_an_interval_tells_the_spread_of_the_whole():
    """The other end is open."""
    one = model(push_P_0={"estimate": 1.0, "interval": [0.02, None]})
    drawn = draw_weights(one, ["push_P_0"], COUNT, np.random.default_rng(1))
    assert drawn.std() == pytest.approx(0.5, abs=0.02)


def test_what_cannot_be_drawn_is_said():
    """An estimate alone has no spread; a covariance needs a row for each name."""
    one = model(push_P_0={"estimate": 1.0}, push_alpha={"estimate": 1.0, "interval": [None, 1.0]})
    for draw in (
        lambda rng: draw_weights(one, ["push_P_0"], 2, rng),
        lambda rng: draw_alpha(one, "push_alpha", 2, rng),
    ):
        with pytest.raises(ValueError, match="has no interval to draw from"):
            draw(np.random.default_rng(1))
    for covariance in ([[1.0, 0.0]], [[1.0], [0.0]], []):
        joined = model(push_P_0={"estimate": 1.0}, joint=[{"names": ["push_P_0"], "covariance": covariance}])
        with pytest.raises(ValueError, match="not square"):
            draw_weights(joined, ["push_P_0"], 2, np.random.default_rng(1))
