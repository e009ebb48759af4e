"""One model of the votes with both measures: which of them explains more of who preferred what."""

import numpy as np
import pytest

from calibration.agree.comparisons import slope_difference
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
