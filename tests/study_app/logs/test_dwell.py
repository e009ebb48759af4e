"""The events of one page: whose time it was, what was seen, what was being read."""

from dataclasses import replace

import pytest

from study_app.logs.logged_events import DRIFT_MS, SILENT_MS, LoggedEvent
from tests.study_app.logged_page import LONG, SHORT, TEXTS, WALL, dwell, log, opened, read_page, sees, turns


def test_time_is_divided_by_visible_words():
    """10 and 30 words on screen for 4 s are 1 s and 3 s; with half of the long one shown, 4 s are 1.6 s and 2.4 s."""
    both = log((0, "open", opened()), (0, "see", sees("f0", 1)), (0, "see", sees("f1", 1)), (4000, "close"))
    half = log((0, "open", opened()), (0, "see", sees("f0", 1)), (0, "see", sees("f1", 0.5)), (4000, "close"))

    assert dwell(both) == pytest.approx({("left", "f0"): 1, ("left", "f1"): 3})
    assert dwell(half) == pytest.approx({("left", "f0"): 1.6, ("left", "f1"): 2.4})


def test_time_is_divided_by_visible_characters_where_no_space_parts_words():
    """40 and 120 characters, one word each by white space: a quarter and three quarters."""
    items = [replace(item, words=1, weight=item.chars) for item in (SHORT, LONG)]
    both = log((0, "open", opened()), (0, "see", sees("f0", 1)), (0, "see", sees("f1", 1)), (4000, "close"))

    reading = read_page(both, {"left": items})

    assert [item.dwell_seconds for item in reading.items.values()] == pytest.approx([1, 3])


def test_the_two_sides_share_one_screen():
    """Items of both texts on screen at once divide the same seconds."""
    events = log(
        (0, "open", opened("side_by_side")),
        (0, "see", sees("f1", 1)),
        (0, "see", sees("f0", 1, side="right")),
        (4000, "close"),
    )

    assert dwell(events) == pytest.approx({("left", "f1"): 3, ("right", "f0"): 1})


@pytest.mark.parametrize(("leave", "come"), [("hidden", "visible"), ("blur", "focus")])
def test_time_without_sight_or_focus_is_no_reading_time(leave, come):
    """2 s on, 5 s away, 1 s on: 3 s."""
    events = log(
        (0, "open", opened()), (0, "see", sees("f0", 1)), (2000, leave), (7000, come), (8000, "close")
    )

    reading = read_page(events, TEXTS)

    assert reading.visible_seconds == 3
    assert reading.items["left", "f0"].dwell_seconds == pytest.approx(3)


def test_nothing_counts_between_leaving_a_page_and_its_return_from_the_cache():
    """`close` ends the counting until `open` says that the page was restored."""
    events = log(
        (0, "open", opened()),
        (0, "see", sees("f0", 1)),
        (1000, "close"),
        (60_000, "open", opened()),
        (62_000, "close"),
    )

    assert read_page(events, TEXTS).visible_seconds == 3


def test_a_second_layer_is_on_screen_only_while_it_is_open():
    """2 words of the link and 20 inside, open for 11 s: 1 s and 10 s; closed, the link has the rest for itself."""
    events = log(
        (0, "open", opened()),
        (0, "see", sees("f2", 1)),
        (0, "see", sees("s2.0", 1)),
        (1000, "layer", turns("f2", is_open=True)),
        (12_000, "layer", turns("f2", is_open=False)),
        (15_000, "close"),
    )

    reading = read_page(events, TEXTS)

    assert reading.items["left", "s2.0"].dwell_seconds == pytest.approx(10)
    assert reading.items["left", "f2"].dwell_seconds == pytest.approx(1 + 1 + 3)
    assert reading.items["left", "s2.0"].first_seen == 4
    assert reading.opened == {("left", "f2")}


def test_sleep_is_cut():
    """The stretch in which the clocks drift apart does not count."""
    before = log((0, "open", opened()), (0, "see", sees("f0", 1)), (1000, "beat"))
    slept = 3_600_000
    after = [
        LoggedEvent(4, "sleep", 2000, WALL + 2000 + slept, {"lost_ms": slept}),
        LoggedEvent(5, "see", 3000, WALL + 3000 + slept, sees("f1", 1)),
        LoggedEvent(6, "close", 3000, WALL + 3000 + slept, {}),
    ]

    assert read_page(before + after, TEXTS).visible_seconds == 2


def test_the_stretch_before_a_sleep_event_is_cut_whatever_the_clocks_say():
    """The page itself noticed that its machine had slept."""
    events = log(
        (0, "open", opened()), (0, "see", sees("f0", 1)), (5000, "sleep", {"lost_ms": 0}), (6000, "close")
    )

    assert read_page(events, TEXTS).visible_seconds == 1


def test_a_wall_clock_set_back_cuts_the_stretch_too():
    """Nobody can tell what happened to the clocks."""
    events = log((0, "open", opened()), (0, "see", sees("f0", 1)), (1000, "beat"), (2000, "beat"))
    events[3] = events[3]._replace(wall_ms=WALL - 10 * DRIFT_MS)
    events.append(LoggedEvent(5, "see", 3000, WALL - 10 * DRIFT_MS + 1000, sees("f1", 1)))

    assert read_page(events, TEXTS).visible_seconds == 2


def test_silence_of_a_page_in_sight_is_sleep_too():
    """On some systems the monotonic clock goes on while the machine sleeps; the heartbeat does not."""
    asleep = log((0, "open", opened()), (0, "see", sees("f0", 1)), (SILENT_MS + 1, "beat"), (20_000, "close"))
    awake = log((0, "open", opened()), (0, "see", sees("f0", 1)), (SILENT_MS, "beat"), (20_000, "close"))

    assert read_page(asleep, TEXTS).visible_seconds == pytest.approx(20 - 15.001)
    assert read_page(awake, TEXTS).visible_seconds == 20


def test_time_across_a_hole_in_the_numbers_is_not_counted():
    """Event 4 never came: 1 s before the hole and 1 s after it count, the 6 s across it do not."""
    events = log((0, "open", opened()), (0, "see", sees("f0", 1)), (1000, "beat"))
    events += log((7000, "beat"), (8000, "close"), first=5)

    reading = read_page(events, TEXTS)

    assert reading.visible_seconds == 2
    assert reading.items["left", "f0"].dwell_seconds == pytest.approx(2)


def test_a_heartbeat_says_that_the_page_is_visible_again():
    """Beats come from visible pages only, so a lost `visible` costs the stretch around it and not the rest."""
    events = log((0, "open", opened()), (1000, "hidden"))
    events += log((10_000, "beat"), (12_000, "close"), first=4)

    assert read_page(events, TEXTS).visible_seconds == 3


def test_a_page_without_events_was_not_read():
    """Without script there is no log: no time, no items, and nothing that could be a row."""
    reading = read_page([], TEXTS)

    assert (reading.visible_seconds, reading.items, reading.opened, reading.layout_seconds) == (
        0, {}, frozenset(), {}
    )  # fmt: skip


def test_events_about_what_the_page_did_not_show_are_ignored():
    """A browser may send what it likes."""
    events = log(
        (0, "open", opened()),
        (0, "see", sees("f9", 1)),
        (0, "layer", turns("f9", is_open=True)),
        (1000, "close"),
    )

    assert read_page(events, TEXTS).items == {}
    assert read_page(events, TEXTS).opened == frozenset()


def test_what_lies_in_the_viewport_of_a_hidden_page_is_not_seen():
    """It is seen from the moment the page comes to sight."""
    events = log(
        (0, "open", opened()),
        (0, "hidden"),
        (10, "see", sees("f0", 1)),
        (10, "see", sees("f1", 1)),
        (20, "see", sees("f1", 0)),
        (5000, "visible"),
        (6000, "close"),
    )

    reading = read_page(events, TEXTS)

    assert list(reading.items) == [("left", "f0")]
    assert reading.items["left", "f0"].first_seen == 6


def test_what_the_observer_tells_after_the_page_was_left_is_not_seen():
    """Reports that were under way when the page went."""
    events = log((0, "open", opened()), (1000, "close"), (1000, "see", sees("f0", 1)))

    assert read_page(events, TEXTS).items == {}


def test_the_largest_share_is_kept_and_the_last_pixel_forgiven():
    """Browsers round: 0.99 of an item is all of it, 0.98 is not."""
    events = log(
        (0, "open", opened()),
        (0, "see", sees("f0", 0.98)),
        (0, "see", sees("f1", 0.995)),
        (1000, "see", sees("f0", 0.25)),
        (2000, "close"),
    )

    reading = read_page(events, TEXTS)

    assert reading.items["left", "f0"].share == 0.98
    assert not reading.items["left", "f0"].fully_seen
    assert reading.items["left", "f1"].fully_seen


def test_each_layout_in_force_has_its_seconds():
    """A phone that is turned shows both."""
    events = log(
        (0, "open", opened("stacked")), (3000, "layout", {"layout": "side_by_side"}), (4000, "close")
    )

    assert read_page(events, TEXTS).layout_seconds == {"stacked": 3, "side_by_side": 1}


def interrupted(events):
    return [place for place, item in read_page(events, TEXTS).items.items() if item.interrupted]


def test_the_item_that_came_last_on_screen_and_never_whole_is_interrupted():
    """The end of the page cut its reading short, answer or not."""
    events = log(
        (0, "open", opened()), (0, "see", sees("f0", 1)), (3000, "see", sees("f1", 0.4)), (5000, "submit")
    )

    assert interrupted(events) == [("left", "f1")]


def test_an_answer_ends_the_reading_of_what_was_wholly_seen():
    """Left without an answer the same page was interrupted, at the item furthest on."""
    seen = [(0, "open", opened()), (0, "see", sees("f0", 1)), (0, "see", sees("f1", 1))]

    assert interrupted(log(*seen, (5000, "submit"), (5000, "close"))) == []
    assert interrupted(log(*seen, (5000, "close"))) == [("left", "f1")]


def test_what_had_left_the_screen_was_not_interrupted():
    """Only what was on screen at the end can have been cut."""
    events = log(
        (0, "open", opened()),
        (0, "see", sees("f1", 0.4)),
        (3000, "see", sees("f1", 0)),
        (5000, "close"),
    )

    assert interrupted(events) == []


def test_a_pause_breaks_off_what_is_being_read_then():
    """The reader goes away in the middle of the second item, and does not come back to it."""
    events = log(
        (0, "open", opened()),
        (0, "see", sees("f0", 1)),
        (1000, "see", sees("f1", 0.5)),
        (3000, "hidden"),
        (90_000, "close"),
    )

    assert read_page(events, TEXTS, pauses={4}).broken_off == {4: ("left", "f1")}
    assert read_page(events, TEXTS).broken_off == {}


def test_what_is_read_on_later_was_not_broken_off():
    """Only the pause after which nobody looked at it again ended its reading."""
    events = log(
        (0, "open", opened()),
        (0, "see", sees("f1", 0.5)),
        (3000, "hidden"),
        (90_000, "visible"),
        (92_000, "see", sees("f1", 1)),
        (95_000, "hidden"),
    )

    reading = read_page(events, TEXTS, pauses={3, 6})

    assert reading.broken_off == {6: ("left", "f1")}
    assert reading.items["left", "f1"].wholly_seen == 5
    assert reading.items["left", "f1"].dwell_seconds == pytest.approx(8)
