"""Hurry and straight-lining: what raises a flag, and what is too little to raise one."""

import pytest

from study_app.protocol.domain import (
    FLAGS,
    MIN_DECISION_SECONDS,
    is_hurried,
    is_straight,
)
from study_app.services.researcher.progress import CHECKS
from study_app.tasks.workload import DECIDING


@pytest.mark.parametrize(
    ("seconds", "hurried"),
    [
        ([2.9, 2.9], None),
        ([2.9, 2.9, 10, 10], True),
        ([2.9, 10, 10], False),
        ([3, 3, 3], False),
    ],
)
def test_half_of_three_answers_or_more_within_three_seconds_is_hurry(seconds, hurried):
    """Three seconds are the least that the estimate of a study's minutes reckons for an answer."""
    assert is_hurried(seconds) is hurried
    assert DECIDING.low == MIN_DECISION_SECONDS


@pytest.mark.parametrize(
    ("choices", "straight"),
    [
        (["left"] * 7, None),
        (["left"] * 8, True),
        (["equally_bad"] * 8, True),
        (["left"] * 7 + ["right"], False),
        (["left"] * 7 + ["equally_good"] * 3, False),
        (["right"] * 8 + ["equally_good"] * 3, True),
        (["equally_good"] * 7 + ["equally_bad"], False),
    ],
)
def test_eight_answers_alike_or_eight_for_one_side_are_straight_lining(choices, straight):
    """An answer for neither side says nothing of a habit to press one side."""
    assert is_straight(choices) is straight


def test_every_flag_is_shown_to_who_watches_the_study():
    """Between the three checks of the exclusion rule and the flags there is no other."""
    assert list(CHECKS) == ["search", "consistency", "gold", *FLAGS]
