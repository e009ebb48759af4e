"""How far times away and session lengths may be off: the likelihood, the delta method, and samples of workers."""

import math

import numpy as np
import pytest

from calibration.durations.at_risk import Totals
from calibration.durations.errors import WorkerBootstrap, tops_nearby
from calibration.durations.fit import AWAY, fit_away
from calibration.durations.maximum import MeanCurve, along, maximum
from calibration.durations.simulate import Diary
from calibration.inference.clusters import cluster_counts
from tests.calibration.durations.followers import profile, simulated


def window_totals(seed: int, *, workers=60, mean=24.0, sd=24.0, window=100.0) -> Totals:
    rng = np.random.default_rng(seed)
    variance = math.log1p((sd / mean) ** 2)
    theta = rng.normal(math.log(mean) - variance / 2, math.sqrt(variance), workers)
    return Totals(events=rng.poisson(window * np.exp(-theta)).astype(float), seconds=np.full(workers, window))


def test_a_profile_interval_ends_where_the_likelihood_has_fallen_by_half_a_squared_quantile():
    """Student's, with workers - 1 degrees of freedom: 3.94 instead of 3.84 for 100 workers."""
    totals = window_totals(1, workers=100)
    top, uncertainty = profile(totals)
    (low, high), *_ = uncertainty.intervals(0.95)

    for end in (low, high):
        there = along(totals, MeanCurve(), math.log(end), top.log_sigma)
        assert 2 * (top.top.loglik - there.top.loglik) == pytest.approx(3.937117, abs=1e-3)


def test_profile_delta_and_bootstrap_agree_when_there_is_much_to_go_by():
    """200 workers with a dozen visits each."""
    tables = simulated(Diary(workers=200))
    fit = fit_away(tables, resamples=200)
    ends = np.array(
        [
            [fit.conf_int(method=how)[name] for name in AWAY]
            for how in ("profile", "delta", "worker_bootstrap")
        ]
    )

    assert next(how for how in fit.uncertainty if how != "either_law") == "profile"
    assert np.abs(np.log(ends[1:] / ends[0])).max() < 0.08


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
    totals = Totals(events=np.array([3.0, 1, *[0] * 10]), seconds=np.full(12, 100.0))
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


def test_resamples_of_very_many_workers_are_fitted_together_as_they_would_be_one_by_one():
    """On polynomials, to a thousandth of a standard error; of a likelihood so flat that a box would be large, one by one."""
    totals = window_totals(2, workers=1000)
    top, drawn = maximum(totals), cluster_counts(1000, 20, np.random.default_rng(1))
    alone = [maximum(totals, counts) for counts in drawn]
    errors = np.sqrt(np.diag(np.linalg.inv(-top.top.hessian)))

    together = tops_nearby(totals, top, drawn)
    assert np.abs((together - [(one.mu, one.log_sigma) for one in alone]) / errors).max() < 1e-3
    flat = window_totals(2, workers=1000, sd=2.0)
    assert np.isnan(tops_nearby(flat, maximum(flat), drawn)).all()


@pytest.mark.parametrize("workers", [2, 3])
def test_very_few_workers_give_wide_intervals_and_no_crash(workers):
    """Student's t with one or two degrees of freedom, resamples of one worker: every method still answers."""
    tables = simulated(Diary(workers=workers), seed=3)
    fit = fit_away(tables, resamples=40)

    for method in fit.uncertainty:
        low, high = fit.conf_int(method=method)["away_mean_seconds"]
        assert (low or 0.0) <= fit.parameters["away_mean_seconds"] <= (high or math.inf)
        assert (fit.draw_parameters(50, np.random.default_rng(1), method)["away_mean_seconds"] >= 0).all()


def test_a_fit_repeats_itself():
    """Without a generator the seed is always the same."""
    tables = simulated(Diary(workers=40, within="weibull", within_shape=0.6))
    one, two = fit_away(tables, resamples=60), fit_away(tables, resamples=60)

    assert next(iter(one.uncertainty)) == "worker_bootstrap"
    assert one.to_dict() == two.to_dict()


def test_very_many_workers_get_the_delta_method(monkeypatch):
    """Where a profile would cost seconds and be the same."""
    monkeypatch.setattr("calibration.durations.fit.MANY_WORKERS", 30)

    assert "delta" in fit_away(simulated(Diary(workers=40))).uncertainty
