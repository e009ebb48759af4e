"""A text as a run of items: the order of reading, and how far it went."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from study_app.protocol.items import reading_order, text_stop
from study_app.protocol.sides import Block, Side


def _text(number: int, words: int, chars: int) -> dict:
    return {"id": f"u{number}", "kind": "iunit", "text": "…", "words": words, "chars": chars}


SIDE = Side(
    (
        Block(key="f0", **_text(0, 5, 20)),
        Block(
            key="f1",
            id="i1",
            kind="link",
            text="…",
            words=2,
            chars=10,
            inside=(
                Block(key="s1.0", **_text(2, 10, 40)),
                Block(key="s1.1", **_text(0, 5, 20)),
            ),
        ),
        Block(key="f2", **_text(3, 8, 30)),
    )
)
ITEMS = SIDE.items("en")


def test_a_layer_that_was_never_opened_is_no_part_of_the_text_read():
    """The trailtext of a reader is the first layer with the layers that this reader opened."""
    assert [item.key for item in reading_order(ITEMS, set())] == ["f0", "f1", "f2"]
    assert [item.key for item in reading_order(ITEMS, {"f1"})] == ["f0", "f1", "s1.0", "s1.1", "f2"]


def test_a_partly_seen_item_counts_with_its_share():
    """20 characters before the link, and half of its 10."""
    stop = text_stop(ITEMS, {"f0": 1.0, "f1": 0.5}, set())

    assert (stop.chars_read, stop.text_chars, stop.reached_end, stop.opened) == (25, 60, False, 0)


def test_the_furthest_item_seen_decides_in_the_order_of_reading():
    """Who saw the last item and opened the layer before it is taken to have read on to there."""
    stop = text_stop(ITEMS, {"f0": 1.0, "f1": 1.0, "f2": 0.5}, {"f1"})

    assert (stop.chars_read, stop.text_chars, stop.reached_end, stop.opened) == (105, 120, False, 1)


def test_the_reader_came_at_least_to_the_top_of_the_last_screen():
    """Of several loads the furthest counts; without a top nothing is sure."""
    seen = {"f0": 1.0, "f1": 1.0, "f2": 0.5}

    assert text_stop(ITEMS, seen, set(), {"f0", "f1"}).chars_least == 20
    assert text_stop(ITEMS, seen, set()).chars_least == 0


def test_the_end_is_reached_when_the_last_item_was_fully_seen():
    """Then the stop says only that the reader would have gone at least so far."""
    stop = text_stop(ITEMS, {"f2": 1.0}, set())

    assert (stop.chars_read, stop.reached_end) == (60, True)


def test_the_last_item_of_an_opened_last_layer_is_the_end():
    """A summary may end with a link."""
    items = ITEMS[:4]

    assert text_stop(items, {"f1": 1.0}, set()).reached_end
    assert not text_stop(items, {"f1": 1.0}, {"f1"}).reached_end
    assert text_stop(items, {"s1.1": 1.0}, {"f1"}).reached_end


def test_a_text_nobody_looked_at_was_read_to_no_character():
    """The right side of a stacked page that was never scrolled."""
    stop = text_stop(ITEMS, {}, set())

    assert (stop.chars_read, stop.text_chars, stop.reached_end) == (0, 60, False)


def test_an_empty_text_is_at_its_end():
    """A system may show nothing for a query."""
    stop = text_stop((), {}, set())

    assert (stop.chars_read, stop.text_chars, stop.reached_end) == (0, 0, True)


SEEN = st.dictionaries(st.sampled_from([item.key for item in ITEMS]), st.floats(0, 1))


@given(SEEN, SEEN, st.booleans(), st.booleans())
def test_seeing_more_never_means_having_read_less(seen, more, opened, opens_more):
    """Neither larger shares nor a layer opened take characters away, and never is more read than there is."""
    both = {key: max(seen.get(key, 0.0), more.get(key, 0.0)) for key in seen | more}
    early = text_stop(ITEMS, seen, {"f1"} if opened else set())
    late = text_stop(ITEMS, both, {"f1"} if opened or opens_more else set())

    assert early.chars_read <= late.chars_read + 1e-9
    assert late.chars_read <= late.text_chars + 1e-9
    if late.reached_end:
        assert late.chars_read == pytest.approx(late.text_chars)
