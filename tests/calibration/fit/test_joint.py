"""Errors of parameters that were fitted together: what the block in the file says, and what is drawn from it."""

from types import MappingProxyType

import numpy as np
import pytest

from calibration.fit.user_model_fit import joint_entry
from calibration.inference.results import CalibrationResult
from calibration.inference.uncertainty import Replicates, Scale, StudentT
from calibration.user_model.draws import draw_model
from calibration.user_model.model import UserModel

WORKING = np.array([[0.04, 0.03], [0.03, 0.09]])


def fit(params: dict[str, float], cov: np.ndarray, scale: Scale | tuple[Scale, ...]) -> CalibrationResult:
    return CalibrationResult(
        parameters=MappingProxyType(params),
        unit="seconds",
        method="likelihood",
        uncertainty=MappingProxyType(
            {"delta": StudentT(centre=np.zeros(len(cov)), cov=cov, df=np.inf, scale=scale)}
        ),
        n_workers=9,
        n_rows=90,
    )


def test_errors_kept_as_logarithms_stand_in_the_block_as_they_are():
    """Away times and sessions."""
    block = joint_entry(fit({"away_mean_seconds": 100.0, "away_sd_seconds": 50.0}, WORKING, Scale.LOG))

    assert block.names == ("away_mean_seconds", "away_sd_seconds")
    assert (block.scale, np.array(block.covariance)) == ("log", pytest.approx(WORKING))


def test_a_logarithm_is_not_taken_twice():
    """reading_speed_mu is one already: its own variance stands in the block, beside that of log sigma."""
    scales = (Scale.IDENTITY, Scale.LOG)
    block = joint_entry(fit({"reading_speed_mu[ja]": -0.5, "reading_speed_sigma[ja]": 0.6}, WORKING, scales))

    assert np.array(block.covariance) == pytest.approx(WORKING)


def test_other_scales_are_brought_to_logarithms():
    """d log p = (1 - p) d logit p, and d log x = dx / x."""
    scales = (Scale.LOGIT, Scale.IDENTITY)
    block = joint_entry(fit({"lateness_decay": 0.8, "lateness_p0": 0.5}, WORKING, scales))
    slopes = np.array([0.2, 2.0])

    assert np.array(block.covariance) == pytest.approx(WORKING * np.outer(slopes, slopes))


def test_weights_whose_sign_is_open_are_joined_as_they_are():
    """A log-normal around 0.1 with an error of 0.3 would be absurd; around 0.8 with 0.2 it is sound."""
    open_sign = fit({"push_P_E": 0.1, "push_S_E": 0.8}, WORKING, Scale.IDENTITY)
    clear = fit({"push_P_E": 0.7, "push_S_E": 0.8}, WORKING, Scale.IDENTITY)

    assert joint_entry(open_sign).scale == "identity"
    assert np.array(joint_entry(open_sign).covariance) == pytest.approx(WORKING)
    assert joint_entry(clear).scale == "log"


@pytest.mark.parametrize(
    "alone",
    [
        fit({"patience_chars": 900.0}, np.array([[1.0]]), Scale.IDENTITY),
        fit({"lateness_decay": 0.0, "lateness_p0": 0.5}, WORKING, Scale.IDENTITY),
        fit({"away_mean_seconds": np.inf, "away_sd_seconds": 1.0}, WORKING, Scale.INVERSE),
    ],
    ids=["alone", "zero", "infinite"],
)
def test_where_there_is_no_logarithm_there_is_no_block(alone):
    """Nothing to join, an estimate of 0, an infinite one: the intervals are all there is."""
    assert joint_entry(alone) is None


def test_a_fit_without_errors_has_no_block():
    """One worker: an estimate, nothing more."""
    bare = fit({"away_mean_seconds": 100.0, "away_sd_seconds": 50.0}, WORKING, Scale.LOG)
    assert joint_entry(CalibrationResult(**{**fields(bare), "uncertainty": MappingProxyType({})})) is None


@pytest.mark.parametrize(
    ("params", "scale"),
    [
        ({"away_mean_seconds": 100.0, "away_sd_seconds": 50.0}, Scale.LOG),
        ({"reading_speed_mu": -0.5, "reading_speed_sigma": 0.6}, (Scale.IDENTITY, Scale.LOG)),
        ({"push_P_E": 0.1, "push_S_0": -0.2}, Scale.IDENTITY),
        ({"push_P_E": 2.0, "push_S_0": 3.0}, Scale.IDENTITY),
    ],
)
def test_draws_from_the_file_have_the_covariance_of_the_fit(params, scale):
    """Through user-model.json: fit -> block -> draws, as `score --model --draws` does it."""
    one = fit(params, WORKING, scale)
    model = UserModel(parameters=one.entries(), joint=(joint_entry(one),))
    drawn = draw_model(model, 40_000, 1).parameters

    kept = np.array([drawn[name] for name in params])
    if joint_entry(one).scale == "log":
        kept = np.array(
            [
                row if name == "reading_speed_mu" else np.log(row)
                for name, row in zip(params, kept, strict=True)
            ]
        )
    assert np.cov(kept) == pytest.approx(np.array(joint_entry(one).covariance), abs=0.002)


def test_bootstraps_join_their_parameters_too():
    """The covariance of replicates."""
    logs = np.random.default_rng(2).multivariate_normal([0, 0], WORKING, 4000)
    one = fit({"away_mean_seconds": 1.0, "away_sd_seconds": 1.0}, WORKING, Scale.LOG)
    boot = {"bootstrap": Replicates(values=logs, scale=Scale.LOG)}
    block = joint_entry(CalibrationResult(**{**fields(one), "uncertainty": MappingProxyType(boot)}))

    assert np.array(block.covariance) == pytest.approx(WORKING, abs=0.005)


def fields(one: CalibrationResult) -> dict[str, object]:
    return {name: getattr(one, name) for name in one.__slots__}
