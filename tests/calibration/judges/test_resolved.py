"""Answers in two orders and over repeats become one verdict a pair."""

import numpy as np
import pandas as pd

from calibration.judges.resolved import resolved_verdicts


def answers(*rows):
    """Return answers from (pair, order, repeat, vote); in order 2 system_a stands on the right."""
    frame = pd.DataFrame(rows, columns=["pair", "order", "repeat", "vote"])
    frame["is_swapped"] = (frame["order"] == 2).fillna(value=False).to_numpy(bool)
    return frame.astype({"order": "Int64", "repeat": "Int64"})


def resolved(*rows, pairs):
    frame = answers(*rows)
    return resolved_verdicts(frame, frame["pair"].to_numpy(np.intp), pairs)


def test_two_orders_make_a_verdict_only_where_both_say_it():
    """Agreement in both, a contradiction, a tie beside a side, two ties of two sorts, an unusable answer, one order alone, nothing."""
    found = resolved(
        *((0, 1, 1, "votes_b"), (0, 2, 1, "votes_b")),
        *((1, 1, 1, "votes_a"), (1, 2, 1, "votes_b")),
        *((2, 1, 1, "votes_a"), (2, 2, 1, "equally_good")),
        *((3, 1, 1, "equally_good"), (3, 2, 1, "equally_bad")),
        *((4, 1, 1, "no_answer"), (4, 2, 1, "votes_a")),
        (5, 1, 1, "votes_a"),
        pairs=7,
    )
    np.testing.assert_array_equal(found.first, [-1, 0, 0, 0, 0, 1, np.nan])
    np.testing.assert_array_equal(found.is_judged, [True] * 6 + [False])
    assert (found.contradictions, found.in_two_orders, found.in_one_order) == (2, 4, 1)
    assert (found.unusable, found.answers, found.verdicts) == (1, 11, 6)


def test_the_side_that_came_first_is_counted_where_the_order_is_known():
    """system_a stands on the right in order 2, so a vote for it is one for the second side there."""
    found = resolved(
        (0, 1, 1, "votes_a"),
        (0, 2, 1, "votes_a"),
        (1, 1, 1, "votes_a"),
        (1, 2, 1, "votes_b"),
        (2, None, 1, "votes_a"),
        (3, 1, 1, "equally_good"),
        pairs=4,
    )
    assert (found.first_sided, found.sided) == (3, 4)


def test_the_first_repeat_counts_and_the_majority_stands_beside_it():
    """Three repeats, the first of them outvoted; one pair with both sides, one asked once; the order of rows says nothing."""
    rows = [
        (0, None, 2, "votes_a"),
        (0, None, 1, "contradicts"),
        (0, None, 3, "votes_a"),
        (1, None, 1, "votes_a"),
        (1, None, 2, "votes_b"),
        (2, None, 1, "votes_b"),
        (3, None, 1, "contradicts"),
        (3, None, 2, "contradicts"),
    ]
    found, turned = resolved(*rows, pairs=4), resolved(*rows[::-1], pairs=4)
    np.testing.assert_array_equal(found.first, [0, 1, -1, 0])
    np.testing.assert_array_equal(found.majority, [1, 0, -1, 0])
    np.testing.assert_array_equal(turned.first, found.first)
    assert (found.repeated, found.changed, found.reversed, found.repeats) == (3, 2, 1, 3)
    assert (found.contradictions, found.in_two_orders) == (3, 8)


def test_answers_on_pairs_that_nobody_judged_are_left_out():
    frame = answers((0, 1, 1, "votes_a"), (1, 1, 1, "no_answer"))
    found = resolved_verdicts(frame, np.array([0, -1]), 1)
    assert (found.answers, found.unusable) == (1, 0)
    nothing = resolved_verdicts(frame, np.array([-1, -1]), 2)
    assert not nothing.is_judged.any()
    assert nothing.repeats == 0
