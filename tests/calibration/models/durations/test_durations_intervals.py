"""How far times away and session lengths may be off: the likelihood, and samples of workers."""

import math

import numpy as np
import pytest

from calibration.models.durations.exposure import WorkerTotals
from calibration.models.durations.fit import AWAY, fit_exposure
from calibration.models.durations.from_tables import away_exposure
from calibration.models.durations.intervals import WorkerBootstrap
from calibration.models.durations.maximum import MeanCurve, along, maximum
from calibration.models.durations.simulate import ObservationDesign
from tests.calibration.models.durations.followers import profile, simulated


def window_totals(seed: int, *, workers=60, mean=24.0, sd=24.0, window=100.0) -> WorkerTotals:
    rng = np.random.default_rng(seed)
    variance = math.log1p((sd / mean) ** 2)
    theta = rng.normal(math.log(mean) - variance / 2, math.sqrt(variance), workers)
    return WorkerTotals(
        events=rng.poisson(window * np.exp(-theta)).astype(float), seconds=np.full(workers, window)
    )


def test_a_profile_interval_ends_where_the_likelihood_has_fallen_by_half_a_squared_quantile():
    """Student's, with workers - 1 degrees of freedom: 3.94 instead of 3.84 for 100 workers."""
    totals = window_totals(1, workers=100)
    top, uncertainty = profile(totals)
    (low, high), *_ = uncertainty.intervals(0.95)

    for end in (low, high):
        there = along(totals, MeanCurve(), math.log(end), top.log_sigma)
        assert 2 * (top.top.loglik - there.top.loglik) == pytest.approx(3.937117, abs=1e-3)


def test_profile_and_bootstrap_agree_when_there_is_much_to_go_by():
    """200 workers with a dozen visits each."""
    tables = simulated(ObservationDesign(workers=200))
    fit = fit_exposure(away_exposure(tables), resamples=200)
    ends = np.array(
        [[fit.conf_int(method=how)[name] for name in AWAY] for how in ("profile", "worker_bootstrap")]
    )

    assert np.abs(np.log(ends[1] / ends[0])).max() < 0.08


def test_an_interval_of_s_begins_at_0_where_workers_may_all_be_alike():
    """No negative end, no end at a number that a bound of the search made."""
    top, uncertainty = profile(window_totals(3, sd=0.1))
    _, (low, high), *_ = uncertainty.intervals(0.95)

    assert low == 0
    assert 0 < high < 24
    assert np.isfinite(uncertainty.cov).all()
    assert top.mean == pytest.approx(24, rel=0.3)


def test_an_end_is_open_where_the_likelihood_never_falls():
    """Twelve people, of whom two came back: nothing bounds M or S from above."""
    totals = WorkerTotals(events=np.array([3.0, 1, *[0] * 10]), seconds=np.full(12, 100.0))
    _, uncertainty = profile(totals)
    mean, sd, *_ = uncertainty.intervals(0.95)

    assert mean[0] > 100
    assert mean[1] is None
    assert sd == (0, None)


def test_draws_agree_with_the_interval():
    """The quantiles of S's draws are the ends of its profile interval, also where S may be 0."""
    for sd in (24.0, 6.0):
        _, uncertainty = profile(window_totals(1, workers=80, sd=sd))
        drawn = np.quantile(uncertainty.draws(40_000, np.random.default_rng(0)), [0.025, 0.975], axis=0)
        for (low, high), quantiles in zip(uncertainty.intervals(0.95), drawn.T, strict=True):
            assert quantiles[1] == pytest.approx(high, rel=0.12)
            assert quantiles[0] == pytest.approx(low, rel=0.12) if low else quantiles[0] < 1


def test_the_bootstrap_resamples_workers_and_repeats_itself():
    """The same seed gives the same ends; another seed others, close by."""
    totals = window_totals(2)
    first, again, other = (
        WorkerBootstrap(totals=totals, top=maximum(totals), resamples=150, seed=seed).intervals(0.95)[0]
        for seed in (1, 1, 2)
    )

    assert first == again
    assert first != other
    assert np.log(np.array(first) / other) == pytest.approx(0, abs=0.15)


@pytest.mark.parametrize("workers", [2, 3])
def test_very_few_workers_give_wide_intervals_and_no_crash(workers):
    """Student's t with one or two degrees of freedom, resamples of one worker: every method still answers."""
    tables = simulated(ObservationDesign(workers=workers), seed=3)
    fit = fit_exposure(away_exposure(tables), resamples=40)

    for method in fit.uncertainty:
        low, high = fit.conf_int(method=method)["away_mean_seconds"]
        assert (low or 0.0) <= fit.parameters["away_mean_seconds"] <= (high or math.inf)
        assert (fit.draw_parameters(50, np.random.default_rng(1), method)["away_mean_seconds"] >= 0).all()


def test_a_fit_repeats_itself():
    """Without a generator the seed is always the same."""
    tables = simulated(ObservationDesign(workers=40, within="weibull", within_shape=0.6))
    one, two = (
        fit_exposure(away_exposure(tables), resamples=60),
        fit_exposure(away_exposure(tables), resamples=60),
    )

    assert one.to_dict() == two.to_dict()
    assert one.conf_int(method="worker_bootstrap") == two.conf_int(method="worker_bootstrap")


@pytest.mark.parametrize(
    "diary", [{}, {"within": "weibull", "within_shape": 0.6}, {"between": "two_point"}, {"dropping_out": 0.3}]
)
def test_the_interval_is_the_profile_whatever_the_people(diary):
    """No test picks another one, and nothing widens it."""
    fit = fit_exposure(away_exposure(simulated(ObservationDesign(workers=60, **diary))), resamples=2)
    _, alone = profile(fit.totals)

    assert next(iter(fit.uncertainty)) == "profile"
    ends, ours = (np.array(list(one)) for one in (alone.intervals(0.95), fit.conf_int().values()))
    assert ours == pytest.approx(ends, rel=1e-6)
