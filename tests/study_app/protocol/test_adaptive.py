"""Adaptive pairs: which are drawn, with which probability, and when the search is over."""

from collections import Counter
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from study_app.protocol.adaptive import best_searches, draw_pairs
from study_app.protocol.domain import PairTally


def study(systems, topics, votes=()):
    """Return the searches of systems on topics, with votes (topic, winner, loser, times), the winner half of the times on the left."""
    pairs = [(topic, a, b) for topic in range(topics) for a, b in combinations(range(systems), 2)]
    number = {pair: place for place, pair in enumerate(pairs)}
    counts, shown = {}, Counter()
    for topic, winner, loser, times in votes:
        pair = number[topic, min(winner, loser), max(winner, loser)]
        for left, many in ((winner, times // 2), (loser, times - times // 2)):
            row = counts.get((pair, left), (0, 0, 0))
            counts[pair, left] = (row[0] + many * (left == winner), row[1] + many * (left == loser), row[2])
            shown[pair, left] += many
    tallies = [
        PairTally(pair=place, system_a=a, system_b=b, a_left=shown[place, a], b_left=shown[place, b])
        for place, (_, a, b) in enumerate(pairs)
    ]
    return best_searches(tallies, {place: pair[0] for place, pair in enumerate(pairs)}, counts)


def drawn(searches, seed=1, *, besides=(), count=1, uniform_share=0.25, stop_at=None):
    return draw_pairs(
        searches, besides=besides, count=count, uniform_share=uniform_share, stop_at=stop_at, rng=Random(seed)
    )


SOME = [(0, 0, 1, 6), (0, 2, 1, 4), (0, 0, 3, 6), (0, 3, 1, 4)]
"""System 0 won always, 2 and 3 beat 1."""


def test_pairs_are_drawn_as_often_as_their_chance_says():
    """Over 4,000 draws each pair comes with its stored probability, which sums up to one over all pairs."""
    searches = study(4, 1, SOME)
    draws = [drawn(searches, seed)[0] for seed in range(4000)]
    share = {pair: number / len(draws) for pair, number in Counter(draw.pair for draw in draws).items()}
    chance = {
        pair: sum(draw.chance for draw in draws if draw.pair == pair)
        / max(1, sum(draw.pair == pair for draw in draws))
        for pair in share
    }

    assert sum(chance.values()) == pytest.approx(1, abs=0.02)
    assert all(share[pair] == pytest.approx(chance[pair], abs=0.03) for pair in share)
    assert sum(draw.drawn == "uniform" for draw in draws) / len(draws) == pytest.approx(0.25, abs=0.03)


def test_the_systems_that_may_be_the_best_are_compared_most():
    """System 0 leads: most adaptive pairs have it on one side; uniform ones do not care."""
    searches = study(4, 1, SOME)
    draws = [drawn(searches, seed)[0] for seed in range(600)]
    with_first = Counter((draw.drawn, draw.pair in {0, 1, 2}) for draw in draws)

    assert with_first["adaptive", True] > 4 * with_first["adaptive", False]
    assert with_first["uniform", True] < 2 * with_first["uniform", False]


def test_before_there_are_as_many_judgments_as_systems_all_pairs_are_equal():
    """Nothing is known then."""
    (draw,) = drawn(study(4, 2, [(0, 0, 1, 2)]))
    assert (draw.chance, draw.drawn) == (pytest.approx(1 / 12), "uniform")


@given(st.integers(0, 10_000), st.sets(st.integers(0, 11)), st.integers(1, 12))
def test_nobody_gets_a_pair_twice(seed, had, count):
    """Whatever they have had; and everybody gets what is left."""
    draws = drawn(study(4, 2, SOME), seed, besides=had, count=count)
    pairs = [draw.pair for draw in draws]

    assert len(pairs) == len(set(pairs)) == min(count, 12 - len(had))
    assert had.isdisjoint(pairs)
    assert all(0 < draw.chance <= 1 for draw in draws)


def test_the_search_is_over_when_the_best_is_known():
    """System 0 won 60 of 60; with a level above what is known it goes on."""
    searches = study(4, 1, [(0, 0, other, 20) for other in (1, 2, 3)])

    assert searches[0].best[0] == 0
    assert drawn(searches, stop_at=0.95) == []
    assert drawn(searches, stop_at=None)


def test_items_of_one_topic_each_are_searched_for_themselves():
    """Passages meet on their own topic only: each topic has its best, and the topic with the fewest showings comes first."""
    tallies = [
        PairTally(pair=10 * topic + place, system_a=10 * topic + a, system_b=10 * topic + b, a_left=3 * topic)
        for topic in range(2)
        for place, (a, b) in enumerate(combinations(range(3), 2))
    ]
    searches = best_searches(tallies, {tally.pair: tally.pair // 10 for tally in tallies}, {})

    assert [search.systems for search in searches] == [[0, 1, 2], [10, 11, 12]]
    assert {draw.pair // 10 for draw in drawn(searches, count=3)} == {0}
    assert len(study(3, 2)) == 1
