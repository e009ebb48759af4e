"""The likelihood of (n, T): its integral, its derivatives, its special cases, and where it is largest."""

import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import wrightomega

from calibration.inference.results import NotIdentifiedError
from calibration.models.durations.exposure import WorkerTotals
from calibration.models.durations.fit import fit_durations
from calibration.models.durations.likelihood import expansion, log_likelihoods, posterior
from calibration.models.durations.maximum import MeanCurve, SdCurve, along, log_jacobian, maximum


def totals(events, seconds, seen_by=None) -> WorkerTotals:
    return WorkerTotals(
        events=np.asarray(events, dtype=float),
        seconds=np.asarray(seconds, dtype=float),
        seen_by_seconds=None if seen_by is None else np.asarray(seen_by, dtype=float),
    )


def drawn(workers: int, mean: float, sd: float, window: float, seed: int) -> WorkerTotals:
    rng = np.random.default_rng(seed)
    variance = math.log1p((sd / mean) ** 2)
    theta = rng.normal(math.log(mean) - variance / 2, math.sqrt(variance), workers)
    return totals(rng.poisson(window * np.exp(-theta)), np.full(workers, window))


def by_brute_force(n: float, t: float, mu: float, sigma: float) -> float:
    """The same integral by scipy, told where the mass is."""
    mode = mu - n * sigma**2 + float(wrightomega(math.log(sigma**2 * t) - mu + n * sigma**2))

    def exponent(theta: float) -> float:
        return -n * theta - t * math.exp(-theta) - ((theta - mu) / sigma) ** 2 / 2

    top, reach = exponent(mode), 12 * sigma
    area, _ = quad(
        lambda theta: math.exp(exponent(theta) - top),
        mode - reach,
        mode + reach,
        points=[mode],
        limit=500,
        epsrel=1e-12,
    )
    return top + math.log(area) - math.log(sigma) - math.log(2 * math.pi) / 2


@pytest.mark.parametrize(
    ("n", "t", "mu", "sigma"),
    [
        (0, 0.01, 0.0, 0.5),
        (0, 20.0, 1.0, 1.0),
        (1, 3.0, 0.0, 1.0),
        (3, 0.1, 2.0, 1.5),
        (10, 100.0, 1.0, 0.7),
        (200, 100.0, 0.0, 1.0),
        (2000, 3.0e6, 5.0, 2.0),
        (2, 40.0, 1.0, 2.4),
    ],
)
def test_a_workers_likelihood_is_the_integral_over_the_population(n, t, mu, sigma):
    """Adaptive nodes against scipy.quad; nodes on the prior are off by 108 at n = 2000."""
    ours = posterior(np.array([float(n)]), np.array([t]), mu, sigma).loglik[0]

    assert ours == pytest.approx(by_brute_force(n, t, mu, sigma), abs=1e-6)


def test_no_time_at_all_is_no_accident():
    """T = 0 gives a finite likelihood: E A^-n, which is known."""
    value = posterior(np.array([2.0]), np.array([0.0]), 1.0, 0.5).loglik[0]

    assert value == pytest.approx(-2 * 1.0 + 2**2 * 0.25 / 2)


@pytest.mark.parametrize("seen_by", [None, [4.0, 4.0, 20.0, np.inf, 9.0]])
@pytest.mark.parametrize("at", [(0.3, -0.4), (1.2, 0.3), (0.0, -3.0)])
def test_gradient_and_hessian_are_the_derivatives(seen_by, at):
    """Against central differences, also with zero truncation and with weights."""
    data = totals([1, 3, 10, 0, 1], [4.0, 2.0, 19.0, 30.0, 8.0], seen_by)
    weights, step = np.array([1.0, 2.0, 0.0, 1.0, 3.0]), 1e-5
    here = expansion(data, *at, weights)
    for place in (0, 1):
        high, low = (
            expansion(data, *(np.array(at) + sign * step * np.eye(2)[place]), weights) for sign in (1, -1)
        )
        assert here.gradient[place] == pytest.approx(
            (high.loglik - low.loglik) / (2 * step), rel=2e-5, abs=1e-5
        )
        np.testing.assert_allclose(
            here.hessian[place], (high.gradient - low.gradient) / (2 * step), rtol=2e-5, atol=1e-5
        )


def test_people_without_a_spread_are_a_poisson_regression():
    """At sigma = 0 the counts are Poisson with an offset: statsmodels' intercept is -log M."""
    data = totals([3, 1, 0, 4, 2], [10.0, 8.0, 3.0, 12.0, 9.0])
    regression = sm.GLM(
        data.events, np.ones(5), family=sm.families.Poisson(), offset=np.log(data.seconds)
    ).fit()

    found = maximum(data)
    assert found.sd == 0
    assert found.mean == pytest.approx(math.exp(-regression.params[0]), rel=1e-6)


def test_a_poisson_log_normal_likelihood_differs_by_a_constant():
    """P(n | T) summed over n is 1, when the constant T^n / n! is put back."""
    n = np.arange(0.0, 400.0)
    each = log_likelihoods(totals(n, np.full(400, 7.0)), 0.4, 0.8)
    constant = n * math.log(7.0) - np.cumsum(np.log(np.maximum(n, 1)))

    assert np.exp(each + constant).sum() == pytest.approx(1, abs=1e-6)


def test_the_top_is_the_top():
    """No point of a fine grid around the maximum is higher, and the gradient vanishes there."""
    data = drawn(60, 24, 24, 100, seed=5)
    found = maximum(data)

    around = [
        expansion(data, found.mu + a, found.log_sigma + b).loglik
        for a in np.linspace(-0.5, 0.5, 11)
        for b in np.linspace(-0.5, 0.5, 11)
    ]
    assert found.top.loglik >= max(around) - 1e-9
    np.testing.assert_allclose(found.top.gradient, 0, atol=1e-3)


@pytest.mark.parametrize(
    ("workers", "mean", "sd", "window"), [(300, 24, 12, 48), (30, 24, 24, 30), (100, 3, 1.5, 72)]
)
def test_the_search_ends_wherever_it_begins(workers, mean, sd, window):
    """A plain Newton search stands still in such data; ours must reach one top from far away."""
    data = drawn(workers, mean, sd, window, seed=1)
    tops = [maximum(data, start=start).top.loglik for start in [(0.0, 0.5), (6.0, -2.0), (2.0, 1.0)]]

    np.testing.assert_allclose(tops, maximum(data).top.loglik, atol=1e-6)


@given(st.floats(1e-3, 1e6), st.integers(0, 20))
def test_another_unit_of_time_multiplies_both(factor, seed):
    """M and S in seconds are 3600 times those in hours."""
    data = drawn(25, 24, 24, 120, seed)
    here, there = fit_durations(data), fit_durations(data.in_units_of(1 / factor))

    assert there.mean == pytest.approx(here.mean * factor, rel=1e-9)
    assert there.sd == pytest.approx(here.sd * factor, rel=1e-9)
    assert there.top.loglik == pytest.approx(here.top.loglik - data.events.sum() * math.log(factor), rel=1e-9)


def test_the_order_of_workers_does_not_matter():
    """And a worker who counts twice is the same as two of them."""
    data = drawn(25, 24, 24, 120, seed=2)
    back = totals(data.events[::-1], data.seconds[::-1])
    twice = totals(np.append(data.events, data.events[3]), np.append(data.seconds, data.seconds[3]))
    weights = np.ones(25)
    weights[3] = 2

    assert maximum(back).mean == pytest.approx(maximum(data).mean, rel=1e-9)
    assert maximum(data, weights).mean == pytest.approx(maximum(twice).mean, rel=1e-7)


def test_m_and_s_are_those_of_the_log_normal_law():
    """M = exp(mu + v / 2), S = M sqrt(e^v - 1), and their derivatives."""
    found = maximum(drawn(80, 24, 24, 100, seed=3))
    v = found.sigma**2
    assert found.mean == pytest.approx(math.exp(found.mu + v / 2))
    assert found.sd == pytest.approx(found.mean * math.sqrt(math.exp(v) - 1))

    def logs(at) -> np.ndarray:
        v = math.exp(2 * at[1])
        return np.array([at[0] + v / 2, at[0] + v / 2 + math.log(math.expm1(v)) / 2])

    at = np.array([found.mu, found.log_sigma])
    numeric = np.stack([(logs(at + 1e-6 * e) - logs(at - 1e-6 * e)) / 2e-6 for e in np.eye(2)], axis=1)
    np.testing.assert_allclose(log_jacobian(found.log_sigma), numeric, rtol=1e-6)


@pytest.mark.parametrize("curve", [MeanCurve(), SdCurve()])
def test_a_profile_keeps_its_parameter_and_reaches_the_top_at_the_estimate(curve):
    """Along the curve of one M (or S) the likelihood is maximised over the rest; at the estimate it is the maximum."""
    data = drawn(80, 24, 24, 100, seed=3)
    found = maximum(data)
    estimate = found.mean if isinstance(curve, MeanCurve) else found.sd

    on_top = along(data, curve, math.log(estimate), found.log_sigma + 0.3)
    assert on_top.top.loglik == pytest.approx(found.top.loglik, abs=1e-7)

    aside = along(data, curve, math.log(estimate) + 0.2, found.log_sigma)
    kept = aside.mean if isinstance(curve, MeanCurve) else aside.sd
    assert kept == pytest.approx(estimate * math.exp(0.2), rel=1e-9)
    beside = [
        expansion(data, math.log(kept) - curve.shift(x)[0], x).loglik
        for x in (aside.log_sigma - 0.05, aside.log_sigma + 0.05)
    ]
    assert aside.top.loglik > max(beside)


def test_workers_beyond_any_log_normal_law_are_refused():
    """One who came 1e9 times as often as the others is a mistake in the data, not a population."""
    with pytest.raises(NotIdentifiedError, match="sigma would exceed 4"):
        fit_durations(totals([1, 10**6, 0, 1], [1e6, 1e-3, 1e6, 1e6]))


@pytest.mark.parametrize(
    ("data", "reason"),
    [(totals([3], [9.0]), "single worker"), (totals([0, 0], [9.0, 9.0]), "before they were complete")],
)
def test_what_cannot_be_told_is_refused(data, reason):
    """One worker says nothing about others, and without an event there is no time to speak of."""
    with pytest.raises(NotIdentifiedError, match=reason):
        fit_durations(data)


def test_the_truncated_likelihood_adds_up_to_one_over_who_is_seen():
    """Given that somebody came, P(n | n > 0) summed over n > 0 is 1."""
    n = np.arange(1.0, 300.0)
    log_p = (
        np.array([expansion(totals([k], [5.0], [5.0]), 0.5, -0.2).loglik for k in n])
        + n * math.log(5.0)
        - np.cumsum(np.log(n))
    )

    assert np.exp(log_p).sum() == pytest.approx(1, abs=1e-6)
