"""What the mixture of vote probabilities is."""

import itertools

import numpy as np
import pytest

from metrics.agreement.ceiling_votes import (
    FIRST_SIDE_SHARES,
    LEAD,
    TIE_RATES,
    every_kind_alike,
    fit_vote_mixtures,
    half_of_side,
    majority,
)


def fitted(counts, start=None):
    """Shares of the kinds of pairs behind (pairs, 3) votes."""
    start = every_kind_alike() if start is None else start
    return fit_vote_mixtures(np.asarray(counts), np.ones((1, len(counts))), start)[0]


@pytest.mark.parametrize("votes", [1, 2, 3, 6])
def test_the_expected_majority_by_enumeration(votes):
    """Every sequence of votes, one by one, for a kind of pair with a fifth of ties."""
    side, tie = 15, 5
    probability = {
        1: FIRST_SIDE_SHARES[side] * (1 - TIE_RATES[tie]),
        -1: (1 - FIRST_SIDE_SHARES[side]) * (1 - TIE_RATES[tie]),
        0: TIE_RATES[tie],
    }
    sequences = [
        (np.prod([probability[vote] for vote in sequence]), np.sign(sum(sequence)))
        for sequence in itertools.product(probability, repeat=votes)
    ]

    sign, even = (
        of_kinds.reshape(FIRST_SIDE_SHARES.size, TIE_RATES.size)[side, tie] for of_kinds in majority(votes)
    )

    assert sign == pytest.approx(sum(chance * outcome for chance, outcome in sequences))
    assert even == pytest.approx(sum(chance for chance, outcome in sequences if outcome == 0))


def test_votes_of_one_kind_are_fitted_by_that_kind():
    """4,000 pairs of 20 votes with one and the same probabilities: the mixture's means are theirs."""
    weight = fitted(np.random.default_rng(1).multinomial(20, [0.6, 0.3, 0.1], size=4000))

    assert weight.sum() == pytest.approx(1)
    assert weight @ np.tile(TIE_RATES, FIRST_SIDE_SHARES.size) == pytest.approx(0.1, abs=0.01)
    assert weight @ LEAD == pytest.approx(0.15, abs=0.015)


def test_it_does_not_matter_which_side_stands_first():
    """R and R' of a pair are names; turning some pairs round changes nothing."""
    rng = np.random.default_rng(2)
    counts = rng.multinomial(7, [0.5, 0.3, 0.2], size=60)
    turned = np.where(rng.random((60, 1)) < 0.5, counts[:, [1, 0, 2]], counts)

    assert fitted(counts) == pytest.approx(fitted(turned), abs=1e-6)


def test_votes_without_exception_have_a_certain_majority():
    """The edges of the grid are no faults: nobody dissents, and nobody sees a tie."""
    weight = fitted([[8, 0, 0], [0, 8, 0]] * 20)

    assert weight @ majority(8)[0] == pytest.approx(1, abs=1e-3)


def test_samples_are_fitted_one_by_one():
    """Many samples at once give each its own mixture."""
    rng = np.random.default_rng(3)
    counts = rng.multinomial(6, [0.5, 0.3, 0.2], size=40)
    times = rng.integers(0, 3, size=(3, 40)).astype(float)

    together = fit_vote_mixtures(counts, times, every_kind_alike())

    for sample, weight in zip(times, together, strict=True):
        assert fitted(np.repeat(counts, sample.astype(int), axis=0)) == pytest.approx(weight, abs=1e-4)


def test_patterns_that_few_samples_have_are_met_apart_with_the_same_result(monkeypatch):
    """Of a million judgments half of the patterns are such; the weights differ by rounding alone."""
    rng = np.random.default_rng(8)
    counts = rng.multinomial(12, [0.5, 0.3, 0.2], size=30)
    times = rng.choice([0.0, 0.0, 1.0, 2.0], size=(7, 30))
    together = fit_vote_mixtures(counts, times, every_kind_alike())
    assert {1, 2, 3, 4} <= set((times > 0).sum(axis=0).tolist())

    monkeypatch.setattr("metrics.agreement.ceiling_votes.MANY", 0)

    assert fit_vote_mixtures(counts, times, every_kind_alike()) == pytest.approx(together, abs=1e-12)


def test_few_votes_do_not_tell_equal_pairs_from_nearly_equal_ones():
    """Both starts explain three votes a pair as well, and differ in what most people prefer."""
    votes = np.random.default_rng(4).multinomial(3, [0.55, 0.45, 0], size=400)
    one, other = fitted(votes), fitted(votes, half_of_side(0.5))

    assert one @ majority(3)[0] ** 2 == pytest.approx(other @ majority(3)[0] ** 2, abs=0.03)
    assert one @ majority(101)[0] > other @ majority(101)[0] + 0.1
