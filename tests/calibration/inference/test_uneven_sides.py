"""Sides that were not drawn by lot are named, whatever cancels, and drawn ones are not."""

import numpy as np
import pytest

from calibration.inference.uneven_sides import uneven_sides


def judged(couples, forward, backward, topics=4):
    """Return the arguments of the test: each couple so often one way round and the other, spread over topics."""
    sides = [
        (a, b)[::turn]
        for a, b in couples
        for turn, many in ((1, forward), (-1, backward))
        for _ in range(many)
    ]
    left, right = np.array(sides).T
    return left, right, np.arange(len(left)) % topics, "ABCDEF"


def named(*arguments):
    found = uneven_sides(*arguments)
    return found and (found.name, found.sentence)


def test_a_system_on_one_side_is_named_where_couples_cancel():
    """B stands right of A and of C: pooled over couples, the first of the alphabet stands left in half of all."""
    assert named(*judged([(0, 1), (2, 1)], 18, 6)) == (
        "uneven_sides",
        "B stood on the left in 25 % of its 48 judgments",
    )


def test_a_couple_is_named_where_systems_cancel():
    """A left of B, B left of C, C left of A: each system stands left in half of its judgments."""
    name, sentence = named(*judged([(0, 1), (1, 2), (2, 0)], 27, 3))

    assert name == "uneven_sides"
    assert sentence == "A stood on the left of B in 90 % of their 30 judgments"


def test_a_system_always_on_one_side_and_pairs_that_kept_theirs():
    """The pairs of three of four systems were shown both ways round, or none was."""
    left, right, topic, names = judged([(1, 2), (2, 3), (1, 3)], 10, 10)
    always = judged([(1, 0), (2, 0), (3, 0)], 10, 0)[:3]
    merged = [np.append(*each) for each in zip((left, right, topic), always, strict=True)]

    assert named(*merged, names) == ("sides_not_drawn", "A stood on the right in all of its 30 judgments")
    assert named(*always, names) == ("sides_not_drawn", "Each of 12 pairs kept its sides every time")
    assert named(*judged([(0, 1)], 2, 0, topics=1)) is None  # chance does so half the time


@pytest.mark.parametrize("is_balanced", [False, True])
@pytest.mark.parametrize(("systems", "times"), [(2, 2), (2, 30), (3, 7), (6, 12)])
def test_drawn_sides_are_seldom_named(systems, times, is_balanced):
    """At most one study in twenty, by lots of each judgment or balanced within each couple."""
    rng = np.random.default_rng(5)
    first, second = np.repeat(np.triu_indices(systems, 1), times, axis=1)
    topic = np.tile(np.arange(times) // 3, len(first) // times)
    alarms = 0
    for _ in range(200):
        turned = rng.random(len(first)) < 0.5
        if is_balanced:
            half = np.tile(np.arange(times) % 2 == 0, (len(first) // times, 1))
            turned = rng.permuted(half, axis=1).ravel()
        left, right = np.where(turned, second, first), np.where(turned, first, second)
        alarms += uneven_sides(left, right, topic, "ABCDEF") is not None

    assert alarms <= 0.05 * 200
