"""The protocol's rules by themselves: order and sides of pairs, repeats, limits, the exclusion rule."""

from collections import Counter
from itertools import combinations
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from calibration.tables.tables import CHOICES
from study_app.protocol.domain import (
    PairTally,
    balanced_sides,
    exclusion_reasons,
    has_room,
    is_consistent,
    is_right,
    least_shown,
    planned_showings,
    rng_for,
    topic_order,
)

seeds = st.integers(0, 10_000)


def tallies(systems: int, shown=lambda: (0, 0)) -> list[PairTally]:
    return [
        PairTally(pair=number, system_a=a, system_b=b, a_left=left, b_left=right)
        for number, (a, b) in enumerate(combinations(range(systems), 2))
        for left, right in [shown()]
    ]


def plan(systems, *, pairs=None, validation=3, swapped=True, seed=1):
    return planned_showings(
        tallies(systems), pairs=pairs, validation=validation, swapped=swapped, rng=Random(seed)
    )


@given(st.integers(2, 8), st.integers(0, 40), seeds)
def test_every_pair_is_shown_once_besides_the_repeats(systems, validation, seed):
    """A worker judges all pairs of the query."""
    originals = [one.pair for one in plan(systems, validation=validation, seed=seed) if one.repeats is None]
    assert sorted(originals) == list(range(systems * (systems - 1) // 2))


@given(st.integers(2, 8), st.integers(0, 40), seeds)
@example(3, 1, 1)
@example(3, 1, 2)
@example(3, 1, 3)
@example(3, 1, 4)
@example(3, 1, 5)
def test_a_repeat_comes_after_its_original_and_never_right_after(systems, validation, seed):
    """A worker who simply remembers the last page would look consistent."""
    shown = plan(systems, validation=validation, seed=seed)
    for place, one in enumerate(shown):
        if one.repeats is not None:
            assert one.repeats < place - 1
            assert shown[one.repeats].pair == one.pair
            assert shown[one.repeats].repeats is None


@given(st.integers(3, 8), st.integers(0, 40), seeds)
def test_there_are_as_many_repeats_as_wanted_but_none_twice(systems, validation, seed):
    """More repeats than pairs would only annoy."""
    repeated = [
        one.pair for one in plan(systems, validation=validation, seed=seed) if one.repeats is not None
    ]
    assert len(repeated) == min(validation, systems * (systems - 1) // 2)
    assert len(set(repeated)) == len(repeated)


def test_a_single_pair_cannot_be_repeated():
    """Its repeat would stand right after it."""
    assert len(plan(2)) == 1


@given(seeds)
def test_repeats_are_spread_over_the_last_third(seed):
    """24 pages as in the paper's set-up: three repeats, one in each third of the last eight pages."""
    places = [place for place, one in enumerate(plan(7, seed=seed)) if one.repeats is not None]
    assert places == [17, 20, 23]


@pytest.mark.parametrize("swapped", [True, False])
def test_a_repeat_has_its_sides_swapped_unless_the_study_says_not(swapped):
    """Swapping tells a preference for a system from one for a side."""
    shown = plan(7, swapped=swapped)
    for one in shown:
        if one.repeats is not None:
            original = shown[one.repeats]
            same = (one.left, one.right) == (original.left, original.right)
            assert same is not swapped
            assert {one.left, one.right} == {original.left, original.right}


def test_the_side_shown_less_often_comes_next():
    """Over a whole study each system of a pair stands on the left equally often."""
    tally = PairTally(pair=0, system_a=1, system_b=2, a_left=3, b_left=4)
    assert balanced_sides(tally, Random(1)) == (1, 2)
    tally = PairTally(pair=0, system_a=1, system_b=2, a_left=4, b_left=3)
    assert balanced_sides(tally, Random(1)) == (2, 1)


def test_chance_decides_the_first_side():
    """Otherwise the first worker would see every system that is named first on the left."""
    sides = Counter(balanced_sides(tallies(2)[0], Random(seed)) for seed in range(1000))
    assert 400 < sides[0, 1] < 600


@given(seeds)
def test_the_least_shown_pairs_are_taken_first(seed):
    """With `pairs: N` all pairs fill up evenly."""
    rng = Random(seed)
    some = tallies(6, lambda: (rng.randrange(5), rng.randrange(5)))
    times = {one.pair: one.a_left + one.b_left for one in some}
    chosen = {one.pair for one in least_shown(some, 5, rng)}
    assert len(chosen) == 5
    assert max(times[pair] for pair in chosen) <= min(times[pair] for pair in times.keys() - chosen)


def test_the_same_seed_and_worker_draw_the_same_and_others_do_not():
    """A study can be replayed, and no two workers get the same order."""
    orders = {
        (seed, worker): tuple(topic_order(20, rng_for(seed, worker, "topics 1")))
        for seed in (1, 2)
        for worker in (1, 2)
    }
    assert len(set(orders.values())) == 4
    assert topic_order(20, rng_for(1, 1, "topics 1")) == list(orders[1, 1])


def test_a_query_has_room_below_its_limit_and_always_without_one():
    """null in the study file is no limit."""
    assert [has_room(taken, 2) for taken in (0, 1, 2, 3)] == [True, True, False, False]
    assert has_room(10**6, None)


@pytest.mark.parametrize(
    ("first", "second", "consistent"),
    [
        (("left", 1, 2), ("right", 2, 1), True),
        (("left", 1, 2), ("left", 2, 1), False),
        (("left", 1, 2), ("left", 1, 2), True),
        (("equally_good", 1, 2), ("equally_good", 2, 1), True),
        (("equally_good", 1, 2), ("equally_bad", 2, 1), True),
        (("equally_good", 1, 2), ("left", 2, 1), False),
        (("right", 1, 2), ("equally_bad", 2, 1), False),
    ],
)
def test_consistent_is_the_same_system_or_both_times_an_equal_option(first, second, consistent):
    """The rule of product.md, seen from the systems and not from the sides."""
    assert is_consistent(first, second) is consistent


@pytest.mark.parametrize(
    ("search", "validations", "reasons"),
    [
        (200, [True] * 3, ()),
        (199.9, [True] * 3, ("search",)),
        (None, [True] * 3, ()),
        (300, [True, False, False], ("consistency",)),
        (300, [False, False], ()),
        (300, [True, True, False, False, False], ()),
        (10, [False] * 3, ("search", "consistency")),
    ],
)
def test_the_exclusion_rule_of_the_paper(search, validations, reasons):
    """Under 200 s of search, or consistent on less than 40 % of at least three repeats (two-layered-summaries 4.2)."""
    searches = [] if search is None else [(search, 200)]
    assert exclusion_reasons(searches=searches, validations=[(one, 0.4) for one in validations]) == reasons


@pytest.mark.parametrize(
    ("rights", "reasons"),
    [([True, False, False], ("gold",)), ([False, False], ()), ([True, True, False, False], ())],
)
def test_gold_pairs_are_counted_as_repeats_are(rights, reasons):
    """Right on less than half of at least three; repeats are counted apart, and a minimum of 0 asks for nothing."""
    repeats, golds = [(True, 0.4)] * 3, [(right, 0.5) for right in rights]
    assert exclusion_reasons(searches=[], validations=repeats, golds=golds) == reasons
    assert exclusion_reasons(searches=[], validations=[], golds=[(right, 0) for right in rights]) == ()


def test_a_gold_pair_is_answered_right_by_the_known_answer():
    """Whoever finds neither better, of two that are equally good, may find both bad."""
    assert [is_right("left", choice) for choice in CHOICES] == [True, False, False, False]
    assert [is_right("equally_good", choice) for choice in CHOICES] == [False, False, True, True]


def test_a_worker_is_judged_by_all_tasks_together():
    """Two repeats a task are four of the worker; each counts by its own task's number, and none of a task without one."""

    def reasons(*validations, searches=()):
        return exclusion_reasons(searches=searches, validations=validations)

    assert reasons((False, 0.4), (False, 0.4)) == ()
    assert reasons((False, 0.4), (False, 0.4), (True, 0.8), (False, 0.8)) == ("consistency",)
    assert reasons((False, 0.4), (False, 0.4), (True, 0.4), (True, 0.4)) == ()
    assert reasons((False, 0.4), (False, 0.4), (False, 0)) == ()
    assert reasons(searches=[(190, 200), (70, 60)]) == ()
    assert reasons(searches=[(190, 200), (60, 60)]) == ("search",)
