"""What `prefcal fit` writes is what `prefcal score --model --draws` draws from: every family, through the file."""

import numpy as np
import pytest

from calibration.fit.families import FitOptions
from calibration.fit.user_model_fit import fit_user_model
from calibration.models.durations.simulate import ObservationDesign
from calibration.simulate import SimulatedStudy, simulate_study
from calibration.user_model.draws import draw_model
from calibration.user_model.model import (
    CORRELATION,
    PUSH_WEIGHTS,
    QUANTILES,
    read_user_model,
    write_user_model,
)

COUNT = 4000


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model of a small study, written and read again."""
    size = SimulatedStudy(workers=40, topics=6, items=10, diary=ObservationDesign(days=7))
    tables = simulate_study(size, np.random.default_rng(4), activity=False)
    path = tmp_path_factory.mktemp("fit") / "user-model.json"
    write_user_model(fit_user_model(tables, seed=1, options=FitOptions(checks=False)).model, path)
    return read_user_model(path)


def spread(model, name):
    """Return the standard deviation that the interval says, on the scale of the draws' logarithm."""
    low, high = model.parameters[name].interval
    return np.log(high / low) / (2 * 1.96)


def test_a_population_of_stream_readers_is_drawn_with_its_correlations(model):
    """Mean and deviation of one fit move together; their spreads are those of the intervals."""
    drawn = draw_model(model, COUNT, 1, parts=["population"]).parameters
    logs = {name: np.log(values) for name, values in drawn.items() if name != "reading_speed_mu"}

    for name, values in logs.items():
        assert values.std() == pytest.approx(spread(model, name), rel=0.25)
    together = np.corrcoef(logs["away_mean_seconds"], logs["away_sd_seconds"])[0, 1]
    apart = np.corrcoef(logs["away_mean_seconds"], logs["session_mean_seconds"])[0, 1]
    assert together > 0.4
    assert abs(apart) < 0.1
    low, high = model.parameters["reading_speed_mu"].interval
    assert drawn["reading_speed_mu"].std() == pytest.approx((high - low) / (2 * 1.96), rel=0.1)


def test_weights_of_pushes_are_drawn_with_their_covariance(model):
    """On the scale of their block."""
    block = next(one for one in model.joint if "push_P_E" in one.names)
    drawn = draw_model(model, COUNT, 1, parts=["weights"]).parameters
    kept = np.array([np.log(drawn[name]) if block.scale == "log" else drawn[name] for name in PUSH_WEIGHTS])

    assert block.names == PUSH_WEIGHTS
    scale = np.sqrt(np.outer(np.diag(block.covariance), np.diag(block.covariance)))
    assert np.cov(kept) / scale == pytest.approx(np.array(block.covariance) / scale, abs=0.08)


def test_whatever_was_fitted_can_be_drawn(model):
    """So that each score gets an interval."""
    draws = draw_model(model, COUNT, 1)

    assert draws.kept == {}
    assert set(model.parameters) - set(draws.parameters) == {
        "lateness_p0",
        "patience_chars_spread",
        CORRELATION,
        *QUANTILES,
    }
    assert draws.parameters["push_alpha"].min() >= 0
    assert draws.parameters["lateness_decay"].std() > 0
    estimate = model.parameters["patience_chars"].estimate
    assert np.median(draws.parameters["patience_chars"]) == pytest.approx(estimate, rel=0.05)
    assert sum(draws.shares[0]["Q000"].values()) == pytest.approx(1)
