"""Intervals and tests when the same people judge several queries, and how the vote of one person moves a majority."""

import numpy as np
import pytest

from metrics.agreement.agreement import TIES, agreement, pair_credit
from metrics.agreement.crossed_errors import VotesByPerson, crossing
from tests.metrics.simulated_votes import judged_measures


def p_values(study, ties):
    """Of the difference of both measures: over queries and people, and as if everybody had judged one query."""
    votes = study.votes
    difference = np.mean(
        pair_credit(study.first, votes.share, ties=ties) - pair_credit(study.second, votes.share, ties=ties)
    )
    influence = votes.influence(study.first, ties) - votes.influence(study.second, ties)
    nobody_twice = crossing(votes.crossing.query, votes.crossing.cell)
    return [one.error(influence, votes.weight).p_value(difference) for one in (votes.crossing, nobody_twice)]


@pytest.mark.parametrize("ties", ["against", "half", "weighted"])
def test_people_with_tastes_of_their_own_are_no_evidence_against_equal_measures(ties):
    """Eight people judge all queries: over queries alone every fourth study finds a difference that is not there."""
    rng = np.random.default_rng(5)
    rejected = np.array([p_values(judged_measures(rng), ties) for _ in range(150)]) < 0.05

    over_both, over_queries = rejected.mean(axis=0)
    assert over_both < 0.09
    assert over_queries > 0.15


def test_a_true_difference_is_found_all_the_same():
    """Wider where people differ, not blind."""
    rng = np.random.default_rng(6)
    studies = [judged_measures(rng, slopes=(1.5, 0.2), taste=0.2) for _ in range(20)]

    assert np.mean([p_values(study, "against")[0] < 0.05 for study in studies]) > 0.8


@pytest.mark.parametrize("ties", TIES)
def test_where_nobody_judges_twice_and_queries_have_equal_pairs_it_is_the_query_t_interval(ties):
    """The paper's design keeps its interval; without tied pairs all conventions are over equal queries."""
    study = judged_measures(np.random.default_rng(7), own_people=True, ties=0.0, workers=5)
    votes = study.votes

    plain = agreement(study.first, votes.share, study.query, ties=ties).mean.confidence_interval()

    assert votes.interval(study.first, ties) == pytest.approx(plain)


def test_queries_of_very_different_size_count_as_fewer():
    """One query of 10 pairs beside 18 of one pair each is as much as six queries; one of 21 beside seven is hardly more than one."""

    def error_of(first, others):
        pair = np.arange(first + others)
        query = np.concatenate([np.zeros(first, dtype=int), np.arange(1, others + 1)])
        votes = VotesByPerson(pair=pair, for_a=np.tile([1.0, 0.0], 14), crossing=crossing(query, pair))
        return votes.error(np.ones(28), "against")

    assert error_of(10, 18).df == pytest.approx(28**2 / (10**2 + 18) - 1)
    assert np.isnan(error_of(21, 7).standard_error)


def test_the_vote_of_a_person_moves_a_majority_as_much_as_leaving_that_vote_aside_says():
    """Summed over the queries' judgments the influences are those of the queries, whatever the convention."""
    study = judged_measures(np.random.default_rng(8), pairs=(1, 9))
    votes = study.votes

    for ties in TIES:
        by_query = np.bincount(votes.crossing.query, votes.influence(study.first, ties))
        names = [f"{number:02d}" for number in study.query]
        expected = agreement(study.first, votes.share, names, ties=ties).mean.influence
        assert by_query == pytest.approx(expected, abs=1e-12)


def test_a_vote_is_held_against_the_votes_of_its_pair():
    """By trying each of them in its place; a tie among many ties decides more than the shares near one half say."""
    votes = np.array([1, 0.5, 0.5, 0, 1, 0.5, 0.5, 0.5, 1, 0, 0.5, 1])
    pair = np.arange(12) // 4
    judged = VotesByPerson(pair=pair, for_a=votes, crossing=crossing(pair, np.arange(12)))
    difference = np.array([1.0, -1.0, 1.0])

    def credit(at, other):
        moved = votes.copy()
        moved[at] = votes[other]
        share = np.bincount(pair, moved) / 4
        return pair_credit(difference, share, ties="half")[pair[at]]

    def lost(at):
        others = np.flatnonzero(pair == pair[at])
        return 4 * np.sqrt(4 / 3) * (credit(at, at) - np.mean([credit(at, other) for other in others]))

    whole = pair_credit(difference, judged.share, ties="half")
    h = np.array([lost(at) for at in range(12)]).reshape(3, 4)
    by_hand = (whole - whole.mean())[:, None] + h - h.mean(axis=1, keepdims=True)
    assert judged.influence(difference, "half") == pytest.approx(by_hand.ravel() / 12)


def test_of_one_query_or_without_variation_nothing_is_known():
    """No error is no certainty."""
    pair = np.arange(6)
    one = VotesByPerson(pair=pair, for_a=np.ones(6), crossing=crossing(np.zeros(6), pair))
    alike = VotesByPerson(pair=pair, for_a=np.ones(6), crossing=crossing(pair, np.zeros(6)))

    for votes in (one, alike):
        assert np.isnan(votes.interval(np.ones(6), "against")).all()


def test_with_two_votes_a_pair_the_error_of_a_majority_is_near_that_of_the_mean_of_votes():
    """Without ties both are the same number, a tie counting half; with another vote in its place alone, a vote moved it half as much again."""
    rng = np.random.default_rng(9)
    studies = [judged_measures(rng, workers=2, queries=12, ties=0.0, own_people=False) for _ in range(5)]
    for study in studies:
        spread = [np.std(study.votes.influence(study.first, ties)) for ties in ("half", "weighted")]
        assert 1 <= spread[0] / spread[1] < 1.45
