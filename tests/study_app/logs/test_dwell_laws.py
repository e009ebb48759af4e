"""What holds of dwell times whatever the events of a page are, and a slow reading of them that comes to the same."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from study_app.logs.activity_kernels import PLAIN, loops_for
from study_app.logs.dwell import DRIFT_MS, FULL, SILENT_MS, LoggedEvent, read_page, server_times
from study_app.logs.event_arrays import (
    DWELL_MS,
    FIRST_SEEN,
    IS_INTERRUPTED,
    KINDS,
    NUMBER,
    OTHER,
    SHARE,
    WAS_OPENED,
    WHOLLY_SEEN,
    EventArrays,
    ItemReadings,
    SideContent,
)
from tests.study_app.logged_page import TEXTS, WALL, dwell, opened, sees, turns

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

    assert sum(item.dwell_seconds for item in reading.items.values()) <= reading.visible_seconds + 1e-9
    assert sum(reading.layout_seconds.values()) <= reading.visible_seconds + 1e-9
    assert reading.visible_seconds <= (events[-1].page_ms - events[0].page_ms if events else 0) / 1000


@given(pages(), st.randoms(), st.data())
def test_retried_and_reordered_events_change_nothing(events, random, data):
    """Batches arrive as the network likes."""
    arrived = events + data.draw(st.lists(st.sampled_from(events), max_size=10) if events else st.just([]))
    random.shuffle(arrived)

    assert read_page(arrived, TEXTS) == read_page(events, TEXTS)


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


LAYOUTS = ("stacked", "side_by_side")
SLOTS = [(side, item) for side in ("left", "right") for item in TEXTS[side]]
SLOT_OF = {(side, item.key): slot for slot, (side, item) in enumerate(SLOTS)}


def in_arrays(some):
    """Pages as the loops take them; each shows both texts."""
    log = [
        (
            *(event.number, KINDS.index(event.kind) if event.kind in KINDS else OTHER),
            *(event.page_ms, event.wall_ms, event.received_ms),
            -1
            if "item" not in event.detail
            else page * len(SLOTS) + SLOT_OF[event.detail["side"], event.detail["item"]],
            event.detail.get("open", False),
            LAYOUTS.index(event.detail["layout"]) if "layout" in event.detail else -1,
        )
        for page, events in enumerate(some)
        for event in events
    ]
    shares = [event.detail.get("share", 0.0) for events in some for event in events]
    layers = [-1 if item.layer is None else SLOT_OF[side, item.layer] for side, item in SLOTS]
    begins = len(SLOTS) * np.arange(len(some))
    shown = SideContent(
        pages=begins[:, None] + np.array([0, len(TEXTS["left"]), len(SLOTS)]),
        weight=np.tile([float(item.weight) for _, item in SLOTS], len(some)),
        layer=np.concatenate(
            [[layer if layer < 0 else layer + begin for layer in layers] for begin in begins]
        ),
    )
    first = np.cumsum([0, *map(len, some)])
    return EventArrays(first, np.array(log, np.int64).reshape(-1, 8), np.array(shares, float)), shown


def assert_loops_say_the_same(loops, some, pauses):
    """As `read_page` and `server_times` do page by page."""
    events, shown = in_arrays(some)
    at, read = np.zeros(len(events.log), np.int64), ItemReadings.unread(events, shown, len(LAYOUTS))
    loops.place_in_time(events, np.full(len(some), WALL), at)
    loops.read_pages(events, shown, np.zeros(len(at), bool), np.isin(events.log[:, NUMBER], pauses), read)

    assert at.tolist() == [time for page in some for time in server_times(page, WALL)]
    for page, (begin, *_) in enumerate(shown.pages):
        told, logged = read_page(some[page], TEXTS, pauses=pauses), slice(*events.first[page : page + 2])
        numbers = events.log[:, NUMBER]
        notes, parts = read.notes[begin : begin + len(SLOTS)], read.parts[begin : begin + len(SLOTS)]
        places = list(SLOT_OF)
        assert {
            place: (
                numbers[note[FIRST_SEEN]],
                note[WHOLLY_SEEN] >= 0,
                note[IS_INTERRUPTED] == 1,
                part[DWELL_MS] / 1000,
            )
            for place, note, part in zip(places, notes, parts, strict=True)
            if note[FIRST_SEEN] >= 0
        } == {
            place: (item.first_seen, item.fully_seen, item.interrupted, item.dwell_seconds)
            for place, item in told.items.items()
        }
        largest = [told.items[place].share if place in told.items else 0.0 for place in places]
        assert [1.0 if share >= FULL else share for share in parts[:, SHARE]] == largest
        assert {place for place, note in zip(places, notes, strict=True) if note[WAS_OPENED]} == told.opened
        assert {places[top - begin] for top in read.top[page] if top >= 0} == set(told.tops.values())
        broken_off = zip(numbers[logged], read.broken_off[logged], strict=True)
        assert {number: places[slot - begin] for number, slot in broken_off if slot >= 0} == told.broken_off
        order = sorted((place, layout) for layout, place in enumerate(read.layout_place[page]) if place)
        seconds = [(LAYOUTS[layout], read.layout_ms[page, layout] / 1000) for _, layout in order]
        assert seconds == list(told.layout_seconds.items())


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
