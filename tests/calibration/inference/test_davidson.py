"""Davidson's model: its likelihood, and a fit that finds the maximum from anywhere."""

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from calibration.inference.choice import Votes, choice_probabilities, fit_davidson, log_likelihood


def votes(*counts) -> Votes:
    first, second, ties = (np.asarray(count, dtype=float) for count in counts)
    return Votes(first=first, second=second, ties=ties)


def some_votes(pairs: int = 30, seed: int = 5) -> tuple[np.ndarray, Votes]:
    """Return differences (1, pairs) and votes that follow them loosely."""
    rng = np.random.default_rng(seed)
    difference = rng.normal(size=pairs)
    chances = np.stack(choice_probabilities(1.2 * difference, np.full(1, -0.3)))
    drawn = np.array([rng.multinomial(9, chances[:, i]) for i in range(pairs)])
    return difference[None], votes(*drawn.T)


def test_the_three_choices_are_in_the_ratio_of_the_model():
    """P(first) : P(second) : P(equal) = e^(u/2) : e^(-u/2) : nu, and they add up to 1."""
    first, second, tie = choice_probabilities(np.array([1.4]), np.log([0.5]))

    assert first / second == pytest.approx(np.exp(1.4))
    assert tie / second == pytest.approx(0.5 * np.exp(0.7))
    assert first + second + tie == pytest.approx(1)


def test_the_likelihood_is_that_of_single_judgments_multiplied():
    """Brute force: one factor for every judgment."""
    difference, v = some_votes()
    brute = 0.0
    for d, a, b, t in zip(difference[0], v.first, v.second, v.ties, strict=True):
        weights = np.array([np.exp(0.7 * d / 2), np.exp(-0.7 * d / 2), 0.4])
        brute += np.log(weights / weights.sum()) @ [a, b, t]

    assert log_likelihood(difference, v, np.array([0.7]), np.log([0.4])) == pytest.approx([brute])


def test_the_fit_is_where_a_general_optimiser_ends():
    """Newton's method on the concave likelihood finds the same maximum."""
    difference, v = some_votes()
    found = minimize(
        lambda x: -log_likelihood(difference, v, x[:1], x[1:])[0], [0.0, 0.0], method="BFGS", tol=1e-9
    )
    fit = fit_davidson(difference, v)

    assert [fit.slope[0], fit.log_tie[0]] == pytest.approx(found.x, abs=1e-5)
    assert fit.loglik == pytest.approx([-found.fun])


def test_without_ties_it_is_logistic_regression():
    """The special case of Bradley and Terry, as statsmodels fits it without an intercept."""
    difference, v = some_votes()
    v = votes(v.first, v.second, 0 * v.ties)
    glm = sm.GLM(np.stack([v.first, v.second], axis=1), difference[0], family=sm.families.Binomial()).fit()
    fit = fit_davidson(difference, v)

    assert fit.slope == pytest.approx(glm.params, rel=1e-6)
    assert fit.log_tie == [-np.inf]


def test_many_metrics_are_fitted_as_each_by_itself():
    """The profile over patience is one call; rows must not touch each other."""
    difference, v = some_votes()
    many = np.concatenate([difference, -3 * difference, np.zeros_like(difference), difference**3])
    together = fit_davidson(many, v)
    alone = [fit_davidson(row[None], v) for row in many]

    assert together.loglik == pytest.approx([one.loglik[0] for one in alone])
    assert together.slope == pytest.approx([one.slope[0] for one in alone], abs=1e-8)


@given(scale=st.floats(1e-6, 1e6))
def test_the_unit_of_the_metric_does_not_matter(scale):
    """M may be in gains of thousands: the slope takes the unit up, the likelihood stays."""
    difference, v = some_votes()
    fit, scaled = fit_davidson(difference, v), fit_davidson(difference * scale, v)

    assert scaled.slope * scale == pytest.approx(fit.slope, rel=1e-6)
    assert scaled.loglik == pytest.approx(fit.loglik)


def test_swapping_the_two_systems_changes_nothing_but_the_names():
    """Which system of a pair is called first is a convention."""
    difference, v = some_votes()
    swapped = fit_davidson(-difference, votes(v.second, v.first, v.ties))

    assert swapped.slope == pytest.approx(fit_davidson(difference, v).slope)


def test_a_metric_that_sees_no_difference_has_slope_zero():
    """All its pairs are ties; what is left is the share of ties."""
    fit = fit_davidson(np.zeros((1, 2)), votes([3, 1], [1, 3], [2, 2]))

    assert fit.slope == [0.0]
    assert np.exp(fit.log_tie) == pytest.approx([1.0])


def test_votes_without_exception_end_at_a_large_slope_instead_of_never():
    """The likelihood then rises for ever; the fit stops where it has risen as far as it can."""
    fit = fit_davidson(np.array([[1.0, 2.0, -1.0]]), votes([5, 5, 0], [0, 0, 5], [0, 0, 0]))

    assert fit.loglik == pytest.approx([0.0], abs=1e-4)
    assert np.isfinite(fit.slope).all()
