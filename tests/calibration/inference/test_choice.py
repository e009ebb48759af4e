"""The choice model: the laws of ties, their derivatives, the side, and the maximum."""

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from statsmodels.discrete.conditional_models import ConditionalLogit

from calibration.inference.choice import (
    TIES,
    ChoiceModel,
    Votes,
    binary_terms,
    davidson_terms,
    fit_davidson,
    maximise,
    with_side,
)

VOTES = np.array([1.0, -1.0, 0.0])


def judged(n: int = 300, seed: int = 3, weights=(0.8, 0.4, -0.3)) -> tuple[np.ndarray, np.ndarray]:
    """Return a design (n, 3) and votes by Davidson's model, about a quarter of them ties."""
    rng = np.random.default_rng(seed)
    design = rng.normal(size=(n, 3)) * [1, 10, 0.1]
    u = design @ (np.array(weights) / [1, 10, 0.1])
    chances = np.exp([davidson_terms(u, np.full(n, vote), -0.5).loglik for vote in VOTES])
    drawn = (rng.random(n) > chances.cumsum(axis=0)[:2]).sum(axis=0)
    return design, VOTES[drawn]


def model_of(design: np.ndarray, vote: np.ndarray, ties: str) -> ChoiceModel:
    if ties == "drop":
        design, vote = design[vote != 0], vote[vote != 0]
    return ChoiceModel(design=design, vote=vote, ties=ties, times=np.ones(len(vote)))


# --- the laws


@given(st.floats(-20, 20), st.floats(0.05, 4))
def test_chances_of_the_three_answers_add_up_to_one(u, t):
    """Whatever the utilities."""
    chances = np.exp(davidson_terms(np.full(3, u), VOTES, t).loglik)

    assert chances.sum() == pytest.approx(1)


def test_davidsons_ties_have_the_weight_nu_between_the_two_sides():
    """P(left) : P(right) : P(equal) = e^(u/2) : e^(-u/2) : nu."""
    left, right, tie = np.exp(davidson_terms(np.full(3, 1.4), VOTES, np.log(0.5)).loglik)

    assert left / right == pytest.approx(np.exp(1.4))
    assert tie / right == pytest.approx(0.5 * np.exp(0.7))


def test_half_a_vote_for_each_side_is_the_mean_of_both_votes():
    """In the log-likelihood and in its slope."""
    u = np.array([0.3, -2.0])
    left, right, half = (binary_terms(u, np.full(2, vote), 0.0) for vote in VOTES)

    assert half.loglik == pytest.approx((left.loglik + right.loglik) / 2)
    assert half.by_u == pytest.approx((left.by_u + right.by_u) / 2)


@pytest.mark.parametrize("ties", TIES)
def test_gradient_and_information_are_slopes_of_the_likelihood(ties):
    """Against central differences, away from the maximum; the rows add up to the whole."""
    model = model_of(*judged(), ties)
    point = np.array([0.3, 0.02, 1.0, 0.4])[: 4 if model.has_tie else 3]
    gradient, information = model.derivatives(point)
    scores, rows = model.row_derivatives(point)
    steps = 1e-5 * np.eye(len(point)) * np.append([1, 0.1, 10], [1])[: len(point)]
    slopes = [
        (model.log_likelihood(point + step) - model.log_likelihood(point - step)) / (2 * step.max())
        for step in steps
    ]
    falls = [
        -(model.derivatives(point + step)[0] - model.derivatives(point - step)[0]) / (2 * step.max())
        for step in steps
    ]

    assert gradient == pytest.approx(slopes, rel=1e-5, abs=1e-5)
    assert information == pytest.approx(np.array(falls), rel=1e-5, abs=1e-4)
    assert scores.sum(axis=0) == pytest.approx(gradient)
    assert rows.sum(axis=0) == pytest.approx(information)


# --- the maximum


@pytest.mark.parametrize("ties", TIES)
def test_the_maximum_is_where_a_general_optimiser_ends(ties):
    """Newton's method on a concave likelihood, on columns of very different size."""
    model = model_of(*judged(), ties)
    found = maximise(model.design, model.vote, ties)
    start = np.append(np.zeros(3), 0.5)[: 4 if model.has_tie else 3]
    unit = np.append([1, 0.1, 10], 1)[: len(start)]
    other = minimize(lambda x: -model.log_likelihood(x * unit), start, method="BFGS", tol=1e-8)

    assert found.loglik == pytest.approx(-other.fun, abs=1e-6)
    assert found.point / unit == pytest.approx(other.x, abs=1e-3)
    assert found.information == pytest.approx(model.derivatives(found.point)[1])


def test_with_one_weight_both_ways_to_the_maximum_agree():
    """`calibration.inference.choice` has one slope, here there are several weights."""
    design, vote = judged()
    votes = Votes(first=vote > 0, second=vote < 0, ties=vote == 0)
    one = fit_davidson(
        design[None, :, 0], Votes(**{k: getattr(votes, k).astype(float) for k in votes.__slots__})
    )
    found = maximise(design[:, :1], vote, "davidson")

    assert (found.weights[0], found.tie, found.loglik) == pytest.approx(
        (one.slope[0], one.log_tie[0], one.loglik[0]), abs=1e-5
    )


def test_without_ties_it_is_the_conditional_logit():
    """Two alternatives a judgment, one of them chosen, as statsmodels fits it; and its logit of differences."""
    design, vote = judged()
    design, vote = design[vote != 0], vote[vote != 0]
    sides = np.concatenate([design / 2, -design / 2])
    chosen = np.concatenate([vote > 0, vote < 0]).astype(int)
    conditional = ConditionalLogit(chosen, sides, groups=np.tile(np.arange(len(vote)), 2)).fit(disp=0)
    logit = sm.Logit((vote > 0).astype(float), design).fit(disp=0)
    found = maximise(design, vote, "drop")

    assert found.weights == pytest.approx(conditional.params, rel=1e-4)
    assert found.weights == pytest.approx(logit.params, rel=1e-6)
    assert np.linalg.inv(found.information) == pytest.approx(logit.cov_params(), rel=1e-4)
    assert found.loglik == pytest.approx(logit.llf)


def test_half_votes_are_a_binomial_model_of_fractions():
    """The logit link of statsmodels' GLM with y = .5."""
    design, vote = judged()
    reference = sm.GLM((1 + vote) / 2, design, family=sm.families.Binomial()).fit(tol=1e-12)

    assert maximise(design, vote, "half").weights == pytest.approx(reference.params, rel=1e-6)


def test_davidson_is_a_multinomial_logit_with_shared_weights():
    """Against the same likelihood written as log-softmax of (u / 2, -u / 2, log nu)."""
    design, vote = judged()
    found = maximise(design, vote, "davidson")
    u = design @ found.weights
    logits = np.stack([u / 2, -u / 2, np.full(len(u), found.tie)], axis=1)
    place = np.where(vote > 0, 0, np.where(vote < 0, 1, 2))
    softmax = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))

    assert found.loglik == pytest.approx(softmax[np.arange(len(u)), place].sum())


@given(st.integers(0, 10_000))
def test_counting_a_judgment_twice_is_having_it_twice(seed):
    """The bootstrap counts, it does not copy."""
    design, vote = judged(60, 4)
    times = np.random.default_rng(seed).integers(0, 3, 60).astype(float)
    copied = np.repeat(np.arange(60), times.astype(int))
    by_count = maximise(design, vote, "davidson", times=times)
    by_copy = maximise(design[copied], vote[copied], "davidson")

    assert by_count.weights == pytest.approx(by_copy.weights, rel=1e-4, abs=1e-6)


def test_a_side_is_one_weight_more_that_takes_the_lean_to_the_left():
    """Everybody leans by .6; without the side that would lie in the weights' error."""
    design, _ = judged(4000)
    rng = np.random.default_rng(1)
    u = design @ np.array([0.8, 0.04, -3.0]) + 0.6
    chances = np.exp([davidson_terms(u, np.full(len(u), vote), -0.5).loglik for vote in VOTES])
    vote = VOTES[(rng.random(len(u)) > chances.cumsum(axis=0)[:2]).sum(axis=0)]
    found = maximise(with_side(design), vote, "davidson")

    assert found.weights[3] == pytest.approx(0.6, abs=0.1)
    assert found.weights[0] == pytest.approx(0.8, abs=0.1)
