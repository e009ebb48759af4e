"""The judge against each person in turn: shares by hand, p by scipy's t test where every pair is of a topic of its own."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from calibration.judges.people_in_turn import COST, judge_and_each_person
from tests.calibration.judges.judged import votes_of


def test_each_person_is_held_against_the_others():
    """One pair, two for a and one for b; the judge says a, then b, then a tie."""
    votes = votes_of(["aab"], ["q1"], np.array([0, 1, 2]))
    table = judge_and_each_person(votes, np.array([1.0])).table
    assert table["person_with_others"].tolist() == [0.5, 0.5, 0.0]
    assert table["judge_with_others"].tolist() == [0.5, 0.5, 1.0]
    assert table["judge_as_good"].tolist() == [1, 1, 1]
    assert table["person_as_good"].tolist() == [1, 1, 0]
    against = judge_and_each_person(votes, np.array([-1.0]))
    assert against.table["judge_as_good"].tolist() == [1, 1, 1]
    assert against.table["judge_with_others"].tolist() == [0.5, 0.5, 0.0]
    assert judge_and_each_person(votes, np.array([0.0])).table["judge_with_others"].tolist() == [0.5] * 3
    assert (against.tested, against.beaten) == (0, 0)


def test_p_is_that_of_a_t_test_where_each_pair_has_a_topic():
    """Two people on 40 pairs with a third one who decides; the share by which a person is better is tested against the cost."""
    rng = np.random.default_rng(5)
    said = ["".join(rng.choice(["a", "b"], 3)) for _ in range(40)]
    verdict = rng.choice([-1.0, 1.0], 40)
    votes = votes_of(said, [f"q{place}" for place in range(40)], np.tile([0, 1, 2], 40))
    found = judge_and_each_person(votes, verdict)
    sign = {"a": 1.0, "b": -1.0}
    for person in range(3):
        others = [
            np.mean([sign[vote] for place, vote in enumerate(each) if place != person]) for each in said
        ]
        own = np.array([sign[each[person]] for each in said]) * others
        judge = verdict * others
        behind = (own >= judge).astype(float) - (judge >= own)
        p = ttest_1samp(behind, COST, alternative="less").pvalue
        assert found.table["p"][person] == pytest.approx(p)
    assert found.tested == 3
    assert found.advantage == pytest.approx(found.table["judge_as_good"].mean())


def test_a_judge_that_is_always_right_wins_against_all_and_one_that_is_never_against_nobody():
    """Everybody errs on every fourth pair; what the others say is the truth on most."""
    rng = np.random.default_rng(6)
    topics = [f"q{place % 10}" for place in range(80)]
    said = ["".join(np.where(rng.random(5) < 0.25, "b", "a")) for _ in range(80)]
    votes = votes_of(said, topics, np.tile(np.arange(5), 80))
    right, wrong = (judge_and_each_person(votes, np.full(80, side)) for side in (1.0, -1.0))
    assert (right.tested, right.beaten) == (5, 5)
    assert (wrong.tested, wrong.beaten) == (5, 0)
    assert right.advantage > 0.9
    assert wrong.advantage < 0.6
