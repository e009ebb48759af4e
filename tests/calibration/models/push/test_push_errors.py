"""How far push weights and their ratios may be off: clusters in two ways, and Fieller's intervals."""

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit

from calibration.inference.choice import ChoiceModel, changes_without_each, crossed_covariance, maximise
from calibration.inference.clusters import jackknife_covariance, without_negative
from calibration.inference.results import NotIdentifiedError
from calibration.models.push.judgments import PushJudgments
from calibration.models.push.weights import FiellerRatios, RawWeights, fit_push_weights
from tests.calibration.models.push.judges import drawn


def fitted(judgments: PushJudgments) -> tuple[ChoiceModel, np.ndarray]:
    found = maximise(judgments.difference, judgments.vote, "davidson")
    n = len(judgments.vote)
    return ChoiceModel(
        design=judgments.difference, vote=judgments.vote, ties="davidson", times=np.ones(n)
    ), found.point


def test_the_jackknife_steps_to_where_the_fit_without_a_topic_lies():
    """One Newton step is nearly the whole way."""
    judgments = drawn(3, 25)
    model, point = fitted(judgments)
    steps = changes_without_each(model, point, judgments.topic)
    for topic in (0, 7, 24):
        kept = judgments.topic != topic
        again = maximise(judgments.difference[kept], judgments.vote[kept], "davidson").point
        assert steps[topic] == pytest.approx(again - point, abs=0.1 * np.abs(again - point).max())


def test_two_halves_differ_by_twice_the_jackknifes_error():
    """Tukey's (c - 1) / c sum (d_j - mean)^2 is (d_1 - d_2)^2 / 4 for two clusters."""
    model, point = fitted(drawn(3))
    half = np.arange(len(model.vote)) % 2
    first, second = changes_without_each(model, point, half)

    assert np.diag(jackknife_covariance(changes_without_each(model, point, half))) == pytest.approx(
        (first - second) ** 2 / 4
    )


def test_with_one_judgment_a_cluster_the_jackknife_is_the_robust_sandwich():
    """Up to the leverage of single judgments."""
    judgments = drawn(3, workers=200)
    model, point = fitted(judgments)
    scores, information = model.row_derivatives(point)[0], model.derivatives(point)[1]
    bread = np.linalg.inv(information)
    jackknife = jackknife_covariance(changes_without_each(model, point, np.arange(len(judgments.vote))))

    assert jackknife == pytest.approx(bread @ scores.T @ scores @ bread, rel=0.05, abs=1e-5)


def test_two_ways_of_clustering_are_added_less_what_they_share():
    """With each worker in one topic the judgments of both are the worker's: topics alone remain."""
    judgments = drawn(3)
    model, point = fitted(judgments)
    nested = np.unique(judgments.topic * 100 + judgments.worker % 3, return_inverse=True)[1]

    assert crossed_covariance(model, point, nested, judgments.topic) == pytest.approx(
        jackknife_covariance(changes_without_each(model, point, judgments.topic))
    )


def test_negative_eigenvalues_become_zero_and_the_others_stay():
    """A difference of covariances need not be one."""
    matrix = np.array([[2.0, 0.0], [0.0, -1.0]])

    assert without_negative(matrix) == pytest.approx(np.diag([2, 0]))


@given(st.floats(-2, 2), st.floats(0.05, 2), st.floats(0.05, 0.6), st.floats(0.05, 0.6), st.floats(-0.9, 0.9))
def test_fiellers_interval_is_the_set_of_ratios_that_the_weights_do_not_reject(w, g, sd_w, sd_g, rho):
    """Brute force over a grid of ratios: all in the closed interval, and none just beyond its ends."""
    cov = np.array([[sd_g**2, rho * sd_g * sd_w], [rho * sd_g * sd_w, sd_w**2]])
    raw = RawWeights(names=("G_E", "P_E"), weights=np.array([g, w]), cov=cov, df=20)
    t = float(stdtrit(20, 0.975))

    def kept(r: float) -> bool:
        return (w - r * g) ** 2 <= t**2 * (cov[1, 1] - 2 * r * cov[0, 1] + r**2 * cov[0, 0]) * (1 + 1e-9)

    ((low, high),) = FiellerRatios(raw=raw).intervals(0.95)
    inside = np.linspace(-50 if low is None else low, 50 if high is None else high, 60)
    if low is not None or high is not None:
        assert all(kept(r) for r in inside)
    if g > t * sd_g:
        assert low is not None
        assert high is not None
        width = high - low
        assert not kept(low - 0.01 * width)
        assert not kept(high + 0.01 * width)
    else:
        assert low is None or high is None
    assert low is None or low <= w / g
    assert high is None or w / g <= high


def test_with_a_strong_gain_fiellers_interval_is_that_of_the_delta_method():
    """Then a ratio is nearly normal, and draws spread as the interval says."""
    fit = fit_push_weights(drawn(4, 60, workers=300))
    draws = fit.draw_parameters(20_000, np.random.default_rng(1))
    reach = fit.search.raw.t(0.95) * np.sqrt(np.diag(fit.search.raw.ratio_cov))

    assert list(fit.uncertainty) == ["fieller"]
    for (name, (low, high)), value, by_delta in zip(
        fit.conf_int().items(), fit.estimates, reach, strict=True
    ):
        assert (low, high) == pytest.approx((value - by_delta, value + by_delta), abs=0.1 * (high - low))
        assert np.quantile(draws[name], [0.025, 0.975]) == pytest.approx((low, high), abs=0.1 * (high - low))


def test_with_a_weak_gain_intervals_may_be_open_and_are_fiellers_as_ever():
    """Where the data do not exclude that gain weighs nothing, a ratio to it has no bound."""
    fits = []
    for seed in range(12):
        with contextlib.suppress(NotIdentifiedError):  # where gain seems to weigh less than nothing
            fits.append(fit_push_weights(drawn(seed, 6, workers=8, pairs_per_worker=10)))

    assert {next(iter(fit.uncertainty)) for fit in fits} == {"fieller"}
    assert any(None in ends for fit in fits for ends in fit.conf_int().values())
    assert all(
        (fit.search.raw.in_errors[0] < fit.search.raw.t(0.95)) == (None in fit.conf_int()["push_P_E"])
        for fit in fits
    )


@pytest.mark.parametrize(
    ("workers", "topics", "unexplained"), [(40, 20, 0.3), (50, 40, 0.3), (100, 100, 0.0)]
)
def test_intervals_are_as_wide_as_those_of_a_good_estimator(workers, topics, unexplained, seeds):
    """Median width over 2 x 1.96 x sd of the estimate: .9 to 1.15, and what chance makes of an sd of so few studies."""
    fits = [
        fit_push_weights(drawn(seed, topics, workers=workers, unexplained_sd=unexplained))
        for seed in seeds(100, least=60)
    ]
    estimates = np.array([fit.estimates for fit in fits])
    widths = np.array([[high - low for low, high in fit.conf_int().values()] for fit in fits])
    ratio = np.median(widths, axis=0) / (2 * 1.96 * estimates.std(axis=0))
    chance = 1 + 2 / np.sqrt(2 * len(fits))

    assert (ratio > 0.9 / chance).all()
    assert (ratio < 1.15 * chance).all()


def test_the_covariance_of_ratios_is_the_delta_method():
    """d (w / g) = (d w - r d g) / g."""
    raw = RawWeights(
        names=("G_E", "P_E"), weights=np.array([2.0, 1.0]), cov=np.array([[0.04, 0.01], [0.01, 0.09]]), df=9
    )

    assert raw.ratio_cov[0, 0] == pytest.approx((0.09 - 2 * 0.5 * 0.01 + 0.25 * 0.04) / 4)
