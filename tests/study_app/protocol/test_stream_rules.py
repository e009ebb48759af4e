"""The rules of streams: visits, lateness, which system a follower gets, what is asked."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from study_app.protocol.domain import (
    LATENESS_CLASSES,
    UsefulQuestionDraw,
    drawn_questions,
    fewest,
    follow_length,
    is_same_visit,
    lateness_class,
    single_new_nuggets,
    stream_time,
    visits_late,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def december(day, hour, minute):
    """Return a time of the paper's example, as seconds."""
    return datetime(2012, 12, day, hour, minute, tzinfo=UTC).timestamp()


VISITS = [december(4, 10, 2), december(5, 10, 11), december(6, 9, 50), december(7, 9, 55)]
"""When the paper's user comes (section 3)."""


def test_lateness_of_the_papers_example():
    """Six nuggets read at the last of four visits are 1, 0, 2, 3, 1 and 1 visits late."""
    known = [
        december(5, 23, 0),
        december(6, 20, 0),
        december(5, 9, 0),
        december(3, 8, 0),
        december(6, 1, 0),
        december(5, 10, 12),
    ]
    assert [visits_late(at, VISITS) for at in known] == [1, 0, 2, 3, 1, 1]


def test_a_nugget_known_exactly_at_a_visit_could_have_been_told_then():
    """The paper's reading: it is late when it is told at the next one."""
    assert visits_late(VISITS[2], VISITS) == 1
    assert visits_late(VISITS[2] + 1, VISITS) == 0


def test_a_nugget_that_is_told_before_it_is_known_is_not_late():
    """An update can be ahead of the assessors' time."""
    assert visits_late(VISITS[-1] + 1, VISITS) == 0


@given(st.floats(-10, 10), st.lists(st.floats(-9, 9), min_size=1, max_size=8).map(sorted))
def test_lateness_is_the_formula(known, visits):
    """k - min{j : t_n <= s_j}, 0 if there is no such j."""
    k = len(visits) - 1
    reached = [j for j, visit in enumerate(visits) if known <= visit]
    assert visits_late(known, visits) == (k - min(reached) if reached else 0)


def test_a_minute_of_silence_parts_two_visits():
    """Up to sixty seconds are one."""
    assert is_same_visit(NOON, NOON + timedelta(seconds=60))
    assert not is_same_visit(NOON, NOON + timedelta(seconds=60.001))


def test_the_stream_runs_from_enrolment_at_its_own_pace():
    """Two hours at factor 24 are two days."""
    assert stream_time(NOON, 1000.0, 24, NOON + timedelta(hours=2)) == 1000 + 2 * 86_400


@pytest.mark.parametrize(
    ("event_days", "days", "factor", "hours"), [(10, 3, 1, 72), (2, 3, 1, 48), (10, 3, 24, 3), (2, 3, 24, 2)]
)
def test_a_follow_lasts_its_days_or_the_event(event_days, days, factor, hours):
    """By the wall clock."""
    assert follow_length(event_days * 86_400.0, days, factor) == timedelta(hours=hours)


def test_the_system_with_the_fewest_followers_is_next():
    """Of those below the limit; of all when none is, for who comes back too late."""
    assert fewest({1: 2, 2: 1, 3: 1}, None) == [2, 3]
    assert fewest({1: 2, 2: 1, 3: 1}, 2) == [2, 3]
    assert fewest({1: 2, 2: 2}, 2) == [1, 2]
    assert fewest({1: 3, 2: 2}, 2) == [2]


def test_an_update_is_asked_about_when_it_brought_one_new_nugget():
    """Newer ones were read first; what an earlier visit told is not new."""
    nuggets = {5: ["a"], 4: ["a", "b"], 3: ["c", "d"], 2: ["c", "e"], 1: []}
    assert single_new_nuggets([1, 2, 3, 4, 5], [], nuggets) == [(5, "a"), (4, "b"), (2, "e")]
    assert single_new_nuggets([3, 4], [5], nuggets) == [(4, "b")]


@given(
    st.lists(st.integers(0, 6), max_size=12),
    st.dictionaries(st.integers(0, 6), st.integers(0, 5)),
    st.integers(0, 5),
    st.integers(0, 99),
)
def test_questions_even_out_what_was_asked(lates, asked, count, seed):
    """As many as may be, and no class was preferred to one that was asked about less and stood to choice."""
    candidates = [
        UsefulQuestionDraw(place=n, nugget=str(n), visits_late=late) for n, late in enumerate(lates)
    ]
    drawn = drawn_questions(candidates, asked, count, Random(seed))
    assert len(drawn) == min(count, len(candidates)) == len({one.place for one in drawn})
    tally = Counter(dict.fromkeys(range(LATENESS_CLASSES), 0))
    for late, number in asked.items():
        tally[lateness_class(late)] += number
    left = Counter(lateness_class(one.visits_late) for one in candidates)
    for one in drawn:
        mine = lateness_class(one.visits_late)
        assert tally[mine] == min(tally[other] for other in left if left[other])
        tally[mine] += 1
        left[mine] -= 1


def test_the_seed_decides_between_equals():
    """The same seed draws the same, and not every seed does."""
    candidates = [UsefulQuestionDraw(place=n, nugget=str(n), visits_late=0) for n in range(10)]
    first = {seed: drawn_questions(candidates, {}, 1, Random(seed))[0].place for seed in range(20)}
    assert first == {seed: drawn_questions(candidates, {}, 1, Random(seed))[0].place for seed in range(20)}
    assert len(set(first.values())) > 3
