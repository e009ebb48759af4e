"""What a reader reads, and how far into the text each iUnit ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.summaries.trailtext import first_meetings, trailtext, truncated
from metrics.summaries.two_layered import IUnit, Link, Query, Summary
from tests.metrics.two_layered_strategies import queries, summaries

A, B, C, D = map(IUnit, "ABCD")
NATURE, HISTORY = Link("nature"), Link("history")
SUMMARY = Summary(first=(A, NATURE, B, HISTORY), second={"nature": (C, A), "history": (D,)})
QUERY = Query(
    id="q",
    text="fuji",
    iunits={"A": "ten chars!!", "B": "five.5", "C": "twenty characters, eh?", "D": ""},
    intents={"nature": "nature", "history": "history", "food": "food"},
    importance={},
)


def test_the_second_layer_of_the_readers_intent_stands_after_its_link():
    """Rules 2 and 3 of the paper: click the link, read, come back to where it ended."""
    assert trailtext(SUMMARY, "nature") == (A, NATURE, C, A, B, HISTORY)
    assert trailtext(SUMMARY, "history") == (A, NATURE, B, HISTORY, D)


def test_an_intent_without_a_link_reads_the_first_layer_alone():
    """Links to other intents stay as text."""
    assert trailtext(SUMMARY, "food") == SUMMARY.first


def test_a_link_that_occurs_twice_is_followed_twice():
    """As the authors' programs read it; the repeat costs and brings nothing."""
    summary = Summary(first=(NATURE, NATURE), second={"nature": (C,)})
    assert trailtext(summary, "nature") == (NATURE, C, NATURE, C)


def test_the_first_layer_ablation_never_opens_a_link():
    """Fig. 4 (b): only what stands in the first layer is judged."""
    assert trailtext(SUMMARY, "nature", layers="first") == SUMMARY.first


def test_the_second_layer_ablation_leaves_out_first_layer_iunits_but_no_link():
    """Fig. 4 (c): first-layer iUnits cost nothing, links keep their cost."""
    assert trailtext(SUMMARY, "nature", layers="second") == (NATURE, C, A, HISTORY)


def test_an_offset_counts_everything_read_up_to_the_end_of_the_iunit():
    """Links cost characters; blanks and punctuation do not; an empty text ends where it begins."""
    assert first_meetings(trailtext(SUMMARY, "history"), QUERY) == {
        "A": 8,
        "B": 8 + 6 + 5,
        "D": 8 + 6 + 5 + 7,
    }


def test_an_iunit_met_again_costs_characters_and_keeps_its_first_offset():
    """Reading the same fact twice is wasted time."""
    met = first_meetings(trailtext(SUMMARY, "nature"), QUERY)
    assert met == {"A": 8, "C": 8 + 6 + 18, "B": 8 + 6 + 18 + 8 + 5}


@pytest.mark.parametrize(
    ("limit", "first"),
    [(0, ()), (7, ()), (8, (A,)), (13, (A,)), (14, (A, NATURE)), (18, (A, NATURE)), (26, SUMMARY.first)],
)
def test_a_layer_is_cut_before_the_first_element_that_would_pass_the_limit(limit, first):
    """Exactly the limit stays; nothing shorter further on is taken instead; links are counted."""
    assert truncated(SUMMARY, QUERY, limit).first == first


def test_layers_are_cut_separately():
    """Each layer is a screen of its own, so what stands in one takes no room in another."""
    cut = truncated(SUMMARY, QUERY, 18)
    assert cut.second == {"nature": (C,), "history": (D,)}
    assert trailtext(cut, "nature") == (A, NATURE, C)


def test_a_second_layer_whose_link_was_cut_off_is_never_read():
    """There is no way to it."""
    assert trailtext(truncated(SUMMARY, QUERY, 20), "history") == (A, NATURE, B)


@given(queries(), summaries(), st.integers(0, 60))
def test_truncating_twice_is_truncating_once(query, summary, limit):
    """What fits, fits."""
    cut = truncated(summary, query, limit)
    assert truncated(cut, query, limit) == cut
    assert truncated(summary, query, None) == summary
