"""The marginal likelihood of reading speed: against plain quadrature, differences, and a special case with a formula."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import multivariate_normal, norm

from calibration.models.reading import mixture as reading_mixture
from calibration.models.reading.law import ANYTHING, SimulatedReaders, simulate_reads
from calibration.models.reading.medians import MedianFit, fit_medians
from calibration.models.reading.mixture import MixtureLikelihood, fit_mixture, mixture_top
from calibration.models.reading.rows import readings
from tests.calibration.models.reading.test_reading_medians import data

P = np.array([1.1, math.log(0.6), math.log(0.45), -1.5, -2.2])
START = MedianFit(
    mu=1.2,
    sigma=0.5,
    tau=0.5,
    medians=np.array([1.4, 0.2, np.nan]),
    variances=np.array([0.05, 0.1, np.inf]),
    loglik=0.0,
    cov=np.eye(2),
)
THREE = data(
    [0, 0, 0, 0, 1, 1, 1, 2, 2],
    [1.5, 1.2, -1.0, 3.2, 0.1, 0.4, 0.2, 1.0, 0.3],
    [False, False, False, True, False, True, False, True, True],
)


def sample(seed: int = 0, workers: int = 30, items: int = 8, **readers):
    rng = np.random.default_rng(seed)
    return readings(simulate_reads(SimulatedReaders(**readers), rng, workers=workers, items=items))


def law(p):
    odds = np.array([1.0, math.exp(p[3]), math.exp(p[4])])
    shares = [*((1 - ANYTHING) * odds / odds.sum()), ANYTHING]
    spread = [math.hypot(math.exp(p[2]), extra) for extra in (0, 0.9, 0.5, 3)]
    return list(zip(shares, (0, -1.6, 1.6, 0), spread, strict=True))


@pytest.mark.parametrize("p", [P, np.array([0.2, math.log(1.2), math.log(0.8), 0.0, -4.0])])
def test_each_workers_likelihood_is_that_of_quadrature(p):
    """Workers with reads of every kind, with interrupted ones, and with nothing else."""

    def density(theta, rows):
        value = norm.pdf(theta, p[0], math.exp(p[1]))
        for x, cut in zip(THREE.log_speed[rows], THREE.cut[rows], strict=True):
            value *= sum(
                share * (norm.cdf if cut else norm.pdf)(x - theta, offset, spread)
                for share, offset, spread in law(p)
            )
        return value

    rough = MixtureLikelihood.around_medians(THREE, START)
    found = rough.around_posterior(p, rough.terms(p)[1]).terms(p)[0]
    for worker, value in enumerate(found):
        rows = THREE.worker == worker
        expected = quad(density, -8, 8, args=(rows,), points=[-1, 0, 0.5, 1, 1.5, 2], limit=400)[0]
        assert value == pytest.approx(math.log(expected), abs=1e-6)


def test_the_gradient_is_that_of_differences():
    """For every worker and parameter."""
    likelihood = MixtureLikelihood.around_medians(THREE, START)
    step = 1e-5 * np.eye(5)
    expected = [(likelihood.terms(P + d)[0] - likelihood.terms(P - d)[0]) / 2e-5 for d in step]
    np.testing.assert_allclose(likelihood.terms(P)[1].T, expected, atol=1e-7)
    expected = [(likelihood.penalty(P + d)[0] - likelihood.penalty(P - d)[0]) / 2e-5 for d in step]
    np.testing.assert_allclose(likelihood.penalty(P)[1], expected, atol=1e-7)


def test_without_outliers_it_is_the_normal_model_of_random_effects():
    """Its likelihood has a formula: a worker's reads are jointly normal with covariance tau^2 I + sigma^2."""
    clean = sample(workers=5, items=6)
    p = np.array([1.2, math.log(0.5), math.log(0.4), -40.0, -40.0])
    found = MixtureLikelihood.around_medians(clean, fit_medians(clean)).terms(p)[0]
    cov = 0.16 * np.eye(6) + 0.25
    for worker, value in enumerate(found):
        x = clean.log_speed[clean.worker == worker]
        expected = multivariate_normal.logpdf(x, np.full(6, 1.2), cov) + 6 * math.log(1 - ANYTHING)
        assert value == pytest.approx(expected, abs=0.05)  # the share of anything, 0.002 a read


def test_the_fit_is_where_the_gradient_vanishes():
    """And the covariance is the inverse of the information there, in all five parameters."""
    reads = sample(seed=2, idle=0.15, skimmed=0.1, mean_visit_seconds=60)
    fit = fit_mixture(mixture_top(reads, fit_medians(reads)))
    told = 1 - ANYTHING - fit.idle - fit.skimmed
    p = np.array(
        [
            fit.mu,
            math.log(fit.sigma),
            math.log(fit.tau),
            math.log(fit.idle / told),
            math.log(fit.skimmed / told),
        ]
    )

    rough = MixtureLikelihood.around_medians(reads, fit_medians(reads))
    likelihood = rough.around_posterior(p, rough.terms(p)[1])

    def loss(q):
        return -likelihood.terms(q)[0].sum() - likelihood.penalty(q)[0]

    step = 1e-3 * np.eye(5)
    hessian = np.array(
        [
            [(loss(p + a + b) - loss(p + a - b) - loss(p - a + b) + loss(p - a - b)) / 4e-6 for a in step]
            for b in step
        ]
    )
    slope = np.array([(loss(p + a) - loss(p - a)) / 2e-3 for a in step])
    assert slope @ np.linalg.solve(hessian, slope) < 1e-4
    np.testing.assert_allclose(np.linalg.inv(hessian)[:2, :2], fit.cov, rtol=0.01, atol=1e-5)


def test_uniting_reads_of_nearly_the_same_speed_changes_nothing(monkeypatch):
    """A million reads are told by their histogram: cells of tau / 10 move estimates by far less than their errors."""
    reads = sample(seed=3, workers=40, items=60, idle=0.1, mean_visit_seconds=60)
    exact = fit_mixture(mixture_top(reads, fit_medians(reads)))
    monkeypatch.setattr(reading_mixture, "MANY_ROWS", 0)
    united = fit_mixture(mixture_top(reads, fit_medians(reads)))
    assert united.mu == pytest.approx(exact.mu, abs=0.002)
    assert united.sigma == pytest.approx(exact.sigma, rel=0.002)
    assert united.tau == pytest.approx(exact.tau, rel=0.01)


def test_beginning_with_some_of_the_workers_ends_at_the_same_maximum(monkeypatch):
    """Of very many reads only a part is climbed first, to know where the nodes of all belong."""
    reads = sample(seed=3, workers=40, items=30, idle=0.1)
    monkeypatch.setattr(reading_mixture, "MANY_ROWS", 0)
    at_once = mixture_top(reads, fit_medians(reads))
    monkeypatch.setattr(reading_mixture, "_WORKERS_AT_FIRST", 10)
    in_two_steps = mixture_top(reads, fit_medians(reads))
    np.testing.assert_allclose(in_two_steps.p, at_once.p, atol=2e-3)
    np.testing.assert_allclose(in_two_steps.value, at_once.value, atol=1e-3)


def test_where_the_nodes_start_does_not_matter():
    """A poor start of the fit by medians moves neither likelihood nor estimates."""
    reads = sample(seed=4, idle=0.3, skimmed=0.1, workers=60, items=12)
    good = fit_medians(reads)
    poor = MedianFit(
        mu=good.mu - 0.3,
        sigma=1.4 * good.sigma,
        tau=0.7 * good.tau,
        medians=good.medians - 0.1,
        variances=good.variances,
        loglik=good.loglik,
        cov=good.cov,
    )
    one, other = fit_mixture(mixture_top(reads, good)), fit_mixture(mixture_top(reads, poor))
    assert one.loglik == pytest.approx(other.loglik, abs=1e-3)
    assert (one.mu, one.sigma) == pytest.approx((other.mu, other.sigma), abs=1e-3)


def test_workers_who_do_not_differ_have_no_maximum_inside():
    """sigma runs to 0, where there is no information about it; the caller is told so."""
    rng = np.random.default_rng(6)
    reads = data(np.repeat(np.arange(20), 10), rng.normal(1.2, 0.5, 200))
    means = np.array([reads.log_speed[reads.worker == w].mean() for w in range(20)])
    reads = data(reads.worker, reads.log_speed - means[reads.worker])
    assert mixture_top(reads, fit_medians(reads)) is None
