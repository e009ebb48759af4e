"""What `prefcal fit` writes is what `prefcal score --model --draws` draws from: every family, through the file."""

import numpy as np
import pytest

from calibration.durations.simulate import Diary
from calibration.fit.options import FitOptions
from calibration.fit.study import fit_user_model
from calibration.simulate import Study, simulate_study
from calibration.user_model.model import read_user_model, write_user_model
from study_app.cli.score.joint_draws import joint_draws
from study_app.cli.score.model_draws import draw_patience, draw_shares, joint_log_sd
from study_app.cli.score.push_draws import draw_alpha, draw_weights
from study_app.cli.score.push_model import ALPHA, WEIGHTS
from study_app.cli.score.stream_draws import draw_decay, draw_population

COUNT = 4000
POPULATION = (
    "away_mean_seconds",
    "away_sd_seconds",
    "session_mean_seconds",
    "session_sd_seconds",
    "reading_speed_mu",
    "reading_speed_sigma",
)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model of a small study, written and read again."""
    size = Study(workers=40, topics=6, items=10, diary=Diary(days=7))
    tables = simulate_study(size, np.random.default_rng(4), activity=False)
    path = tmp_path_factory.mktemp("fit") / "user-model.json"
    write_user_model(fit_user_model(tables, seed=1, options=FitOptions(simulations=0)).model, path)
    return read_user_model(path)


def spread(model, name):
    """Return the standard deviation that the interval says, on the scale of the draws' logarithm."""
    low, high = model.parameters[name].interval
    return np.log(high / low) / (2 * 1.96)


def test_a_population_of_stream_readers_is_drawn_with_its_correlations(model):
    """Mean and deviation of one fit move together; their spreads are those of the intervals."""
    drawn = draw_population(model, POPULATION, COUNT, np.random.default_rng(1))
    logs = {name: np.log([one[name] for one in drawn]) for name in POPULATION if name != "reading_speed_mu"}

    for name, values in logs.items():
        assert values.std() == pytest.approx(spread(model, name), rel=0.25)
    together = np.corrcoef(logs["away_mean_seconds"], logs["away_sd_seconds"])[0, 1]
    apart = np.corrcoef(logs["away_mean_seconds"], logs["session_mean_seconds"])[0, 1]
    assert together > 0.4
    assert abs(apart) < 0.1
    mu = np.array([one["reading_speed_mu"] for one in drawn])
    low, high = model.parameters["reading_speed_mu"].interval
    assert mu.std() == pytest.approx((high - low) / (2 * 1.96), rel=0.1)


def test_weights_of_pushes_are_drawn_with_their_covariance(model):
    """On the scale of their block."""
    block = next(one for one in model.joint if "push_P_E" in one.names)
    drawn = draw_weights(model, WEIGHTS, COUNT, np.random.default_rng(1))
    kept = np.log(drawn) if block.scale == "log" else drawn

    assert block.names == WEIGHTS
    scale = np.sqrt(np.outer(np.diag(block.covariance), np.diag(block.covariance)))
    assert np.cov(kept.T) / scale == pytest.approx(np.array(block.covariance) / scale, abs=0.08)


def test_whatever_was_fitted_can_be_drawn(model):
    """So that each score gets an interval."""
    rng = np.random.default_rng(1)

    assert draw_alpha(model, ALPHA, COUNT, rng).min() >= 0
    assert draw_decay(model, "lateness_decay", COUNT, rng).std() > 0
    patience = model.parameters["patience_chars"]
    assert np.median(
        draw_patience(patience, joint_log_sd(model, "patience_chars"), COUNT, rng)
    ) == pytest.approx(patience.estimate, rel=0.05)
    assert sum(next(draw_shares(model.intents, 1, rng))["Q000"].values()) == pytest.approx(1)
    assert set(joint_draws(model, ["lateness_decay", "lateness_p0"], 5, rng)) == {
        "lateness_decay",
        "lateness_p0",
    }
