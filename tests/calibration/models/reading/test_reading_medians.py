"""Worker medians with interrupted reads, the scale of reads, and the normal population of medians."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from statsmodels.duration.survfunc import SurvfuncRight

from calibration.models.reading.medians import fit_medians, normal_population, residual_scale, worker_medians
from calibration.models.reading.rows import TimedReads


def data(worker, log_speed, cut=None) -> TimedReads:
    log_speed = np.asarray(log_speed, dtype=float)
    return TimedReads(
        worker=np.asarray(worker, dtype=np.intp),
        log_speed=log_speed,
        cut=np.zeros(len(log_speed), dtype=bool) if cut is None else np.asarray(cut, dtype=bool),
        log_length=np.zeros(len(log_speed)),
        item=np.arange(len(log_speed)),
    )


@given(st.lists(st.lists(st.integers(-50, 50), min_size=1, max_size=9), min_size=1, max_size=4))
def test_without_interruptions_it_is_the_median(speeds):
    """Of an even number of reads the middle of the two middle ones, ties and all."""
    worker = np.repeat(np.arange(len(speeds)), [len(each) for each in speeds])
    found = worker_medians(data(worker, np.concatenate(speeds)))
    np.testing.assert_allclose(found, [np.median(each) for each in speeds])


@given(st.lists(st.tuples(st.integers(0, 30), st.booleans()), min_size=1, max_size=15))
def test_with_interruptions_it_is_the_median_of_kaplan_and_meier(reads):
    """Against statsmodels, on times that run from fast to slow."""
    times, cut = (np.array(column) for column in zip(*reads, strict=True))
    curve = SurvfuncRight(times + 1, (~cut).astype(int))
    below = np.flatnonzero(curve.surv_prob <= 0.5 + 1e-12)
    events = np.flatnonzero(curve.surv_prob < 0.5 - 1e-12)
    expected = math.nan
    if len(below):
        first = curve.surv_times[below[0]]
        second = curve.surv_times[events[0]] if len(events) else first
        expected = -((first + second) / 2 - 1)
    found = worker_medians(data(np.zeros(len(times)), -times, cut))[0]
    np.testing.assert_allclose(found, expected)


def test_interruptions_make_the_median_slower():
    """Taken as complete, interrupted reads would make a worker faster."""
    speeds, cut = [3.0, 2.0, 1.0, 0.5, 0.0], [False, True, True, False, False]
    assert worker_medians(data([0] * 5, speeds, cut))[0] < worker_medians(data([0] * 5, speeds))[0]
    assert math.isnan(worker_medians(data([0, 0], [1.0, 2.0], [True, True]))[0])


@pytest.mark.parametrize("reads", [2, 3, 5, 20])
def test_the_scale_of_reads_does_not_depend_on_how_many_a_worker_has(reads):
    """A median of few reads is drawn to each of them; without the correction tau of two reads would be .7 of the truth."""
    rng = np.random.default_rng(reads)
    sample = data(np.repeat(np.arange(4000), reads), rng.normal(0, 0.5, 4000 * reads))
    assert residual_scale(sample, worker_medians(sample)) == pytest.approx(0.5, rel=0.12)


def test_the_population_maximises_its_likelihood():
    """Slope zero in both parameters, restricted for mu, and information as by differences."""
    rng = np.random.default_rng(4)
    sample = data(
        np.repeat(np.arange(60), 7), rng.normal(rng.normal(1.2, 0.5, 60)[:, None], 0.4, (60, 7)).ravel()
    )
    fit = fit_medians(sample)

    def loss(p):
        total = math.exp(2 * p[1]) + fit.variances
        return 0.5 * float((np.log(2 * math.pi * total) + (fit.medians - p[0]) ** 2 / total).sum())

    best = np.array([fit.mu, math.log(fit.sigma)])

    def restricted(p):
        return loss(p) + 0.5 * math.log((1 / (math.exp(2 * p[1]) + fit.variances)).sum())

    assert fit.loglik == pytest.approx(-loss(best))
    np.testing.assert_allclose(approx_fprime(best, restricted, 1e-6), 0, atol=2e-3)
    step = 1e-4 * np.eye(2)
    hessian = [
        [
            (loss(best + a + b) - loss(best + a - b) - loss(best - a + b) + loss(best - a - b)) / 4e-8
            for a in step
        ]
        for b in step
    ]
    np.testing.assert_allclose(np.linalg.inv(hessian), fit.cov, rtol=1e-3, atol=1e-7)


def test_one_read_each_of_no_error_gives_the_sample_standard_deviation():
    """Restricted likelihood divides by the workers minus one, the plain one by the workers."""
    y = np.array([0.3, 1.0, 1.9, 2.2])
    mu, sigma, _ = normal_population(y, np.full(4, 1e-12))
    assert (mu, sigma) == pytest.approx((y.mean(), y.std(ddof=1)), rel=1e-4)


def test_equal_medians_have_no_spread_and_no_covariance():
    """The likelihood falls from sigma 0 on; there is no information about its logarithm."""
    sample = data(np.repeat(np.arange(5), 4), np.tile([0.5, 1.0, 1.5, 2.0], 5))
    fit = fit_medians(sample)
    assert fit.sigma < 1e-3
    assert not np.isfinite(fit.cov).all() or fit.cov[1, 1] > 4


def test_weights_are_repeats():
    """A worker drawn twice counts as two."""
    y, variances = np.array([0.3, 1.0, 1.9]), np.array([0.1, 0.2, 0.1])
    weighted = normal_population(y, variances, np.array([2.0, 0.0, 1.0]))
    repeated = normal_population(y[[0, 0, 2]], variances[[0, 0, 2]])
    assert weighted[:2] == pytest.approx(repeated[:2], rel=1e-4)


def test_reads_of_each_worker_are_ordered_as_all_at_once():
    """Interrupted reads and equal speeds have their place, whether a table of workers holds the reads or is too wide."""
    rng = np.random.default_rng(1)
    for longest in (9, 900):
        worker = np.repeat(np.arange(40), [*rng.integers(1, 9, 39), longest])
        speed, cut = rng.integers(0, 4, len(worker)) / 2, rng.random(len(worker)) < 0.3
        reads = TimedReads(worker=worker, log_speed=speed, cut=cut, log_length=speed, item=worker)

        apart = [worker_medians(reads.of(worker == one))[0] for one in range(40)]

        np.testing.assert_allclose(worker_medians(reads), apart, rtol=1e-12)
