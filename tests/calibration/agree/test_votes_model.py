"""One model of the votes with both measures: which of them explains more of who preferred what."""

import numpy as np
import pytest

from calibration.agree.slopes import graded_slope_difference, slope_difference
from metrics.agreement.crossed_errors import VotesByPerson
from tests.metrics.simulated_votes import judged_measures


def compared(study):
    return slope_difference(study.votes, study.first, study.second)


def test_the_difference_of_the_slopes_is_found():
    """Many queries, people of one taste, nothing unexplained: log odds a unit, times the size of a usual difference."""
    study = judged_measures(
        np.random.default_rng(1), queries=400, slopes=(0.9, 0.4), taste=0.0, unexplained=0.0
    )
    size = [np.sqrt((one**2).mean()) for one in (study.first, study.second)]

    found = compared(study)

    truth = 0.9 * size[0] - 0.4 * size[1]
    assert abs(found.difference - truth) < 2.5 * found.error.standard_error
    assert found.error.standard_error < 0.05


def test_measures_that_explain_as_much_are_told_apart_in_one_of_twenty_studies():
    """Although eight people of different tastes judge everything."""
    rng = np.random.default_rng(2)
    found = [compared(judged_measures(rng)) for _ in range(100)]

    assert np.mean([one.error.p_value(one.difference) < 0.05 for one in found]) < 0.11


def test_it_turns_with_the_measures_and_does_not_ask_for_their_scale():
    """A measure times ten is the same measure."""
    study = judged_measures(np.random.default_rng(3))
    there = slope_difference(study.votes, study.first, study.second)
    back = slope_difference(study.votes, study.second, 10 * study.first)

    assert back.difference == pytest.approx(-there.difference, rel=1e-6)
    assert back.error.standard_error == pytest.approx(there.error.standard_error, rel=1e-6)


def test_where_the_votes_do_not_tell_there_is_no_number():
    """One measure twice, one that tells nothing apart, nobody who preferred anything, votes that follow without exception."""
    study = judged_measures(np.random.default_rng(4))
    votes = study.votes
    ties = VotesByPerson(pair=votes.pair, for_a=np.full(votes.pair.size, 0.5), crossing=votes.crossing)
    always = VotesByPerson(
        pair=votes.pair, for_a=(study.first[votes.pair] > 0).astype(float), crossing=votes.crossing
    )

    for of, first, second in (
        (votes, study.first, 2 * study.first),
        (votes, study.first, 0 * study.first),
        (ties, study.first, study.second),
        (always, study.first, study.second),
    ):
        assert np.isnan(slope_difference(of, first, second).difference)


def test_by_grades_the_difference_of_the_slopes_is_found():
    """The scale of a measure is not asked for, and it turns with the measures."""
    rng = np.random.default_rng(5)
    study = judged_measures(rng, queries=200, slopes=(0.9, 0.4), taste=0.0, unexplained=0.0)
    strength = study.graded(rng)
    size = [np.sqrt((one**2).mean()) for one in (study.first, study.second)]
    found = graded_slope_difference(study.votes, strength, study.first, study.second)
    back = graded_slope_difference(study.votes, strength, study.second, 10 * study.first)

    assert abs(found.difference - (0.9 * size[0] - 0.4 * size[1])) < 2.5 * found.error.standard_error
    assert back.difference == pytest.approx(-found.difference, rel=1e-6)
    assert back.error.standard_error == pytest.approx(found.error.standard_error, rel=1e-6)


def test_by_grades_a_side_is_taken_off():
    """A side that favours the better of the first measure would count for that measure."""
    rng = np.random.default_rng(6)
    study = judged_measures(rng, queries=200, slopes=(0.5, 0.5), taste=0.0, unexplained=0.0)
    is_swapped = rng.random(len(study.votes.pair)) > 1 / (1 + np.exp(-3 * study.first[study.votes.pair]))
    lead = (0.5 * (study.first + study.second))[study.votes.pair] + np.where(is_swapped, -1.5, 1.5)
    latent = lead + rng.logistic(size=len(lead))
    strength = np.sign(latent) * (np.abs(latent)[:, None] > (0.4, 1.5)).sum(axis=1)
    with_side, without = (
        graded_slope_difference(study.votes, strength, study.first, study.second, is_swapped=swapped)
        for swapped in (is_swapped, None)
    )
    size = [np.sqrt((one**2).mean()) for one in (study.first, study.second)]
    truth = 0.5 * (size[0] - size[1])

    assert abs(with_side.difference - truth) < 2.5 * with_side.error.standard_error
    assert without.difference - truth > 2.5 * without.error.standard_error


def test_by_grades_equal_measures_are_told_apart_in_one_of_twenty_studies():
    """Although eight people of different tastes judge everything."""
    rng = np.random.default_rng(7)
    found = []
    for _ in range(100):
        study = judged_measures(rng)
        strength = study.graded(rng)
        found.append(graded_slope_difference(study.votes, strength, study.first, study.second))

    assert np.mean([one.error.p_value(one.difference) < 0.05 for one in found]) < 0.11


def test_where_grades_do_not_tell_there_is_no_number():
    """As by choices."""
    study = judged_measures(np.random.default_rng(4))
    strength = study.graded(np.random.default_rng(4))
    always = np.sign(study.first[study.votes.pair]) * 2

    for given, first, second in (
        (strength, study.first, 2 * study.first),
        (strength, study.first, 0 * study.first),
        (0 * strength, study.first, study.second),
        (always, study.first, study.second),
    ):
        assert np.isnan(graded_slope_difference(study.votes, given, first, second).difference)
