"""What the ceiling of agreement is."""

import math

import numpy as np
import pytest

from metrics.agreement.agreement import TIES, agreement
from metrics.agreement.ceiling import ceiling, fit_vote_mixture
from tests.metrics.simulated_votes import simulate

STRENGTHS = {
    "of every size": lambda rng, size: 1.2 * rng.normal(size=size),
    "strong": lambda rng, size: 2 * rng.choice([-1, 1], size=size) * (1 + 0.3 * rng.normal(size=size)),
    "none or strong": lambda rng, size: rng.choice([0, 1], size=size) * 2 * rng.normal(size=size),
}


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

    assert found.panel("half") == pytest.approx(0.5, abs=0.03)
    assert found.panel("weighted") == pytest.approx(0.5, abs=0.02)


def test_two_votes_by_hand():
    """Each half is one vote: both agree in one pair of four, and the other three are tied at full size."""
    found = ceiling_of([[1, 0], [0, 1], [1, 0], [1, 1]])

    assert found.halves.value == pytest.approx(0.25)
    assert found.halves_weighted.value == pytest.approx(0.25)
    assert found.tied == pytest.approx(0.75)


def test_full_size_adds_what_the_mixture_expects():
    """The measured agreement of halves stays the base; the model only says how much more the whole is worth."""
    votes = np.random.default_rng(3).choice([0, 0.5, 1], p=[0.2, 0.1, 0.7], size=(40, 6))
    found = ceiling_of(votes)
    counts = np.stack([(votes == worth).sum(axis=1) for worth in (1, 0, 0.5)], axis=1)
    mixture = fit_vote_mixture(counts)
    half, whole = mixture.majority(3), mixture.majority(6)

    gained = found.panel("half") - found.halves.value
    known = found.perfect("weighted") - found.halves_weighted.value

    assert gained == pytest.approx(mixture.weight @ (whole**2 - half**2) / 2)
    assert known == pytest.approx(mixture.weight @ ((1 - half) * mixture.lead))


def test_conventions_differ_by_the_tied_pairs():
    """A tied vote is half an agreement, none, or no pair at all."""
    found = ceiling_of([[1, 1, 1, 0]] * 6 + [[1, 1, 0, 0]] * 2)

    assert found.tied == pytest.approx(0.25)
    assert found.panel("against") == pytest.approx(found.panel("half") - 0.125)
    assert found.panel("drop") == pytest.approx(found.panel("against") / 0.75)


@pytest.mark.parametrize("strengths", STRENGTHS)
@pytest.mark.parametrize("workers", [5, 9, 14])
def test_it_predicts_a_second_panel_and_a_perfect_metric(strengths, workers):
    """Both are simulated, with preferences that are strong, weak or both: a second panel votes, the truth is known."""
    rng = np.random.default_rng(workers)
    study = simulate(rng, queries=400, pairs=20, workers=2 * workers, strengths=STRENGTHS[strengths])
    votes, second = study.votes[:, :workers], study.votes[:, workers:].mean(axis=1) - 0.5

    found = ceiling_of(votes, study.query, splits=5)

    share = votes.mean(axis=1)
    for ties in ("half", "weighted"):
        panel = agreement(second, share, study.query, ties=ties).value
        perfect = agreement(study.preferred, share, study.query, ties=ties).value
        assert found.panel(ties) == pytest.approx(panel, abs=0.02)
        assert found.perfect(ties) == pytest.approx(perfect, abs=0.05)


def test_the_interval_is_over_queries_and_holds_the_value():
    """The interval of the halves, moved by what full size adds."""
    study = simulate(np.random.default_rng(5), queries=10, pairs=10, workers=8)
    found = ceiling_of(study.votes, study.query)

    for ties in TIES:
        low, high = found.panel_interval(ties)
        assert 0 < low < found.panel(ties) < high < 1
        low, high = found.perfect_interval(ties)
        assert 0 < low < found.perfect(ties) < high <= 1


def test_odd_numbers_and_single_votes():
    """One random vote sits out of an odd pair; a pair with one vote cannot be split and does not count."""
    found = ceiling(
        [1, 1, 1, 0], ["a", "a", "a", "b"], ["q", "q", "q", "q"], splits=20, rng=np.random.default_rng(1)
    )

    assert found.pairs == 1
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


@pytest.mark.parametrize("votes_a_pair", [2, 5, 10])
def test_where_everybody_calls_every_pair_equal_there_is_nothing_to_reach(votes_a_pair):
    """Whoever knew what people prefer would know that they prefer nothing: half of a tie, no votes, no decided pair."""
    pairs = np.repeat(np.arange(30), votes_a_pair)
    found = ceiling(
        np.full(pairs.size, 0.5), pairs, [f"q{pair % 5}" for pair in pairs], rng=np.random.default_rng(1)
    )

    for value in (found.panel, found.perfect):
        assert [value("against"), value("half"), value("weighted")] == [0.0, 0.5, 0.5]
        assert np.isnan(value("drop"))


def test_no_ceiling_is_above_what_the_votes_can_give():
    """Tied pairs give half at most, and no choice gets more votes than the one that most people made."""
    rng = np.random.default_rng(2)
    pairs = np.repeat(np.arange(40), 3)
    votes = rng.choice([0.0, 0.5, 0.5, 0.5, 1.0], size=pairs.size)
    found = ceiling(votes, pairs, [f"q{pair % 5}" for pair in pairs], rng=rng)
    share = np.bincount(pairs, votes) / 3

    for value in (found.panel, found.perfect):
        assert value("half") <= 1 - found.tied / 2
        assert value("weighted") <= (0.5 + np.abs(share - 0.5)).mean()
