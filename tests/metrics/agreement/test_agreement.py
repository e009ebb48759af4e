"""What agreement between a metric and votes is."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.agreement.agreement import TIES, agreement, agreements, pair_credit, score_difference

# M(R) - M(R'), votes for R, for R', equal votes, query
WORKED = [
    (0.3, 5, 1, 0, "q1"),  # agree
    (-0.2, 1, 3, 2, "q1"),  # agree
    (0.1, 1, 4, 1, "q1"),  # disagree
    (0.4, 2, 2, 2, "q2"),  # tied votes
    (0.0, 4, 1, 1, "q2"),  # tied metric
]
rows = st.lists(
    st.tuples(
        st.sampled_from([-0.5, -0.1, 0.0, 0.1, 0.5]),
        st.integers(0, 3),
        st.integers(0, 3),
        st.integers(1, 3),
        st.sampled_from(["q1", "q2", "q3"]),
    ),
    min_size=1,
    max_size=30,
)


def columns(pairs):
    difference, for_r, for_other, equal, query = (np.array(column) for column in zip(*pairs, strict=True))
    return difference, (for_r + equal / 2) / (for_r + for_other + equal), query


def agreement_by_loops(pairs, ties):
    """The definitions, pair by pair, in whole votes."""
    total = counted = 0
    for difference, for_r, for_other, equal, _ in pairs:
        n = for_r + for_other + equal
        if ties == "weighted":
            chosen = for_r if difference > 0 else for_other if difference < 0 else None
            total += 0.5 if chosen is None else (chosen + equal / 2) / n
            counted += 1
        elif difference == 0 or for_r == for_other:
            total += {"against": 0, "half": 0.5, "drop": 0}[ties]
            counted += ties != "drop"
        else:
            total += (difference > 0) == (for_r > for_other)
            counted += 1
    return total / counted if counted else math.nan


def test_worked_example_under_every_convention():
    """Two of five agree, two are tied: 2/5, 3/5, 2/3; shares 5/6, 4/6, 1.5/6, 1/2, 1/2 for the metric's choice."""
    found = agreements(*columns(WORKED))

    assert found["against"].value == pytest.approx(2 / 5)
    assert found["half"].value == pytest.approx(3 / 5)
    assert found["drop"].value == pytest.approx(2 / 3)
    assert found["weighted"].value == pytest.approx((5 / 6 + 4 / 6 + 1.5 / 6 + 1 / 2 + 1 / 2) / 5)
    for one in found.values():
        assert (one.pairs, one.metric_ties, one.vote_ties, one.tied_pairs) == (5, 1, 1, 2)


def test_agreement_of_each_query_stands_beside_the_whole():
    """A query without a pair that counts is undefined, not 0."""
    mean = agreement(*columns(WORKED), ties="drop").mean

    assert mean.queries == ("q1", "q2")
    assert mean.by_query.tolist() == pytest.approx([2 / 3, math.nan], nan_ok=True)
    assert mean.units == 1


@pytest.mark.parametrize("ties", TIES)
@given(pairs=rows)
def test_agreement_by_loops(ties, pairs):
    """A slow computation from whole votes gives the same."""
    assert agreement(*columns(pairs), ties=ties).value == pytest.approx(
        agreement_by_loops(pairs, ties), nan_ok=True
    )


@pytest.mark.parametrize("ties", TIES)
@given(pairs=rows)
def test_it_does_not_matter_which_system_of_a_pair_stands_first(ties, pairs):
    """Exchanging R and R' changes the sign of the difference and mirrors the share."""
    difference, share, query = columns(pairs)

    there = agreement(difference, share, query, ties=ties)
    back = agreement(-difference, 1 - share, query, ties=ties)

    assert back.value == pytest.approx(there.value, nan_ok=True)


@given(pairs=rows)
def test_only_the_order_of_scores_matters(pairs):
    """A metric on another scale, its order kept, agrees as much."""
    difference, share, query = columns(pairs)

    assert (
        agreement(difference**3, share, query).mean.sums == agreement(difference, share, query).mean.sums
    ).all()


def test_scores_that_differ_by_rounding_are_tied():
    """0.1 + 0.2 is 0.3 to a metric, whatever the order of its sums."""
    assert score_difference([0.1 + 0.2, 0.0, 1.0], [0.3, 0.0, 0.5]).tolist() == [0.0, 0.0, 0.5]


@pytest.mark.parametrize(
    ("difference", "share", "ties", "message"),
    [
        ([0.1, 0.2], [0.5], "against", "one length"),
        ([math.nan], [0.5], "against", "NaN"),
        ([0.1], [1.5], "against", r"\[0, 1\]"),
        ([0.1], [math.nan], "against", r"\[0, 1\]"),
        ([0.1], [0.5], "ignore", "ties must be one of against, half, drop, weighted"),
    ],
)
def test_input_that_means_nothing_is_refused(difference, share, ties, message):
    """A pair without a score must never count silently."""
    with pytest.raises(ValueError, match=message):
        pair_credit(difference, share, ties=ties)


def test_columns_of_pandas_are_paired_by_their_rows():
    """Score differences and votes that were sorted apart still belong to the same pairs."""
    pairs = pd.DataFrame(
        {
            "difference": [0.3, -0.2, 0.4, 0.1],
            "share": [0.9, 0.6, 0.8, 0.2],
            "query": ["q1", "q1", "q2", "q2"],
        },
        index=["p1", "p2", "p3", "p4"],
    )
    as_they_stand = agreements(pairs["difference"], pairs["share"], pairs["query"])

    sorted_apart = agreements(
        pairs["difference"].sort_values(), pairs["share"].sort_values(), pairs["query"].iloc[::-1]
    )

    values = [found["weighted"].value for found in (as_they_stand, sorted_apart)]
    assert values[0] == values[1] == pytest.approx((0.9 + 0.4 + 0.8 + 0.2) / 4)
    assert (score_difference(pairs["difference"], pairs["difference"].iloc[::-1]) == 0).all()
    with pytest.raises(ValueError, match="only one side has 'p4'"):
        agreements(pairs["difference"], pairs["share"].iloc[:3], pairs["query"])
