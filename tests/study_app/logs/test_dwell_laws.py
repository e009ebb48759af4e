"""What holds of dwell times whatever the events of a page are, and a slow reading of them that comes to the same."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from study_app.logs.activity_kernels import PLAIN, loops_for
from study_app.logs.logged_events import DRIFT_MS, SILENT_MS, LoggedEvent, server_times, wholly_seen
from tests.study_app.logged_page import (
    TEXTS,
    WALL,
    dwell,
    in_arrays,
    opened,
    read_page,
    read_pages,
    sees,
    turns,
)

SHARES = st.sampled_from([0, 0.25, 0.5, 0.75, 1])
PLACES = st.sampled_from([(side, item.key) for side, items in TEXTS.items() for item in items])
HAPPENINGS = st.one_of(
    st.sampled_from(["visible", "hidden", "focus", "blur", "beat", "close", "sleep", "submit"]).map(
        lambda kind: (kind, {})
    ),
    st.tuples(st.just("open"), st.sampled_from([opened("stacked"), opened("side_by_side")])),
    st.tuples(st.just("layout"), st.sampled_from([{"layout": "stacked"}, {"layout": "side_by_side"}])),
    st.builds(lambda place, share: ("see", sees(place[1], share, place[0])), PLACES, SHARES),
    st.builds(lambda place, is_open: ("layer", turns(place[1], is_open, place[0])), PLACES, st.booleans()),
)


@st.composite
def pages(draw):
    """The events of one page load in order, some of them lost."""
    events, ms, wall = [], 0, WALL
    for number, (kind, detail) in enumerate(draw(st.lists(HAPPENINGS, max_size=40)), start=1):
        length = draw(st.integers(0, 3000) | st.integers(SILENT_MS - 1, SILENT_MS + 1))
        ms += length
        wall += length + draw(st.sampled_from([0, 0, 0, 0, 50_000, -50_000]))
        if draw(st.integers(0, 9)):
            events.append(LoggedEvent(number, kind, ms, wall, detail))
    return events


@given(pages())
def test_dwell_times_never_add_up_to_more_than_the_visible_time(events):
    """Nor is that more than the page's own time."""
    reading = read_page(events, TEXTS)

    own = (events[-1].page_ms - events[0].page_ms if events else 0) / 1000
    counted = reading.visible_seconds if events and events[0].kind == "open" else own

    assert sum(item.dwell_seconds for item in reading.items.values()) <= counted + 1e-9
    assert reading.visible_seconds <= own


@given(pages(), st.integers(0, 40))
def test_what_was_read_once_stays_read(events, known):
    """More events add time, items, shares and layers; they take none away."""
    early, late = read_page(events[:known], TEXTS), read_page(events, TEXTS)

    assert early.visible_seconds <= late.visible_seconds
    assert early.opened <= late.opened
    assert early.items.keys() <= late.items.keys()
    for place, item in early.items.items():
        assert item.dwell_seconds <= late.items[place].dwell_seconds + 1e-9
        assert item.share <= late.items[place].share
        assert item.first_seen == late.items[place].first_seen


def last(events, kinds, default, place=None):
    """The newest event of some kinds (about one item), looked up from the start each time."""
    for event in reversed(events):
        if event.kind in kinds and place in (None, (event.detail.get("side"), event.detail.get("item"))):
            return event
    return LoggedEvent(0, default, 0, 0, {"share": 0, "open": False})


def visible_words(past):
    """Words on screen of every item, from the whole past."""
    words = {}
    for side, items in TEXTS.items():
        for item in items:
            is_open = item.layer is None or last(past, {"layer"}, "", (side, item.layer)).detail["open"]
            words[side, item.key] = (
                item.weight * last(past, {"see"}, "", (side, item.key)).detail["share"] * is_open
            )
    return words


@given(pages())
def test_the_fast_division_equals_the_slow_one(events):
    """Oracle: work out the state before every event from the whole past, and hand each item its part."""
    got = defaultdict(float)
    for number in range(1, len(events)):
        past, before, after = events[:number], events[number - 1], events[number]
        length = after.page_ms - before.page_ms
        is_known = (
            after.number == before.number + 1
            and after.kind != "sleep"
            and length <= SILENT_MS
            and abs(after.wall_ms - before.wall_ms - length) <= DRIFT_MS
        )
        is_looked_at = (
            last(past, {"visible", "beat", "hidden"}, "visible").kind != "hidden"
            and last(past, {"focus", "blur"}, "focus").kind == "focus"
            and last(past, {"open", "close"}, "open").kind == "open"
        )
        words = visible_words(past)
        for place in words if is_known and is_looked_at and sum(words.values()) else ():
            got[place] += length / 1000 * words[place] / sum(words.values())

    items = read_page(events, TEXTS).items
    assert dwell(events) == pytest.approx({place: got[place] for place in items}, abs=1e-9)
    assert {place for place, seconds in got.items() if seconds} <= items.keys()


def assert_loops_say_the_same(loops, some, pauses):
    """As page by page, and as `server_times` and `wholly_seen` say of each."""
    events, _ = in_arrays(some)
    at = np.zeros(len(events.log), np.int64)
    loops.place_in_time(events, np.full(len(some), WALL), at)

    assert at.tolist() == [time for page in some for time in server_times(page, WALL)]
    readings = read_pages(some, pauses=pauses, loops=loops)
    assert readings == [read_page(page, pauses=pauses) for page in some]
    first_layer = {(side, item.key) for side, items in TEXTS.items() for item in items if item.layer is None}
    for page, reading in zip(some, readings, strict=True):
        seen = {place for place, item in reading.items.items() if item.fully_seen}
        assert wholly_seen(page, first_layer) == seen & first_layer


def received(events, late_ms):
    return [event._replace(received_ms=event.wall_ms + late_ms) for event in events]


@given(
    st.lists(st.builds(received, pages(), st.integers(-20_000, 20_000)), min_size=1, max_size=3),
    st.sets(st.integers(1, 40)),
)
def test_many_pages_at_once_are_read_as_each_page_is(some, pauses):
    """An export reads a group of people in one go."""
    assert_loops_say_the_same(PLAIN, some, sorted(pauses))


@pytest.mark.soak
@settings(deadline=None)
@given(
    st.lists(st.builds(received, pages(), st.integers(-20_000, 20_000)), min_size=1, max_size=3),
    st.sets(st.integers(1, 40)),
)
def test_compiled_loops_say_the_same(some, pauses):
    """To the last digit; a large export runs these."""
    assert_loops_say_the_same(loops_for(10**9), some, sorted(pauses))
