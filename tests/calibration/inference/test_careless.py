"""The class of careless people: the share of highest likelihood, and who is in it."""

import numpy as np
import pytest

from calibration.inference.heterogeneity import careless_class


def test_the_share_is_where_the_likelihood_is_highest():
    """Against a fine grid."""
    rng = np.random.default_rng(1)
    earnest, careless = rng.normal(-10, 2, 40), rng.normal(-11, 2, 40)
    found = careless_class(earnest, careless)
    grid = np.linspace(0, 1, 10_001)
    heights = np.log((1 - grid)[:, None] * np.exp(earnest) + grid[:, None] * np.exp(careless)).sum(axis=1)

    assert found.share == pytest.approx(grid[heights.argmax()], abs=1e-4)
    assert found.loglik == pytest.approx(heights.max())
    assert found.posterior.mean() == pytest.approx(found.share)


def test_nobody_is_careless_where_everybody_does_as_the_model_says():
    """Then the likelihood is that of the model, and everybody at the other end."""
    earnest = np.full(5, -3.0)

    assert careless_class(earnest, earnest - 1).share == 0
    assert careless_class(earnest, earnest - 1).loglik == pytest.approx(-15)
    assert careless_class(earnest, earnest + 1).share == 1


def test_a_person_whom_the_model_cannot_explain_is_careless_without_an_overflow():
    """However long the answers are."""
    found = careless_class(np.array([-5000.0, -1.0, -1.0, -1.0]), np.array([-10.0, -5.0, -5.0, -5.0]))

    assert found.count == 1
    assert found.posterior[0] == pytest.approx(1)
