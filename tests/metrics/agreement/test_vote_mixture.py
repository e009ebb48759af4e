"""What the mixture of vote probabilities is."""

import itertools

import numpy as np
import pytest

from metrics.agreement.ceiling import VoteMixture, fit_vote_mixture


def mixture_of(*kinds):
    """A mixture from (preferred, other, tie, weight)."""
    preferred, other, tie, weight = np.array(kinds).T
    return VoteMixture(preferred=preferred, other=other, tie=tie, weight=weight)


@pytest.mark.parametrize("votes", [1, 2, 3, 5])
def test_the_expected_sign_of_a_majority_by_enumeration(votes):
    """Every sequence of votes, one by one."""
    probability = {1: 0.5, -1: 0.3, 0: 0.2}
    expected = sum(
        np.prod([probability[vote] for vote in sequence]) * np.sign(sum(sequence))
        for sequence in itertools.product(probability, repeat=votes)
    )

    assert mixture_of((0.5, 0.3, 0.2, 1.0)).majority(votes) == pytest.approx([expected])


def test_votes_of_one_kind_are_fitted_by_that_kind():
    """4,000 pairs of 20 votes with one and the same probabilities: the mixture's means are theirs."""
    counts = np.random.default_rng(1).multinomial(20, [0.6, 0.3, 0.1], size=4000)

    fitted = fit_vote_mixture(counts)

    assert fitted.weight.sum() == pytest.approx(1)
    assert fitted.weight @ fitted.tie == pytest.approx(0.1, abs=0.01)
    assert fitted.weight @ fitted.lead == pytest.approx(0.15, abs=0.015)


def test_it_does_not_matter_which_side_stands_first():
    """R and R' of a pair are names; turning some pairs round changes nothing."""
    rng = np.random.default_rng(2)
    counts = rng.multinomial(7, [0.5, 0.3, 0.2], size=60)
    turned = np.where(rng.random((60, 1)) < 0.5, counts[:, [1, 0, 2]], counts)

    one, other = fit_vote_mixture(counts), fit_vote_mixture(turned)

    assert one.weight == pytest.approx(other.weight, abs=1e-6)


def test_votes_without_exception_have_a_certain_majority():
    """The edges of the grid are no faults: nobody dissents, and nobody sees a tie."""
    fitted = fit_vote_mixture(np.array([[8, 0, 0], [0, 8, 0]] * 20))

    assert fitted.weight @ fitted.majority(8) == pytest.approx(1, abs=1e-3)
