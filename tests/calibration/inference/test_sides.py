"""Votes without the effect of the side: what is taken off, how sure that is, and where nothing can be."""

import numpy as np
import pytest

from calibration.inference.sides import without_side


def study(seed, *, n=900, systems=6, lean=0.8, tie_weight=0.5, always_left=0):
    """Votes by Davidson's model; one system always stood on the left, the sides of the others were drawn."""
    rng = np.random.default_rng(seed)
    left = rng.integers(systems, size=n)
    right = (left + rng.integers(1, systems, size=n)) % systems
    left, right = (
        np.where(right == always_left, right, left),
        np.where(right == always_left, left, right),
    )
    worth = np.linspace(-0.5, 0.5, systems)
    odds = worth[left] - worth[right] + lean
    weights = np.stack([np.exp(odds / 2), np.full(n, tie_weight), np.exp(-odds / 2)])
    chance = rng.random(n) * weights.sum(axis=0)
    return left, right, np.select([chance < weights[0], chance < weights[:2].sum(axis=0)], [1, 0.5], 0.0)


def true_share(worth, other, tie_weight=0.5):
    up, down = np.exp((worth - other) / 2), np.exp((other - worth) / 2)
    return (up + tie_weight / 2) / (up + down + tie_weight)


def test_the_share_of_a_system_that_always_stood_on_the_left_loses_what_the_side_gave_it():
    """In the mean of 40 studies it is that of the model without a side effect; raw votes say .15 more."""
    worth = np.linspace(-0.5, 0.5, 6)
    truth = np.mean([true_share(worth[0], other) for other in worth[1:]])
    adjusted, raw = [], []
    for seed in range(40):
        left, right, votes = study(seed)
        of_first = left == 0
        adjusted.append((votes - without_side(left, right, votes).excess)[of_first].mean())
        raw.append(votes[of_first].mean())

    assert np.mean(adjusted) == pytest.approx(truth, abs=0.015)
    assert np.mean(raw) > truth + 0.12


@pytest.mark.parametrize("tie_weight", [0.0, 0.5])
def test_what_a_judgment_adds_through_the_model_is_what_changes_without_it(tie_weight):
    """By leaving out each of 60 judgments and fitting again, with ties and without any."""
    left, right, votes = study(3, tie_weight=tie_weight)
    adjustment = without_side(left, right, votes)
    weight = (left == 0) / (left == 0).sum()
    value = weight @ (votes - adjustment.excess)
    added = weight * (votes - adjustment.excess - value) + adjustment.influence(weight)
    changes = []
    for number in range(60):
        kept = np.arange(len(left)) != number
        share = weight[kept] / weight[kept].sum()
        fewer = without_side(left[kept], right[kept], votes[kept])
        changes.append(value - share @ (votes[kept] - fewer.excess))

    np.testing.assert_allclose(added[:60], changes, rtol=0.1, atol=3e-5)


def test_votes_stay_as_they_are_where_no_couple_was_seen_both_ways_round():
    """The side cannot be told from the worths then; nor where nobody preferred anything, or everybody the left one."""
    left, right = np.array([0, 0, 1]), np.array([1, 2, 2])
    one_way = without_side(left, right, np.array([1.0, 0.0, 0.5]))
    tied = without_side(np.array([0, 1]), np.array([1, 0]), np.array([0.5, 0.5]))
    all_left = without_side(np.array([0, 1, 0]), np.array([1, 0, 1]), np.array([1.0, 1.0, 0.5]))

    for adjustment in (one_way, tied, all_left):
        assert not adjustment.is_separable
        assert np.isnan(adjustment.side)
        assert not adjustment.excess.any()
        assert not adjustment.influence(np.ones(len(adjustment.excess))).any()


def test_balanced_sides_move_shares_hardly_at_all():
    """Each order as often as the other: what is taken off one is added to the other."""
    left, right = np.tile([0, 1], 40), np.tile([1, 0], 40)
    votes = np.concatenate([np.tile([1.0, 1.0], 22), np.tile([1.0, 0.0], 8), np.tile([0.0, 0.0], 10)])
    adjustment = without_side(left, right, votes)
    for_first = np.where(left == 0, votes - adjustment.excess, 1 - votes + adjustment.excess)

    assert adjustment.side > 0.5
    assert for_first.mean() == pytest.approx(np.where(left == 0, votes, 1 - votes).mean(), abs=0.02)


def test_a_system_that_never_loses_keeps_its_share():
    """Its worth would be infinite; the prior keeps it finite, and next to nothing is taken off a sure victory."""
    left, right = np.tile([0, 1, 1, 2], 50), np.tile([1, 0, 2, 1], 50)
    votes = np.tile([1.0, 0.0, 1.0, 0.5], 50)
    votes[::8] = 1.0
    adjustment = without_side(left, right, votes)

    assert np.isfinite(adjustment.side)
    assert (votes - adjustment.excess)[left == 0].mean() > 0.95
