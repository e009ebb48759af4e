"""What stood on a page's screen from moment to moment, and whether anybody could look at it."""

from itertools import count

from study_app.logs.logged_events import LoggedEvent
from study_app.logs.screen import MAX_MOMENTS, PageStory, StateInterval

OPEN = {"layout": "stacked", "width": 390, "height": 844, "restored": False}


def story(*happenings, lost=()):
    """Each happening is (milliseconds, kind, detail); those whose number, from 1, is lost never arrived."""
    events = [
        LoggedEvent(number, kind, ms, ms, detail[0] if detail else {})
        for number, (ms, kind, *detail) in enumerate(happenings, start=1)
        if number not in lost
    ]
    return PageStory.of(events, 0)


def see(ms, item, share, side="left"):
    return ms, "see", {"side": side, "item": item, "share": share}


def layer(ms, item, *, is_open):
    return ms, "layer", {"side": "left", "item": item, "open": is_open}


def test_an_item_is_on_the_screen_from_what_says_so_to_what_says_otherwise():
    page = story((0, "open", OPEN), see(10, "f0", 1), see(20, "f1", 0.25), see(900, "f0", 0))
    assert page.screen(9).shown == {}
    assert page.screen(20).shown == {("left", "f0"): 1, ("left", "f1"): 0.25}
    assert page.screen(900).shown == {("left", "f1"): 0.25}
    assert (page.screen(0).width, page.screen(0).height) == (390, 844)


def test_what_is_inside_a_layer_is_on_the_screen_only_while_it_is_open():
    """A page that is closed with a layer open says nothing of the items in it, and a log may have lost that they went."""
    page = story(
        (0, "open", OPEN),
        layer(100, "f2", is_open=True),
        see(110, "s2.0", 1),
        layer(500, "f2", is_open=False),
    )
    assert page.screen(110).shown == {("left", "s2.0"): 1}
    assert page.screen(500).shown == {}


def test_the_option_that_is_picked_is_the_last_one():
    page = story(
        (0, "open", OPEN), (5, "choice", {"choice": "left"}), (9, "choice", {"choice": "equally_bad"})
    )
    assert [page.screen(at).choice for at in (4, 5, 9)] == [None, "left", "equally_bad"]


def test_spells_say_when_nobody_could_look_and_when_nobody_knows():
    """Hidden, without the focus, silent in sight, and with a missing number; after the last event it is over."""
    page = story(
        (0, "open", OPEN),
        (1_000, "hidden"),
        (4_000, "visible"),
        (5_000, "blur"),
        (6_000, "focus"),
        (7_000, "beat"),
        (9_000, "beat"),
        (40_000, "close"),
        (41_000, "open", OPEN),
        lost={7},
    )
    assert page.spells() == [
        StateInterval(from_ms=0, to_ms=1_000, state="looked"),
        StateInterval(from_ms=1_000, to_ms=4_000, state="hidden"),
        StateInterval(from_ms=4_000, to_ms=5_000, state="looked"),
        StateInterval(from_ms=5_000, to_ms=6_000, state="unfocused"),
        StateInterval(from_ms=6_000, to_ms=7_000, state="looked"),
        StateInterval(from_ms=7_000, to_ms=40_000, state="missing"),
        StateInterval(from_ms=40_000, to_ms=41_000, state="closed"),
    ]
    assert [page.state(at) for at in (999, 1_000, 41_000)] == ["looked", "hidden", "over"]
    silent = story((0, "open", OPEN), (20_000, "beat"))
    assert [spell.state for spell in silent.spells()] == ["silent"]


def test_a_moment_tells_what_changed_since_the_one_before():
    """What happens within a twentieth of a second is one; a heartbeat is none."""
    page = story(
        (0, "open", OPEN),
        (1, "visible"),
        see(20, "f0", 1),
        (5_000, "beat"),
        see(6_000, "f0", 0.5),
        (9_000, "close"),
        lost={4},
    )
    first, second, last = page.moments()
    assert (first.at_ms, first.changed) == (20, {("left", "f0"): 1})
    assert [event.kind for event in first.acts] == ["open", "visible"]
    assert (second.changed, second.missing, second.acts) == ({("left", "f0"): 0.5}, 1, ())
    assert [event.kind for event in last.acts] == ["close"]


def test_a_page_that_told_of_very_much_has_few_moments_and_the_same_end():
    """A scroller who makes thousands of reports must not make a page that no browser can show."""
    place = count()
    seen = (see(60 * (next(place) + 1), "f0", n % 2) for n in range(5_000))
    page = story((0, "open", OPEN), *seen, (400_000, "close"))
    moments = page.moments()
    assert 50 < len(moments) <= MAX_MOMENTS
    assert moments[-1].at_ms == page.end_ms


def test_a_page_that_told_nothing_has_no_moments():
    page = story()
    assert (page.moments(), page.spells(), page.end_ms, page.state(0)) == ([], [], 0, "over")
