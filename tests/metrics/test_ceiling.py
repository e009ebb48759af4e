"""What the ceiling of agreement is."""

import math

import numpy as np
import pytest

from metrics.agreement import TIES, agreement
from metrics.ceiling import ceiling
from tests.metrics.simulated_votes import simulate


def ceiling_of(votes, query=None, *, splits=50, seed=1):
    """Ceiling of a (pairs, workers) array of votes."""
    votes = np.asarray(votes, dtype=float)
    pairs, workers = votes.shape
    query = np.array(["q"] * pairs) if query is None else query
    return ceiling(
        votes.ravel(),
        np.repeat(np.arange(pairs), workers),
        np.repeat(query, workers),
        splits=splits,
        rng=np.random.default_rng(seed),
    )


def test_people_who_always_agree_have_the_ceiling_one():
    """Without noise nothing stands between a metric and full agreement."""
    found = ceiling_of([[1, 1, 1, 1], [0, 0, 0, 0]])

    assert [found.panel(ties) for ties in TIES] == pytest.approx([1, 1, 1, 1])
    assert [found.perfect(ties) for ties in TIES] == pytest.approx([1, 1, 1, 1])


def test_people_who_vote_at_random_have_the_ceiling_one_half():
    """Nothing is shared between halves, so nobody can predict them."""
    votes = np.random.default_rng(2).integers(0, 2, size=(3000, 9))

    found = ceiling_of(votes, splits=10)

    assert found.panel("half") == pytest.approx(0.5, abs=0.02)
    assert found.panel("weighted") == pytest.approx(0.5, abs=0.02)


def test_two_votes_against_each_other_by_hand():
    """Each half is one vote: one pair of four agrees, none ties, so the halves agree in 1/4 of the cases."""
    found = ceiling_of([[1, 0], [0, 1], [1, 0], [1, 1]])

    assert found.halves.value == pytest.approx(0.25)
    assert found.halves_weighted.value == pytest.approx(0.25)
    assert found.growth == 2
    assert found.tied == pytest.approx(0.75)
    assert found.panel("half") == pytest.approx(0.5)  # below chance: no reliability


def test_half_size_is_carried_to_full_size_by_spearman_and_brown():
    """Halves that agree in 2/3 have r = sin(pi/6) = 1/2; the whole has 2r/(1+r) = 2/3."""
    found = ceiling_of([[1, 1]] * 2 + [[1, 0]])

    assert found.halves.value == pytest.approx(2 / 3)
    assert found.panel("half") == pytest.approx(0.5 + math.asin(2 / 3) / math.pi)
    assert found.perfect("half") == pytest.approx(0.5 + math.asin(math.sqrt(2 / 3)) / math.pi)
    assert found.panel("against") == pytest.approx(found.panel("half") - 1 / 6)
    assert found.panel("drop") == pytest.approx(found.panel("against") / (2 / 3))


@pytest.mark.parametrize("workers", [6, 9, 14])
def test_it_predicts_a_second_panel_and_a_perfect_metric(workers):
    """Both are simulated: a second panel votes on the same pairs, and the truth is known."""
    rng = np.random.default_rng(workers)
    study = simulate(rng, queries=400, pairs=20, workers=2 * workers, sensitivity=1.2)
    votes, second = study.votes[:, :workers], study.votes[:, workers:].mean(axis=1) - 0.5

    found = ceiling_of(votes, study.query, splits=5)

    for ties in ("half", "weighted"):
        share = votes.mean(axis=1)
        panel = agreement(second, share, study.query, ties=ties).value
        perfect = agreement(study.preferred, share, study.query, ties=ties).value
        assert found.panel(ties) == pytest.approx(panel, abs=0.02)
        assert found.perfect(ties) == pytest.approx(perfect, abs=0.02)


def test_the_interval_is_over_queries_and_holds_the_value():
    """Both ends of the halves' interval, carried to full size."""
    study = simulate(np.random.default_rng(5), queries=10, pairs=10, workers=8)
    found = ceiling_of(study.votes, study.query)

    for ties in TIES:
        low, high = found.panel_interval(ties)
        assert 0 < low < found.panel(ties) < high < 1


def test_odd_numbers_and_single_votes():
    """One random vote sits out of an odd pair; a pair with one vote cannot be split and does not count."""
    found = ceiling(
        [1, 1, 1, 0], ["a", "a", "a", "b"], ["q", "q", "q", "q"], splits=20, rng=np.random.default_rng(1)
    )

    assert found.pairs == 1
    assert found.growth == 3
    assert found.halves.value == 1


def test_without_two_votes_on_any_pair_there_is_no_ceiling():
    """A study with one worker says nothing about agreement between people."""
    found = ceiling_of([[1], [0]])

    assert all(math.isnan(found.panel(ties)) and math.isnan(found.perfect(ties)) for ties in TIES)


def test_the_seed_alone_decides():
    """Order of rows aside, the same seed gives the same ceiling."""
    votes = np.random.default_rng(3).integers(0, 2, size=(20, 5))

    assert ceiling_of(votes, seed=4) == ceiling_of(votes, seed=4)


def test_other_votes_are_refused():
    """A share is no vote."""
    with pytest.raises(ValueError, match=r"0, 0\.5 or 1"):
        ceiling_of([[0.3, 1]])
