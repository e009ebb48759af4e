"""Climbing to the top of a log-likelihood."""

import numpy as np
import pytest

from calibration.inference.maximise import LogLikelihood, StoppingRule, maximise_newton
from metrics.arrays import Floats

RULE = StoppingRule(least_promise=1e-12)


def height(point: Floats) -> LogLikelihood:
    """A likelihood whose full Newton steps overshoot: -sqrt(1 + x^2), with its top at 0."""
    return LogLikelihood(-np.sqrt(1 + point[..., 0] ** 2))


def step(point: Floats, _: LogLikelihood) -> tuple[Floats, Floats]:
    """Newton's step of `height`, -x (1 + x^2), which ends on the other side, further away, where |x| > 1."""
    x = point[..., 0]
    whole = -x * (1 + x**2)
    return whole[..., None], -whole * x / np.sqrt(1 + x**2)


def test_a_step_that_would_fall_is_halved_until_it_climbs():
    """From 3 the whole step ends at -27, lower down."""
    top = maximise_newton(height, np.array([3.0]), step, RULE)

    assert top.arrived
    assert top.point == pytest.approx([0.0], abs=1e-6)


def test_several_likelihoods_climb_together_as_each_would_alone():
    """One that needs halving does not shorten the steps of another."""
    starts = np.array([[3.0], [0.2], [-40.0]])

    together = maximise_newton(height, starts, step, RULE).point

    alone = [maximise_newton(height, start, step, RULE).point for start in starts]
    np.testing.assert_allclose(together, alone, atol=1e-6)


def test_a_climb_ends_at_its_bounds():
    """The best allowed value, found and called arrived."""
    top = maximise_newton(height, np.array([3.0]), step, RULE, (np.array([1.5]), np.array([9.0])))

    assert top.arrived
    assert top.point.tolist() == [1.5]


def test_where_a_point_is_not_allowed_the_step_is_halved_too():
    """A log-likelihood of -inf is lower than any."""

    def inside(point: Floats) -> LogLikelihood:
        return height(point) if point[0] > 0 else LogLikelihood(-np.inf)

    assert maximise_newton(inside, np.array([3.0]), step, RULE).point[0] > 0


def test_a_climb_that_runs_out_of_steps_has_not_arrived():
    """The caller says what that means."""
    assert not maximise_newton(
        height, np.array([40.0]), step, StoppingRule(least_promise=1e-12, most_steps=2)
    ).arrived
