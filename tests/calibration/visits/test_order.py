"""The order of signs of life, by one number where times fit into one and by three where they do not."""

import numpy as np
import pytest

from calibration.visits.followed_visits import in_order

YEARS = 10**15
"""Milliseconds so far apart that group, time and mark do not fit into one number."""


@pytest.mark.parametrize("apart", [1, YEARS])
def test_signs_come_by_group_then_time_then_mark_and_stay_as_they_came_where_all_are_alike(
    apart: int,
) -> None:
    rng = np.random.default_rng(1)
    group, at, mark = (
        rng.integers(0, 5_000, 2_000) // 500,
        rng.integers(0, 9, 2_000) * apart,
        rng.integers(0, 4, 2_000),
    )
    group[0] = 9_999
    np.testing.assert_array_equal(in_order(group, at, mark), np.lexsort((mark, at, group)))


def test_nothing_has_no_order() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    assert not len(in_order(nothing, nothing, nothing))
